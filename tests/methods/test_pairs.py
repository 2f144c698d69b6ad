"""Query and support sentences read in pairs, against reading each pair by itself."""

from dataclasses import replace

import synthetic
import torch

from spanproto.data.types import Sentence
from spanproto.methods.parts.pairs import one_query_each, paired_words
from spanproto.methods.parts.tagged import tagged
from spanproto.model import SpanProto
from spanproto.tokenization import SEPARATOR


def test_support_words_are_those_of_their_pair_and_query_words_a_mean(
    tiny_model: SpanProto,
) -> None:
    encoder = tiny_model.encoder
    first, second = synthetic.episode(1, query=2), synthetic.episode(2, synthetic.TYPES[:2])
    second = replace(second, query=(Sentence(()), *second.query[:1]))
    episodes = one_query_each([first, second])
    assert [len(episode.query) for episode in episodes] == [1] * 4
    pairs = paired_words(episodes, encoder.words)
    rows = tagged(episodes, encoder.words, "bio").sentences
    with torch.no_grad():
        states = pairs.rows(encoder.first_states(pairs.words))
        assert states.shape[:2] == rows.words.word_mask.shape
        row = 0
        for number, episode in enumerate(episodes):
            query, readings = episode.query[0].words, []
            for sentence in episode.support:
                pair = (*query, SEPARATOR, *sentence.words)
                alone = encoder.first_states(encoder.words.batch([pair]))[0]
                torch.testing.assert_close(
                    states[row, : len(sentence.words)],
                    alone[len(query) + 1 :],
                    atol=1e-5,
                    rtol=1e-4,
                )
                readings.append(alone[: len(query)])
                row += 1
            torch.testing.assert_close(
                states[rows.query_start + number, : len(query)],
                torch.stack(readings).mean(0),
                atol=1e-5,
                rtol=1e-4,
            )
