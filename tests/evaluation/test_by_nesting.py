"""Nested and flat mentions are scored apart, and together they are all mentions."""

from hypothesis import given
from hypothesis import strategies as st

from spanproto.data.types import Episode, Sentence, Span
from spanproto.evaluation.by_nesting import (
    NestingCounts,
    nested_mentions,
    outermost_mentions,
    score_by_nesting,
)
from spanproto.evaluation.counts import Counts

OUTER, INNER, ALONE = Span(0, 4, "organisation"), Span(3, 4, "place"), Span(6, 7, "place")
GOLD = (OUTER, INNER, ALONE)


def test_a_mention_is_nested_if_it_contains_one_or_lies_in_one() -> None:
    assert nested_mentions(GOLD) == {OUTER, INNER}
    crossing = (Span(0, 3, "a"), Span(2, 5, "a"))
    assert nested_mentions(crossing) == frozenset()
    same_boundaries = (Span(0, 3, "a"), Span(0, 3, "b"))
    assert nested_mentions(same_boundaries) == set(same_boundaries)


def test_mentions_within_longer_ones_are_not_outermost() -> None:
    assert outermost_mentions(GOLD) == [OUTER, ALONE]
    assert outermost_mentions((Span(1, 2, "a"), Span(0, 2, "b"), Span(0, 5, "c"))) == [
        Span(0, 5, "c")
    ]
    for kept in ((Span(0, 3, "a"), Span(2, 5, "a")), (Span(0, 3, "a"), Span(0, 3, "b"))):
        assert outermost_mentions(kept) == list(kept)


def test_flat_decoding_loses_recall_on_the_nested_mentions_alone() -> None:
    counts = NestingCounts.of([OUTER, ALONE], GOLD)
    assert counts == NestingCounts(nested=Counts(1, 1, 2), flat=Counts(1, 1, 1))


def test_a_wrong_prediction_goes_where_the_gold_mentions_are() -> None:
    cuts_a_nested_one, beside = Span(3, 5, "place"), Span(5, 6, "place")
    wrong_type = ALONE._replace(label="person")
    counts = NestingCounts.of([cuts_a_nested_one, beside, wrong_type], GOLD)
    assert counts == NestingCounts(nested=Counts(0, 1, 2), flat=Counts(0, 2, 1))


def test_a_right_flat_mention_that_crosses_a_nested_one_is_flat() -> None:
    crossing = Span(2, 6, "event")
    counts = NestingCounts.of([crossing], (OUTER, INNER._replace(start=1, end=2), crossing))
    assert counts.flat == Counts(1, 1, 1)


def test_episodes_are_pooled() -> None:
    sentence = Sentence(tuple("abcdefgh"), GOLD)
    episode = Episode(("organisation", "place"), (sentence,), (sentence, sentence))
    counts = score_by_nesting([episode, episode], [[GOLD, []]] * 2)
    assert counts == NestingCounts(nested=Counts(4, 4, 8), flat=Counts(2, 2, 4))
    assert counts.to_dict()["nested"]["recall"] == 50


SPANS = st.lists(
    st.builds(
        lambda start, length, label: Span(start, start + length, label),
        st.integers(0, 5),
        st.integers(1, 4),
        st.sampled_from("ab"),
    ),
    max_size=6,
)


@given(predicted=SPANS, gold=SPANS)
def test_the_groups_add_up_to_all_mentions(predicted: list[Span], gold: list[Span]) -> None:
    counts = NestingCounts.of(predicted, gold)
    assert counts.nested + counts.flat == Counts.of(set(predicted), set(gold))
