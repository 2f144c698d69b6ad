"""How well spans are found, whatever their types: SpanProto's extractor against two others."""

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import baseline_cells
from spanproto.paper import published
from spanproto.paper.ablation import WHOLE, whole_scorings
from spanproto.paper.comparison import Row, averages, column_title, remarks
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import PLAIN, adapted, places_of, varied

SPANS = ("span", "f1")
_ROWS = [
    Row("esd", "ESD", published.SPAN_EXTRACTION["esd"], "boundaries of what it predicts"),
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
        "the extractor has never seen the types of the test, and nothing tells it of them",
    ),
    Row(
        adapted(WHOLE),
        "SpanProto, fine-tuned",
        published.SPAN_EXTRACTION[PLAIN],
        "the support set tells the extractor what counts as an entity",
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
        return Page(setting, [table, *([measured] if rows else [])], remarks(_ROWS, [table]))
