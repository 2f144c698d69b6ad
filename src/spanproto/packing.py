"""Short sequences side by side in rows, so that little of a batch is padding."""

from collections.abc import Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """Where a sequence lies."""

    row: int
    number: int  # among those of its row, counted from 1
    offset: int


def lay_out(sizes: Sequence[int], group_of: Sequence[int], width: int) -> tuple[list[Place], int]:
    """The place of each sequence, and how many rows there are.

    A row of `width` holds as many sequences of one group as fit; if the width is 0, each has a row
    to itself. Groups have equally many rows, one group after the other, and are numbered from 0.
    """
    groups = 1 + max(group_of)
    members: list[list[int]] = [[] for _ in range(groups)]
    for number, group in enumerate(group_of):
        members[group].append(number)
    packed = [best_fit([sizes[number] for number in numbers], width) for numbers in members]
    most = max(1 + place.row for places in packed for place in places)
    where: dict[int, Place] = {}
    for group, (numbers, places) in enumerate(zip(members, packed, strict=True)):
        for number, place in zip(numbers, places, strict=True):
            where[number] = place._replace(row=group * most + place.row)
    return [where[number] for number in range(len(sizes))], groups * most


def best_fit(sizes: Sequence[int], width: int) -> list[Place]:
    """The place of each sequence in rows of `width`: the largest first, where least is left."""
    if not width:
        return [Place(row, 1, 0) for row in range(len(sizes))]
    places: dict[int, Place] = {}
    with_room: list[list[int]] = [[] for _ in range(width + 1)]  # rows by what is left of them
    held: list[int] = []  # how many sequences each row holds
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        size = sizes[index]
        room = next((left for left in range(size, width) if with_room[left]), width)
        if room == width:
            row = len(held)
            held.append(0)
        else:
            row = with_room[room].pop()
        held[row] += 1
        places[index] = Place(row, held[row], width - room)
        with_room[room - size].append(row)
    return [places[index] for index in range(len(sizes))]
