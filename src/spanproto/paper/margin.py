"""The margin r: trained and scored with each value."""

from collections.abc import Mapping
from dataclasses import replace

from spanproto.experiments.cells import Cell
from spanproto.experiments.scoring import Scoring
from spanproto.paper import published
from spanproto.paper.comparison import (
    Row,
    averages,
    column_title,
    distance,
    group_of,
    remarks,
)
from spanproto.paper.page import Cell as Shown
from spanproto.paper.page import Entry, Page, Table, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.repeats import SMALL, repeated
from spanproto.paper.scores import F1, Scores
from spanproto.paper.sweeps import (
    Series,
    best_settings,
    columns_with,
    measured_settings,
    sweep_table,
)
from spanproto.paper.variants import PLAIN, SWEEP_COLUMNS, both, sweep_places, varied

MARGINS = {f"{margin:g}": f"margin-{margin:g}" for margin in published.SCOPE["r"]}
_CHOSEN = f"{published.CHOSEN['r']:g}"
_REJECTED, _KEPT = "beyond r rejected", "nothing rejected"
_SERIES = (
    Series(_REJECTED, "", F1),
    Series("beyond r rejected, fine-tuned", "-adapted", F1),
    Series(_KEPT, "-kept", F1),
)
_SETTING = (
    "Pooled micro F1. The paper has averages over the settings of a benchmark, which stand beside "
    "measured ones where all its columns have been run (`--columns`; without it "
    f"{' and '.join(SWEEP_COLUMNS)} are). In the tables of one column it has the figure of r = "
    f"{_CHOSEN} alone, that of its main tables. The published "
    "5-shot averages have OntoNotes in them, which has no 5-shot episodes here, so no difference "
    "is stated."
)
_WHY = "how far spans lie from prototypes depends on the encoder and on the width of its states"
_REST = "the rest is what the main tables differ by, which see"


class Margin(Recipe):
    """F1 over r, with the rejection that r is for and without it."""

    name = "margin"
    title = "The margin r"
    place = "Table 6 (tab:hyper-parameter2)"

    def cells(self, bench: Bench) -> list[Cell]:
        """A training for each r, since the margin loss has it too."""
        return [
            varied(
                column,
                seed,
                name,
                {"classifier": {"margin": float(margin)}},
                (*both(column, name, ("classifier.reject=true",)), Scoring(f"{name}-kept")),
            )
            for column, seed in sweep_places(bench)
            for margin, name in MARGINS.items()
        ]

    def page(self, scores: Scores) -> Page:
        """The averages, and a table for each column that was run."""
        rows = [
            Row(name, f"r = {margin}", published.MARGIN[margin], _WHY)
            for margin, name in MARGINS.items()
        ]
        whole = replace(averages(scores, rows, published.GROUPS), title="averages")
        columns = columns_with(scores, MARGINS.values())
        tables = [_table(scores, column) for column in columns]
        found = remarks(rows, [whole])
        for column, table in zip(columns, tables, strict=True):
            found += _remarks(column, table)
        found += repeated(scores, columns)
        return Page(f"{_SETTING} {scores.described()}", [whole, *tables], found)


def _table(scores: Scores, column: str) -> Table:
    """What was measured, beside the one figure that the paper has for the column."""
    measured = sweep_table(scores, column, "r", MARGINS, _SERIES)
    main = {**published.MAIN_FEWNERD[PLAIN], **published.MAIN_CROSSDOMAIN[PLAIN]}
    rows = [
        (setting, [_beside(cells[0], main[column]), *cells[1:]] if setting == _CHOSEN else cells)
        for setting, cells in measured.rows
    ]
    return replace(measured, rows=rows, title=column_title(column))


def _rejection(rejected: Mapping[str, float], kept: Mapping[str, float]) -> str:
    """What rejecting by each r is worth with the same weights, where that is known."""
    gains = {margin: rejected[margin] - figure for margin, figure in kept.items()}
    if len(gains) < len(rejected):
        return _WHY
    most = max(gains, key=gains.__getitem__)
    said = (
        f"with the same weights, rejection changes F1 by {signed(gains[most])} at best, r = {most}"
    )
    if gains[most] < SMALL:
        return f"{said}, which may be chance"
    return f"{said}; {_WHY}"


def _beside(cell: Shown, figure: float) -> Shown:
    return cell._replace(published=figure) if isinstance(cell, Entry) else cell


def _remarks(column: str, table: Table) -> list[str]:
    """How far the paper's r is from the published figure and, once all is run, which is best."""
    found, at_chosen = [], dict(table.rows)[_CHOSEN][0]
    title = column_title(column)
    best, kept = best_settings(table, _REJECTED), measured_settings(table, _KEPT)
    if isinstance(at_chosen, Entry) and at_chosen.difference is not None:
        said, f1 = distance({column: at_chosen.difference}), at_chosen.mean or 0.0
        if _CHOSEN in kept:
            said += f"; with the same weights, rejection changes F1 by {signed(f1 - kept[_CHOSEN])}"
        found.append(f"{title}, r = {_CHOSEN}: {said}; {_REST}.")
    if best is not None:
        by_group = {
            margin: figures[group_of(column)] for margin, figures in published.MARGIN.items()
        }
        paper = max(by_group, key=by_group.__getitem__)
        said = f"{title}: {best.said_of('r')} here, and in the paper's average it is {paper}"
        found.append(f"{said}; {_rejection(measured_settings(table, _REJECTED), kept)}.")
    return found
