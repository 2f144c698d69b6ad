"""Curves over a hyper-parameter, such as the F1 of extractor and classifier over theta."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from spanproto.errors import DataError
from spanproto.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPREAD = "± standard deviation"
_MOST_MARKERS = 15  # on a curve of more points they would run together


class Curve(NamedTuple):
    """A value for each setting and, where there are several runs, its standard deviation."""

    name: str
    values: Sequence[float]
    spread: Sequence[float] | None = None


class Panel(NamedTuple):
    """What was measured over the settings of one hyper-parameter."""

    parameter: str
    settings: Sequence[float]
    curves: Sequence[Curve]
    chosen: float | None = None  # the setting that is used elsewhere, marked by a line
    evenly: bool = False  # settings at equal distances, whatever lies between them; it is said
    title: str = ""  # what holds for this panel, such as the number of training steps


def curves_figure(
    *panels: Panel,
    ylabel: str = "F1 (%)",
    limits: tuple[float, float] | None = None,
    chosen: str = "chosen",
) -> "Figure":
    """The panels side by side on one vertical axis; a name has the same look in all of them.

    `chosen` is what the legend calls the marked setting.
    """
    if not panels:
        raise DataError("there is no panel to draw; give at least one")
    names = list(dict.fromkeys(curve.name for panel in panels for curve in panel.curves))
    with style.applied():
        wide = style.COLUMN if len(panels) == 1 else style.PAGE
        figure = style.new_figure(wide, 2.4)
        several = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for axes, panel in zip(several, panels, strict=True):
            _draw_panel(axes, panel, names, chosen)
        several[0].set_ylabel(ylabel)
        if limits is not None:
            several[0].set_ylim(*limits)
        spread = any(curve.spread is not None for panel in panels for curve in panel.curves)
        _draw_legend(figure, [*names, chosen], spread)
    return figure


def _draw_legend(figure: "Figure", names: Sequence[str], spread: bool) -> None:
    """The names in rows that are as wide as the figure; a panel may have only some of them."""
    from matplotlib.patches import Patch

    drawn = [axes.get_legend_handles_labels() for axes in figure.axes]
    handles = {label: handle for several in drawn for handle, label in zip(*several, strict=True)}
    shown = [name for name in names if name in handles]
    if spread:
        handles[_SPREAD] = Patch(facecolor=style.FAINT, alpha=0.3)
        shown.append(_SPREAD)
    each = 0.55 + max(map(style.text_width, shown))  # inches
    rows = -(-len(shown) // max(1, int((figure.get_figwidth() - 0.2) / each)))
    figure.legend(
        [handles[name] for name in shown], shown, loc="outside upper center",
        ncols=-(-len(shown) // rows), handlelength=2.6, columnspacing=1.4,
    )  # fmt: skip


def _draw_panel(axes: "Axes", panel: Panel, names: Sequence[str], chosen: str) -> None:
    for curve in panel.curves:
        for what, given in (("values", curve.values), ("spreads", curve.spread)):
            if given is not None and len(given) != len(panel.settings):
                raise DataError(
                    f"the curve {curve.name!r} has {len(given)} {what} for the "
                    f"{len(panel.settings)} settings of {panel.parameter}; give one for each"
                )
    if panel.evenly and panel.chosen is not None and panel.chosen not in panel.settings:
        raise DataError(f"evenly spaced {panel.parameter} has no setting {panel.chosen:g} to mark")
    places = list(range(len(panel.settings))) if panel.evenly else list(panel.settings)
    if panel.chosen is not None:
        at = panel.settings.index(panel.chosen) if panel.evenly else panel.chosen
        axes.axvline(
            at, color=style.FAINT, linewidth=0.8, gid="chosen", label=chosen, zorder=1
        )  # fmt: skip
    looks = style.looks(len(names))
    for curve in panel.curves:
        number = names.index(curve.name)
        colour, marker = looks[number]
        below = len(names) - 1 - number  # a curve is broader than those that may lie on it
        if curve.spread is not None:
            low, high = (
                [value + sign * by for value, by in zip(curve.values, curve.spread, strict=True)]
                for sign in (-1, 1)
            )
            axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.plot(
            places, curve.values, label=curve.name, color=colour,
            linestyle=style.LINES[number % len(style.LINES)],
            marker=marker if len(places) <= _MOST_MARKERS else "",
            linewidth=1.0 + 0.25 * below, markersize=looks[number].size(3.3 + 1.1 * below),
            markeredgecolor="white", markeredgewidth=0.3,
        )  # fmt: skip
    if panel.evenly:
        axes.set_xticks(places, [f"{setting:g}" for setting in panel.settings])
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.parameter + (", not to scale" if _distorted(panel) else ""))
    axes.grid(axis="y", color=style.GRID, linewidth=0.5)
    axes.set_axisbelow(True)


def _distorted(panel: Panel) -> bool:
    """Whether settings at equal distances are so only in the picture."""
    steps = [after - before for before, after in pairwise(panel.settings)]
    return panel.evenly and not all(math.isclose(step, steps[0]) for step in steps)
