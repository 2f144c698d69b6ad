"""The boundary matrix of one sentence: a case that shows how the extractor sees spans."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError
from spanproto.experiments.cells import Cell
from spanproto.experiments.scoring import Scoring
from spanproto.paper.page import Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN, fine_type, varied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spanproto.methods.base import Method

COLUMN, SCORING = "inter-5w1", "boundary-matrix"
EPISODES = 50  # in which a sentence is looked for
WORDS = range(8, 25)  # of a sentence that fits a page


class BoundaryCase(Recipe):
    """The matrix as a heat map over words."""

    name = "boundary-matrix"
    title = "The boundary matrix of a sentence"
    place = "Figure 3 (fig:span_boundary_case)"
    pictures: Mapping[str, str] = {
        "boundary-matrix": "The boundary matrix of a sentence; Few-NERD's are under CC BY-SA 4.0"
    }

    def cells(self, bench: Bench) -> list[Cell]:
        """SpanProto as in the main table, looked at rather than scored."""
        look = Scoring(SCORING, look=look_at_boundaries)
        return [varied(COLUMN, seed, PLAIN, {}, [look]) for seed in bench.seeds]

    def page(self, scores: Scores) -> Page:
        """The spans of the sentence with what is found."""
        found = scores.read(COLUMN, SCORING)
        episodes = found[0]["episodes"] if found else EPISODES
        setting = (
            "The paper shows a sentence in which mentions nest. Here it is, of the query sentences "
            f"of {WORDS.start} to {WORDS.stop - 1} words in the first {episodes} test episodes, "
            "the first one with the most spans found inside others, so that nesting can be seen."
        )
        tables = [_table(content) for content in found[:1]]
        return Page(f"{setting} {scores.described()}", tables, [_remark(found[0])] if found else ())

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """The heat map with labelled and found cells marked."""
        import numpy as np

        from spanproto.plots.boundary_matrix import boundary_matrix_figure

        found = scores.read(COLUMN, SCORING)
        if not found:
            return {}
        figure = boundary_matrix_figure(
            found[0]["words"],
            np.array(found[0]["probabilities"], dtype=float),  # None becomes nan
            _spans(found[0]["found"]),
            _spans(found[0]["labelled"]),
        )
        return {"boundary-matrix": figure}


def look_at_boundaries(model: "Method", episodes: Sequence[Episode]) -> dict[str, Any]:
    """The matrix of the sentence with the most nesting, with what is labelled and found there."""
    from spanproto.judging import judge
    from spanproto.model import SpanProto
    from spanproto.plots.boundary_matrix import boundary_probabilities

    assert isinstance(model, SpanProto)
    best: tuple[int, Sentence, list[Span]] | None = None
    for episode in episodes[:EPISODES]:
        (judged,) = judge(model, [episode], decoding="nested")
        for sentence, candidates in zip(episode.query, judged, strict=True):
            found = [one.span for one in candidates if one.outcome == "kept"]
            nested = sum(_inside(one, other) for one in found for other in found)
            fits = len(sentence.words) in WORDS
            if fits and (best is None or nested > best[0]):
                best = nested, sentence, found
    if best is None:
        raise DataError(
            f"no query sentence of {WORDS.start} to {WORDS.stop - 1} words in the first "
            f"{len(episodes[:EPISODES])} test episodes; test on more, or on other data"
        )
    _, sentence, found = best
    probabilities = boundary_probabilities(model, sentence)
    return {
        "episodes": len(episodes[:EPISODES]),
        "words": list(sentence.words),
        "probabilities": [
            [None if cell != cell else round(cell, 4) for cell in row]
            for row in probabilities.tolist()
        ],
        "labelled": [list(span) for span in sentence.spans],
        "found": [list(span) for span in found],
    }


def _inside(one: Span, other: Span) -> bool:
    return one[:2] != other[:2] and other.start <= one.start and one.end <= other.end


def _spans(content: Sequence[tuple[int, int, str]]) -> list[Span]:
    return [Span(start, end, fine_type(label)) for start, end, label in content]


def _table(content: Mapping[str, Any]) -> Table:
    """Each span that is labelled or found, with its probability."""
    labelled, found = (
        {span[:2]: span.label for span in _spans(content[name])} for name in ("labelled", "found")
    )
    rows: list[tuple[str, list[float | str]]] = []
    for start, end in sorted({*labelled, *found}):
        words = " ".join(content["words"][start:end])
        probability = float(content["probabilities"][start][end - 1])
        rows.append(
            (words, [probability, labelled.get((start, end), ""), found.get((start, end), "")])
        )
    return Table(("span", "boundary probability", "labelled as", "found as"), rows)


def _remark(content: Mapping[str, Any]) -> str:
    found = _spans(content["found"])
    nested = sum(any(_inside(one, other) for other in found) for one in found)
    return (
        "The paper's sentence is not among those at hand, so this is another one. Few-NERD labels "
        f"no mention inside another; found inside others here: {nested} of {len(found)} spans, "
        "since the matrix judges each pair of words by itself, as the paper says."
    )
