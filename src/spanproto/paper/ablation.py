"""The ablations: SpanProto without its extractor, its classifier or its margin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from spanproto.experiments.cells import Cell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import spanproto_cell
from spanproto.paper import published
from spanproto.paper.comparison import (
    Row,
    averages,
    column_title,
    comparison,
    comparison_table,
    differences,
    distance,
    remarks,
)
from spanproto.paper.page import Page, Table, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.repeats import SMALL, repeated
from spanproto.paper.scores import F1, Scores
from spanproto.paper.variants import (
    PLAIN,
    SWEEP_COLUMNS,
    WHOLE,
    adapted,
    both,
    sweep_places,
    varied,
)

REJECTING = "margin-3"  # SpanProto as the paper has it: spans farther than r = 3 are rejected

# What is changed of SpanProto; `no-extractor` is another method.
_VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "no-classifier": {
        "classifier": {"centres": "k-means", "projection": "none"},
        "objective": {"joint_weight": 0.0},
    },
    "no-margin": {"classifier": {"margin_loss": False, "reject": False}},
    "all-spans": {
        "extractor": {"head": "none"},
        "decision": {
            "rule": "joint",
            "boundary_weight": 0.0,
            "type_weight": 0.0,
            "distance_weight": -1.0,
            "bias": 3.0,  # r, so that a span at this distance has the score 0.5
        },
        "objective": {"extractor_steps": 0},
    },
}
_NAMES = {
    "no-extractor": "w/o span extractor (words, as ProtoBERT)",
    "all-spans": "w/o span extractor (all short spans)",
    "no-classifier": "w/o mention classifier (K-means)",
    "no-margin": "w/o margin-based learning",
}
_DECISION = (
    "Whatever has an extractor takes the spans above its threshold of 0.50, and rejects none for "
    "its distance unless the row says so. Without an extractor, words are labelled, or all short "
    "spans are scored by their distance to the prototypes. Labelling words has no fine-tuning, as "
    "ProtoBERT has none. What leaving a part out costs is taken from the seeds that both rows have."
)
_WHY = {
    PLAIN: "no span is rejected here, and the candidates are the extractor's own",
    REJECTING: "spans farther than r = 3 from every prototype are dropped, as in the paper",
    "no-extractor": "three of the paper's four averages of this row are ProtoBERT's, which here "
    "has SpanProto's schedule, states of the last layer and no dropout, unlike in the main tables",
    "all-spans": "the paper has no such row; without boundaries all short spans compete",
    "no-classifier": "the clusters begin at the means of the types, which keeps their names",
    "no-margin": "neither the loss nor the rejection is there, of which the first row of the table "
    "lacks the rejection alone",
}
_NEEDS = {"sklearn": "plots"}  # K-means


def ablation_cells(column: str, seed: int) -> list[Cell]:
    """The full model, with and without rejection, and each variant."""
    full = (
        Scoring(PLAIN),
        *whole_scorings(column),
        *both(column, REJECTING, ("classifier.reject=true",)),
    )
    cells = [varied(column, seed, PLAIN, {}, full)]
    cells += [
        varied(column, seed, name, model, both(column, name)) for name, model in _VARIANTS.items()
    ]
    words = {"method": "protobert", "model": {"layers": 1, "dropout": 0.0}}
    run = {**words, "training": spanproto_cell(column, seed).run["training"]}
    cells.append(Cell("no-extractor", column, seed, run, (Scoring("no-extractor"),)))
    return cells


def whole_scorings(column: str) -> list[Scoring]:
    """The full model by the paper's decision, as trained and fine-tuned."""
    return both(column, WHOLE, deciding=("extractor.threshold=0.50",))


def _rows(figures: Mapping[str, Mapping[str, float]]) -> list[Row]:
    own, spread = figures[PLAIN], published.DEVIATIONS
    rows = [
        Row(PLAIN, "SpanProto", own, _WHY[PLAIN], spread[PLAIN]),
        Row(adapted(WHOLE), "SpanProto, fine-tuned"),
        Row(REJECTING, "SpanProto, rejecting beyond r", own, _WHY[REJECTING], spread[PLAIN]),
        Row(adapted(REJECTING), "SpanProto, rejecting beyond r, fine-tuned"),
    ]
    for name, title in _NAMES.items():
        printed = figures.get(name, {})
        rows.append(Row(name, title, printed, _WHY[name], spread.get(name, {})))
        if name != "no-extractor":  # words are not fine-tuned to support sets
            rows.append(Row(adapted(name), f"{title}, fine-tuned"))
    return rows


def _remarks(
    scores: Scores,
    figures: Mapping[str, Mapping[str, float]],
    rows: Sequence[Row],
    tables: Sequence[Table],
    columns: Sequence[str],
) -> list[str]:
    """A sentence on each row: what leaving a part out costs there and here, and the distance."""
    found = remarks([row for row in rows if row.scoring not in _NAMES], tables)
    found += repeated(scores, columns)
    for row in rows:
        if row.scoring in _NAMES:
            gaps = differences(row.title, tables)
            parts = [
                _costs(scores, figures, row.scoring, columns),
                f"F1 is {distance(gaps)}" if gaps else "",
            ]
            said = [part for part in parts if part]
            if said:
                found.append(f"{row.title}: {'; '.join([*said, row.why])}.")
    return found


