"""What the support set says of single words: prototypes of each type's words, and of none's.

A word's type has the probabilities of ProtoBERT, by its state's squared distances to the mean
states of support words. A span of which the extractor is not sure may be of words that are: the
mean over its words is evidence of its own, and takes no training.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import (
    log_probabilities_with_none,
    prototypes,
    span_sums,
    squared_distances,
)

LEAST_LOG_PROBABILITY = -20.0
"""What is less probable says no more: one word must not outweigh all others of its span."""


class WordPrototypes(NamedTuple):
    """The mean states of the support words of some episodes."""

    types: Tensor  # (slots, h), of each type of each episode
    none: Tensor  # (E, h), of the words of each episode that are in no span
    has_none: Tensor  # (E,), whether there are any


class WordTotals(NamedTuple):
    """Sums over support words: first those of each type, then those in no span of each episode."""

    states: Tensor  # (slots + E, h)
    words: Tensor  # (slots + E,), how many


def word_totals(
    batch: EpisodeBatch, states: Tensor, episodes: int, rows: slice = slice(None)
) -> WordTotals:
    """The totals over the support sentences in `rows`; `states` (S, L, h) are those of all words.

    A word counts for every span that it is in. The names of types are no support words.
    """
    spans, slots = batch.support_spans, batch.types.shape[1]
    in_spans = span_sums(states, spans.sentence, spans.start, spans.end)  # (P, h)
    free = in_no_span(batch, spans, rows)  # (S, L)
    outside = states.masked_fill(~free[..., None], 0.0).sum(1)  # (S, h)
    slot = torch.cat((spans.slot, slots + batch.episode))  # (P + S,)
    count = torch.cat((spans.end - spans.start, free.sum(1))).to(states.dtype)
    vectors = torch.cat((in_spans, outside))
    return WordTotals(
        prototypes(vectors, torch.ones_like(count), slot, slots + episodes),
        count.new_zeros(slots + episodes).index_add(0, slot, count),
    )


def in_no_span(batch: EpisodeBatch, spans: SpanPlaces, rows: slice) -> Tensor:
    """Which words (S, L) of the sentences in `rows` are in no span.

    Nor are they in a type's name, or in what may be an entity.
    """
    words = batch.words.word_mask.index_fill(0, batch.names.sentence, False)
    mask = torch.zeros_like(words)
    mask[rows] = words[rows]
    return mask & ~(_covered(spans, mask) | _covered(batch.doubtful, mask))


def _covered(spans: SpanPlaces, like: Tensor) -> Tensor:
    """Which words (S, L) are in one of the spans."""
    sentences, length = like.shape
    row = spans.sentence * (length + 1)
    edges = torch.zeros(sentences * (length + 1), dtype=torch.long, device=like.device)
    one = torch.ones_like(row)
    edges = edges.index_add(0, row + spans.start, one).index_add(0, row + spans.end, -one)
    depth = edges.view(sentences, length + 1).cumsum(1)[:, :-1]  # (S, L), spans that a word is in
    return depth > 0


def word_prototypes(totals: Sequence[WordTotals], slots: int) -> WordPrototypes:
    """The means over all parts of the support sets, which have `slots` types."""
    states = torch.stack([part.states for part in totals]).sum(0)
    count = torch.stack([part.words for part in totals]).sum(0)
    means = states / count.clamp(min=1)[:, None]
    return WordPrototypes(means[:slots], means[slots:], count[slots:] > 0)


def word_evidence(
    batch: EpisodeBatch, states: Tensor, spans: SpanPlaces, known: WordPrototypes
) -> Tensor:
    """The mean over the words of each of M spans of the types' log-probabilities, (M, slots).

    `states` are those of all words of the batch, (S, L, h). Types that are not of a span's own
    episode, or have no support, are of the least probability.
    """
    log_p, _ = word_log_probabilities(batch, states, known)
    log_p = log_p.clamp(min=LEAST_LOG_PROBABILITY)
    total = span_sums(log_p, spans.sentence, spans.start, spans.end)
    return total / (spans.end - spans.start)[:, None]


def word_log_probabilities(
    batch: EpisodeBatch, states: Tensor, known: WordPrototypes
) -> tuple[Tensor, Tensor]:
    """Of each type (S, L, slots), and of none (S, L), for words with the `states` (S, L, h)."""
    sentences, length = states.shape[:2]
    none = known.none.index_select(0, batch.episode)[:, None]  # (S, 1, h)
    has_none = known.has_none.index_select(0, batch.episode)[:, None]  # (S, 1)
    to_none = squared_distances(states, none)[..., 0].masked_fill(~has_none, torch.inf)  # (S, L)
    to_types = squared_distances(states.flatten(0, 1), known.types)  # (S * L, slots)
    allowed = batch.types[:, None].expand(-1, length, -1).flatten(0, 1)
    log_p = log_probabilities_with_none(to_types, allowed, to_none.flatten())
    log_p = log_p.view(sentences, length, -1)
    return log_p[..., :-1], log_p[..., -1]
