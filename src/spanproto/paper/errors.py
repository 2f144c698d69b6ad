"""The error analysis: are false positives wrong in their boundary, or in their type alone?"""

from spanproto.experiments.cells import Cell
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.page import NOT_RUN, Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import ADAPTED, PLAIN

COLUMN = "inter-5w1"
_KEYS = {
    "f1": ("micro", "f1"),
    "fp_span": ("false_positives", "fp_span"),
    "fp_type": ("false_positives", "fp_type"),
}
_NO_SHARES = {
    name: total
    for name, row in published.ERRORS.items()
    if abs((total := row["fp_span"] + row["fp_type"]) - 100) > 0.01
}
"""Whose published shares do not add up to 100, and to what they do."""
_MISPRINTED = ("decommeta",)  # a row that is of another table, F1 and all


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
        scorings[ADAPTED] = ("SpanProto, fine-tuned and fitted", PLAIN)
        rows = [
            (title, [_entry(scores, scoring, name, kind) for kind in _KEYS])
            for scoring, (title, name) in scorings.items()
        ]
        table = Table(("Few-NERD INTER 5-way 1~2-shot", "F1", "FP-Span", "FP-Type"), rows)
        setting = (
            "FP-Span is the share of the false positives whose boundary is wrong, FP-Type that of "
            f"a right boundary and a wrong type, so they add up to 100 %. {scores.described()}"
        )
        return Page(setting, [table], _remarks(rows))


def _entry(scores: Scores, scoring: str, name: str, kind: str) -> Entry:
    """One figure; shares of those seeds that have false positives at all."""
    measured = scores.values(COLUMN, scoring, *_KEYS[kind])
    absent = NOT_RUN
    if kind != "f1" and measured:
        counts = scores.values(COLUMN, scoring, "false_positives", "count")
        measured = tuple(share for share, n in zip(measured, counts, strict=True) if n)
        absent = "none"
    comparable = name not in _NO_SHARES or (kind == "f1" and name not in _MISPRINTED)
    return Entry(published.ERRORS[name][kind], measured, comparable, absent)


def _remarks(rows: list[tuple[str, list[Entry]]]) -> list[str]:
    """What the shares say, and which published ones cannot be shares."""
    found = []
    for title, (_, span, _) in rows:
        if span.difference is not None:
            more = "boundaries" if span.difference > 0 else "types"
            found.append(
                f"{title}: false positives are wrong in their {more} more often than published, "
                f"by {abs(span.difference):.1f} points of their share."
            )
    listed = " and ".join(
        f"{METHODS[name].title} ({total:.2f})" for name, total in _NO_SHARES.items()
    )
    found.append(
        f"The published shares do not add up to 100 for {listed}, and DecomMeta's three figures "
        "are those of Table 5, so no difference from them is stated."
    )
    return found
