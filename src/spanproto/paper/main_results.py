"""The main results: every system on every column, SpanProto by both candidate rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.comparison import Row, comparison, remarks
from spanproto.paper.page import Page
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.variants import ADAPTED, FITTED, PLAIN, RELEASED, places_of

_OWN = {
    FITTED: "SpanProto, fitted decision",
    ADAPTED: "SpanProto, fine-tuned and fitted",
    RELEASED: "SpanProto, gold spans handed in (oracle)",
}
_WHY = {
    "nnshot": "the weights are ProtoBERT's of the row above, as in the original",
    "structshot": "NNShot with Viterbi on top, so what moves that row moves this one",
    PLAIN: "only spans that the extractor finds by itself are candidates here",
    FITTED: "its decision is fitted on validation episodes",
    ADAPTED: "a copy is fine-tuned to the support set of each episode, and the decision is fitted",
    RELEASED: (
        "the gold query spans are added to the candidates, as the evaluation of the released code "
        "does; the row shows what that is worth, and is no result"
    ),
}


@dataclass(frozen=True)
class MainResults(Recipe):
    """One of the two large tables."""

    name: str
    title: str
    place: str
    published: Mapping[str, Mapping[str, float]]
    columns: Sequence[str]
    setting: str

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
        rows += [Row(name, title, own, _WHY[name], spread) for name, title in _OWN.items()]
        tables = comparison(scores, rows, self.columns)
        setting = f"Pooled micro F1. {self.setting} {scores.described()}"
        return Page(setting, tables, remarks(rows, tables))

    def _why(self, scores: Scores, name: str) -> str:
        """What differs here: a system's training and encoder, if nothing better is known."""
        if name in _WHY:
            return _WHY[name]
        models = [
            content["model"] for column in self.columns for content in scores.read(column, name)
        ]
        steps = sorted(model["origin"]["training_config"]["steps"] for model in models)
        length = " to ".join(str(number) for number in dict.fromkeys(steps[:1] + steps[-1:]))
        encoders = {Path(model["config"]["encoder"]["name"]).name for model in models}
        others = ", ".join(sorted(encoders - {published.ENCODER}))
        return f"{length} steps of training here" + (f", with {others}" if others else "")


def _spread(name: str) -> Mapping[str, float]:
    return published.DEVIATIONS.get(name, {})


FEWNERD = MainResults(
    "fewnerd",
    "Main results on Few-NERD",
    "Table 2 (tab:fewnerd)",
    published.MAIN_FEWNERD,
    published.FEWNERD,
    "The episodes are drawn anew from the test sentences, 500 for each column, and training has "
    "the sentences at hand (13 % of the official ones for INTER; INTRA is rebuilt from 22,699), so "
    "compare the systems with each other before comparing with the paper.",
)
CROSSDOMAIN = MainResults(
    "crossdomain",
    "Main results on the cross-domain data",
    "Table 3 (tab:crossner)",
    published.MAIN_CROSSDOMAIN,
    published.CROSSDOMAIN,
    "The episodes are those of Hou et al. (2020); those of OntoNotes 5-shot are not at hand, so "
    "the 5-shot mean is over the three others. Fitted decisions of the 5-shot columns are fitted "
    "on 1-shot validation episodes, as there are no others.",
)
