"""The error analysis: are false positives wrong in their boundary, or in their type alone?"""

from spanproto.experiments.cells import Cell
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import ADAPTED, PLAIN

COLUMN = "inter-5w1"
_KEYS = {
    "f1": ("micro", "f1"),
    "fp_span": ("false_positives", "fp_span"),
    "fp_type": ("false_positives", "fp_type"),
}


class Errors(Recipe):
    """FP-Span and FP-Type as shares of the false positives."""

    name = "errors"
    title = "Error analysis"
    place = "Table 7 (tab:error_analysis)"

    def cells(self, bench: Bench) -> list[Cell]:
        """The main table's cells of one column."""
        return [
            cell
            for seed in bench.seeds
            for cell in (spanproto_cell(COLUMN, seed), *baseline_cells(COLUMN, seed))
            if cell.system in published.ERRORS
        ]

    def page(self, scores: Scores) -> Page:
        """Published and measured shares of each system."""
        scorings = {name: (METHODS[name].title, name) for name in published.ERRORS}
        scorings[ADAPTED] = ("SpanProto, fine-tuned", PLAIN)
        rows = [
            (
                title,
                [
                    Entry(published.ERRORS[name][kind], scores.values(COLUMN, scoring, *keys))
                    for kind, keys in _KEYS.items()
                ],
            )
            for scoring, (title, name) in scorings.items()
        ]
        table = Table(("Few-NERD INTER 5-way 1~2-shot", "F1", "FP-Span", "FP-Type"), rows)
        setting = (
            "FP-Span is the share of the false positives whose boundary is wrong, FP-Type that of "
            f"a right boundary and a wrong type, so they add up to 100 %. {scores.described()}"
        )
        return Page(setting, [table], _remarks(rows))


def _remarks(rows: list[tuple[str, list[Entry]]]) -> list[str]:
    """What the shares say, and which published ones cannot be shares."""
    found = []
    for title, (_, span, kind) in rows:
        if span.difference is not None and (span.mean or kind.mean):
            more = "boundaries" if span.difference > 0 else "types"
            found.append(
                f"{title}: false positives are wrong in their {more} more often than published, "
                f"by {abs(span.difference):.1f} points of their share."
            )
    sums = {
        METHODS[name].title: row["fp_span"] + row["fp_type"]
        for name, row in published.ERRORS.items()
        if abs(row["fp_span"] + row["fp_type"] - 100) > 0.01
    }
    listed = " and ".join(f"{title} ({total:.2f})" for title, total in sums.items())
    found.append(
        f"The published shares do not add up to 100 for {listed}; DecomMeta's three figures are "
        "those of Table 5, so they compare with nothing here."
    )
    return found
