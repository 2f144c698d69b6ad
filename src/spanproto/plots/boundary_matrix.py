"""The boundary matrix of a sentence: how much the extractor takes each word pair for a mention."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from spanproto.batch import map_tensors
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError
from spanproto.extractor import span_cells
from spanproto.model import SpanProto
from spanproto.passages import windows_of
from spanproto.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patheffects import AbstractPathEffect

    from spanproto.ner import FewShotNER, Threshold

MOST_WORDS = 60  # of a matrix that can still be read
_CELL = 0.105, 0.19  # inches, at least for a line of text and at most
_OUTLINE = 0.34  # half the side of a square, in cells
_LINE, _STROKE = 0.8, 1.1  # points, of the lines from a mark and of a square
_LANE = 0.15  # cells between the lines of spans that begin or end together


def boundary_matrix_figure(
    words: Sequence[str],
    probabilities: NDArray[np.floating],
    predicted: Iterable[Span] = (),
    gold: Iterable[Span] | None = None,
) -> "Figure":
    """The matrix (L, L) over the words: row i and column j are the span of the words i to j.

    Cells that are nan, and those below the diagonal, are no spans. A square marks what is labelled,
    a dot what is found; lines along the edges of cells lead from a mark to its first and last word,
    so a mark that they enclose is nested in it.
    """
    size = len(words)
    if probabilities.shape != (size, size):
        raise DataError(
            f"{size} words need a matrix of shape {(size, size)}, not {probabilities.shape}"
        )
    if not 0 < size <= MOST_WORDS:
        raise DataError(
            f"a boundary matrix of {size} words cannot be read; give 1 to {MOST_WORDS} words"
        )
    found, labelled = sorted(set(predicted)), sorted(set(gold or ()))
    types = _row_types(found, labelled)
    with style.applied():
        figure = style.new_figure(*_figure_size(words, types.values()))
        axes = figure.add_subplot()
        axes.set_gid("boundary matrix")
        shown = np.where(np.tri(size, k=-1, dtype=bool), np.nan, probabilities)
        image = axes.imshow(np.ma.masked_invalid(shown), cmap="Blues", vmin=0, vmax=1)
        _draw_grid(axes, size)
        _draw_words(axes, words)
        for reach in _reaches(_ranges(found, labelled)):
            axes.plot(
                *reach.corners(), color=style.INK, linewidth=_LINE, zorder=3,
                gid=f"reach {reach.start} {reach.end}", path_effects=_cased(_LINE, "white"),
            )  # fmt: skip
        for span in labelled:
            _mark_labelled(axes, span)
        for span in found:
            _mark_found(axes, span)
        for row, names in types.items():
            axes.text(size - 0.3, row, names, va="center_baseline", parse_math=False)
        _draw_legend(figure, gold is not None)
        bar = figure.colorbar(
            image, ax=axes, location="bottom", shrink=1.8 / figure.get_figwidth(), aspect=20,
            pad=0.02, ticks=[0, 0.25, 0.5, 0.75, 1],
        )  # fmt: skip
        bar.set_label(r"boundary probability $\sigma(f)$")
        bar.outline.set_visible(False)
    return figure


def draw_boundary_matrix(
    ner: "FewShotNER",
    text: str | Sentence,
    *,
    threshold: "Threshold | None" = None,
    allow_nested: bool = False,
) -> "Figure":
    """The boundary matrix of a text by a fitted recogniser, with what it finds.

    The spans of a Sentence are marked as labelled. Each sentence of a text has its own matrix,
    since it is read by itself.
    """
    sentence = sentence_of(text) if isinstance(text, str) else text
    found = ner.predict(sentence, threshold=threshold, allow_nested=allow_nested)
    return boundary_matrix_figure(
        sentence.words,
        boundary_probabilities(ner.model, sentence),
        [Span(entity.start, entity.end, entity.label) for entity in found],
        sentence.spans or None,
    )


@torch.inference_mode()
def boundary_probabilities(model: SpanProto, document: Sentence) -> NDArray[np.floating]:
    """sigmoid(f) of every pair of words that are read together, (L, L); nan elsewhere."""
    size = len(document.words)
    matrix = np.full((size, size), np.nan)
    model.eval()
    for window in windows_of(document):
        own = slice(window.start, window.end)
        batch = map_tensors(
            model.encoder.words.batch([document.words[own]]), lambda part: part.to(model.device)
        )
        with model.mixed_precision():
            start, end = model.encoder(batch)
        scores = model.extractor(start, end, span_cells(batch.word_mask))
        matrix[own, own] = scores[0].float().sigmoid().cpu().numpy()
    matrix[np.tri(size, k=-1, dtype=bool)] = np.nan
    return matrix


def _ranges(*several: Sequence[Span]) -> list[tuple[int, int]]:
    """Start and end of all spans, each once whatever its types."""
    return sorted({(span.start, span.end) for spans in several for span in spans})


class Reach(NamedTuple):
    """Lines from a span's cell to those of its first and of its last word."""

    start: int
    end: int
    below: float  # the upper edge of the row, in cells, for spans with the same first word
    left: float  # of the right edge of the column, for those with the same last word

    def corners(self) -> tuple[list[float], list[float]]:
        """The x and the y from the first word to the span's cell to the last word."""
        top, right = self.start - 0.5 + self.below, self.end - 0.5 - self.left
        return [self.start - 0.5, right, right], [top, top, self.end - 0.5]


