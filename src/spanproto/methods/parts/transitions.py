"""Abstract transitions of IO tags: how often entities begin, go on, end, and touch, whatever type.

Counted on training data with other types, they are spread over the types of a new episode (Yang
and Katiyar, 2020).
"""

from collections.abc import Iterable
from itertools import islice

import torch
from torch import Tensor

from spanproto.data.types import Sentence
from spanproto.methods.parts.tagging import tags_of_sentences

FLOOR = 1e-6
_SENTENCES_AT_ONCE = 1024


def count_transitions(sentences: Iterable[Sentence]) -> Tensor:
    """Counts (3, 3) from START, O and I (rows) to O, I and another I (columns).

    After START or O every I counts as the first of the two; after I it is the same type's.
    """
    counts = torch.zeros(9, dtype=torch.long)
    left = (sentence for sentence in sentences if sentence.words)
    while part := list(islice(left, _SENTENCES_AT_ONCE)):
        length = torch.tensor([len(sentence.words) for sentence in part])
        mask = torch.arange(int(length.max())) < length[:, None]
        tags = tags_of_sentences(part, mask.shape, "io")
        before, after, both = tags[:, :-1], tags[:, 1:], mask[:, 1:]
        row = 1 + (before > 0).long()
        other = (before > 0) & (after != before)
        column = torch.where(after == 0, 0, torch.where(other, 2, 1))
        first = (tags[:, 0] > 0).long()  # from START, row 0
        counts += torch.cat((first, (3 * row + column)[both])).bincount(minlength=9)
    return counts.view(3, 3)


def transition_scores(counts: Tensor, exists: Tensor, temperature: float) -> tuple[Tensor, Tensor]:
    """Log-probabilities of beginning with a tag (S, T), and of one tag after another (S, T, T).

    `exists` (S, T) says which tags a sentence may have. What leads to any type, or to any other
    type, is shared by them; the result is raised to `temperature` and normalised again.
    """
    (start_o, start_i, _), (o_o, o_i, _), (i_o, i_same, i_other) = _shares(counts)
    size, tags = exists.shape
    types = exists[:, 1:].sum(1).clamp(min=1)[:, None, None]  # N, (S, 1, 1)
    transitions = exists.new_empty((size, 1 + tags, tags), dtype=torch.float)  # START before O
    transitions[:, 0, 0], transitions[:, 1, 0], transitions[:, 2:, 0] = start_o, o_o, i_o
    transitions[:, 0:1, 1:] = start_i / types
    transitions[:, 1:2, 1:] = o_i / types
    same = torch.eye(tags - 1, dtype=torch.bool, device=exists.device)
    transitions[:, 2:, 1:] = torch.where(same, i_same, i_other / (types - 1).clamp(min=1))
    powered = transitions.pow(temperature) * exists[:, None]
    total = powered.sum(-1, keepdim=True).clamp(min=FLOOR)
    scores = (powered / total).clamp(min=FLOOR).log()
    return scores[:, 0], scores[:, 1:]


def _shares(counts: Tensor) -> Tensor:
    """Each row's counts (3, 3) as probabilities."""
    return counts / counts.sum(1, keepdim=True).clamp(min=1)
