"""DecomMeta: a span detector and a typing network, each trained to be fine-tuned."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.adaptation import AdaptationConfig
from spanproto.classifier import mean_representations
from spanproto.config import require
from spanproto.data.types import Episode
from spanproto.encoder import Encoder
from spanproto.extractor import NEVER
from spanproto.meta import TaskBatch, carry_gradients, task_copies
from spanproto.methods.base import FoundSpans, Method, MethodConfig
from spanproto.methods.parts.neighbours import tag_prototypes
from spanproto.methods.parts.span_table import SpanBatch, span_batch, span_table, typed_spans
from spanproto.methods.parts.tagging import Scheme, spans_of_tags, tag_count
from spanproto.methods.parts.viterbi import viterbi
from spanproto.methods.parts.word_tagger import word_loss
from spanproto.tokenization import WordBatch

SCHEME: Scheme = "bioes"
UNFINISHED = (False, True, True, False, False)  # of O, B, I, E and S: the entity goes on after it
CONTINUES = (False, False, True, True, False)  # and: the entity has begun before it


@dataclass(frozen=True)
class DecomMetaConfig(MethodConfig):
    """The two stages, and how they are fine-tuned within a step of training."""

    dropout: float = 0.1  # on the encoders' states, in training
    worst_weight: float = 2.0  # of the worst words' loss
    inner_worst_weight: float = 5.0  # the same in fine-tuning
    similarity_scale: float = 10.0  # of the mean product of a span and a prototype
    inner_steps: int = 2  # of fine-tuning to each support set
    inner_learning_rate: float = 3e-5

    def __post_init__(self) -> None:
        require(0 <= self.dropout < 1, "model.dropout must lie in [0, 1)")
        for name in ("worst_weight", "inner_worst_weight"):
            require(getattr(self, name) >= 0, f"model.{name} must not be negative")
        for name in ("similarity_scale", "inner_steps", "inner_learning_rate"):
            require(getattr(self, name) > 0, f"model.{name} must be positive")


class StageLosses(NamedTuple):
    """The losses of the two stages, each a mean over the episodes."""

    detection: Tensor
    typing: Tensor

    @property
    def total(self) -> Tensor:
        """Both; they have no weights in common."""
        return self.detection + self.typing


class DecomMeta(Method):
    """Decomposed meta-learning (Ma et al., Findings of ACL 2022).

    The first encoder tags words as the begin, inside, end or whole of an entity of any type; the
    best legal sequence of tags says where entities are. The second one gives a found span, the
    normalised mean of its words' states, the type with the largest scaled product with the type's
    prototype; nothing found is rejected. Both learn by first-order MAML, and both are fine-tuned
    to a support set before they predict. Embeddings are frozen.

    Settings are those of the released scripts, which train the typing network at 1e-4 and all else
    at 3e-5. There the stages are trained one after the other, each stopped by its own validation,
    and the typing network's inner steps are at 1e-4; here they are trained side by side, and the
    inner steps are at 3e-5, as fine-tuning is. The paper represents a span by the mean of all its
    sub-tokens; here a word of several has a say by its first and its last. Prototypes are those of
    the fine-tuned weights, and learned through, as in the paper; the released code keeps those of
    the last inner step fixed.
    """

    name = "decommeta"
    Config = DecomMetaConfig
    training_defaults: ClassVar = {
        "steps": 5000,
        "episodes_per_step": 32,
        "learning_rate": 3e-5,
        "weight_decay": 0.01,
        "warmup": 0.1,
        "clip": 1000.0,  # in effect none
    }
    rate_factors: ClassVar = {"typing_encoder.": 10 / 3, "norm.": 10 / 3}
    always_adapts = True
    adaptation_defaults: ClassVar = {
        "steps": 3,
        "learning_rate": 3e-5,
        "decay": False,
        "episodes_at_once": 4,  # of two encoders each
    }

    config: DecomMetaConfig

    def __init__(self, encoder: Encoder, config: DecomMetaConfig) -> None:
        super().__init__(encoder, config)
        self.detector = nn.Linear(encoder.hidden_size, tag_count(1, SCHEME))
        self.typing_encoder = Encoder(
            copy.deepcopy(encoder.transformer), encoder.words.tokenizer, encoder.config
        )
        self.norm = nn.LayerNorm(encoder.hidden_size)
        self.dropout = nn.Dropout(config.dropout)

    def prepare(self, items: Sequence[Episode], step: int) -> TaskBatch[SpanBatch]:
        """The episodes of a step as tasks."""
        even = len(items) > 1
        return TaskBatch(
            items, self.batch(items, "support", even), self.batch(items, "query", even)
        )

    def gradients(self, batch: TaskBatch[SpanBatch], step: int, seed: int) -> dict[str, Tensor]:
        """Those of the query losses where copies fine-tuned to the support sets have arrived."""
        inner = self.adaptation(
            {
                "steps": self.config.inner_steps,
                "learning_rate": self.config.inner_learning_rate,
                "seed": seed,
            }
        )
        copies = task_copies(self, batch, inner)
        terms = copies.losses(batch.support, batch.query, self.config.worst_weight)
        terms.total.backward()  # type: ignore[no-untyped-call]
        carry_gradients(copies, self)
        return {"loss": terms.total, **terms._asdict()}

    def support_batch(self, episodes: Sequence[Episode]) -> SpanBatch:
        """The support sets."""
        return self.batch(episodes, "support", self.stacked)

    def support_loss(self, batch: SpanBatch, config: AdaptationConfig) -> Tensor:
        """The losses with the support set in place of the query set."""
        return self.losses(batch, batch, self.config.inner_worst_weight).total

    def losses(self, support: SpanBatch, query: SpanBatch, worst_weight: float) -> StageLosses:
        """The losses on query sets, with prototypes of the support sets."""
        known = self.represent(support)
        asked = known if query is support else self.represent(query)
        scores = self.scores(known, support, asked)
        detection = detection_loss(
            self.detect(query.sentences.words),
            query.tags,
            query.sentences.episode,
            len(query.spans.kind),
            worst_weight,
        )
        return StageLosses(detection, word_loss(scores, query.spans.kind))

    def detect(self, words: WordBatch) -> Tensor:
        """The logits (S, L, 5) of the tags O, B, I, E and S."""
        with self.mixed_precision():
            states = self.encoder.first_states(words)
        logits: Tensor = self.detector(self.dropout(states))
        return logits

    def represent(self, batch: SpanBatch) -> Tensor:
        """The spans of a batch as they are typed, (E, M, h)."""
        with self.mixed_precision():
            start, end = self.typing_encoder(batch.sentences.words)
        spans = batch.spans
        # Of a word of several sub-tokens the first and the last count; normalising undoes the sum.
        means = mean_representations(
            self.dropout(start),
            self.dropout(end),
            spans.sentence.flatten(),
            spans.start.flatten(),
            spans.end.flatten(),
        )
        normal: Tensor = self.norm(means.view(*spans.kind.shape, means.shape[-1]))
        return normal

    def scores(self, known: Tensor, support: SpanBatch, asked: Tensor) -> Tensor:
        """The scores (E, Q, N) of types for asked spans, from the known ones of the support."""
        scale = self.config.similarity_scale
        return similarity_scores(known, support.spans.kind, asked, support.types, scale)

    def batch(
        self, episodes: Sequence[Episode], part: Literal["support", "query"], even: bool
    ) -> SpanBatch:
        """The support or query sets of some episodes."""
        return span_batch(episodes, self.encoder.words, SCHEME, part, even)

    @torch.inference_mode()
    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        """The spans under the best tags, each with its best type."""
        self.eval()
        episodes = [episode.without_query_spans() for episode in episodes]
        known = self.batch(episodes, "support", self.stacked).to(self.device)
        batch = self.batch(episodes, "query", self.stacked).to(self.device)
        mask = batch.sentences.words.word_mask
        emissions = self.detect(batch.sentences.words).log_softmax(-1)
        start, transitions, end = legal_scores(self.device)
        spans, kind = spans_of_tags(viterbi(emissions, start, transitions, mask, end), SCHEME)
        owner = batch.sentences.episode[spans.sentence]
        found = replace(batch, spans=span_table(spans, kind, owner, len(episodes)))
        scores = self.scores(self.represent(known), known, self.represent(found))
        return typed_spans(found.spans, scores.argmax(-1), batch.sentences, episodes)


def detection_loss(
    logits: Tensor, tags: Tensor, episode: Tensor, episodes: int, worst_weight: float
) -> Tensor:
    """Cross-entropy of tags (S, L) under logits (S, L, T): a mean over the E `episodes`.

    That of an episode is the mean over its words, plus `worst_weight` times the mean over its
    sentences of the largest term. `episode` (S,) are the sentences' numbers; negative tags, on
    padding, and sentences without words have no part in it.
    """
    is_word = tags >= 0
    terms = F.cross_entropy(logits.flatten(0, 1), tags.clamp(min=0).flatten(), reduction="none")
    terms = torch.where(is_word, terms.view_as(tags), 0.0)
    worst = F.pad(terms, (0, 1)).amax(1)  # 0 is below every other
    counted = (is_word.sum(1), is_word.any(1))
    means = [
        terms.new_zeros(episodes).index_add(0, episode, sums)
        / terms.new_zeros(episodes).index_add(0, episode, count.to(terms.dtype)).clamp(min=1)
        for sums, count in zip((terms.sum(1), worst), counted, strict=True)
    ]
    return (means[0] + worst_weight * means[1]).mean()


def similarity_scores(
    support: Tensor, kind: Tensor, query: Tensor, types: int, scale: float
) -> Tensor:
    """Scores (E, Q, N) of N types for query spans (E, Q, d); -inf where a type has no support.

    They are the mean products, times `scale`, with the means of each type's support spans
    (E, M, d), whose types `kind` (E, M) are counted from 0 and negative on padding.
    """
    centres, present = tag_prototypes(support, kind, types)
    products = scale / support.shape[-1] * query @ centres.mT
    return products.masked_fill(~present[:, None], -torch.inf)


def legal_scores(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Scores that forbid every illegal beginning (1, 5), following (1, 5, 5) and end (1, 5)."""
    unfinished = torch.tensor(UNFINISHED, device=device)
    continues = torch.tensor(CONTINUES, device=device)
    illegal = (continues, unfinished[:, None] != continues, unfinished)
    start, transitions, end = (NEVER * wrong[None].float() for wrong in illegal)
    return start, transitions, end
