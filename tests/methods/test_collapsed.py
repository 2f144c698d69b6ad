"""Transitions that know no types, unfolded for the types of an episode."""

import torch

from spanproto.methods.parts.collapsed import CollapsedTransitions


def test_the_table_is_unfolded() -> None:
    collapsed = CollapsedTransitions()
    with torch.no_grad():
        collapsed.table.copy_(torch.arange(15).view(3, 5))
        collapsed.start.copy_(torch.tensor([1, 2, 3]))
        collapsed.end.copy_(torch.tensor([4, 5, 6]))
        start, transitions, end = collapsed(5)  # O, B and I of one type, B and I of another
    assert start.tolist() == [[1, 2, 3, 2, 3]]
    assert end.tolist() == [[4, 5, 6, 5, 6]]
    assert transitions.tolist() == [
        [
            [0, 1, 2, 1, 2],
            [5, 6, 7, 8, 9],
            [10, 11, 12, 13, 14],
            [5, 8, 9, 6, 7],
            [10, 13, 14, 11, 12],
        ]
    ]
