"""The corpora: how many types, sentences and entities there are, there and at hand."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from spanproto.data.files import atomic_writer
from spanproto.data.formats import read_episodes, read_sentences
from spanproto.data.types import Sentence
from spanproto.errors import DataError
from spanproto.experiments.columns import column_named
from spanproto.experiments.setups import refuse_quick_mixture
from spanproto.paper.page import NOT_RUN, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import OWN, Scores
from spanproto.provenance import provenance

FILE = "datasets.json"
NO_DATA = "no data"
KINDS = ("types", "sentences", "entities")


class Corpus(NamedTuple):
    """The published figures, and the files of what is at hand."""

    published: dict[str, int]
    files: list[str]


def _corpus(figures: tuple[int, int, int], *files: str) -> Corpus:
    return Corpus(dict(zip(KINDS, figures, strict=True)), list(files))


def _domain(figures: tuple[int, int, int], *columns: str) -> Corpus:
    return _corpus(figures, *(column_named(column).test_file for column in columns))


_CORPORA = {
    "Few-NERD": _corpus(
        (66, 188_200, 491_700),
        "fewnerd/inter/train-reduced.txt",
        "fewnerd/inter/dev.txt",
        "fewnerd/inter/test.txt",
        "fewnerd/all66/all.txt",
    ),
    "OntoNotes": _domain((18, 103_800, 161_800), "ontonotes-1"),
    "CoNLL-03": _domain((4, 22_100, 35_100), "news-1", "news-5"),
    "GUM": _domain((11, 3_500, 6_100), "wiki-1", "wiki-5"),
    "WNUT-17": _domain((6, 4_700, 3_100), "social-1", "social-5"),
}


class Datasets(Recipe):
    """The statistics of each source."""

    name = "datasets"
    title = "The corpora"
    place = "Table 1 (tab:datasets)"

    def run(self, bench: Bench) -> None:
        """Count what is in the data folder, unless that very data has been counted."""
        path = bench.results / OWN / FILE
        files = {name: _at_hand(bench.data, corpus) for name, corpus in _CORPORA.items()}
        if not any(files.values()):
            raise DataError(
                f"{bench.data}: holds no file of any corpus, such as "
                f"{_CORPORA['CoNLL-03'].files[0]}; check --data"
            )
        origin = provenance(None, [file for known in files.values() for file in known])
        if path.exists():
            counted = json.loads(path.read_text("utf-8"))
            refuse_quick_mixture(path, counted, quick=bench.quick)
            if counted["provenance"]["data"] == origin["data"]:
                return
        content = {
            "corpora": {name: counts(known) for name, known in files.items() if known},
            **({"quick": True} if bench.quick else {}),
            "seeds": [],  # nothing is left to chance
            "provenance": origin,
        }
        with atomic_writer(path) as stream:
            stream.write(json.dumps(content, indent=2) + "\n")

    def page(self, scores: Scores) -> Page:
        """Published, counted here, and the share that this is."""
        path = scores.results / OWN / FILE
        here = scores.load(path)["corpora"] if path.exists() else {}
        absent = NO_DATA if here else NOT_RUN
        rows = [
            (
                name,
                [
                    _cell(figure, here.get(name, {}).get(kind), absent)
                    for kind, figure in corpus.published.items()
                ],
            )
            for name, corpus in _CORPORA.items()
        ]
        setting = (
            "Distinct sentences, and the entities that are labelled in them. A cell reads "
            "*published → at hand (share)*."
        )
        return Page(setting, [Table(("", *KINDS), rows)], () if scores.quick else _remarks(here))


def _remarks(here: Mapping[str, Mapping[str, int]]) -> list[str]:
    """What is at hand of each source, as far as it has been counted."""
    found = []
    if "Few-NERD" in here:
        found.append(
            "Few-NERD: its dev and test sentences are all at hand for INTER, of those for training "
            "13 %."
        )
    drawn = [name for name in _CORPORA if name in here and name != "Few-NERD"]
    if drawn:
        more = [
            name
            for name in drawn
            if here[name]["entities"] > 1.1 * _CORPORA[name].published["entities"]
        ]
        beyond = (
            f"; those of {' and '.join(more)} alone have more entities than the paper counts for "
            "all of it"
        )
        found.append(
            f"{', '.join(drawn)}: only what was drawn into the test episodes of Hou et al. (2020) "
            f"is at hand{beyond if more else ''}."
        )
    return found


def counts(paths: Iterable[Path]) -> dict[str, int]:
    """Types, sentences and entities of all files together; a sentence that comes again adds none.

    Of the labels that a sentence has in several places, those of the first count.
    """
    distinct: dict[tuple[str, ...], Sentence] = {}
    for path in paths:
        for sentence in _sentences(path):
            distinct.setdefault(sentence.words, sentence)
    spans = [span for sentence in distinct.values() for span in sentence.spans]
    numbers = (len({span.label for span in spans}), len(distinct), len(spans))
    return dict(zip(KINDS, numbers, strict=True))


def _at_hand(data: Path, corpus: Corpus) -> list[Path]:
    paths = [data / name for name in corpus.files]
    return [path for path in paths if path.exists()]


def _sentences(path: Path) -> Iterator[Sentence]:
    if path.suffix == ".json":
        for episode in read_episodes(path):
            yield from (*episode.support, *episode.query)
    else:
        yield from read_sentences(path)


def _cell(figure: int, here: int | None, absent: str) -> str:
    if here is None:
        return f"{figure:,} → {absent}"
    return f"{figure:,} → {here:,} ({here / figure:.0%})"
