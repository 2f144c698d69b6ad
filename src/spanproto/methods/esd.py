"""ESD: every span is compared with the spans of each class, each by what the other holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from spanproto.config import require
from spanproto.data.types import Episode, Span
from spanproto.encoder import Encoder
from spanproto.extractor import NEVER
from spanproto.methods.base import FoundSpans, Method, MethodConfig
from spanproto.methods.parts.all_spans import O_KINDS, AllSpans, QueryPart, all_spans
from spanproto.methods.parts.per_query import said_of_queries
from spanproto.methods.parts.soft_nms import SoftNmsConfig, soft_nms

VALUES_AT_ONCE = 2**27  # of the products of query and support spans that are in memory together


@dataclass(frozen=True)
class EsdConfig(MethodConfig):
    """How spans are represented, and how conflicts between those found are resolved."""

    longest: int = 8  # words in a span
    size: int = 100  # of a span's representation
    heads: int = 1  # of the attention between spans
    dropout: float = 0.1
    state_dropout: float = 0.5  # on the encoder's states
    soft_nms: SoftNmsConfig = field(default_factory=SoftNmsConfig)

    def __post_init__(self) -> None:
        for name in ("longest", "size", "heads"):
            require(getattr(self, name) > 0, f"model.{name} must be positive")
        require(self.size % self.heads == 0, "model.size must be a multiple of model.heads")
        for name in ("dropout", "state_dropout"):
            require(0 <= getattr(self, name) < 1, f"model.{name} must lie in [0, 1)")


class SpanAttention(nn.Module):
    """Spans enriched by other spans: attention and two layers, as in a transformer."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(size, heads, batch_first=True)
        self.layers = nn.Sequential(
            nn.Linear(size, 4 * size),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(4 * size, size),
            nn.Dropout(dropout),
        )
        self.first_norm, self.second_norm = nn.LayerNorm(size), nn.LayerNorm(size)

    def forward(self, spans: Tensor, others: Tensor, exists: Tensor | None = None) -> Tensor:
        """Spans (B, M, d) by those of `others` (B, N, d) that exist, (B, N)."""
        bias = None if exists is None else torch.where(exists, 0.0, NEVER)
        heard, _ = self.attention(spans, others, others, key_padding_mask=bias, need_weights=False)
        heard = self.first_norm(spans + heard)
        enriched: Tensor = self.second_norm(heard + self.layers(heard))
        return enriched


