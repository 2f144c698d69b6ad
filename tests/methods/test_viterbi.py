"""The best sequence of tags against trying every sequence."""

from itertools import pairwise, product

import pytest
import torch

from spanproto.methods.parts.viterbi import viterbi


def score(emissions, start, transitions, tags: tuple[int, ...], end=None) -> float:
    total = start[tags[0]] + sum(emissions[place, tag] for place, tag in enumerate(tags))
    total += 0 if end is None else end[tags[-1]]
    return float(total + sum(transitions[a, b] for a, b in pairwise(tags)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ends", [False, True])
def test_no_sequence_is_better(seed: int, ends: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    sentences, length, tags = 4, 5, 3
    emissions = torch.randn(sentences, length, tags, generator=generator)
    emissions[0, :, 2] = -torch.inf  # a tag that the first sentence cannot have
    start = torch.randn(sentences, tags, generator=generator)
    transitions = 2 * torch.randn(sentences, tags, tags, generator=generator)
    lengths = torch.randint(1, length + 1, (sentences,), generator=generator)
    mask = torch.arange(length) < lengths[:, None]
    end = 2 * torch.randn(sentences, tags, generator=generator) if ends else None
    found = viterbi(emissions, start, transitions, mask, end)
    for row, size in enumerate(lengths.tolist()):
        best = max(
            product(range(tags), repeat=size),
            key=lambda each: score(
                emissions[row],
                start[row],
                transitions[row],
                each,
                None if end is None else end[row],
            ),
        )
        assert tuple(found[row, :size].tolist()) == best
        assert found[row, size:].tolist() == [0] * (length - size)


def test_sentences_without_words() -> None:
    empty = viterbi(
        torch.zeros(2, 0, 3), torch.zeros(2, 3), torch.zeros(2, 3, 3), torch.zeros(2, 0).bool()
    )
    assert empty.shape == (2, 0)
