"""Episodes as methods that find spans first and type them then see them.

Word tags say where entities are, whatever their types. The spans themselves are in tables (E, M),
one line for each episode, so that all episodes are typed at once and copies of a model that are
stacked find their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces, TensorBatch, collate
from spanproto.data.types import Episode, Span
from spanproto.methods.base import FoundSpans
from spanproto.methods.parts.per_query import said_of_queries
from spanproto.methods.parts.tagged import NO_WORD
from spanproto.methods.parts.tagging import Scheme, tags_of_spans
from spanproto.tokenization import WordTokenizer

NO_SPAN = -1  # in place of a type where an episode has fewer spans


@dataclass(frozen=True)
class SpanTable:
    """The spans of E episodes, up to M in each."""

    sentence: Tensor  # (E, M), the row of the span's sentence
    start: Tensor  # (E, M)
    end: Tensor  # (E, M), half-open
    kind: Tensor  # (E, M), the number of the type in its episode; NO_SPAN where there is none


@dataclass(frozen=True)
class SpanBatch(TensorBatch):
    """The support or query sentences of some episodes, their tags and their spans."""

    sentences: EpisodeBatch
    tags: Tensor  # (S, L), of any entity, whatever its type; NO_WORD on padding
    spans: SpanTable
    types: int  # N, of the episode with most


def span_batch(
    episodes: Sequence[Episode],
    tokenizer: WordTokenizer,
    scheme: Scheme,
    part: Literal["support", "query"],
    even: bool = False,
) -> SpanBatch:
    """The batch of `episodes` that `collate` makes, with tags; descriptions are left out."""
    batch = collate([e.without_descriptions() for e in episodes], tokenizer, part, even)
    spans, mask = batch.query_spans, batch.words.word_mask
    tags = tags_of_spans(spans, torch.ones_like(spans.slot), mask.shape, scheme)
    sizes = torch.tensor([len(episode.types) for episode in episodes])
    owner = batch.episode[spans.sentence]
    kind = spans.slot - (sizes.cumsum(0) - sizes)[owner]
    return SpanBatch(
        batch,
        tags.masked_fill(~mask, NO_WORD),
        span_table(spans, kind, owner, len(episodes)),
        max(len(episode.types) for episode in episodes),
    )


def span_table(spans: SpanPlaces, kind: Tensor, episode: Tensor, episodes: int) -> SpanTable:
    """P spans in the order of their episodes (P,), as a table."""
    sizes = torch.bincount(episode, minlength=episodes)
    rank = torch.arange(len(episode), device=episode.device) - (sizes.cumsum(0) - sizes)[episode]
    shape = (episodes, int(sizes.max()))

    def table(values: Tensor, empty: int = 0) -> Tensor:
        return values.new_full(shape, empty).index_put((episode, rank), values)

    return SpanTable(
        table(spans.sentence), table(spans.start), table(spans.end), table(kind, NO_SPAN)
    )


def typed_spans(
    spans: SpanTable, kind: Tensor, batch: EpisodeBatch, episodes: Sequence[Episode]
) -> list[list[FoundSpans]]:
    """What spans with the types `kind` (E, M) say of each query sentence of each episode."""
    there = spans.kind != NO_SPAN
    values = (spans.start[there], spans.end[there], kind[there])
    return said_of_queries(spans.sentence[there], values, batch, episodes, _found)


def _found(episode: Episode, spans: Sequence[tuple[int, int, int]]) -> FoundSpans:
    return FoundSpans(
        [Span(start, end, episode.types[kind]) for start, end, kind in spans],
        [(start, end) for start, end, _ in spans],
    )
