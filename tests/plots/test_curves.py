"""Curves over a hyper-parameter: the values drawn, and the same look in every panel."""

import pytest

from spanproto.errors import DataError
from spanproto.plots import style
from spanproto.plots.curves import Curve, Panel, curves_figure

EXTRACTOR = Curve("span extractor", [70.0, 72.0, 71.0])
CLASSIFIER = Curve("mention classifier", [60.0, 66.0, 65.0], [1.0, 2.0, 1.0])


def test_the_values_are_drawn_at_the_settings() -> None:
    figure = curves_figure(Panel("theta", [0.0, 0.5, 0.95], [EXTRACTOR, CLASSIFIER], chosen=0.5))
    (axes,) = figure.axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines["span extractor"].get_xdata()) == [0.0, 0.5, 0.95]
    assert list(lines["span extractor"].get_ydata()) == [70.0, 72.0, 71.0]
    (chosen,) = [line for line in axes.get_lines() if line.get_gid() == "chosen"]
    assert set(chosen.get_xdata()) == {0.5}
    (band,) = axes.collections
    heights = {float(y) for _, y in band.get_paths()[0].vertices}
    assert {59.0, 61.0, 64.0, 68.0, 66.0} <= heights
    assert axes.get_xlabel() == "theta"
    assert axes.get_ylabel() == "F1 (%)"
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "span extractor",
        "mention classifier",
        "chosen",
        "± standard deviation",
    ]


def test_settings_far_apart_can_stand_at_equal_distances() -> None:
    panel = Panel("T'", [0, 100, 1000], [EXTRACTOR], chosen=1000, evenly=True)
    (axes,) = curves_figure(panel).axes
    chosen, curve = axes.get_lines()
    assert list(curve.get_xdata()) == [0, 1, 2]
    assert set(chosen.get_xdata()) == {2}
    assert axes.get_xlabel() == "T', not to scale"
    (even,) = curves_figure(Panel("r", [0.1, 0.2, 0.3], [EXTRACTOR], evenly=True)).axes
    assert even.get_xlabel() == "r"
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0", "100", "1000"]


def test_a_name_has_one_look_in_all_panels() -> None:
    figure = curves_figure(
        Panel("r", [1, 2, 3], [EXTRACTOR, CLASSIFIER]), Panel("theta", [1, 2, 3], [CLASSIFIER])
    )
    left, right = figure.axes
    one, other = left.get_lines()[1], right.get_lines()[0]
    assert one.get_label() == other.get_label() == "mention classifier"
    assert one.get_color() == other.get_color() != left.get_lines()[0].get_color()
    assert one.get_linestyle() == other.get_linestyle() != left.get_lines()[0].get_linestyle()


def test_a_curve_under_another_can_be_seen() -> None:
    same = [Curve(name, [1.0, 2.0]) for name in "abc"]
    lines = curves_figure(Panel("r", [1, 2], same)).axes[0].get_lines()
    widths = [line.get_linewidth() for line in lines]
    sizes = [line.get_markersize() for line in lines]
    assert widths == sorted(set(widths), reverse=True)
    assert sizes == sorted(set(sizes), reverse=True)


def test_a_panel_says_what_holds_for_it_and_only_a_spread_is_in_the_legend() -> None:
    figure = curves_figure(
        Panel("T'", [1, 2, 3], [EXTRACTOR], title="T = 2000"), Panel("r", [1, 2, 3], [EXTRACTOR])
    )
    assert [axes.get_title("left") for axes in figure.axes] == ["T = 2000", ""]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["span extractor"]


def test_the_legend_is_no_wider_than_the_figure() -> None:
    long = [Curve(f"a curve with a rather long name {number}", [1.0, 2.0]) for number in range(4)]
    for panels, width in ((1, style.COLUMN), (2, style.PAGE)):
        figure = curves_figure(*[Panel("r", [1, 2], long)] * panels)
        figure.draw_without_rendering()
        assert figure.get_figwidth() == width
        assert figure.legends[0].get_window_extent().width <= width * figure.dpi


def test_what_does_not_fit_is_refused() -> None:
    uneven = Curve("uneven", [1.0, 2.0], [0.5])
    with pytest.raises(DataError, match="'uneven' has 1 spreads for the 2 settings of r"):
        curves_figure(Panel("r", [1, 2], [uneven]))
    with pytest.raises(DataError, match="'span extractor' has 3 values for the 2 settings of r"):
        curves_figure(Panel("r", [1, 2], [EXTRACTOR]))
    with pytest.raises(DataError, match="evenly spaced r has no setting 7"):
        curves_figure(Panel("r", [1, 2, 3], [EXTRACTOR], chosen=7, evenly=True))
    with pytest.raises(DataError, match="no panel"):
        curves_figure()
