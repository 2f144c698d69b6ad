"""Episodes as methods that classify every span see them: all spans up to a length, with classes.

Spans are listed sentence by sentence. A span that is no entity is one of three kinds: it shares no
word with an entity, it shares some, or it lies inside one. Everything is laid out on the host.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces, TensorBatch, collate
from spanproto.data.types import Episode
from spanproto.tokenization import WordTokenizer

OTHER, TOUCHING, INSIDE = range(3)
O_KINDS = 3  # the first type comes after them


class QueryPart(NamedTuple):
    """Some query sentences of one episode, to be compared with its support spans."""

    lines: slice  # among the query sentences
    width: int  # the most spans that one of them has
    support: slice  # in the list of spans
    types: int  # N


@dataclass(frozen=True)
class AllSpans(TensorBatch):
    """The sentences of some episodes and the list of their T spans, the support sets' first."""

    sentences: EpisodeBatch
    spans: SpanPlaces  # (T,)
    kind: Tensor  # (T,), a kind of O, or O_KINDS and the number of the type
    weight: Tensor  # (T,), a query span's share in a mean in each episode and then over them
    table: Tensor  # (S, P), which of the T spans a sentence has
    in_table: Tensor  # (S, P), whether there is one
    cell: Tensor  # (T,), where in the S*P cells of the table a span is
    query: Tensor  # (Q,), the rows of query sentences, episode by episode, short ones first
    parts: tuple[QueryPart, ...]  # of those

    @property
    def target(self) -> Tensor:
        """The class of each span where O is one class, 0, and the types come after it, (T,)."""
        return (self.kind - O_KINDS + 1).clamp(min=0)


def all_spans(
    episodes: Sequence[Episode], tokenizer: WordTokenizer, longest: int, pairs_at_once: int
) -> AllSpans:
    """All spans of up to `longest` words, and entities longer than that; descriptions are left out.

    A part has no more than `pairs_at_once` pairs of a query and a support span, or one sentence.
    """
    batch = collate([e.without_descriptions() for e in episodes], tokenizer)
    types = torch.tensor([len(episode.types) for episode in episodes])
    first_slot = types.cumsum(0) - types
    spans, kind = listed_spans(batch, first_slot, longest)
    sizes = torch.bincount(spans.sentence, minlength=len(batch.episode))  # (S,)
    first = sizes.cumsum(0) - sizes
    column = torch.arange(int(sizes.max()))
    in_table = column < sizes[:, None]
    rank = torch.arange(len(kind)) - first[spans.sentence]
    query, parts = _parts(batch, sizes.tolist(), types.tolist(), pairs_at_once)
    return AllSpans(
        batch,
        spans,
        kind,
        _weights(batch, spans, kind, first_slot),
        (first[:, None] + column).masked_fill(~in_table, 0),
        in_table,
        spans.sentence * len(column) + rank,
        query,
        parts,
    )


def listed_spans(
    batch: EpisodeBatch, first_slot: Tensor, longest: int
) -> tuple[SpanPlaces, Tensor]:
    """The spans of all sentences, row by row, and the kind or type of each."""
    mask = batch.words.word_mask
    rows, length = mask.shape
    place = torch.arange(length)
    ends = place[:, None] + torch.arange(1, longest + 1)  # (L, W)
    exists = ends <= mask.sum(1)[:, None, None]  # (S, L, W)

    sentence, start, end, slot = (
        torch.cat([getattr(batch.support_spans, name), getattr(batch.query_spans, name)])
        for name in ("sentence", "start", "end", "slot")
    )
    reach = torch.zeros(rows * length, dtype=torch.long)  # of entities that have begun by a word
    reach = reach.scatter_reduce(0, sentence * length + start, end, "amax")
    reach = reach.view(rows, length).cummax(1).values
    entity_words = F.pad((reach > place).cumsum(1), (1, 0))  # (S, L + 1), before each word
    touching = entity_words[:, ends.clamp(max=length)] > entity_words[:, :-1, None]
    kinds = torch.where(reach[:, :, None] >= ends, INSIDE, torch.where(touching, TOUCHING, OTHER))

    kind = O_KINDS + slot - first_slot[batch.episode[sentence]]
    short = end - start <= longest
    kinds[sentence[short], start[short], (end - start)[short] - 1] = kind[short]
    row, at, extra = exists.nonzero(as_tuple=True)
    kind = torch.cat((kinds[row, at, extra], kind[~short]))
    end = torch.cat((at + extra + 1, end[~short]))
    row, at = torch.cat((row, sentence[~short])), torch.cat((at, start[~short]))
    order = row.argsort(stable=True)
    return SpanPlaces(row[order], at[order], end[order]), kind[order]


def _weights(batch: EpisodeBatch, spans: SpanPlaces, kind: Tensor, first_slot: Tensor) -> Tensor:
    """Shares of the query spans whose class has a support span; 0 for all others."""
    owner, is_query = batch.episode[spans.sentence], spans.sentence >= batch.query_start
    episodes, is_o = len(first_slot), kind < O_KINDS
    with_o = torch.bincount(owner[~is_query & is_o], minlength=episodes) > 0
    slot = (first_slot[owner] + kind - O_KINDS).clamp(min=0)
    known = torch.where(is_o, with_o[owner], batch.types[spans.sentence, slot])
    learned = is_query & known
    sizes = torch.bincount(owner[learned], minlength=episodes)
    return learned / (episodes * sizes.clamp(min=1))[owner]


def _parts(
    batch: EpisodeBatch, sizes: Sequence[int], types: Sequence[int], pairs_at_once: int
) -> tuple[Tensor, tuple[QueryPart, ...]]:
    """The query sentences in an order in which neighbours have like sizes, and cut into parts."""
    owner = batch.episode.tolist()
    order: list[int] = []
    parts: list[QueryPart] = []
    begin = 0
    for number, count in enumerate(types):
        own = [row for row, episode in enumerate(owner) if episode == number and sizes[row]]
        spans = sum(sizes[row] for row in own if row < batch.support_end)
        support = slice(begin, begin := begin + spans)
        query = sorted((r for r in own if r >= batch.query_start), key=sizes.__getitem__)
        first = len(order)
        for row, following in zip(query, [*query[1:], None], strict=False):
            order.append(row)
            grown = (len(order) + 1 - first) * spans
            if following is None or grown * sizes[following] > pairs_at_once:
                parts.append(QueryPart(slice(first, len(order)), sizes[row], support, count))
                first = len(order)
    return torch.tensor(order, dtype=torch.long), tuple(parts)
