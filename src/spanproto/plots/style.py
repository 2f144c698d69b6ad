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

COLUMN, PAGE = 3.35, 6.9  # inches: the widths of one column and of both, in which figures come
INK, FAINT = "#222222", "#767676"
GOLD, FOUND = "#FFC20A", "#D55E00"  # labelled by a person, and by the model
GRID = "#E3E3E3"
TEXT = 7.0  # points, of all there is to read
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "p", "<", ">", "*")  # another number than of colours
LINES = ("-", "--", "-.", ":")

_SETTINGS = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so it is the same everywhere
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "xtick.labelsize": TEXT,
    "ytick.labelsize": TEXT,
    "legend.fontsize": TEXT,
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
    "savefig.bbox": "standard",  # as wide as it was made, so that no page scales the text
    "svg.hashsalt": "spanproto",  # the same figure is the same file
}


class Look(NamedTuple):
    """What tells one kind of thing from another: a colour, and a shape that repeats it."""

    colour: str
    marker: str

    def size(self, points: float) -> float:
        """What matplotlib calls the size of a mark that looks as large as others of so many."""
        return points * (0.8 if self.marker == "D" else 1.0)  # a square, set on its corner


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


def text_width(text: str) -> float:
    """The inches that a line takes at the size of all text."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    if not text.strip():
        return 0.0
    plain = text.replace("$", r"\$")  # no formula
    drawn = TextPath((0, 0), plain, size=TEXT, prop=FontProperties(family="DejaVu Sans"))
    return float(drawn.get_extents().width) / 72


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
