"""Episodes as tables of tagged words."""

from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto.data.types import Episode, Sentence, Span
from spanproto.methods.parts.tagged import NO_WORD, found_spans, tagged, tagged_sentences
from spanproto.model import SpanProto

ONE = Episode(
    ("river", "tool"),
    (Sentence(("old", "toola"), (Span(1, 2, "tool"),)),),
    (Sentence(("the", "rivera", "seen"), (Span(1, 2, "river"),)), Sentence(("a",))),
)
TWO = Episode(("metal",), (Sentence(("metala", "metalb"), (Span(0, 2, "metal"),)),), ())


def test_tables_by_hand(tiny_model: SpanProto) -> None:
    batch = tagged([ONE, TWO], tiny_model.encoder.words, "bio")
    assert batch.tags.tolist() == [
        [0, 3, NO_WORD], [1, 2, NO_WORD], [0, 1, 0], [0, NO_WORD, NO_WORD]
    ]  # fmt: skip
    assert batch.tag_count == 5
    assert batch.allowed.tolist() == [[True, False, False, True, True], [True] * 3 + [False] * 2]
    assert batch.support.tag.tolist() == [[0, 3], [1, 2]]
    assert batch.query.tag.tolist() == [[0, 1, 0, 0], [NO_WORD] * 4]
    assert batch.query.place.tolist() == [[6, 7, 8, 9], [0] * 4]


def test_sentences_of_no_episode(tiny_model: SpanProto) -> None:
    sentences = (*ONE.query, *TWO.support)
    batch = tagged_sentences(sentences, tiny_model.encoder.words, "io")
    assert batch.table.tag.tolist() == [[0, 2, 0, 0, 1, 1]]  # metal is 1 and river 2
    assert batch.table.place.tolist() == [[0, 1, 2, 3, 6, 7]]
    plain = [sentence.unlabelled() for sentence in sentences]
    batch = tagged_sentences(plain, tiny_model.encoder.words, "io")
    assert batch.table.tag.tolist() == [[0] * 6]


def test_rows_to_tables_and_back(tiny_model: SpanProto) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2, synthetic.TYPES[:5])]
    batch = tagged(episodes, tiny_model.encoder.words, "io")
    words = torch.randn(*batch.tags.shape, 2)
    mask = batch.sentences.words.word_mask.clone()
    mask[: batch.sentences.query_start] = False
    back = batch.query.rows(batch.query.of(words))
    assert torch.equal(back[mask], words[mask])
    assert torch.equal(batch.query.of(batch.tags)[batch.query.tag >= 0], batch.tags[mask])


@pytest.mark.parametrize("even", [False, True])
def test_gold_tags_are_read_as_gold_spans(tiny_model: SpanProto, even: bool) -> None:
    episodes = [synthetic.episode(1, query=5), synthetic.episode(2, synthetic.TYPES[2:6])]
    batch = tagged(episodes, tiny_model.encoder.words, "bio", "query", even)
    found = found_spans(batch.tags.clamp(min=0), batch.sentences, episodes, "bio")
    for episode, sentences in zip(episodes, found, strict=True):
        assert [tuple(one.spans) for one in sentences] == [s.spans for s in episode.query]


def test_descriptions_are_no_words_of_the_support_set(tiny_model: SpanProto) -> None:
    described = replace(TWO, descriptions=(("metal", "a shiny metal"),))
    batch = tagged([described], tiny_model.encoder.words, "io", "support")
    assert batch.support.tag.tolist() == [[1, 1]]
