"""Episodes as tables of spans."""

from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto.batch import SpanPlaces
from spanproto.data.types import Episode, Sentence, Span
from spanproto.methods.parts.span_table import NO_SPAN, span_batch, span_table, typed_spans
from spanproto.methods.parts.tagged import NO_WORD
from spanproto.model import SpanProto

ONE = Episode(
    ("river", "tool"),
    (Sentence(("old", "toola"), (Span(1, 2, "tool"),)),),
    (Sentence(("the", "rivera", "riverb"), (Span(1, 3, "river"), Span(0, 1, "tool"))),),
)
TWO = Episode(("metal",), (Sentence(("metala",), (Span(0, 1, "metal"),)),), (Sentence(("a",)),))


def test_tags_and_tables_by_hand(tiny_model: SpanProto) -> None:
    batch = span_batch([ONE, TWO], tiny_model.encoder.words, "bioes", "query")
    assert batch.tags.tolist() == [[4, 1, 3], [0, NO_WORD, NO_WORD]]
    assert batch.spans.kind.tolist() == [[0, 1], [NO_SPAN, NO_SPAN]]
    assert (batch.spans.start[0].tolist(), batch.spans.end[0].tolist()) == ([1, 0], [3, 1])
    assert batch.types == 2
    known = span_batch([ONE, TWO], tiny_model.encoder.words, "bioes", "support")
    assert known.spans.kind.tolist() == [[1], [0]]
    assert known.spans.sentence.tolist() == [[0], [1]]


@pytest.mark.parametrize("even", [False, True])
def test_gold_spans_come_back(tiny_model: SpanProto, even: bool) -> None:
    episodes = [synthetic.episode(1, query=5), synthetic.episode(2, synthetic.TYPES[2:6]), TWO]
    batch = span_batch(episodes, tiny_model.encoder.words, "bioes", "query", even)
    found = typed_spans(batch.spans, batch.spans.kind, batch.sentences, episodes)
    for episode, sentences in zip(episodes, found, strict=True):
        assert [tuple(one.spans) for one in sentences] == [s.spans for s in episode.query]
        assert [one.candidates for one in sentences] == [
            [(span.start, span.end) for span in s.spans] for s in episode.query
        ]


def test_no_spans_at_all() -> None:
    none = torch.zeros(0, dtype=torch.long)
    assert span_table(SpanPlaces(none, none, none), none, none, 2).kind.shape == (2, 0)


def test_descriptions_are_no_spans_of_the_support_set(tiny_model: SpanProto) -> None:
    described = replace(TWO, descriptions=(("metal", "a shiny metal"),))
    batch = span_batch([described], tiny_model.encoder.words, "bioes", "support")
    assert batch.spans.kind.tolist() == [[0]]
