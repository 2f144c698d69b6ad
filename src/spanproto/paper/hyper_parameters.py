"""Curves over T', the steps in which the extractor learns alone, and over the threshold theta."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import SEEDS, spanproto_cell
from spanproto.paper import published
from spanproto.paper.comparison import column_title
from spanproto.paper.page import Entry, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.repeats import SMALL, other_training
from spanproto.paper.scores import EXTRACTION_F1, F1, Scores, steps_of
from spanproto.paper.sweeps import (
    Series,
    best_settings,
    columns_with,
    measured_settings,
    sweep_table,
)
from spanproto.paper.variants import STEPS, SWEEP_COLUMNS, WHOLE, both, sweep_places, varied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spanproto.plots.curves import Panel

FIRST_STEPS = {f"{steps:g}": f"first-{steps:g}" for steps in published.SCOPE["T'"]}
THRESHOLDS = {f"{theta:.2f}": f"theta-{theta:.2f}" for theta in published.SCOPE["theta"]}
_CLASSIFIER = "mention classifier"
_SERIES = (
    Series("span extractor", "", EXTRACTION_F1),
    Series(_CLASSIFIER, "", F1),
    Series("span extractor, fine-tuned", "-adapted", EXTRACTION_F1),
    Series(f"{_CLASSIFIER}, fine-tuned", "-adapted", F1),
)
_SWEEPS = {"T'": FIRST_STEPS, "theta": THRESHOLDS}
_CHOSEN = {
    name: f"{published.CHOSEN[name]:{form}}" for name, form in (("T'", "g"), ("theta", ".2f"))
}
_BEST = {"T'": ("200",), "theta": ("0.80", "0.85")}  # in the paper, by its text
_WHY = (
    "the paper's curve is a mean over the columns of INTER, with its own encoder, loss and T, and "
    "this one is of a single column"
)


class HyperParameters(Recipe):
    """F1 of both stages over T' and theta."""

    name = "hyper-parameters"
    title = "Curves over T' and theta"
    place = "Figure 4 (fig:hyper-parameter1)"
    pictures: Mapping[str, str] = {
        f"hyper-parameters-{column}": f"F1 over T' and theta, {column_title(column)}"
        for column in COLUMNS
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
                    {"steps": STEPS},
                )
                for steps, name in FIRST_STEPS.items()
            ]
        return cells

    def page(self, scores: Scores) -> Page:
        """The points of the curves; the paper prints the picture alone."""
        tables, remarks = [], []
        for parameter, scorings in _SWEEPS.items():
            for column in columns_with(scores, scorings.values()):
                steps = _steps(scores, column, parameter)
                title = f"{column_title(column)}, {parameter} (T = {steps})"
                table = sweep_table(scores, column, parameter, scorings, _SERIES)
                tables.append(replace(table, title=title))
                for series in _SERIES:
                    remarks += _remarks(table, column_title(column), parameter, series.title)
                if parameter == "theta":
                    remarks += _of_other_weights(scores, column)
            if parameter == "T'":
                remarks += _beside_main_tables(scores)
        setting = (
            "F1 of the extractor's spans, types ignored, and of the whole system. The paper shows "
            "curves averaged over Few-NERD INTER without figures: T' = 200 is best, and theta from "
            "0.80 to 0.85. Here are curves of single columns, without `--columns` "
            f"{' and '.join(SWEEP_COLUMNS)}. Theta is varied in prediction alone; training and "
            "fine-tuning have 0.50, and with 0.00 all spans are candidates, of which the best that "
            "do not overlap are kept. T, the steps of training in all, is that of the main tables "
            f"for theta; for T' it is {STEPS}, so that the steps of the main tables come after the "
            f"longest T' (the paper's T is {published.STEPS}). {scores.described()}"
        )
        return Page(setting, tables, remarks)

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """A picture for each column, with a panel for each curve that was run whole."""
        from spanproto.plots.curves import curves_figure

        drawn = {}
        for column in COLUMNS:
            panels = [_panel(scores, column, parameter) for parameter in _SWEEPS]
            whole = [panel for panel in panels if panel is not None]
            if whole:
                drawn[f"hyper-parameters-{column}"] = curves_figure(
                    *whole, chosen="chosen in the paper"
                )
        return drawn


