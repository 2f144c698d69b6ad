"""Abstract transitions of IO tags: how often entities begin, go on, end, and touch, whatever type.

Counted on training data with other types, they are spread over the types of a new episode (Yang
and Katiyar, 2020).
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

import torch
from torch import Tensor

from spanproto.data.types import Sentence

FLOOR = 1e-6


def count_transitions(sentences: Iterable[Sentence]) -> Tensor:
    """Counts (3, 3) from START, O and I (rows) to O, I and another I (columns).

    After START or O every I counts as the first of the two; after I it is the same type's.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for sentence in sentences:
        labels = _word_labels(sentence)
        counts.update((0, int(label is not None)) for label in labels[:1])
        for before, after in pairwise(labels):
            row = 1 if before is None else 2
            other = row == 2 and after != before
            counts[row, 0 if after is None else 2 if other else 1] += 1
    return torch.tensor([[counts[row, column] for column in range(3)] for row in range(3)])


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


def _word_labels(sentence: Sentence) -> list[str | None]:
    """The type of each word; of several the first span's."""
    labels: list[str | None] = [None] * len(sentence.words)
    for span in reversed(sentence.spans):
        labels[span.start : span.end] = [span.label] * (span.end - span.start)
    return labels
