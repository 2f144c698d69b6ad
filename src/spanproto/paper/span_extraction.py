"""How well spans are found, whatever their types: SpanProto's extractor against two others."""

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.paper import published
from spanproto.paper.comparison import Row, averages, column_title, remarks
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import ADAPTED, PLAIN, places_of

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
        ADAPTED,
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
        """The main tables' cells of these systems."""
        return [
            cell
            for place in places_of(bench, COLUMNS)
            for cell in (spanproto_cell(*place), *baseline_cells(*place))
            if cell.system in published.SPAN_EXTRACTION
        ]

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
            f"of each benchmark. {scores.described()}"
        )
        return Page(setting, [table, *([measured] if rows else [])], remarks(_ROWS, [table]))
