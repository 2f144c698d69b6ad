"""How well spans are found, whatever their types: SpanProto's extractor against two others."""

from collections.abc import Sequence
from statistics import fmean

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import baseline_cells
from spanproto.paper import published
from spanproto.paper.ablation import whole_scorings
from spanproto.paper.comparison import GROUPS, Row, averages, column_title, group_title
from spanproto.paper.page import Cell as Shown
from spanproto.paper.page import Entry, Page, Table, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN, WHOLE, adapted, places_of, varied

SPANS = ("span", "f1")
_ROWS = [
    Row(
        "esd",
        "ESD",
        published.SPAN_EXTRACTION["esd"],
        "its boundaries are those of the entities that it predicts",
    ),
    Row(
        "decommeta",
        "DecomMeta",
        published.SPAN_EXTRACTION["decommeta"],
        "its tagger is fine-tuned to the support set, as SpanProto's second row is",
    ),
    Row(
        PLAIN,
        "SpanProto",
        published.SPAN_EXTRACTION[PLAIN],
        "what it finds by itself is scored here, and the released evaluation hands the gold spans "
        "in",
    ),
    Row(
        adapted(WHOLE),
        "SpanProto, fine-tuned",
        published.SPAN_EXTRACTION[PLAIN],
        "the same, and the support set tells the extractor what counts as an entity",
    ),
]


class SpanExtraction(Recipe):
    """The table of averages, and what was measured for each setting."""

    name = "span-extraction"
    title = "Span extraction against ESD and DecomMeta"
    place = "Table 5 (tab:span_comparison)"

    def cells(self, bench: Bench) -> list[Cell]:
        """The main tables' cells of the others, and SpanProto's as far as its extractor decides."""
        cells = []
        for column, seed in places_of(bench, COLUMNS):
            scorings = (Scoring(PLAIN), *whole_scorings(column))
            cells.append(varied(column, seed, PLAIN, {}, scorings))
            others = baseline_cells(column, seed)
            cells += [cell for cell in others if cell.system in published.SPAN_EXTRACTION]
        return cells

    def page(self, scores: Scores) -> Page:
        """F1 of the boundaries of all predicted entities, types ignored."""
        table = averages(scores, _ROWS, published.GROUPS, SPANS)
        rows = [
            (
                column_title(column),
                [Entry(None, scores.values(column, row.scoring, *SPANS)) for row in _ROWS],
            )
            for column in (*published.FEWNERD, *published.CROSSDOMAIN)
            if any(scores.files(column, row.scoring) for row in _ROWS)
        ]
        measured = Table(("measured", *(row.title for row in _ROWS)), rows)
        setting = (
            "F1 of the boundaries of what is predicted, types ignored; averages over the settings "
            "of each benchmark. SpanProto's are those that its extractor finds with the threshold "
            "of 0.50, fine-tuned or not. The published 5-shot averages have OntoNotes in them, "
            "which has no 5-shot episodes here, so no difference is stated. "
            f"{scores.described()}"
        )
        found = [_remark(scores, row, dict(table.rows)[row.title]) for row in _ROWS]
        return Page(setting, [table, *([measured] if rows else [])], [*filter(None, found)])


def _remark(scores: Scores, row: Row, averaged: Sequence[Shown]) -> str:
    """A row's distance from the published averages; of some columns alone, both figures."""
    parts = []
    for group, cell in zip(published.GROUPS, averaged, strict=True):
        found = [scores.values(column, row.scoring, *SPANS) for column in GROUPS[group]]
        run = [fmean(values) for values in found if values]
        if run and isinstance(cell, Entry):
            parts.append(f"{group_title(group)} {_beside(cell, run, len(found))}")
    return f"{row.title}: {', '.join(parts)}; {row.why}." if parts else ""


def _beside(average: Entry, run: Sequence[float], columns: int) -> str:
    """How the columns that were run stand to a published average, which may be of others."""
    if average.difference is not None:
        return f"{signed(average.difference, 1)} points from the published average"
    some = f" over {len(run)} of {columns} columns" if len(run) < columns else ""
    there = "none" if average.published is None else f"{average.published:.2f} over all"
    return f"{fmean(run):.2f}{some} ({there} published)"
