"""Nested NER, which the paper names as an extension: one model, decoded flat and nested.

The corpora are GENIA and GUM. A model trained on one is tested on episodes of the other, so that
types and domain are new and no nesting is lost to a split of types. `by_nesting` says what counts
as nested and how precision is shared out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from spanproto.experiments.cells import Grid
from spanproto.experiments.columns import Column
from spanproto.experiments.filling import require_for_own_cells, run_own_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.paper.own_grid import own_grid
from spanproto.paper.page import Cell, Entry, Formatted, Page, Table, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import OWN, Scores
from spanproto.paper.variants import adapted, both, own_cell
from spanproto.samples import NESTED as SAMPLE

if TYPE_CHECKING:
    from spanproto.data.types import Episode
    from spanproto.methods.base import Method

EPISODES = 200
_PREFIX = "nested"
_TRAIN = {"GUM": "gum-nested/train.json", "GENIA": "genia-nested/genia.train-rebuilt.json"}
_TEST = {"GUM": "gum-nested/test.json", "GENIA": "genia-nested/genia.test.json"}
_FLAT, _NESTED = "flat", "nested"  # decodings, and scorings named after them
_MENTIONS = {
    "all mentions": ("micro",),
    "nested mentions": ("nesting", "nested"),
    "flat mentions": ("nesting", "flat"),
}
_STATES: Mapping[str, Callable[[str], str]] = {"as trained": str, "fine-tuned": adapted}
_HEADING = ("", "flat: F1", "flat: P / R", "nested: F1", "nested: P / R", "gain in F1")
_KEYS = ("mentions", "flat_f1", "flat", "nested_f1", "nested", "gain")
_SETTING = (
    "One model decoded flat (no shared word) and nested (one mention may lie within another). "
    "{ways}-way episodes; trained on {trained}, tested on {tested}, whose types are all new. A "
    "gold mention is nested if it contains another or lies in one. A right prediction counts with "
    "its gold mention; a wrong one with the nested mentions if it shares a word with one of them, "
    "with the flat ones otherwise. So both decodings are held against the same two groups, which "
    "add up to all mentions."
)
_CORPORA = {"trained": "one corpus", "tested": "the other"}
_SAMPLES = {"trained": "the bundled general sample", "tested": "the bundled biomedical one"}


class NestedNER(Recipe):
    """What nested decoding gains on nested and on flat mentions."""

    name = "nested"
    title = "Nested NER"
    place = "An extension named in Section 4.5"

    def require_inputs(self, bench: Bench) -> None:
        """Both corpora, and an encoder."""
        require_for_own_cells(*_grid_and_cells(bench))

    def run(self, bench: Bench) -> None:
        """Train on each corpus, and score both decodings on episodes of the other."""
        run_own_cells(*_grid_and_cells(bench), bench.workers)

    def takes(self, column: str, bench: Bench) -> bool:
        """The columns of nested corpora alone."""
        return any(column == own.name for own in ([QUICK] if bench.quick else COLUMNS))

    def page(self, scores: Scores) -> Page:
        """F1, precision and recall of both decodings on each kind of mention, and the gain."""
        quick = (scores.results / OWN / QUICK.name).exists()
        columns = [QUICK] if quick else COLUMNS
        tables = [_table(column, scores) for column in columns]
        remarks = [remark for column in columns for remark in _remarks(column, scores)]
        ways = columns[0].data["ways"]
        setting = _SETTING.format(ways=ways, **(_SAMPLES if quick else _CORPORA))
        return Page(f"{setting} {scores.described()}", tables, remarks)


class PrecisionRecall(NamedTuple):
    """Both in one cell of a table."""

    precision: float
    recall: float

    def __str__(self) -> str:
        """As the heading has them."""
        return f"{self.precision:.2f} / {self.recall:.2f}"

    def to_dict(self) -> dict[str, float]:
        """Plain values, ready for JSON."""
        return self._asdict()


@dataclass(frozen=True)
class ByNesting:
    """Scores a model with nested and flat mentions apart, fine-tuned to each episode or not."""

    seed: int
    adaptation: Mapping[str, Any] | None = None

    def __call__(self, model: "Method", episodes: "Sequence[Episode]") -> dict[str, Any]:
        """The report of the predictions, and their counts by nesting."""
        from spanproto.adaptation import predict_adapted
        from spanproto.benchmark import score_predictions
        from spanproto.evaluation.by_nesting import score_by_nesting
        from spanproto.prediction import predict_all

        if self.adaptation is None:
            found = list(predict_all(model, episodes))
        else:
            settings = model.adaptation({**self.adaptation, "seed": self.seed})
            found = list(predict_adapted(model, episodes, settings))
        spans = [[sentence.spans for sentence in sentences] for sentences in found]
        report = score_predictions(episodes, found, "crossdomain")
        return {**report.to_dict(), "nesting": score_by_nesting(episodes, spans).to_dict()}


def _column(tested: str, trained: str, shots: int) -> Column:
    """5-way episodes of one corpus, for a model trained on such episodes of the other."""
    return _episodes(f"{_PREFIX}-{tested}-{shots}", _TRAIN[trained], _TEST[tested], 5, shots)


def _episodes(name: str, train: str, test: str, ways: int, shots: int) -> Column:
    data = {
        "train": [train],
        "ways": ways,
        "shots": shots,
        "query_shots": shots,
        "protocol": "crossdomain",
    }
    return Column(name, "crossdomain", data, test, setting=(ways, shots, shots))


COLUMNS = [
    _column(tested, trained, shots)
    for tested, trained in (("GENIA", "GUM"), ("GUM", "GENIA"))
    for shots in (1, 5)
]


def column_named(tested: str, shots: int) -> Column:
    """The column of a corpus and a number of shots."""
    return next(one for one in COLUMNS if one.name == f"{_PREFIX}-{tested}-{shots}")


QUICK = _episodes(f"{_PREFIX}-sample-1", "general.json", "biomedical.json", 3, 1)


def _grid_and_cells(bench: Bench) -> tuple[Grid, list[OwnCell]]:
    cells = [
        _cell(column, seed, bench.quick)
        for column in ([QUICK] if bench.quick else COLUMNS)
        if not bench.columns or column.name in bench.columns
        for seed in bench.seeds
    ]
    return own_grid(bench, SAMPLE if bench.quick else bench.data, EPISODES), cells


def _cell(column: Column, seed: int, quick: bool) -> OwnCell:
    """The system of the cross-domain tables; there, Wiki is GUM without nesting."""

    def scorings(like: str) -> list[Scoring]:
        return [
            *both(like, _FLAT, ["extractor.decoding=flat"]),
            *both(like, _NESTED, ["extractor.decoding=nested"]),
        ]

    own = own_cell(column, int(column.data["shots"]), seed, scorings, shortened=quick)
    looking = tuple(_looking(scoring, seed) for scoring in own.cell.scorings)
    return own._replace(cell=replace(own.cell, scorings=looking))


def _looking(scoring: Scoring, seed: int) -> Scoring:
    return replace(scoring, look=ByNesting(seed, scoring.adaptation))


def _table(column: Column, scores: Scores) -> Table:
    """Both decodings side by side, for the model as trained and fine-tuned."""
    rows = [
        (f"{state}, {mentions}", _row(column.name, named, keys, scores))
        for state, named in _STATES.items()
        for mentions, keys in _MENTIONS.items()
    ]
    return Table(_HEADING, rows, _title(column), keys=_KEYS)


def _title(column: Column) -> str:
    tested, shots = column.name.removeprefix(f"{_PREFIX}-").rsplit("-", 1)
    return f"{tested}, {shots}~{2 * int(shots)} shots"


def _row(
    column: str, named: Callable[[str], str], keys: tuple[str, ...], scores: Scores
) -> list[Cell]:
    """F1, and precision and recall, of each decoding on one kind of mention; then the gain."""

    def entry(decoding: str, figure: str) -> Entry:
        return Entry(measured=scores.values(column, named(decoding), *keys, figure))

    cells: list[Cell] = []
    for decoding in (_FLAT, _NESTED):
        precision, recall = entry(decoding, "precision").mean, entry(decoding, "recall").mean
        cells.append(entry(decoding, "f1"))
        if precision is None or recall is None:
            cells.append("")
        else:
            cells.append(PrecisionRecall(precision, recall))
    gain = _gain(column, named, keys, scores)
    return [*cells, "" if gain is None else Formatted(gain, signed(gain))]


def _gain(
    column: str, named: Callable[[str], str], keys: tuple[str, ...], scores: Scores
) -> float | None:
    """What nested decoding adds to F1 on one kind of mention, if both decodings are known."""
    flat, nested = (
        Entry(measured=scores.values(column, named(decoding), *keys, "f1")).mean
        for decoding in (_FLAT, _NESTED)
    )
    return None if flat is None or nested is None else nested - flat


def _remarks(column: Column, scores: Scores) -> list[str]:
    """What nested decoding gains on each kind of mention; the paper has nothing beside it."""
    found = []
    for state, named in _STATES.items():
        gains = {
            mentions: gain
            for mentions, keys in _MENTIONS.items()
            if (gain := _gain(column.name, named, keys, scores)) is not None
        }
        if gains:
            listed = ", ".join(f"{signed(gain)} on {kind}" for kind, gain in gains.items())
            found.append(
                f"{_title(column)}, {state}: nested decoding changes F1 by {listed}; the paper "
                "names the extension and has no figure for it."
            )
    return found