def _reaches(ranges: Sequence[tuple[int, int]]) -> list[Reach]:
    """The lines of all spans of several words, those of an inner one inside those of an outer."""
    several = [(start, end) for start, end in ranges if end - start > 1]
    reaches = []
    for start, end in several:
        same_first = [last for first, last in several if first == start]
        same_last = [-first for first, last in several if last == end]
        reaches.append(Reach(start, end, _lane(end, same_first), _lane(-start, same_last)))
    return reaches


def _lane(own: int, all_of_edge: Sequence[int]) -> float:
    """How far inside an edge a line lies that shares it with others, the largest being outside."""
    between = len(all_of_edge) - 1
    number = sum(other > own for other in all_of_edge)
    return min(_LANE, 2 * _LANE / max(between, 1)) * (number - between / 2)


def _mark_labelled(axes: "Axes", span: Span) -> None:
    from matplotlib.patches import Rectangle

    corner = (span.end - 1 - _OUTLINE, span.start - _OUTLINE)
    axes.add_patch(
        Rectangle(
            corner, 2 * _OUTLINE, 2 * _OUTLINE, facecolor="none", edgecolor=style.GOLD,
            linewidth=_STROKE, zorder=4, gid="labelled", path_effects=_cased(_STROKE, style.INK),
        )
    )  # fmt: skip


def _mark_found(axes: "Axes", span: Span) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(
        Circle(
            (span.end - 1, span.start), 0.19, facecolor=style.FOUND, edgecolor="white",
            linewidth=0.6, zorder=5, gid="found",
        )
    )  # fmt: skip


def _cased(width: float, colour: str) -> "list[AbstractPathEffect]":
    """Another colour on both sides of a line, which is seen on light and on dark cells then."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=width + 0.7, foreground=colour), Normal()]


def _draw_legend(figure: "Figure", with_gold: bool) -> None:
    from matplotlib.lines import Line2D

    square = Line2D(
        [], [], linestyle="", marker="s", markersize=6, label="labelled",
        markerfacecolor="none", markeredgecolor=style.GOLD, markeredgewidth=_STROKE,
        path_effects=_cased(_STROKE, style.INK),
    )  # fmt: skip
    dot = Line2D([], [], linestyle="", marker="o", label="found", color=style.FOUND)
    lines = Line2D([], [], color=style.INK, linewidth=_LINE, label="to its first and last word")
    shown = [square, dot, lines] if with_gold else [dot, lines]
    figure.legend(handles=shown, loc="outside lower center", ncols=3, handlelength=1.4)


def _draw_grid(axes: "Axes", size: int) -> None:
    """Thin lines around the cells of the upper triangle only."""
    for place in range(size + 1):
        line = {"color": "#D5DBE1", "linewidth": 0.4, "zorder": 2}
        axes.plot([max(place - 1, 0) - 0.5, size - 0.5], [place - 0.5] * 2, **line)  # type: ignore[arg-type]
        axes.plot([place - 0.5] * 2, [-0.5, min(place + 1, size) - 0.5], **line)  # type: ignore[arg-type]


def _draw_words(axes: "Axes", words: Sequence[str]) -> None:
    places = range(len(words))
    axes.set_xticks(
        places, words, rotation=60, ha="left", va="center", rotation_mode="anchor", parse_math=False
    )  # fmt: skip
    axes.set_yticks(places, words, parse_math=False)
    axes.xaxis.set_ticks_position("top")
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel("last word")
    axes.set_ylabel("first word")
    axes.spines[:].set_visible(False)


def _row_types(found: Sequence[Span], labelled: Sequence[Span]) -> dict[int, str]:
    """The types of the marks of each row that has any, from left to right.

    Where it is known what is labelled, they say what is missed or not labelled.
    """
    types: dict[int, list[str]] = {}
    for start, end in _ranges(found, labelled):
        taken, true = (
            " + ".join(span.label for span in spans if (span.start, span.end) == (start, end))
            for spans in (found, labelled)
        )
        if not taken:
            taken = f"{true} (missed)"
        elif true and taken != true:
            taken = f"{taken} (labelled {true})"
        elif labelled and not true:
            taken = f"{taken} (not labelled)"
        types.setdefault(start, []).append(taken)
    return {row: ", ".join(_counted(names)) for row, names in types.items()}


def _counted(names: Iterable[str]) -> Iterator[str]:
    """Names that follow each other, those that are the same as one with their number."""
    for name, same in groupby(names):
        number = len(list(same))
        yield f"{name} ×{number}" if number > 1 else name  # noqa: RUF001


def _figure_size(words: Sequence[str], types: Iterable[str]) -> tuple[float, float]:
    """Inches: as wide as a column or a page, or wider where so many words could not be read."""
    word = max(map(style.text_width, words))
    type_room = max(map(style.text_width, types), default=0.0) + 0.1
    beside = 0.35 + word + max(type_room, style.text_width(words[-1]) / 2)  # the last one leans
    least, most = _CELL
    cells = len(words) * min(most, max(least, (style.PAGE - beside) / len(words)))
    needed = beside + cells
    width = next((room for room in (style.COLUMN, style.PAGE) if needed <= room + 0.01), needed)
    return width, 1.15 + 0.87 * word + cells
