"""Scores of query words by the support words of their episode: by each tag's mean, or its nearest.

All take support words (E, M, d) with their tags (E, M), negative on padding, and query words
(E, Q, d), and give the scores (E, Q, T) of T tags, -inf for a tag that no support word has.
"""

import torch
from torch import Tensor

from spanproto.classifier import prototypes, squared_distances


def prototype_scores(support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
    """Minus the squared distance to the mean of each tag's support words."""
    centres, present = tag_prototypes(support, tag, tags)
    return (-squared_distances(query, centres)).masked_fill(~present[:, None], -torch.inf)


def matching_scores(support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
    """The mean of the dot products with each tag's support words: that with the words' mean."""
    centres, present = tag_prototypes(support, tag, tags)
    return (query @ centres.mT).masked_fill(~present[:, None], -torch.inf)


def nearest_scores(support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
    """Minus the squared distance to the nearest of each tag's support words."""
    near = (-squared_distances(query, support)).masked_fill(tag[:, None] < 0, -torch.inf)
    index = tag.clamp(min=0)[:, None].expand_as(near)  # (E, Q, M)
    return near.new_full((*near.shape[:2], tags), -torch.inf).scatter_reduce(2, index, near, "amax")


def tag_prototypes(words: Tensor, tag: Tensor, tags: int) -> tuple[Tensor, Tensor]:
    """The means (E, T, d) of the words with each tag, and whether there are any, (E, T)."""
    first_slot = tags * torch.arange(len(tag), device=tag.device)[:, None]
    slot, is_word = (first_slot + tag.clamp(min=0)).flatten(), (tag >= 0).flatten().float()
    count = is_word.new_zeros(len(tag) * tags).index_add(0, slot, is_word)
    weight = is_word / count.clamp(min=1)[slot]
    means = prototypes(words.flatten(0, 1), weight, slot, len(count))
    return means.view(len(tag), tags, -1), (count > 0).view(len(tag), tags)
