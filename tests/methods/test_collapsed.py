"""Transitions that know no types, unfolded for the types of an episode."""

import pytest
import torch

from spanproto.data.types import Sentence, Span
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


def test_transitions_begin_with_what_is_counted() -> None:
    table = CollapsedTransitions()
    sentence = Sentence(tuple("abcdef"), (Span(1, 3, "x"), Span(3, 4, "y"), Span(4, 5, "y")))
    table.begin([sentence])  # O B-x I-x B-y B-y O
    # Half a step is added to each of five; steps to any type, or another, are shared by both.
    assert table.table[0].exp().tolist() == pytest.approx(
        [0.5 / 3.5, 1.5 / 3.5 / 2, 0.5 / 3.5 / 2, 0.5 / 3.5 / 2, 0.5 / 3.5 / 2]
    )
    after_b = [1.5, 1.5, 1.5, 0.5 / 2, 0.5 / 2]  # to O, to B-y from B-y, to I-x
    assert table.table[1].exp().tolist() == pytest.approx([count / 5.5 for count in after_b])
    assert table.table[2].exp()[3].item() == pytest.approx(1.5 / 3.5 / 2)  # B-y after I-x
    assert table.start.exp()[0].item() == pytest.approx(1.5 / 2.5)
    assert table.end.exp().tolist() == pytest.approx([1.5 / 2.5, 0.5 / 2.5, 0.5 / 2.5])
