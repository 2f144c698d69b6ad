"""Entities as a tree: which stand within which, as marks in a text have to."""

from collections.abc import Iterable
from typing import NamedTuple

from spanproto.entity import Entity
from spanproto.output.document import Placed


class Mark(NamedTuple):
    """Characters of a text to mark as an entity, or a part of one, and the marks within."""

    start: int
    end: int
    entity: Entity
    is_end: bool  # the entity ends here; one that crosses another is marked in parts
    inner: tuple["Mark", ...]


def nested(found: Iterable[Placed]) -> tuple[Mark, ...]:
    """The marks of the entities; the longer of two holds the other, and crossing ones are cut."""
    return _nested([(start, end, entity, True) for start, end, entity in found])


_Piece = tuple[int, int, Entity, bool]


def _nested(pieces: list[_Piece]) -> tuple[Mark, ...]:
    marks = []
    waiting = sorted(pieces, key=_outermost_first)
    while waiting:
        start, end, entity, is_end = waiting[0]
        inner: list[_Piece] = []
        after: list[_Piece] = []
        for piece in waiting[1:]:
            if piece[0] >= end:
                after.append(piece)
            elif piece[1] <= end:
                inner.append(piece)
            else:
                inner.append((piece[0], end, piece[2], False))
                after.append((end, *piece[1:]))
        marks.append(Mark(start, end, entity, is_end, _nested(inner)))
        waiting = sorted(after, key=_outermost_first)
    return tuple(marks)


def _outermost_first(piece: _Piece) -> tuple[int, int]:
    return piece[0], -piece[1]