def _steps(scores: Scores, column: str, parameter: str) -> str:
    """T of the trainings behind a curve."""
    scorings = _SWEEPS[parameter].values()
    seeds = scores.common_seeds(column, scorings)
    read = [content for scoring in scorings for content in scores.read(column, scoring, seeds)]
    return steps_of(read) or "unknown"


def _remarks(table: Table, where: str, parameter: str, series: str) -> list[str]:
    """Where a curve is highest, in the paper and here, once all is run."""
    best, figures = best_settings(table, series), measured_settings(table, series)
    if best is None:
        return []
    papers, found = _BEST[parameter], best.said_of(parameter)
    said = f"{where}, {series}: {found} here, and in the paper it is best at {' to '.join(papers)}"
    if set(papers) & set(best.settings):
        return [f"{said}."]
    there = max(figures[setting] for setting in papers)
    chance = (
        ", so that it may be chance" if parameter == "T'" and best.figure - there < SMALL else ""
    )
    tuned = ", and fine-tuned" if series.endswith("fine-tuned") else ""
    least = "at most " if len(papers) > 1 else ""
    return [f"{said}, which has {least}{there:.2f} here{chance}; {_WHY}{tuned}."]


def _of_other_weights(scores: Scores, column: str) -> list[str]:
    """Which points of the curve over theta are of another training than the rest, if any."""
    seeds = scores.common_seeds(column, THRESHOLDS.values())
    others = other_training(scores, column, THRESHOLDS, seeds)
    if not others:
        return []
    return [
        f"{column_title(column)}: the point(s) at {' and '.join(others)} are of another training "
        "with the same settings and seed than the rest of the curve; what training again changes "
        "is said of the ablations."
    ]


def _beside_main_tables(scores: Scores) -> list[str]:
    """How far the longer training of the curve over T' is from the main tables' with their T'."""
    main_run = spanproto_cell(SWEEP_COLUMNS[0], SEEDS[0]).run
    first = FIRST_STEPS[str(main_run["model"]["objective"]["extractor_steps"])]
    found = []
    for column in columns_with(scores, FIRST_STEPS.values()):
        seeds = scores.files(column, first).keys() & scores.files(column, WHOLE).keys()
        if seeds:
            figures = [
                f"{fmean(scores.values(column, name, *F1, seeds=seeds)):.2f} "
                f"(T = {steps_of(scores.read(column, name, seeds)) or 'unknown'})"
                for name in (WHOLE, first)
            ]
            found.append(f"{' and '.join(figures)} on {column_title(column)}")
    if not found:
        return []
    return [
        f"With the main tables' T' of {first.removeprefix('first-')}, their T and that of this "
        f"curve give {', '.join(found)}: the level of the curve is not that of the main tables."
    ]


def _panel(scores: Scores, column: str, parameter: str) -> "Panel | None":
    """The curves over a parameter, if all their points have been measured."""
    from spanproto.plots.curves import Curve, Panel

    table = sweep_table(scores, column, parameter, _SWEEPS[parameter], _SERIES)
    entries = [[cell for cell in cells if isinstance(cell, Entry)] for _, cells in table.rows]
    if not all(entry.measured for row in entries for entry in row):
        return None
    curves = []
    for at, title in enumerate(table.heading[1:]):
        points = [row[at] for row in entries]
        means = [point.mean or 0.0 for point in points]
        spread = [point.spread or 0.0 for point in points]
        curves.append(Curve(title, means, spread if any(spread) else None))
    label = {"T'": "steps of the extractor alone, $T'$", "theta": r"threshold $\theta$"}[parameter]
    return Panel(
        f"{label} ($T$ = {_steps(scores, column, parameter)})",
        [float(setting) for setting, _ in table.rows],
        curves,
        float(_CHOSEN[parameter]),
        evenly=True,
    )
