"""Curves over T', the steps in which the extractor learns alone, and over the threshold theta."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from spanproto.experiments.cells import Cell
from spanproto.paper.comparison import column_title
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores
from spanproto.paper.sweeps import (
    CLASSIFIER,
    EXTRACTOR,
    Series,
    best_setting,
    columns_with,
    sweep_table,
)
from spanproto.paper.variants import SWEEP_COLUMNS, both, sweep_places, varied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spanproto.plots.curves import Panel

TRAINING_STEPS = 2000  # T, as in the paper: the largest T' is half of it
FIRST_STEPS = {str(steps): f"first-{steps}" for steps in (0, 100, 200, 500, 1000)}
THRESHOLDS = {
    f"{theta:.2f}": f"theta-{theta:.2f}" for theta in (0.0, 0.5, 0.75, 0.8, 0.85, 0.9, 0.95)
}
CHOSEN = {"T'": "200", "theta": "0.80"}  # by the paper
_SERIES = (
    Series("span extractor", "", EXTRACTOR),
    Series("mention classifier", "", CLASSIFIER),
    Series("span extractor, fine-tuned", "-adapted", EXTRACTOR),
    Series("mention classifier, fine-tuned", "-adapted", CLASSIFIER),
)
_SWEEPS = {"T'": FIRST_STEPS, "theta": THRESHOLDS}
_WHY = {
    ("T'", "0"): "; the extractor goes on learning beside the classifier, so it needs no lead",
    ("theta", "0.50"): "; the two-sided loss puts the cut at a probability of 0.50",
}
"""What explains a best setting, where it is this one."""


class HyperParameters(Recipe):
    """F1 of both stages over T' and theta."""

    name = "hyper-parameters"
    title = "Curves over T' and theta"
    place = "Figure 4 (fig:hyper-parameter1)"
    pictures: Mapping[str, str] = {
        f"hyper-parameters-{column}": (f"F1 over T' and theta, {column_title(column)}")
        for column in SWEEP_COLUMNS
    }

    def cells(self, bench: Bench) -> list[Cell]:
        """A training for each T', and one that is scored with every theta."""
        cells = []
        for column, seed in sweep_places(bench):
            by_theta = [
                scoring
                for theta, name in THRESHOLDS.items()
                for scoring in both(column, name, deciding=(f"extractor.threshold={theta}",))
            ]
            cells.append(varied(column, seed, "spanproto", {}, by_theta))
            cells += [
                varied(
                    column,
                    seed,
                    name,
                    {"objective": {"extractor_steps": int(steps)}},
                    both(column, name),
                    {"steps": TRAINING_STEPS},
                )
                for steps, name in FIRST_STEPS.items()
            ]
        return cells

    def page(self, scores: Scores) -> Page:
        """The points of the curves; the paper prints the picture alone."""
        names = [name for scorings in _SWEEPS.values() for name in scorings.values()]
        tables, remarks = [], []
        for column in columns_with(scores, names) or SWEEP_COLUMNS:
            for parameter, scorings in _SWEEPS.items():
                table = sweep_table(scores, column, parameter, scorings, _SERIES)
                tables.append(
                    Table(table.heading, table.rows, f"{column_title(column)}, {parameter}")
                )
                remarks += _remarks(table, column_title(column), parameter)
        setting = (
            "F1 of the extractor's spans, types ignored, and of the whole system. The paper shows "
            "curves averaged over Few-NERD INTER without figures: T' = 200 is best, and theta from "
            "0.80 to 0.85. Here are curves of single columns, without `--columns` "
            f"{' and '.join(SWEEP_COLUMNS)}. Theta is varied in prediction alone; training and "
            f"fine-tuning have 0.50. T is {TRAINING_STEPS} for the curves over T', as in "
            f"the paper. {scores.described()}"
        )
        return Page(setting, tables, remarks)

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """A picture of two panels for each column that was run whole."""
        from spanproto.plots.curves import curves_figure

        drawn = {}
        for column in SWEEP_COLUMNS:
            panels = [
                _panel(parameter, sweep_table(scores, column, parameter, scorings, _SERIES))
                for parameter, scorings in _SWEEPS.items()
            ]
            whole = [panel for panel in panels if panel is not None]
            if len(whole) == len(panels):
                drawn[f"hyper-parameters-{column}"] = curves_figure(
                    *whole, chosen="chosen in the paper"
                )
        return drawn


def _remarks(table: Table, where: str, parameter: str) -> list[str]:
    best = best_setting(table, "mention classifier")
    if best is None:
        return []
    paper = {"T'": "200", "theta": "0.80 to 0.85"}
    why = _WHY.get((parameter, best.setting), "")
    return [
        f"{where}: the best {parameter} is {best} here and {paper[parameter]} in the paper{why}."
    ]


def _panel(parameter: str, table: Table) -> "Panel | None":
    """The columns of a table as curves, if all its rows have been measured."""
    from spanproto.plots.curves import Curve, Panel

    entries = [[cell for cell in cells if isinstance(cell, Entry)] for _, cells in table.rows]
    if not all(entry.measured for row in entries for entry in row):
        return None
    settings = [float(setting) for setting, _ in table.rows]
    curves = [
        Curve(title, [row[at].mean or 0.0 for row in entries])
        for at, title in enumerate(table.heading[1:])
    ]
    label = {"T'": "steps of the extractor alone, $T'$", "theta": r"threshold $\theta$"}[parameter]
    return Panel(label, settings, curves, float(CHOSEN[parameter]), evenly=True)
