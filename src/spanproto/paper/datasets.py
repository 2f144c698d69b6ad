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
from spanproto.experiments.setups import refuse_other_form
from spanproto.paper.page import NO_DATA, NOT_RUN, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import OWN, Scores
from spanproto.provenance import provenance

FILE = "datasets.json"
KINDS = ("types", "sentences", "entities")


class Corpus(NamedTuple):
    """The published figures, and the files of what is at hand."""

    published: dict[str, int]
    files: list[str]
    where: str  # what these files are


def _corpus(figures: tuple[int, int, int], where: str, *files: str) -> Corpus:
    return Corpus(dict(zip(KINDS, figures, strict=True)), list(files), where)


def _domain(figures: tuple[int, int, int], *columns: str) -> Corpus:
    files = [column_named(column).test_file for column in columns]
    return _corpus(figures, "the test episodes, which are all that is counted", *files)


_CORPORA = {
    "Few-NERD": _corpus(
        (66, 188_200, 491_700),
        "the files of the data folder",
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
    trains = False

    def require_inputs(self, bench: Bench) -> None:
        """Some corpus; the quick form brings one."""
        if not bench.quick and not any(_at_hand(bench.data, one) for one in _CORPORA.values()):
            raise DataError(
                f"{bench.data}: holds no file of any corpus, such as "
                f"{_CORPORA['CoNLL-03'].files[0]}; check --data"
            )

    def run(self, bench: Bench) -> None:
        """Count what is in the data folder, unless that very data has been counted."""
        path = bench.results / OWN / FILE
        files = {name: _at_hand(bench.data, corpus) for name, corpus in _CORPORA.items()}
        origin = provenance(None, [file for known in files.values() for file in known])
        if path.exists():
            counted = json.loads(path.read_text("utf-8"))
            refuse_other_form(path, counted, quick=bench.quick)
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
                    Count(figure, here.get(name, {}).get(kind), absent)
                    for kind, figure in corpus.published.items()
                ],
            )
            for name, corpus in _CORPORA.items()
        ]
        setting = (
            "Distinct sentences, and the entities that are labelled in them. A cell reads "
            "*published → at hand (share)*."
        )
        return Page(setting, [Table(("", *KINDS), rows)], _remarks(here))


class Count(NamedTuple):
    """How many the paper counts, and how many are at hand."""

    published: int
    here: int | None
    absent: str  # what is said where nothing is counted

    def __str__(self) -> str:
        """Published, an arrow, what is at hand, and the share that this is in brackets."""
        if self.here is None:
            return f"{self.published:,} → {self.absent}"
        return f"{self.published:,} → {self.here:,} ({self.here / self.published:.0%})"

    def to_dict(self) -> dict[str, int | None]:
        """Plain values, ready for JSON."""
        return {"published": self.published, "here": self.here}


def _remarks(here: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A sentence on each source that has been counted: what is at hand of it, and where."""
    found = []
    for name, counted in here.items():
        corpus = _CORPORA[name]
        shares = {kind: counted[kind] / corpus.published[kind] for kind in KINDS[1:]}
        share = " and ".join(f"{share:.0%} of the {kind}" for kind, share in shares.items())
        beyond = shares["entities"] > 1 >= shares["sentences"]
        more = ", so that more is labelled in a sentence than the paper counts" if beyond else ""
        found.append(f"{name}: {share} that the paper counts are in {corpus.where}{more}.")
    return found


def counts(paths: Iterable[Path]) -> dict[str, int]:
    """Types, sentences and entities of all files together; a sentence that comes again adds none.

    Of a sentence that is in several places, with all of its entities labelled in some and with
    those of some types in others, the one with the most labels counts.
    """
    distinct: dict[tuple[str, ...], Sentence] = {}
    for path in paths:
        for sentence in _sentences(path):
            known = distinct.get(sentence.words)
            if known is None or len(sentence.spans) > len(known.spans):
                distinct[sentence.words] = sentence
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
