"""A loss of single words beside those of spans: ProtoBERT's, with the words' own prototypes.

It brings the words of a type together, and apart from those of none, in the states that spans are
made of, so that what single words are taken for is better evidence (see `word_evidence`).
"""

import torch
from torch import Tensor

from spanproto.batch import EpisodeBatch
from spanproto.classifier import span_sums
from spanproto.word_evidence import (
    in_no_span,
    word_log_probabilities,
    word_prototypes,
    word_totals,
)


def word_loss(support: EpisodeBatch, known: Tensor, query: EpisodeBatch, asked: Tensor) -> Tensor:
    """-log p of what each query word is, of a type or of none, by the words of the support sets.

    The states of the words are `known` and `asked` (S, L, h); both batches may be one. A word
    counts for every span that it is in, if the span's type has support. A mean over a sentence's
    words, then over an episode's sentences, then over the episodes.
    """
    slots = support.types.shape[1]
    # There are no more episodes than sentences; how many there are, the host need not know.
    totals = word_totals(support, known, len(query.episode), slice(support.support_end))
    prototypes = word_prototypes([totals], slots)
    of_types, of_none = word_log_probabilities(query, asked, prototypes)

    spans = query.query_spans
    in_spans = span_sums(of_types, spans.sentence, spans.start, spans.end)  # (P, slots)
    right = in_spans.gather(1, spans.slot[:, None])[:, 0]
    supported = spans.weight > 0
    free = in_no_span(query, spans, slice(query.query_start, None))  # (S, L)
    free = free & prototypes.has_none.index_select(0, query.episode)[:, None]

    count = free.sum(1).index_add(0, spans.sentence, supported * (spans.end - spans.start))
    total = torch.where(free, of_none, 0.0).sum(1)
    total = total.index_add(0, spans.sentence, torch.where(supported, right, 0.0))
    return -(total / count.clamp(min=1))[query.query_start :] @ query.query_weight
