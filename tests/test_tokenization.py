"""Sub-token windows: every word keeps its states, however long the sentence is."""

import numpy as np
import pytest
import synthetic
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from spanproto.errors import ConfigError
from spanproto.model import SpanProto
from spanproto.tokenization import SEPARATOR, WordTokenizer, place_in_windows


def test_windows_by_hand() -> None:
    # Ten sub-tokens in windows of 6 that share 2: [0, 6) and [4, 10). In the shared part, 4 has
    # one sub-token after it in the first window and none before it in the second.
    window, position, starts = place_in_windows(10, capacity=6, overlap=2)
    assert starts == [0, 4]
    assert window.tolist() == [0] * 5 + [1] * 5
    assert position.tolist() == [0, 1, 2, 3, 4, 1, 2, 3, 4, 5]


@given(st.integers(0, 200), st.integers(2, 20), st.data())
def test_every_sub_token_is_in_a_window(size: int, capacity: int, data) -> None:
    overlap = data.draw(st.integers(0, capacity - 1))
    window, position, starts = place_in_windows(size, capacity, overlap)
    assert ((position >= 0) & (position < capacity)).all()
    assert (np.asarray(starts)[window] + position == np.arange(size)).all()
    if len(starts) > 1:
        gaps = np.diff(starts)
        assert ((gaps > 0) & (gaps <= capacity - overlap)).all()


def test_words_point_at_their_own_sub_tokens(tiny_model: SpanProto) -> None:
    words = tiny_model.encoder.words
    sentences = [["today", "metalaxyz", "river"], ["old"] * 50, []]
    batch = WordTokenizer(words.tokenizer, max_length=12, overlap=4).batch(sentences)
    ids = batch.input_ids.flatten()
    for row, sentence in enumerate(sentences):
        assert batch.word_mask[row].sum() == len(sentence)
        for at, word in enumerate(sentence):
            pieces = words.tokenizer(word, add_special_tokens=False)["input_ids"]
            assert ids[batch.first[row, at]] == pieces[0]
            assert ids[batch.last[row, at]] == pieces[-1]
    assert len(batch.input_ids) > 3  # the long sentence needed several windows
    kept = batch.input_ids[batch.attention_mask.bool()]
    assert (kept == words.tokenizer.cls_token_id).sum() == len(batch.input_ids)


def test_a_word_of_no_sub_tokens_is_unknown(tiny_model: SpanProto) -> None:
    words = tiny_model.encoder.words
    batch = words.batch([["old", "\u200b", "\x00", "river"]])
    ids = batch.input_ids.flatten()[batch.first[0]]
    assert ids[1] == ids[2] == words.tokenizer.unk_token_id
    assert batch.word_mask.all()


def test_a_word_that_reads_like_a_special_token_is_a_word(tiny_model: SpanProto) -> None:
    words = tiny_model.encoder.words
    batch = words.batch([["[SEP]", "[PAD]"]])
    first = batch.input_ids.flatten()[batch.first[0]].tolist()
    assert words.tokenizer.sep_token_id not in first
    assert words.tokenizer.pad_token_id not in first


def test_two_texts_are_kept_apart(tiny_model: SpanProto) -> None:
    words = tiny_model.encoder.words
    batch = words.batch([["old", SEPARATOR, "river"]])
    assert batch.word_mask.sum() == 3
    assert batch.input_ids.flatten()[batch.first[0, 1]] == words.tokenizer.sep_token_id


def test_a_word_longer_than_a_window_has_both_its_ends(tiny_model: SpanProto) -> None:
    tokenizer = tiny_model.encoder.words.tokenizer
    word = "river" + "x" * 60 + "tool"
    words = WordTokenizer(tokenizer, max_length=10, overlap=2)
    words._pieces[word] = np.arange(5, 45)  # forty different sub-tokens
    batch = words.batch([["old", word, "the"]])
    ids = batch.input_ids.flatten()
    assert ids[batch.first[0, 1]] == 5
    assert ids[batch.last[0, 1]] == 44


def test_too_small_a_window_is_refused(tiny_model: SpanProto) -> None:
    with pytest.raises(ConfigError, match="raise max_length"):
        WordTokenizer(tiny_model.encoder.words.tokenizer, max_length=10, overlap=8)


def test_states_do_not_depend_on_padding_or_the_batch(tiny_model: SpanProto) -> None:
    short, long = ["old", "river"], ["the"] * 30
    encoder = tiny_model.encoder
    with torch.no_grad():
        alone = encoder(encoder.words.batch([short]))
        together = encoder(encoder.words.batch([long, short]))
    for one, both in zip(alone, together, strict=True):
        torch.testing.assert_close(one[0], both[1, : len(short)], atol=1e-5, rtol=1e-5)


def test_windows_that_are_not_needed_change_nothing(tiny_model: SpanProto) -> None:
    words = [word for sentence in synthetic.corpus(size=3) for word in sentence.words]
    encoder = tiny_model.encoder
    with torch.no_grad():
        whole = encoder(encoder.words.batch([words]))
        small = WordTokenizer(encoder.words.tokenizer, max_length=16, overlap=6)
        windowed = encoder(small.batch([words]))
    assert whole[0].shape == windowed[0].shape
    assert not torch.allclose(whole[0], windowed[0])  # there the context is smaller
    assert windowed[0].isfinite().all()


def byte_level() -> Tokenizer:
    """As RoBERTa and ModernBERT have it: a blank marks the beginning of a word."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(synthetic.vocabulary())] * 9, trainer)
    return tokenizer


def sentence_piece() -> Tokenizer:
    """As DeBERTa-v3 and XLM-R have it: every word begins with a mark, asked for or not."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        unk_token="<unk>",
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join(synthetic.vocabulary())] * 9, trainer)
    return tokenizer


@pytest.mark.parametrize("kind", [byte_level, sentence_piece])
def test_words_are_split_as_in_running_text(kind) -> None:
    backend = kind()
    backend.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, pad_token="<pad>", unk_token="<unk>", model_max_length=512
    )
    words = ["the", "old", "rivera", "near", "metalb", "unheard"]
    batch = WordTokenizer(tokenizer, max_length=100, overlap=10).batch([words])
    in_batch = batch.input_ids[0][batch.attention_mask[0].bool()].tolist()
    assert in_batch == tokenizer(" " + " ".join(words))["input_ids"]


def test_groups_without_sentences_have_rows_too(tiny_model: SpanProto) -> None:
    batch = tiny_model.encoder.words.batch([], groups=3)
    assert len(batch.input_ids) == 3
    assert batch.word_mask.shape == (0, 0)
