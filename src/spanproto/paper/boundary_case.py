"""The boundary matrix of a sentence, which shows how the extractor sees spans.

Few-NERD labels no mention inside another, so a sentence of a nested corpus is looked at as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError
from spanproto.experiments.cells import Cell
from spanproto.experiments.filling import run_own_cells
from spanproto.experiments.scoring import Scoring
from spanproto.paper import nested
from spanproto.paper.own_grid import own_grid
from spanproto.paper.page import Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN, adaptation_of, fine_type, own_cell, varied
from spanproto.samples import NESTED as SAMPLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spanproto.methods.base import Method

COLUMN, SCORING = "inter-5w1", "boundary-matrix"
NESTED_COLUMN = nested.column_named("GUM", 5)
EPISODES = 50  # in which a sentence is looked for
WORDS = range(8, 25)  # of a sentence that fits a page


class BoundaryCase(Recipe):
    """The matrix as a heat map over words."""

    name = "boundary-matrix"
    title = "The boundary matrix of a sentence"
    place = "Figure 3 (fig:span_boundary_case)"
    pictures: Mapping[str, str] = {
        "boundary-matrix": "The boundary matrix of a sentence; Few-NERD's are under CC BY-SA 4.0",
        "boundary-matrix-nested": "The boundary matrix of a sentence whose mentions nest",
    }

    def cells(self, bench: Bench) -> list[Cell]:
        """SpanProto as in the main table, looked at rather than scored."""
        look = Scoring(SCORING, look=look_at_boundaries)
        return [varied(COLUMN, seed, PLAIN, {}, [look]) for seed in bench.seeds]

    def run(self, bench: Bench) -> None:
        """The same on a nested corpus, fine-tuned to the support set."""
        column = nested.QUICK if bench.quick else NESTED_COLUMN
        if bench.columns and column.name not in bench.columns:
            return
        grid = own_grid(bench, SAMPLE if bench.quick else bench.data, EPISODES)

        def looks(like: str) -> list[Scoring]:
            adaptation = adaptation_of(like)
            look = NestedLook(bench.seeds[0], adaptation)
            return [Scoring(SCORING, adaptation=adaptation, look=look)]

        shots = int(column.data["shots"])
        cells = [own_cell(column, shots, s, looks, shortened=bench.quick) for s in bench.seeds[:1]]
        run_own_cells(grid, cells, bench.workers)

    def takes(self, column: str, bench: Bench) -> bool:
        """Those of both sentences."""
        own = nested.QUICK if bench.quick else NESTED_COLUMN
        return column == own.name or super().takes(column, bench)

    def page(self, scores: Scores) -> Page:
        """The spans of the sentences with what is found."""
        tables, remarks = [], []
        looks = _looks(scores)
        corpora = _SAMPLES if scores.quick else _CORPORA
        for column, content in looks.items():
            title = corpora["flat"] if column == COLUMN else f"{corpora['nested']}, {_NESTS}"
            tables.append(_table(content, title))
            remarks.append(f"{title}: {_remark(content)}")
        return Page(f"{_SETTING.format(**corpora)} {scores.described()}", tables, remarks)

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """The heat maps with labelled and found cells marked."""
        import numpy as np

        from spanproto.plots.boundary_matrix import boundary_matrix_figure

        return {
            "boundary-matrix"
            if column == COLUMN
            else "boundary-matrix-nested": boundary_matrix_figure(
                content["words"],
                np.array(content["probabilities"], dtype=float),  # None becomes nan
                _spans(content["found"]),
                _spans(content["labelled"]),
            )
            for column, content in _looks(scores).items()
        }


_CORPORA = {"flat": "Few-NERD", "nested": "GUM", "trained": "GENIA", "shots": "five"}
_SAMPLES = {
    "flat": "the bundled sample",
    "nested": "the bundled biomedical sample",
    "trained": "the bundled general sample",
    "shots": "one",
}
_NESTS = "a sentence with nested mentions"
_SETTING = (
    "The paper shows a sentence in which mentions nest. Here are two, of the query sentences of "
    f"{WORDS.start} to {WORDS.stop - 1} words in the first test episodes: on {{flat}}, whose "
    "mentions do not nest, the first one with the most pairs of spans found one inside the other; "
    "on {nested} the first one with the most such pairs of mentions labelled, searched by a model "
    "that was trained on {trained} and fine-tuned to the {shots}-shot support set."
)


def _looks(scores: Scores) -> dict[str, dict[str, Any]]:
    """What was seen in each column, with the first seed."""
    columns = (COLUMN, NESTED_COLUMN.name, nested.QUICK.name)
    found = {column: scores.read(column, SCORING) for column in columns}
    return {column: contents[0] for column, contents in found.items() if contents}


def look_at_boundaries(model: "Method", episodes: Sequence[Episode]) -> dict[str, Any]:
    """The matrix of the sentence with the most nesting found, with what is labelled there."""
    best: tuple[int, Sentence, list[Span]] | None = None
    for episode in episodes[:EPISODES]:
        for sentence, found in zip(episode.query, _found_spans(model, episode), strict=True):
            fits = len(sentence.words) in WORDS
            if fits and (best is None or _nested_pairs(found) > best[0]):
                best = _nested_pairs(found), sentence, found
    if best is None:
        raise _no_sentence_fits(episodes)
    _, sentence, found = best
    return {"episodes": len(episodes[:EPISODES]), **_content(model, sentence, found)}


@dataclass(frozen=True)
class NestedLook:
    """Looks at the sentence with the most nesting labelled, fine-tuned to its support set."""

    seed: int
    adaptation: Mapping[str, Any] | None

    def __call__(self, model: "Method", episodes: Sequence[Episode]) -> dict[str, Any]:
        """Its matrix, with what is labelled and found there."""
        from spanproto.adaptation import adapt_to_one

        fitting = [
            (episode, number)
            for episode in episodes[:EPISODES]
            for number, sentence in enumerate(episode.query)
            if len(sentence.words) in WORDS
        ]
        if not fitting:
            raise _no_sentence_fits(episodes)
        episode, number = max(fitting, key=lambda at: _nested_pairs(at[0].query[at[1]].spans))
        settings = model.adaptation({**(self.adaptation or {}), "seed": self.seed})
        tuned = adapt_to_one(model, episode, settings)
        found = _found_spans(tuned, episode)[number]
        looked = len(episodes[:EPISODES])
        return {"episodes": looked, **_content(tuned, episode.query[number], found)}


def _found_spans(model: "Method", episode: Episode) -> list[list[Span]]:
    """What is found in each query sentence, nested."""
    from spanproto.judging import judge
    from spanproto.model import SpanProto

    assert isinstance(model, SpanProto)
    (judged,) = judge(model, [episode], decoding="nested")
    return [[one.span for one in found if one.outcome == "kept"] for found in judged]


def _nested_pairs(spans: Sequence[Span]) -> int:
    """How often a span lies inside another."""
    return sum(_inside(one, other) for one in spans for other in spans)


def _no_sentence_fits(episodes: Sequence[Episode]) -> DataError:
    return DataError(
        f"no query sentence of {WORDS.start} to {WORDS.stop - 1} words in the first "
        f"{len(episodes[:EPISODES])} test episodes; test on more, or on other data"
    )


def _content(model: "Method", sentence: Sentence, found: Sequence[Span]) -> dict[str, Any]:
    from spanproto.model import SpanProto
    from spanproto.plots.boundary_matrix import boundary_probabilities

    assert isinstance(model, SpanProto)
    probabilities = boundary_probabilities(model, sentence)
    return {
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


def _table(content: Mapping[str, Any], title: str) -> Table:
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
    return Table(("span", "boundary probability", "labelled as", "found as"), rows, title)


def _remark(content: Mapping[str, Any]) -> str:
    """How much nests, and how much of what is labelled is found."""
    labelled, found = (_spans(content[name]) for name in ("labelled", "found"))
    right = len({*labelled} & {*found})
    inside, also = (
        sum(any(_inside(one, other) for other in spans) for one in spans)
        for spans in (labelled, found)
    )
    nesting = f"{also} of the spans found lie inside others" if also else "none lies inside another"
    return (
        "the paper's sentence is not at hand, so this is another one, of the first "
        f"{content['episodes']} test episodes; labelled are {len(labelled)}, {inside} of them "
        f"inside others; found are {len(found)}, of which {right} as labelled; {nesting}."
    )
