"""Which type was taken for which: counts, and a picture of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproto.data.types import Span
from spanproto.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSED, SPURIOUS = "missed", "spurious"


class Confusion:
    """How often entities of one type were found as another, missed, or found where there is none.

    Two spans are the same entity if they have the same boundaries.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = tuple(labels)
        self._counts: Counter[tuple[str | None, str | None]] = Counter()

    def add(self, gold: Iterable[Span], predicted: Iterable[Span]) -> None:
        """Count the entities of one sentence."""
        gold, predicted = set(gold), set(predicted)
        self._counts.update((span.label, span.label) for span in gold & predicted)
        left = {span[:2]: span.label for span in sorted(predicted - gold)}
        for span in sorted(gold - predicted):
            self._counts[span.label, left.pop(span[:2], None)] += 1
        self._counts.update((None, label) for label in left.values())

    def count(self, gold: str | None, predicted: str | None) -> int:
        """How often `gold` was found as `predicted`; None stands for no entity at all."""
        return self._counts[gold, predicted]

    def rows(self) -> list[list[int]]:
        """A row for each type and one for spurious spans; a column for each and one for missed."""
        names = (*self.labels, None)
        return [[self.count(gold, predicted) for predicted in names] for gold in names]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON: counts by what it is, then by what it was taken for."""
        rows = zip((*self.labels, SPURIOUS), self.rows(), strict=True)
        return {name: dict(zip((*self.labels, MISSED), row, strict=True)) for name, row in rows}

    def save(self, path: Path | str) -> None:
        """Draw the counts, each cell shaded by its share of the row; the name says the format."""
        with style.applied():
            style.save(self._figure(), path)

    def _figure(self) -> "Figure":
        rows = self.rows()
        side = max(style.COLUMN - 0.5, 1.2 + 0.4 * len(rows))
        figure = style.new_figure(side + 0.5, side)
        axes = figure.add_subplot()
        axes.spines[:].set_visible(True)
        shares = [[cell / max(1, sum(row)) for cell in row] for row in rows]
        image = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        for y, row in enumerate(rows):
            for x, cell in enumerate(row):
                if cell:
                    colour = "white" if shares[y][x] > 0.5 else style.INK
                    axes.text(x, y, str(cell), ha="center", va="center", color=colour)
        places = range(len(rows))
        axes.set_xticks(places, (*self.labels, MISSED), rotation=45, ha="right")
        axes.set_yticks(places, (*self.labels, SPURIOUS))
        axes.set_xlabel("found as")
        axes.set_ylabel("labelled as")
        axes.axhline(len(rows) - 1.5, color=style.INK, linewidth=0.8)
        axes.axvline(len(rows) - 1.5, color=style.INK, linewidth=0.8)
        figure.colorbar(image, ax=axes, label="share of the row", shrink=0.8)
        return figure
