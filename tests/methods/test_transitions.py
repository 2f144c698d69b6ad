"""Abstract transitions: counted, and spread over the types of an episode, by hand."""

import pytest
import synthetic
import torch

from spanproto.data.types import Sentence, Span
from spanproto.methods.parts import transitions
from spanproto.methods.parts.transitions import FLOOR, count_transitions, transition_scores

COUNTS = torch.tensor([[3.0, 1, 0], [6, 2, 0], [1, 2, 1]])


def probabilities(exists: list[bool], temperature: float) -> tuple[torch.Tensor, torch.Tensor]:
    start, following = transition_scores(COUNTS, torch.tensor([exists]), temperature)
    return start[0].exp(), following[0].exp()


def test_counts_of_two_sentences() -> None:
    one = Sentence(tuple("abcdef"), (Span(1, 3, "x"), Span(3, 4, "y")))  # O x x y O O
    two = Sentence(tuple("ab"), (Span(0, 1, "x"), Span(1, 2, "x")))  # x x
    assert count_transitions([one, two, Sentence(())]).tolist() == [
        [1, 1, 0],  # from START
        [1, 1, 0],  # from O
        [1, 2, 1],  # from I
    ]


def test_what_leads_to_types_is_shared_by_them() -> None:
    start, following = probabilities([True, True, True], temperature=1)
    assert start.tolist() == pytest.approx([0.75, 0.125, 0.125])
    assert following[0].tolist() == pytest.approx([0.75, 0.125, 0.125])
    assert following[1].tolist() == pytest.approx([0.25, 0.5, 0.25])
    assert following[2].tolist() == pytest.approx([0.25, 0.25, 0.5])


def test_the_temperature_flattens() -> None:
    _, following = probabilities([True, True, True], temperature=0.5)
    # Square roots of 3/4, 1/8, 1/8 are 0.8660, 0.3536, 0.3536, together 1.5731.
    assert following[0].tolist() == pytest.approx([0.55051, 0.22474, 0.22474], abs=1e-5)


def test_types_that_do_not_exist_take_no_share() -> None:
    start, following = probabilities([True, False, True], temperature=1)
    assert start.tolist() == pytest.approx([0.75, FLOOR, 0.25])
    assert following[2].tolist() == pytest.approx([1 / 3, FLOOR, 2 / 3])


def test_what_never_happened_is_floored() -> None:
    nothing = torch.zeros(3, 3)
    start, following = transition_scores(nothing, torch.tensor([[True, True, False]]), 0.32)
    assert (start.exp() <= 1.1 * FLOOR).all()
    assert following.isfinite().all()


def test_counts_do_not_depend_on_how_many_sentences_are_tagged_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sentences = [*synthetic.corpus(3, 7), Sentence(()), *synthetic.corpus(4, 4)]
    whole = count_transitions(sentences)
    alone = [count_transitions([sentence]) for sentence in sentences]
    assert torch.equal(whole, torch.stack(alone).sum(0))
    monkeypatch.setattr(transitions, "_SENTENCES_AT_ONCE", 3)
    assert torch.equal(count_transitions(iter(sentences)), whole)
