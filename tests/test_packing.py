"""Sequences that share rows: each whole, none over another, groups apart."""

from collections import Counter

import pytest
import synthetic
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanproto.model import SpanProto
from spanproto.packing import Place, best_fit, lay_out
from spanproto.tokenization import WordTokenizer


def test_the_largest_go_first_and_where_least_is_left() -> None:
    # 7 and 6 open rows of 10; 4 fills the second of these, 3 the first, and 2 needs a third.
    assert best_fit([3, 7, 2, 6, 4], 10) == [
        Place(0, 2, 7),
        Place(0, 1, 0),
        Place(2, 1, 0),
        Place(1, 1, 0),
        Place(1, 2, 6),
    ]


def test_without_a_width_each_has_a_row() -> None:
    assert best_fit([3, 7], 0) == [Place(0, 1, 0), Place(1, 1, 0)]


def test_groups_have_rows_of_their_own_and_equally_many() -> None:
    places, rows = lay_out([9, 9, 4, 4], [0, 0, 1, 1], 10)
    assert [place.row for place in places] == [0, 1, 2, 2]
    assert rows == 4  # the last is empty


@given(st.data())
def test_none_lies_over_another(data) -> None:
    width = data.draw(st.integers(1, 20))
    sizes = data.draw(st.lists(st.integers(1, width), min_size=1, max_size=30))
    groups = data.draw(st.integers(1, len(sizes)))
    group_of = [number * groups // len(sizes) for number in range(len(sizes))]
    places, rows = lay_out(sizes, group_of, width)
    taken = Counter(
        (place.row, at)
        for place, size in zip(places, sizes, strict=True)
        for at in range(place.offset, place.offset + size)
    )
    assert max(taken.values()) == 1
    assert max(at for _, at in taken) < width
    assert rows % groups == 0
    assert [place.row // (rows // groups) for place in places] == group_of
    numbers = [(place.row, place.number) for place in places]
    assert len(set(numbers)) == len(numbers)
    assert rows // groups <= max(Counter(group_of).values())


@pytest.mark.parametrize("groups", [1, 3])
def test_states_are_those_of_rows_that_are_not_shared(tiny_model: SpanProto, groups: int) -> None:
    corpus = synthetic.corpus(size=9)
    sentences = [sentence.words[: 2 + number % 4] for number, sentence in enumerate(corpus)]
    sentences[0] = corpus[0].words
    encoder = tiny_model.encoder
    shared = encoder.words
    apart = WordTokenizer(shared.tokenizer, shared.max_length, shared.overlap)
    batches = shared.batch(sentences, groups), apart.batch(sentences, groups)
    assert len(batches[0].input_ids) < len(batches[1].input_ids)
    with torch.no_grad():
        here, there = (encoder(batch) for batch in batches)
    for one, other in zip(here, there, strict=True):
        mask = batches[0].word_mask
        torch.testing.assert_close(one[mask], other[mask], atol=1e-5, rtol=1e-4)
