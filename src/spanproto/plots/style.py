"""How every figure looks, and how it is saved: one place for fonts, sizes and colours."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spanproto.data.files import replaced_when_done
from spanproto.errors import DataError
from spanproto.extras import optional

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.35, 6.9  # inches: the widths of one column and of both
INK, FAINT = "#222222", "#767676"
GOLD, FOUND = "#E69F00", "#D55E00"  # labelled by a person, and by the model
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "p", "<", ">", "*")  # another number than of colours
LINES = ("-", "--", "-.", ":")

_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "savefig.bbox": "tight",
    "savefig.pad_inches": 0.03,
    "svg.hashsalt": "spanproto",  # the same figure is the same file
}


class Look(NamedTuple):
    """What tells one kind of thing from another: a colour, and a shape that repeats it."""

    colour: str
    marker: str


def looks(number: int) -> list[Look]:
    """So many looks that differ, in colour and in shape as long as there are colours."""
    return [Look(*pair) for pair in islice(zip(cycle(OKABE_ITO), cycle(MARKERS)), number)]


@contextmanager
def applied() -> Iterator[None]:
    """Within it, figures are drawn in this style; needs the extra `plots`."""
    with optional("matplotlib", "plots").rc_context(_SETTINGS):
        yield


def new_figure(width: float, height: float) -> "Figure":
    """An empty figure of so many inches, known to no window and no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def mark_as_draft(figure: "Figure", words: str) -> None:
    """Write across the figure what it must not be taken for."""
    figure.text(
        0.5, 0.5, words, rotation=25, ha="center", va="center", fontsize=16, color=FAINT,
        alpha=0.45, zorder=10, gid="draft", in_layout=False,
    )  # fmt: skip


def save(figure: "Figure", path: Path | str) -> None:
    """Write the figure, whole or not at all; the name says the format, which is PNG without one."""
    path = Path(path)
    format = path.suffix.removeprefix(".").lower() or "png"
    if format not in figure.canvas.get_supported_filetypes():
        raise DataError(f"{path}: no picture can be written as {format}; name it .png or .svg")
    undated = {"Date": None} if format == "svg" else None
    with applied(), replaced_when_done(path) as temporary:
        figure.savefig(temporary, format=format, dpi=300, metadata=undated)


def save_for_print(figure: "Figure", path: Path | str) -> None:
    """Write the figure as PNG and as SVG beside each other, whatever the suffix of the path."""
    for suffix in (".png", ".svg"):
        save(figure, Path(path).with_suffix(suffix))
