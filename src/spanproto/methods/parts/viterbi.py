"""The best sequence of tags, for many sentences at a time."""

import torch
from torch import Tensor


def viterbi(
    emissions: Tensor,
    start: Tensor,
    transitions: Tensor,
    mask: Tensor,
    end: Tensor | None = None,
) -> Tensor:
    """The tags (S, L) with the largest sum of scores; 0 on padding.

    `emissions` (S, L, T) are the scores of tags, `start` (S, T) those of beginning with them,
    `transitions` (S, T, T) those of each tag (rows) before another (columns), and `end` (S, T)
    those of ending with them; where all sentences share the latter three, S may be 1. Words come
    first in the `mask` (S, L), padding after them.

    The loop over places, one step for all sentences, is what the recursion needs: the best way to
    a word depends on that to the word before.
    """
    if emissions.shape[1] == 0:
        return mask.long()
    best = start + emissions[:, 0]  # (S, T), of the best sequence that ends with each tag
    itself = torch.arange(best.shape[1], device=best.device).expand_as(best)
    pointers = []
    for place in range(1, emissions.shape[1]):
        score, before = (best[:, :, None] + transitions).max(1)
        is_word = mask[:, place, None]
        best = torch.where(is_word, score + emissions[:, place], best)
        pointers.append(torch.where(is_word, before, itself))
    tags = [(best if end is None else best + end).argmax(1)]
    for before in reversed(pointers):
        tags.append(before.gather(1, tags[-1][:, None])[:, 0])
    return torch.stack(tags[::-1], 1).masked_fill(~mask, 0)
