"""The margin r: trained and scored with each value."""

from spanproto.experiments.cells import Cell, Scoring
from spanproto.paper import published
from spanproto.paper.comparison import column_title, group_of
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.sweeps import CLASSIFIER, Series, best_setting, columns_with, sweep_table
from spanproto.paper.variants import both, sweep_places, varied

MARGINS = {str(margin): f"margin-{margin}" for margin in range(1, 7)}
REJECTING = ("classifier.reject=true",)
_PUBLISHED = "published average"
_REJECTED, _KEPT = "beyond r rejected", "nothing rejected"
_SERIES = (
    Series(_REJECTED, "", CLASSIFIER),
    Series("beyond r rejected, fine-tuned", "-adapted", CLASSIFIER),
    Series(_KEPT, "-kept", CLASSIFIER),
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
                (*both(column, name, REJECTING), Scoring(f"{name}-kept")),
            )
            for column, seed in sweep_places(bench)
            for margin, name in MARGINS.items()
        ]

    def page(self, scores: Scores) -> Page:
        """A table for each column that was run, beside the paper's averages."""
        columns = columns_with(scores, MARGINS.values()) or ["inter-5w1", "news-1"]
        tables = [self._table(scores, column) for column in columns]
        setting = (
            "Pooled micro F1. The paper has averages over the settings of a benchmark, so compare "
            f"where each column is highest rather than how high it is. {scores.described()}"
        )
        remarks = [
            remark
            for column, table in zip(columns, tables, strict=True)
            if (remark := _remark(column, table))
        ]
        return Page(setting, tables, remarks)

    def _table(self, scores: Scores, column: str) -> Table:
        measured = sweep_table(scores, column, "r", MARGINS, _SERIES)
        group = group_of(column)
        return Table(
            ("r", _PUBLISHED, *measured.heading[1:]),
            [
                (margin, [Entry(None, (published.MARGIN[margin][group],)), *cells])
                for margin, cells in measured.rows
            ],
            column_title(column),
        )


def _remark(column: str, table: Table) -> str | None:
    best, kept, paper = (best_setting(table, title) for title in (_REJECTED, _KEPT, _PUBLISHED))
    if best is None or paper is None:
        return None
    beside = "" if kept is None else f", where nothing rejected has {kept[1]:.2f} at best"
    return (
        f"{column_title(column)}: the best r is {best[0]} here (F1 {best[1]:.2f}{beside}) and "
        f"{paper[0]} in the paper; how far spans lie from prototypes depends on the encoder and on "
        "the width of its states, so r does not carry over."
    )
