"""The margin r: trained and scored with each value."""

from dataclasses import replace

from spanproto.experiments.cells import Cell
from spanproto.experiments.scoring import Scoring
from spanproto.paper import published
from spanproto.paper.comparison import Row, averages, column_title, group_of
from spanproto.paper.page import Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.sweeps import CLASSIFIER, Series, best_setting, columns_with, sweep_table
from spanproto.paper.variants import SWEEP_COLUMNS, both, sweep_places, varied

MARGINS = {str(margin): f"margin-{margin}" for margin in range(1, 7)}
_REJECTED, _KEPT = "beyond r rejected", "nothing rejected"
_SERIES = (
    Series(_REJECTED, "", CLASSIFIER),
    Series("beyond r rejected, fine-tuned", "-adapted", CLASSIFIER),
    Series(_KEPT, "-kept", CLASSIFIER),
)
_SETTING = (
    "Pooled micro F1. The paper has averages over the settings of a benchmark, which stand beside "
    "measured ones where all its columns have been run (`--columns`; without it "
    f"{' and '.join(SWEEP_COLUMNS)} are); in the tables of one column, see where it is highest. "
    "The published 5-shot averages have OntoNotes in them, which has no 5-shot episodes here, so "
    "no difference is stated."
)


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
        rows = [Row(name, margin, published.MARGIN[margin]) for margin, name in MARGINS.items()]
        whole = averages(scores, rows, published.GROUPS)
        whole = replace(whole, heading=("r", *whole.heading[1:]), title="averages")
        columns = columns_with(scores, MARGINS.values())
        tables = [_table(scores, column) for column in columns]
        remarks = [_remark(column, table) for column, table in zip(columns, tables, strict=True)]
        found = [remark for remark in remarks if remark]
        return Page(f"{_SETTING} {scores.described()}", [whole, *tables], found)


def _table(scores: Scores, column: str) -> Table:
    measured = sweep_table(scores, column, "r", MARGINS, _SERIES)
    return replace(measured, title=column_title(column))


def _remark(column: str, table: Table) -> str:
    best, kept = (best_setting(table, title) for title in (_REJECTED, _KEPT))
    if best is None:
        return ""
    group = group_of(column)
    paper = max(published.MARGIN, key=lambda margin: published.MARGIN[margin][group])
    beside = "" if kept is None else f", where nothing rejected has {kept.figure:.2f} at best"
    return (
        f"{column_title(column)}: the best r is {best} here (F1 {best.figure:.2f}{beside}) and "
        f"{paper} in the paper's average; how far spans lie from prototypes depends on the encoder "
        "and on the width of its states."
    )
