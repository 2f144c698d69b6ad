"""Linear-chain conditional random fields: the probability of a sequence of tags.

Scores are given as to `viterbi`.
"""

import torch
from torch import Tensor


def sequence_log_likelihood(
    emissions: Tensor, start: Tensor, transitions: Tensor, end: Tensor, tags: Tensor, mask: Tensor
) -> Tensor:
    """The log-probability (S,) of the tags (S, L), any on padding; 0 for a sentence without words.

    Emissions must be finite, on padding too.
    """
    if emissions.shape[1] == 0:
        return emissions.new_zeros(len(emissions))
    path = _path_score(emissions, start, transitions, end, tags, mask)
    total = _log_partition(emissions, start, transitions, end, mask)
    return torch.where(mask[:, 0], path - total, 0.0)


def _path_score(
    emissions: Tensor, start: Tensor, transitions: Tensor, end: Tensor, tags: Tensor, mask: Tensor
) -> Tensor:
    """The sum of the scores (S,) of the given tags."""
    size, _, count = emissions.shape
    tags = torch.where(mask, tags, 0)
    words = emissions.gather(2, tags[:, :, None])[:, :, 0]
    pairs = tags[:, :-1] * count + tags[:, 1:]  # (S, L - 1), the places of transitions
    steps = transitions.flatten(1).expand(size, -1).gather(1, pairs)
    last = tags.gather(1, (mask.sum(1, keepdim=True) - 1).clamp(min=0))
    edges = start.expand(size, -1).gather(1, tags[:, :1]) + end.expand(size, -1).gather(1, last)
    inside = torch.where(mask, words, 0.0).sum(1) + torch.where(mask[:, 1:], steps, 0.0).sum(1)
    return edges[:, 0] + inside


def _log_partition(
    emissions: Tensor, start: Tensor, transitions: Tensor, end: Tensor, mask: Tensor
) -> Tensor:
    """The logarithm (S,) of the sum over all sequences of the exponential of their scores.

    It loops over places, all sentences in one step: each sum needs that of the place before.
    """
    total = start + emissions[:, 0]  # (S, T), over the sequences that end with each tag
    for place in range(1, emissions.shape[1]):
        longer = (total[:, :, None] + transitions).logsumexp(1) + emissions[:, place]
        total = torch.where(mask[:, place, None], longer, total)
    return (total + end).logsumexp(1)
