"""The main results: every system on every column, SpanProto by both candidate rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanproto.experiments.cells import Cell, Scoring
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import SEEDS, baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published, quick
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores

RELEASED = Scoring("spanproto-released", candidates="released")


@dataclass(frozen=True)
class MainResults(Recipe):
    """One of the two large tables."""

    name: str
    title: str
    place: str
    published: Mapping[str, Mapping[str, float]]
    columns: Sequence[str]

    def cells(self, bench: Bench) -> list[Cell]:
        """SpanProto, also with the gold spans handed in, and every other system of the table."""
        columns = bench.columns or (quick.COLUMNS if bench.quick else tuple(COLUMNS))
        wanted = [column for column in columns if column in self.columns]
        found = []
        for seed in bench.seeds or SEEDS[:1]:
            for column in wanted:
                own = spanproto_cell(column, seed)
                found.append(replace(own, scorings=(*own.scorings, RELEASED)))
                for cell in baseline_cells(column, seed):
                    of_table = tuple(s for s in cell.scorings if s.name in self.published)
                    if of_table:
                        found.append(replace(cell, scorings=of_table))
        return found

    def page(self, scores: Scores) -> Page:
        """Published and measured F1 of each system."""
        names = {name: METHODS[name].title for name in self.published}
        rows = {name: (title, self.published[name]) for name, title in names.items()}
        rows["spanproto-adapted"] = ("SpanProto, fine-tuned", self.published["spanproto"])
        rows[RELEASED.name] = ("SpanProto, gold spans handed in", self.published["spanproto"])
        half = len(self.columns) // 2
        tables = [
            Table(
                ("", *part),
                [
                    (
                        title,
                        [
                            Entry(
                                figures.get(column), scores.values(column, scoring, "micro", "f1")
                            )
                            for column in part
                        ],
                    )
                    for scoring, (title, figures) in rows.items()
                ],
            )
            for part in (self.columns[:half], self.columns[half:])
        ]
        return Page("Pooled micro F1.", tables)


FEWNERD = MainResults(
    "fewnerd",
    "Main results on Few-NERD",
    "Table 2 (tab:fewnerd)",
    published.MAIN_FEWNERD,
    published.FEWNERD,
)
CROSSDOMAIN = MainResults(
    "crossdomain",
    "Main results on the cross-domain data",
    "Table 3 (tab:crossner)",
    published.MAIN_CROSSDOMAIN,
    published.CROSSDOMAIN,
)
