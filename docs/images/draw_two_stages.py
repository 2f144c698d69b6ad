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
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Rectangle

WORDS = ["Angela", "Merkel", "spoke", "at", "the", "University", "of", "Oxford", "on", "Monday"]
# Number, first word, last word, and where the span lies among the prototypes.
CANDIDATES = (
    (1, 0, 1, (2.55, 6.7)),
    (2, 5, 7, (6.25, 6.85)),
    (3, 7, 7, (4.75, 2.85)),
    (4, 9, 9, (8.5, 3.1)),
)
RADIUS = 1.5  # r
# The colours of Okabe and Ito, which most colour-blind readers can tell apart; shapes repeat them.
TYPES = {"person": ("#0072B2", "o"), "organisation": ("#D55E00", "s"), "place": ("#009E73", "^")}
SUPPORT = {
    "person": ((1.3, 5.4), (2.95, 5.35), (1.6, 6.95)),
    "organisation": ((5.85, 6.2), (7.25, 5.5)),
    "place": ((3.6, 3.1), (4.85, 1.75), (3.5, 1.75)),
}
PROTOTYPES = {label: np.mean(points, axis=0) for label, points in SUPPORT.items()}
INK, FAINT, FOUND = "#222222", "#767676", "#1f4e79"


def draw_matrix(axes: Axes) -> None:
    """The boundary matrix: a cell for each pair of a first and a last word."""
    size = len(WORDS)
    shades = np.random.default_rng(7).uniform(0.02, 0.16, (size, size))
    for row in range(size):
        for column in range(size):
            if column < row:
                style = {"facecolor": "white", "hatch": "////", "edgecolor": "#e6e6e6"}
            else:
                style = {"facecolor": plt.cm.Blues(shades[row, column]), "edgecolor": "#cfd6dd"}
            axes.add_patch(Rectangle((column, row), 1, 1, linewidth=0.6, **style))
    for number, first, last, _ in CANDIDATES:
        axes.add_patch(
            Rectangle((last, first), 1, 1, facecolor=FOUND, edgecolor=INK, zorder=3, clip_on=False)
        )
        write(axes, (last + 0.5, first + 0.53), str(number), "white", weight="bold", zorder=4)
    axes.annotate(
        "3 lies inside 2:\nnested spans are\ndifferent cells",
        xy=(7, 7.5), xytext=(0.5, 7.75), fontsize=9, color=INK, va="center",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 3},
        arrowprops={"arrowstyle": "-", "color": FAINT, "linewidth": 0.9},
    )  # fmt: skip
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    places = np.arange(size) + 0.5
    axes.set_xticks(places, WORDS, rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(places, WORDS)
    axes.tick_params(length=0, top=False, labeltop=True, labelbottom=False, pad=3)
    axes.set_xlabel("last word", color=FAINT)
    axes.set_ylabel("first word", color=FAINT)
    axes.spines[:].set_visible(False)


def draw_prototypes(axes: Axes) -> None:
    """Each type's prototype with its radius, and the candidates among them."""
    for label, (colour, marker) in TYPES.items():
        centre = PROTOTYPES[label]
        rim = {"edgecolor": colour, "linestyle": "--", "linewidth": 1.2}
        axes.add_patch(Circle(centre, RADIUS, facecolor=f"{colour}1a", **rim))
        for point in SUPPORT[label]:
            axes.plot(*zip(centre, point, strict=True), color=colour, linewidth=0.7, alpha=0.7)
            axes.plot(*point, marker, markersize=6, color="white", markeredgecolor=colour)
        axes.plot(*centre, marker, markersize=13, color=colour, markeredgecolor=INK)
        write(axes, (centre[0], centre[1] - RADIUS - 0.35), label, colour, weight="bold")
    for number, _, _, place in CANDIDATES:
        colour, text = ("white", INK) if nearest_type(place) is None else (FOUND, "white")
        axes.plot(*place, "D", markersize=17, color=colour, markeredgecolor=INK, zorder=5)
        write(axes, place, str(number), text, weight="bold", zorder=6)
        if nearest_type(place) is None:
            write(axes, (place[0], place[1] - 0.95), "rejected: farther\nthan r from all", INK, 9)
    centre = PROTOTYPES["organisation"]
    rim = centre + RADIUS * np.array((np.cos(0.3), np.sin(0.3)))
    axes.annotate("", xy=rim, xytext=centre, arrowprops={"arrowstyle": "->", "color": INK})
    write(axes, (centre + rim) / 2 + (0.15, -0.28), "r", INK, style="italic")
    shapes = {"markeredgecolor": INK, "linestyle": "none"}
    axes.legend(
        [
            Line2D([], [], marker="D", markersize=9, color=FOUND, **shapes),
            Line2D([], [], marker="o", markersize=5, color="white", **shapes),
            Line2D([], [], marker="o", markersize=10, color="#9a9a9a", **shapes),
        ],
        ["span from stage 1", "labelled example", "prototype: their mean"],
        loc="lower center", ncols=3, frameon=False, fontsize=9, handletextpad=0.3,
        columnspacing=1.4,
    )  # fmt: skip
    axes.set(xlim=(0, 10), ylim=(-0.9, 8.1), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_color("#d0d0d0")


def draw_result(axes: Axes) -> None:
    """The sentence with what was found, one line below another where spans nest."""
    axes.axis("off")
    axes.set(xlim=(0, 1), ylim=(0, 1))
    words = [axes.text(0.3, 0.72, WORDS[0], fontsize=12, va="center")]
    for word in WORDS[1:]:
        after = {"xycoords": words[-1], "xytext": (5, 0), "textcoords": "offset points"}
        words.append(axes.annotate(word, (1, 0.5), fontsize=12, va="center", **after))
    axes.figure.canvas.draw()
    extents = [w.get_window_extent().transformed(axes.transData.inverted()) for w in words]
    for _, first, last, place in CANDIDATES:
        label = nearest_type(place)
        if label is not None:
            colour, height = TYPES[label][0], 0.2 if label == "organisation" else 0.46
            left, right = extents[first].x0, extents[last].x1
            axes.plot((left, right), (height, height), color=colour, linewidth=2.5)
            write(axes, ((left + right) / 2, height - 0.13), label, colour, 9)


def nearest_type(place: tuple[float, float]) -> str | None:
    """The type whose prototype is nearest, if it is within the radius."""
    distances = {label: np.hypot(*np.subtract(place, PROTOTYPES[label])) for label in PROTOTYPES}
    label = min(distances, key=distances.__getitem__)
    return label if distances[label] <= RADIUS else None


def write(axes: Axes, place: tuple[float, float], text: str, colour: str, size: float = 10.5,
          **style: object) -> None:  # fmt: skip
    """Centred text."""
    axes.text(*place, text, color=colour, fontsize=size, ha="center", va="center", **style)


def main(target: Path) -> None:
    """Draw both stages side by side and the result below."""
    mpl.rcParams |= {"font.size": 10.5, "hatch.linewidth": 0.5, "svg.hashsalt": "two stages"}
    figure = plt.figure(figsize=(12, 6.6))
    left = figure.add_axes((0.075, 0.175, 0.39, 0.64))
    right = figure.add_axes((0.525, 0.175, 0.46, 0.72))
    draw_matrix(left)
    draw_prototypes(right)
    draw_result(figure.add_axes((0.02, 0, 0.96, 0.14)))
    for x, title in (
        (0.01, "1  Span extractor: which words bound an entity?"),
        (0.525, "2  Mention classifier: which prototype is within r?"),
    ):
        figure.text(x, 0.965, title, fontsize=12.5, weight="bold", color=INK, va="center")
    date = {"Date": None} if target.suffix == ".svg" else None  # the same file each time
    figure.savefig(target, dpi=130, facecolor="white", metadata=date)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("two-stages.svg"))
