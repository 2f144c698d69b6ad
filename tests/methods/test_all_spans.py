"""All spans of episodes: their kinds, their shares in the loss, and the parts they come in."""

import pytest
import synthetic
import torch

from spanproto.data.types import Episode, Sentence, Span
from spanproto.methods.parts.all_spans import INSIDE, O_KINDS, OTHER, TOUCHING, AllSpans, all_spans
from spanproto.model import SpanProto

FIRST, SECOND = O_KINDS, O_KINDS + 1


@pytest.fixture
def listed(tiny_model: SpanProto):
    def make(*episodes: Episode, longest: int = 3, pairs: int = 10**9) -> AllSpans:
        return all_spans(episodes, tiny_model.encoder.words, longest, pairs)

    return make


def kinds(batch: AllSpans, row: int) -> dict[tuple[int, int], int]:
    places = batch.spans
    columns = (places.sentence, places.start, places.end, batch.kind)
    listed = zip(*(column.tolist() for column in columns), strict=True)
    return {(start, end): kind for at, start, end, kind in listed if at == row}


SUPPORT = Sentence(tuple("abcde"), (Span(1, 3, "y"),))


def test_kinds_by_hand(listed) -> None:
    query = Sentence(tuple("ab"), (Span(0, 1, "x"),))
    batch = listed(Episode(("x", "y"), (SUPPORT,), (query,)))
    assert kinds(batch, 0) == {
        (0, 1): OTHER, (0, 2): TOUCHING, (0, 3): TOUCHING,
        (1, 2): INSIDE, (1, 3): SECOND, (1, 4): TOUCHING,
        (2, 3): INSIDE, (2, 4): TOUCHING, (2, 5): TOUCHING,
        (3, 4): OTHER, (3, 5): OTHER, (4, 5): OTHER,
    }  # fmt: skip
    assert kinds(batch, 1) == {(0, 1): FIRST, (0, 2): TOUCHING, (1, 2): OTHER}
    assert batch.target.tolist() == [0, 0, 0, 0, 2, *[0] * 7, 1, 0, 0]
    # Of the query spans one has a type without support; the other two share the mean.
    assert batch.weight.tolist() == [*[0] * 13, 0.5, 0.5]


def test_an_entity_that_is_longer_is_listed_too(listed) -> None:
    long = Sentence(tuple("abc"), (Span(0, 3, "y"),))
    batch = listed(Episode(("y",), (long, SUPPORT), ()), longest=1)
    assert kinds(batch, 0) == {(0, 1): INSIDE, (1, 2): INSIDE, (2, 3): INSIDE, (0, 3): FIRST}
    assert kinds(batch, 1)[1, 3] == FIRST


def test_nested_entities(listed) -> None:
    nested = Sentence(tuple("abcd"), (Span(0, 3, "x"), Span(1, 2, "y")))
    found = kinds(listed(Episode(("x", "y"), (nested,), ())), 0)
    assert (found[0, 3], found[1, 2], found[2, 3], found[2, 4]) == (
        FIRST, SECOND, INSIDE, TOUCHING,
    )  # fmt: skip


def test_without_a_span_of_o_none_is_learned(listed) -> None:
    single = Sentence(("a",), (Span(0, 1, "x"),))
    batch = listed(Episode(("x",), (single,), (Sentence(("a", "b"), (Span(0, 1, "x"),)),)))
    assert batch.weight.tolist() == [0, 1, 0, 0]


def test_the_table_and_the_list_agree(listed) -> None:
    episodes = [synthetic.episode(1, query=5), synthetic.episode(2, synthetic.TYPES[1:6])]
    batch = listed(*episodes)
    assert torch.equal(batch.table.flatten()[batch.cell], torch.arange(len(batch.kind)))
    assert int(batch.in_table.sum()) == len(batch.kind)
    row = torch.arange(len(batch.table))[:, None].expand_as(batch.table)
    assert (batch.spans.sentence[batch.table] == row)[batch.in_table].all()
    assert batch.weight.sum().item() == pytest.approx(1)


@pytest.mark.parametrize("pairs", [1, 3000, 10**9])
def test_parts_cover_every_query_sentence_once(listed, pairs: int) -> None:
    episodes = [synthetic.episode(1, query=5), synthetic.episode(2, synthetic.TYPES[1:6])]
    batch = listed(*episodes, pairs=pairs)
    first = batch.sentences.query_start
    assert sorted(batch.query.tolist()) == list(range(first, len(batch.table)))
    assert [n for part in batch.parts for n in range(10)[part.lines]] == list(range(8))
    assert len(batch.parts) == {1: 8, 10**9: 2}.get(pairs, len(batch.parts))
    for part in batch.parts:
        rows = batch.query[part.lines]
        sizes = batch.in_table[rows].sum(1)
        assert part.width == sizes.max()
        owner = batch.sentences.episode[batch.spans.sentence[part.support]].unique()
        assert owner.tolist() == batch.sentences.episode[rows].unique().tolist()
        support = part.support.stop - part.support.start
        assert len(rows) == 1 or len(rows) * part.width * support <= pairs
        assert part.types == len(episodes[owner].types)
