"""The main results: every system on every column, SpanProto by both candidate rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.comparison import Row, comparison, remarks
from spanproto.paper.page import Page, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import F1, Scores, encoders_of, steps_of
from spanproto.paper.variants import (
    ADAPTED,
    FITTED,
    PLAIN,
    RELEASED,
    WHOLE,
    adapted,
    places_of,
)

_OWN = {
    adapted(WHOLE): "SpanProto, fine-tuned",
    FITTED: "SpanProto, fitted decision",
    ADAPTED: "SpanProto, fine-tuned and fitted",
    RELEASED: "SpanProto, gold spans handed in (oracle)",
}
_WHY = {
    "nnshot": "the weights are ProtoBERT's of the row above, as in the original",
    "structshot": "NNShot with Viterbi on top, so what moves that row moves this one",
}
_LONGER = {"decommeta": "5000 of 32 tasks in its own schedule"}
_WHY_OWN = {
    adapted(WHOLE): "a copy is fine-tuned to the support set of each episode",
    FITTED: "its decision is fitted on validation episodes",
    ADAPTED: "a copy is fine-tuned to the support set of each episode, and the decision is fitted",
    RELEASED: (
        "the gold query spans are added to the candidates, and predictions within one word of them "
        "are dropped, as the evaluation of the released code does; the row shows what that is "
        "worth, and is no result"
    ),
}
_MUCH = 5.0  # points


@dataclass(frozen=True)
class MainResults(Recipe):
    """One of the two large tables."""

    name: str
    title: str
    place: str
    published: Mapping[str, Mapping[str, float]]
    columns: Sequence[str]
    setting: str
    taken_from: Mapping[
        str, Sequence[str]
    ]  # the work that the paper has the figures of systems from

    def cells(self, bench: Bench) -> list[Cell]:
        """SpanProto, also with the gold spans handed in, and every other system of the table."""
        places = [place for place in places_of(bench, COLUMNS) if place[0] in self.columns]
        return [cell for place in places for cell in self._cells(*place)]

    def _cells(self, column: str, seed: int) -> list[Cell]:
        cells = [spanproto_cell(column, seed)]
        for cell in baseline_cells(column, seed):
            wanted = tuple(scoring for scoring in cell.scorings if scoring.name in self.published)
            if wanted:
                cells.append(replace(cell, scorings=wanted))
        return cells

    def page(self, scores: Scores) -> Page:
        """Published and measured F1 of each system."""
        rows = [
            Row(name, METHODS[name].title, figures, self._why(scores, name), _spread(name))
            for name, figures in self.published.items()
        ]
        own = self.published[PLAIN]
        spread = _spread(PLAIN)
        rows += [
            Row(name, title, own, self._why_own(scores, name), spread)
            for name, title in _OWN.items()
        ]
        tables = comparison(scores, rows, self.columns)
        setting = f"Pooled micro F1. {self.setting}{_episodes(scores)} {scores.described()}"
        return Page(setting, tables, remarks(rows, tables))

    def _why(self, scores: Scores, name: str) -> str:
        """What differs here: where the figures are from, training, encoder, and more examples."""
        read = [content for column in self.columns for content in scores.read(column, name)]
        works = [work for work, systems in self.taken_from.items() if name in systems]
        others = ", ".join(sorted(encoders_of(read) - {published.ENCODER}))
        steps = steps_of(read)
        longer = f" ({_LONGER[name]})" if name in _LONGER else ""
        trained = _WHY.get(name, f"{steps} steps of training here{longer}" if steps else "")
        parts = [
            *(f"the published figures are those of {work}" for work in works),
            settings_of_ours(read[0], steps) if name == PLAIN and read else trained,
            f"the encoder here is {others}" if others else "",
            self._growth(scores, name),
        ]
        return "; ".join(part for part in parts if part)

    def _why_own(self, scores: Scores, name: str) -> str:
        """What is done beyond the row of SpanProto, and what that changes."""
        effects = []
        for column in self.columns:
            seeds = scores.common_seeds(column, (PLAIN, name))
            plain, more = (scores.values(column, one, *F1, seeds=seeds) for one in (PLAIN, name))
            if plain and more:
                effects.append(fmean(more) - fmean(plain))
        if not effects:
            return _WHY_OWN[name]
        effect = f"{signed(fmean(effects), 1)} points on average beside SpanProto as trained"
        return f"{_WHY_OWN[name]}: {effect}, whose sentence says what else differs"

    def _growth(self, scores: Scores, name: str) -> str:
        """What five shots gain over one, there and here, where that is a large part of it."""
        there, here = [], []
        for column in self.columns:
            more = f"{column.removesuffix('1')}5"
            if column.endswith("1") and more in self.columns:
                seeds = scores.files(column, name).keys() & scores.files(more, name).keys()
                few, many = (scores.values(one, name, *F1, seeds=seeds) for one in (column, more))
                if few and many:
                    there.append(self.published[name][more] - self.published[name][column])
                    here.append(fmean(many) - fmean(few))
        if not here or abs(fmean(here) - fmean(there)) < _MUCH:
            return ""
        return (
            f"five shots in place of one change F1 by {signed(fmean(there), 1)} on average in the "
            f"paper and by {signed(fmean(here), 1)} here, with the same seeds"
        )


def settings_of_ours(content: Mapping[str, Any], steps: str) -> str:
    """How SpanProto was trained and predicts here, beside what the paper says of it."""
    config = content["model"]["config"]
    extractor, objective = config["extractor"], config["objective"]
    projection = config["classifier"]["projection"]
    projected = projection != "none"
    first, theta, margin = (published.CHOSEN[name] for name in ("T'", "theta", "r"))
    kept = "" if config["classifier"]["reject"] else f"nothing is rejected (beyond r = {margin:g})"
    parts = [
        f"T = {steps or 'unknown'} ({published.STEPS} in the paper)",
        f"T' = {objective['extractor_steps']} ({first:g})",
        f"theta = {extractor['threshold']:.2f} ({theta:.2f})",
        kept,
        "the span loss is two-sided (one sum)" if extractor["loss"] == "two-sided" else "",
        f"words are projected by a {projection} layer (not at all)" if projected else "",
        f"a step sees {objective['negatives']:.0%} of the spans apart from entities (all)"
        if objective["negatives"] < 1
        else "",
        "the extractor learns from query sentences, too"
        if objective["extractor_data"] != "support"
        else "",
        "and only spans that it finds by itself are candidates",
    ]
    return ", ".join(part for part in parts if part)


def _episodes(scores: Scores) -> str:
    """How many episodes the figures are of, as far as the files say."""
    numbers = sorted({one["episodes"] for one in scores.sources.values() if "episodes" in one})
    shown = " to ".join(str(number) for number in dict.fromkeys(numbers[:1] + numbers[-1:]))
    return f" A figure is of {shown} episodes." if numbers else ""


def _spread(name: str) -> Mapping[str, float]:
    return published.DEVIATIONS.get(name, {})


FEWNERD = MainResults(
    "fewnerd",
    "Main results on Few-NERD",
    "Table 2 (tab:fewnerd)",
    published.MAIN_FEWNERD,
    published.FEWNERD,
    "The episodes are drawn anew from the test sentences, and 13 % of the paper's training "
    "sentences are at hand; so compare the systems with each other before "
    "comparing with the paper.",
    {"Das et al. (2022)": ("protobert", "nnshot", "structshot", "container")},
)
CROSSDOMAIN = MainResults(
    "crossdomain",
    "Main results on the cross-domain data",
    "Table 3 (tab:crossner)",
    published.MAIN_CROSSDOMAIN,
    published.CROSSDOMAIN,
    "The episodes are those of Hou et al. (2020); OntoNotes has no 5-shot ones here, so the 5-shot "
    "mean is over the three others (over all four the paper has 10.03, 22.61, 25.31, 41.53 and "
    "44.79 in the order of its rows). The OntoNotes episodes validate for the other columns, and "
    "settings were chosen on them, so that its column, and the 1-shot mean with it, is no fair "
    "test. Fitted decisions of the 5-shot columns are fitted on 1-shot "
    "validation episodes, as there are no others.",
    {"Hou et al. (2020)": ("matching-network", "protobert")},
)