class Esd(Method):
    """Enhanced span-based decomposition (Wang et al., 2022).

    All short spans are represented by their ends, enriched by attention to the spans of their own
    sentence, and then by attention between a query sentence and the support set. Each query span
    has prototypes of its own, in which the support spans most like it weigh most; three prototypes
    of O become one in the same way. Conflicts between the spans found are resolved by soft-NMS.

    Settings are the authors', but for weight decay: here the weights of all layers decay, in their
    code those of the encoder alone.
    """

    name = "esd"
    Config = EsdConfig
    training_defaults: ClassVar = {
        "steps": 10_000,
        "episodes_per_step": 2,
        "learning_rate": 2e-5,
        "head_learning_rate": 5e-4,
        "warmup": 0.1,
    }

    config: EsdConfig

    def __init__(self, encoder: Encoder, config: EsdConfig) -> None:
        super().__init__(encoder, config)
        hidden, size = encoder.hidden_size, config.size
        self.state_dropout = nn.Dropout(config.state_dropout)
        self.start = nn.Linear(hidden, hidden)
        self.end = nn.Linear(hidden, hidden, bias=False)
        self.joined = nn.Sequential(nn.GELU(), nn.Dropout(config.dropout), nn.Linear(hidden, size))
        self.in_sentence = SpanAttention(size, config.heads, config.dropout)
        self.across = SpanAttention(size, config.heads, config.dropout)

    def batch(self, episodes: Sequence[Episode]) -> AllSpans:
        """All spans of some episodes."""
        pairs = VALUES_AT_ONCE // self.config.size
        return all_spans(episodes, self.encoder.words, self.config.longest, pairs)

    def prepare(self, items: Sequence[Episode], step: int) -> AllSpans:
        """The spans of a step's episodes."""
        return self.batch(items)

    def loss(self, batch: AllSpans) -> Tensor:
        """Cross-entropy of all query spans: a mean in each episode and then over them."""
        spans, target = self.represent(batch), batch.target
        total = 0 * spans.sum()
        for part, member, exists in query_parts(batch):
            # What is large is made again in the backward pass rather than kept.
            scores = checkpoint(
                self.part_scores, spans, batch, part, member, exists, use_reentrant=False
            )
            own = target[member].masked_fill(~exists, 0)  # padding may name another's type
            terms = F.cross_entropy(scores.flatten(0, 1), own.flatten(), reduction="none")
            total = total + terms @ (batch.weight[member] * exists).flatten()
        return total

    def represent(self, batch: AllSpans) -> Tensor:
        """The representations (T, d) of all spans, each by the spans of its own sentence."""
        with self.mixed_precision():
            start, end = self.encoder(batch.sentences.words)  # (S, L, h)
        start, end = self.start(self.state_dropout(start)), self.end(self.state_dropout(end))
        row = batch.spans.sentence * start.shape[1]
        first = start.flatten(0, 1).index_select(0, row + batch.spans.start)
        last = end.flatten(0, 1).index_select(0, row + batch.spans.end - 1)
        spans = self.joined(first + last)  # (T, d)
        rows = spans[batch.table]  # (S, P, d)
        enriched: Tensor = self.in_sentence(rows, rows, batch.in_table)
        return enriched.flatten(0, 1)[batch.cell]

    def part_scores(
        self, spans: Tensor, batch: AllSpans, part: QueryPart, member: Tensor, exists: Tensor
    ) -> Tensor:
        """The scores (R, P, 1 + N) of O and all types for the query spans of one part."""
        query = spans[member]  # (R, P, d)
        support = spans[part.support].expand(len(query), -1, -1)  # (R, M, d)
        query, support = self.across(query, support), self.across(support, query, exists)
        return span_scores(query, support, batch.kind[part.support], part.types)

    @torch.inference_mode()
    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        """The spans whose most probable class is a type, less those that lose a conflict."""
        self.eval()
        episodes = [episode.without_query_spans() for episode in episodes]
        batch = self.batch(episodes).to(self.device)
        spans = self.represent(batch)
        best = torch.zeros(len(spans), device=self.device)
        kind = torch.zeros_like(batch.kind)
        for part, member, exists in query_parts(batch):
            scores = self.part_scores(spans, batch, part, member, exists)
            probability, classes = scores.softmax(-1).max(-1)  # (R, P)
            best[member[exists]], kind[member[exists]] = probability[exists], classes[exists]
        typed, places = kind > 0, batch.spans
        sentence, *values = (
            column[typed] for column in (places.sentence, places.start, places.end, kind, best)
        )
        return said_of_queries(sentence, values, batch.sentences, episodes, self._without_conflicts)

    def _without_conflicts(
        self, episode: Episode, spans: Sequence[tuple[int, int, int, float]]
    ) -> FoundSpans:
        bounds, scores = [span[:2] for span in spans], [span[3] for span in spans]
        kept = [spans[number] for number in soft_nms(bounds, scores, self.config.soft_nms)]
        return FoundSpans([Span(a, b, episode.types[kind - 1]) for a, b, kind, _ in kept])


def query_parts(batch: AllSpans) -> Iterator[tuple[QueryPart, Tensor, Tensor]]:
    """Each part with the numbers (R, P) of its query spans, and which of them exist."""
    for part in batch.parts:
        rows = batch.query[part.lines]
        yield part, batch.table[rows, : part.width], batch.in_table[rows, : part.width]


def span_scores(query: Tensor, support: Tensor, kind: Tensor, types: int) -> Tensor:
    """Minus squared distances (R, P, 1 + N) of spans (R, P, d) to their prototypes of O and types.

    `support` (R, M, d) has spans of the kinds `kind` (M,). A class without any has the score NEVER.
    """
    number = torch.arange(O_KINDS + types, device=kind.device)
    of_kind = kind == number[:, None]  # (3 + N, M)
    present = of_kind.any(1)  # (3 + N,)
    own = attended(query, support, of_kind)  # (R, P, 3 + N, d)
    o_parts = own[:, :, :O_KINDS]
    likeness = agreement(query[:, :, None], o_parts).masked_fill(~present[:O_KINDS], NEVER)
    o = (likeness.softmax(-1)[..., None] * o_parts).sum(2, keepdim=True)
    prototypes = torch.cat((o, own[:, :, O_KINDS:]), 2)  # (R, P, 1 + N, d)
    known = torch.cat((present[:O_KINDS].any()[None], present[O_KINDS:]))
    scores = -(query[:, :, None] - prototypes).square().sum(-1)
    return scores.masked_fill(~known, NEVER)


def attended(query: Tensor, support: Tensor, of_kind: Tensor) -> Tensor:
    """The means (R, P, K, d) of each kind's support spans, those most like the query span first."""
    likeness = agreement(query[:, :, None], support[:, None])  # (R, P, M)
    own = likeness[:, :, None].masked_fill(~of_kind, NEVER)  # (R, P, K, M)
    return own.softmax(-1) @ support[:, None]


def agreement(one: Tensor, other: Tensor) -> Tensor:
    """How alike spans (..., d) are: the sum of tanh of the products of their values."""
    return (one * other).tanh().sum(-1)
