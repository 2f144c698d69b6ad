"""Annotated text for a terminal: entities in colour, or in brackets where there is none."""

import os
from collections.abc import Sequence
from itertools import cycle
from typing import Any, TextIO

from spanproto.output.document import Document
from spanproto.output.nesting import Mark, nested

_COLOURS = ("36", "33", "35", "32", "34", "31")  # ANSI foregrounds, told apart by most eyes


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what is written to the stream: a terminal, and nobody said NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


class Annotator:
    """Writes texts with their entities marked; each type keeps its colour."""

    def __init__(self, types: Sequence[str], colour: bool) -> None:
        self._colour_of = dict(zip(types, cycle(_COLOURS), strict=False)) if colour else {}

    def document(self, document: Document) -> str:
        """The user's own text, with every entity marked where it is, one within another."""
        text = document.text

        def marked(marks: Sequence[Mark], start: int, end: int, around: str = "") -> str:
            parts = []
            for mark in marks:
                label = mark.entity.label
                within = marked(mark.inner, mark.start, mark.end, self._opening(label))
                parts += [text[start : mark.start], self._marked(within, label), around]
                start = mark.end
            return "".join([*parts, text[start:end]])

        return marked(nested(document.placed()), 0, len(text))

    def _opening(self, label: str) -> str:
        return f"\033[1;{self._colour_of[label]}m" if label in self._colour_of else ""

    def _marked(self, text: str, label: str) -> str:
        if label not in self._colour_of:
            return f"[{text} | {label}]"
        return f"{self._opening(label)}{text}\033[0;{self._colour_of[label]}m {label}\033[0m"


def table(rows: Sequence[Sequence[Any]], numeric: Sequence[int] = ()) -> list[str]:
    """Lines of aligned columns; those in `numeric` to the right, the others to the left."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in numeric else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in texts
    ]
