"""The error analysis: are false positives wrong in their boundary, or in their type alone?"""

from spanproto.experiments.cells import Cell
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.comparison import distance
from spanproto.paper.page import NOT_RUN, Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import F1, Scores
from spanproto.paper.variants import ADAPTED, PLAIN

COLUMN = "inter-5w1"
_KEYS = {
    "f1": F1,
    "fp_span": ("false_positives", "fp_span"),
    "fp_type": ("false_positives", "fp_type"),
}
_NO_SHARES = {
    name: total
    for name, row in published.ERRORS.items()
    if abs((total := row["fp_span"] + row["fp_type"]) - 100) > 0.01
}
"""Whose published shares do not add up to 100, and to what they do."""
_SMALL = 0.05  # points, which are printed as none
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
        systems = {name: METHODS[name].title for name in published.ERRORS}
        scorings = {title: (name, name) for name, title in systems.items()}
        scorings["SpanProto, fine-tuned and fitted"] = (ADAPTED, PLAIN)
        rows = [
            (title, [_entry(scores, *known, kind) for kind in _KEYS])
            for title, known in scorings.items()
        ]
        table = Table(("Few-NERD INTER 5-way 1~2-shot", "F1", "FP-Span", "FP-Type"), rows)
        setting = (
            "FP-Span is the share of the false positives whose boundary is wrong, FP-Type that of "
            "a right boundary and a wrong type, so they add up to 100 %. What is "
            f"known of why F1 differs stands below Table 2. {scores.described()}"
        )
        found = [_remark(title, scorings[title][1], entries) for title, entries in rows]
        return Page(setting, [table], [*filter(None, found), _MISPRINTS])


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


def _remark(title: str, name: str, entries: list[Entry]) -> str:
    """How far F1 and the shares of a row are from the published ones, and what is known of why."""
    f1, span, _ = entries
    if f1.mean is None:
        return ""
    parts = [_f1_distance(name, f1)]
    if span.difference is not None and abs(span.difference) < _SMALL:
        parts.append("its false positives are divided as published")
    elif span.difference is not None:
        more = "boundaries" if span.difference > 0 else "types"
        parts.append(
            f"its false positives are wrong in their {more} more often than published, by "
            f"{abs(span.difference):.1f} points of their share"
        )
    elif span.mean is not None:
        parts.append(
            f"{span.mean:.1f} % of its false positives are wrong in their boundaries, which the "
            "published shares cannot be compared with"
        )
    else:
        parts.append("it has no false positives")
    return f"{title}: {'; '.join(parts)}."


def _f1_distance(name: str, f1: Entry) -> str:
    if f1.difference is not None:
        return f"F1 is {distance({COLUMN: f1.difference})}, as in Table 2"
    own = published.MAIN_FEWNERD[name][COLUMN]
    gap = distance({COLUMN: (f1.mean or 0.0) - own})
    return f"F1 is {gap} of Table 2 ({own:.2f})"


_MISPRINTS = (
    "The published shares do not add up to 100 for "
    + " and ".join(f"{METHODS[name].title} ({total:.2f})" for name, total in _NO_SHARES.items())
    + ", and DecomMeta's three figures are those of Table 5, so no difference from them is stated."
)
