"""The probability of tags against summing over every sequence."""

from itertools import product
from math import log

import pytest
import torch
from test_viterbi import score

from spanproto.methods.parts.crf import sequence_log_likelihood


def test_two_words_by_hand() -> None:
    emissions = torch.tensor([[[log(2), 0], [0, log(3)]]])
    start, end = torch.tensor([[0, log(5)]]), torch.tensor([[log(7), 0]])
    transitions = torch.tensor([[[0, log(2)], [0, 0]]])
    # 00: 2 * 7; 01: 2 * 2 * 3; 10: 5 * 7; 11: 5 * 3. Together 76.
    mask = torch.ones(1, 2, dtype=torch.bool)
    for tags, weight in (((0, 0), 14), ((0, 1), 12), ((1, 0), 35), ((1, 1), 15)):
        found = sequence_log_likelihood(
            emissions, start, transitions, end, torch.tensor([tags]), mask
        )
        assert found.item() == pytest.approx(log(weight / 76), rel=1e-5)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shared", [False, True])
def test_it_is_the_share_among_all_sequences(seed: int, shared: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    sentences, length, tags = 4, 4, 3
    own = 1 if shared else sentences
    emissions = torch.randn(sentences, length, tags, generator=generator)
    start, end = torch.randn(2, own, tags, generator=generator)
    transitions = 2 * torch.randn(own, tags, tags, generator=generator)
    lengths = torch.randint(0, length + 1, (sentences,), generator=generator)
    mask = torch.arange(length) < lengths[:, None]
    gold = torch.randint(0, tags, (sentences, length), generator=generator)
    gold = torch.where(mask, gold, -1)
    found = sequence_log_likelihood(emissions, start, transitions, end, gold, mask)
    for row, size in enumerate(lengths.tolist()):
        at = 0 if shared else row

        def weight(each: tuple[int, ...], row: int = row, at: int = at) -> float:
            return score(emissions[row], start[at], transitions[at], each, end[at])

        if size == 0:
            assert found[row] == 0
            continue
        every = torch.tensor([weight(each) for each in product(range(tags), repeat=size)])
        expected = weight(tuple(gold[row, :size].tolist())) - every.logsumexp(0).item()
        assert found[row].item() == pytest.approx(expected, abs=1e-4)


def test_sentences_without_words() -> None:
    empty = torch.zeros(2, 0)
    found = sequence_log_likelihood(
        torch.zeros(2, 0, 3),
        torch.zeros(1, 3),
        torch.zeros(1, 3, 3),
        torch.zeros(1, 3),
        empty.long(),
        empty.bool(),
    )
    assert found.tolist() == [0, 0]