def _costs(
    scores: Scores,
    figures: Mapping[str, Mapping[str, float]],
    name: str,
    columns: Sequence[str],
) -> str:
    """What leaving a part out costs, in the paper and here, where the full model is known too.

    What the margin is worth is seen against the model that rejects by it, as the paper's does, and
    against the one that does not, so that the loss is seen by itself.
    """
    full = REJECTING if name == "no-margin" else PLAIN
    own, here = figures.get(name, {}), _cost_here(scores, full, name, columns)
    if not here:
        return ""
    there = {column: figures[PLAIN][column] - own[column] for column in here if column in own}
    alone = _cost_here(scores, PLAIN, name, columns) if full == REJECTING else {}
    said = []
    for column, points in here.items():
        paper = f"{_cost(there[column])} in the paper and " if column in there else ""
        beside = ", beside the model that rejects beyond r" if full == REJECTING else ""
        also = f", and {_cost(alone[column])} beside the first row" if column in alone else ""
        said.append(f"on {column_title(column)} it {paper}{_cost(points)} here{beside}{also}")
    return "; ".join(said)


def _cost_here(scores: Scores, full: str, name: str, columns: Sequence[str]) -> dict[str, float]:
    """By how much a variant is below the full model on each column of which both are known."""
    found = {}
    for column in columns:
        seeds = scores.common_seeds(column, (full, name))
        whole, part = (scores.values(column, one, *F1, seeds=seeds) for one in (full, name))
        if whole and part:
            found[column] = fmean(whole) - fmean(part)
    return found


def _cost(points: float) -> str:
    """In words; what training again may give is neither."""
    if abs(points) < SMALL:
        return f"makes no difference to speak of ({signed(round(-points, 1) + 0.0, 1)})"
    return f"{'costs' if points >= 0 else 'gains'} {abs(points):.1f} points"


@dataclass(frozen=True)
class Ablation(Recipe):
    """The detailed tables of the appendix, a column for each setting."""

    name: str
    title: str
    place: str
    published: Mapping[str, Mapping[str, float]]
    columns: Sequence[str]
    setting: str = ""
    needs = _NEEDS

    def cells(self, bench: Bench) -> list[Cell]:
        """All variants on the columns of this table."""
        places = sweep_places(bench, self.columns)
        return [cell for place in places for cell in ablation_cells(*place)]

    def page(self, scores: Scores) -> Page:
        """Published and measured F1 of each variant."""
        rows = _rows(self.published)
        tables = comparison(scores, rows, self.columns)
        found = _remarks(scores, self.published, rows, tables, self.columns)
        first = " and ".join(name for name in SWEEP_COLUMNS if name in self.columns)
        setting = (
            f"Pooled micro F1. Without `--columns` only {first} is run. {self.setting}{_DECISION} "
            f"{scores.described()}"
        )
        return Page(setting, tables, found)


@dataclass(frozen=True)
class AblationAverages(Recipe):
    """The short table of the main part: averages over the columns of the detailed ones."""

    name: str = "ablation"
    title: str = "Ablation study"
    place: str = "Table 4 (tab:ablation)"
    needs = _NEEDS

    def cells(self, bench: Bench) -> list[Cell]:
        """All variants on all wanted columns."""
        return [cell for place in sweep_places(bench) for cell in ablation_cells(*place)]

    def page(self, scores: Scores) -> Page:
        """Published and measured averages, where all columns of one have been run."""
        in_detail = {
            name: {**published.ABLATION_FEWNERD[name], **figures}
            for name, figures in published.ABLATION_CROSSDOMAIN.items()
        }
        printed = {name: in_detail[name] | means for name, means in published.ABLATION.items()}
        table = averages(scores, _rows(printed), published.GROUPS)
        rows = _rows(in_detail)
        detail = comparison_table(scores, rows, SWEEP_COLUMNS)
        setting = (
            "Pooled micro F1: the mean over the settings of each benchmark, where all have been "
            "run, and two of these settings, whose published figures are those of Tables 8 and 9. "
            "Without `--columns` those two alone are run. OntoNotes has no 5-shot episodes here, "
            "so both 5-shot means are over the other three columns, the published one by Table 9 "
            f"(over four the paper has {_over_four()} in the order of its rows). "
            f"{_DECISION} {scores.described()}"
        )
        found = _remarks(scores, in_detail, rows, [detail], SWEEP_COLUMNS)
        return Page(setting, [table, detail], found)


def _over_four() -> str:
    *first, last = (f"{figures['5-shot']:.2f}" for figures in published.ABLATION.values())
    return f"{', '.join(first)} and {last}"


SHORT = AblationAverages()
FEWNERD = Ablation(
    "ablation-fewnerd",
    "Ablation study on Few-NERD, in detail",
    "Table 8 (tab:ablation-1)",
    published.ABLATION_FEWNERD,
    published.FEWNERD,
)
CROSSDOMAIN = Ablation(
    "ablation-crossdomain",
    "Ablation study on the cross-domain data, in detail",
    "Table 9 (tab:ablation-2)",
    published.ABLATION_CROSSDOMAIN,
    published.CROSSDOMAIN,
    "OntoNotes has no 5-shot episodes here, so both 5-shot means are over the other three. ",
)
