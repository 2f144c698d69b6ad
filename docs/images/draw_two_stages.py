"""Draw `two-stages.svg`: how SpanProto finds entities and gives them types, on one sentence.

A drawing of the idea; its scores and places are made up. Run it from anywhere:
`python docs/images/draw_two_stages.py [FILE]`.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon, Rectangle

WORDS = "Angela Merkel spoke at the University of Oxford on Monday".split()
# Number, first word, last word, and where the span lies among the prototypes.
CANDIDATES = (
    (1, 0, 1, (1.95, 4.75)),
    (2, 5, 7, (6.35, 5.05)),
    (3, 7, 7, (4.95, 1.55)),
    (4, 9, 9, (8.55, 2.35)),
)
RADIUS = 1.45  # r
# The colours of Okabe and Ito, which most colour-blind readers can tell apart; shapes repeat them.
TYPES = {
    "person": ((1.85, 4.1), "#0072B2", "o"),
    "organisation": ((6.1, 4.3), "#D55E00", "s"),
    "place": ((4.25, 1.25), "#009E73", "^"),
}
SUPPORT = {
    "person": ((1.1, 3.6), (2.45, 3.4), (2.0, 5.3)),
    "organisation": ((5.3, 4.7), (6.9, 3.75)),
    "place": ((3.5, 1.9), (4.6, 0.45), (3.55, 0.75)),
}
INK, FAINT = "#222222", "#8a8a8a"


def draw_matrix(axes: Axes) -> None:
    """The boundary matrix: a cell for each pair of a first and a last word."""
    size = len(WORDS)
    shades = np.random.default_rng(7).uniform(0.02, 0.16, (size, size))
    for row in range(size):
        for column in range(size):
            if column < row:
                style = {"facecolor": "white", "hatch": "////", "edgecolor": "#e4e4e4"}
            else:
                style = {"facecolor": plt.cm.Blues(shades[row, column]), "edgecolor": "#cfd6dd"}
            axes.add_patch(Rectangle((column, row), 1, 1, linewidth=0.6, **style))
    for number, first, last, _ in CANDIDATES:
        axes.add_patch(
            Rectangle((last, first), 1, 1, facecolor="#1f4e79", edgecolor=INK, linewidth=1.4)
        )
        axes.text(
            last + 0.5, first + 0.53, str(number), color="white", weight="bold", ha="center",
            va="center",
        )  # fmt: skip
    nested = CANDIDATES[2]
    axes.annotate(
        "3 lies inside 2:\nnested spans are\nseparate cells",
        xy=(nested[2] + 0.02, nested[1] + 0.6), xytext=(0.35, 8.2), fontsize=8.5, color=INK,
        va="center", arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.9},
    )  # fmt: skip
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    places = np.arange(size) + 0.5
    axes.set_xticks(places, WORDS, rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(places, WORDS)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=3)
    axes.set_xlabel("last word of the span", color=FAINT)
    axes.set_ylabel("first word of the span", color=FAINT)
    axes.spines[:].set_visible(False)


def draw_prototypes(axes: Axes) -> None:
    """Each type's prototype with its radius, and the candidates among them."""
    for label, (centre, colour, marker) in TYPES.items():
        axes.add_patch(
            Circle(centre, RADIUS, facecolor=colour, alpha=0.10, edgecolor="none", zorder=0)
        )
        axes.add_patch(
            Circle(centre, RADIUS, fill=False, edgecolor=colour, linestyle="--", linewidth=1.2)
        )
        support = np.array(SUPPORT[label])
        for point in support:
            axes.plot(*zip(centre, point, strict=True), color=colour, linewidth=0.6, alpha=0.6)
        axes.scatter(*support.T, marker=marker, s=26, facecolor="white", edgecolor=colour, zorder=3)
        axes.scatter(*centre, marker=marker, s=150, color=colour, edgecolor=INK, zorder=4)
        axes.text(
            centre[0], centre[1] - RADIUS - 0.13, label, color=colour, weight="bold", ha="center",
            va="top",
        )  # fmt: skip
    for number, _, _, place in CANDIDATES:
        rejected = all(
            np.hypot(*np.subtract(place, centre)) > RADIUS for centre, _, _ in TYPES.values()
        )
        axes.add_patch(_diamond(place, 0.34, "white" if rejected else "#1f4e79"))
        axes.text(
            *place, str(number), color=INK if rejected else "white", weight="bold", ha="center",
            va="center", zorder=6,
        )  # fmt: skip
        if rejected:
            axes.annotate(
                "rejected: farther\nthan r from all", xy=place, xytext=(place[0], place[1] - 0.55),
                fontsize=8.5, ha="center", va="top", color=INK,
            )  # fmt: skip
    centre = np.array(TYPES["organisation"][0])
    rim = centre + RADIUS * np.array((np.cos(0.35), np.sin(0.35)))
    axes.annotate(
        "", xy=rim, xytext=centre, arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 1}
    )
    axes.text(*(centre + rim) / 2 + (0.12, -0.22), "r", style="italic", color=INK)
    axes.set(xlim=(0, 9.7), ylim=(-0.75, 6.1), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_color("#d5d5d5")


def _diamond(centre: tuple[float, float], size: float, colour: str) -> Polygon:
    x, y = centre
    corners = [(x, y + size), (x + size, y), (x, y - size), (x - size, y)]
    return Polygon(corners, facecolor=colour, edgecolor=INK, linewidth=1.3, zorder=5)


def main(target: Path) -> None:
    """Draw both stages side by side."""
    mpl.rcParams.update(
        {"font.family": "DejaVu Sans", "font.size": 10, "hatch.linewidth": 0.5,
         "svg.hashsalt": "two stages", "svg.fonttype": "path"}
    )  # fmt: skip
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11.4, 5.3), gridspec_kw={"width_ratios": (1, 1.18), "wspace": 0.14}
    )
    draw_matrix(left)
    draw_prototypes(right)
    figure.savefig(
        target,
        dpi=130,
        bbox_inches="tight",
        facecolor="white",
        metadata={"Date": None} if target.suffix == ".svg" else None,
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("two-stages.svg"))
