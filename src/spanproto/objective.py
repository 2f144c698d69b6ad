"""The training objective: lines 4-15 of Algorithm 1 for all episodes of a step at once.

Every loss is a mean over a sentence's spans, then over an episode's sentences, then over the
episodes, so a step over several episodes is the mean of their steps (but where sentences are left
out as doubtful, whose weight all others of the step share). Nothing here waits for the
device: shapes are known on the host, and the candidates have a fixed number of places.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import margin_loss, prototype_loss
from spanproto.config import require
from spanproto.extractor import thinned, without_doubtful
from spanproto.meta import MetaConfig
from spanproto.word_loss import word_loss

if TYPE_CHECKING:
    from spanproto.model import EncodedBatch, MentionStates, SpanProto

Rivals = Literal["episode", "step"]  # of a span's own episode, or of all episodes of a step


@dataclass(frozen=True)
class ObjectiveConfig:
    """What Algorithm 1 minimises, and when."""

    extractor_steps: int = 200  # T': lambda = 0 in the steps before this one
    joint_weight: float = 1.0  # lambda afterwards
    extractor_data: Literal["support", "support+query"] = "support"
    negatives: float = 1.0  # share of the spans apart from all entities that a step looks at
    doubtful: Literal["spare", "skip"] = "spare"  # doubtful spans, or sentences with any of them
    rivals: Rivals = "episode"  # whose types Eq. 7 tells a span's own from
    word_weight: float = 0.0  # of the loss of single words, which the paper does not have
    meta: MetaConfig = field(default_factory=MetaConfig)

    def __post_init__(self) -> None:
        require(self.extractor_steps >= 0, "objective.extractor_steps must not be negative")
        require(self.joint_weight >= 0, "objective.joint_weight must not be negative")
        require(0 <= self.negatives <= 1, "objective.negatives is a share, between 0 and 1")
        require(self.word_weight >= 0, "objective.word_weight must not be negative")

    def joint_weight_at(self, step: int) -> float:
        """Line 3 of Algorithm 1: lambda in step 1..T."""
        return self.joint_weight if step >= self.extractor_steps else 0.0


class Losses(NamedTuple):
    """The three terms of Algorithm 1, each a mean over the episodes of the step, and one more."""

    span: Tensor
    proto: Tensor
    margin: Tensor
    word: Tensor  # by its weight

    def total(self, joint_weight: float) -> Tensor:
        """Line 16: L_span + lambda (L_proto + L_mrg); and what single words are taken for."""
        if joint_weight == 0:
            return self.span + self.word
        return self.span + joint_weight * (self.proto + self.margin) + self.word


def losses(
    model: SpanProto,
    batch: EpisodeBatch,
    *,
    joint: bool = True,
    extract_from_query: bool = False,
    negatives: float = 1.0,
    leave_one_out: bool = False,
    rivals: Rivals = "episode",
    word_weight: float = 0.0,
) -> Losses:
    """Span, prototypical and margin loss of a batch of episodes, and that of single words.

    With `joint` false only the extractor learns (lambda = 0 in Algorithm 1). The extractor's
    training data is the support set, and with `extract_from_query` the query sentences too, of
    which it sees the share `negatives` of the spans apart from all entities. Where the support set
    is its own query set, `leave_one_out` keeps each span out of its own prototype. A span's type is
    told from those of its episode, or as `rivals` says.
    """
    encoded = model.encode(batch)
    scores = model.boundary_scores(encoded)  # (S, L, L)
    gold = model.gold_matrix(encoded)
    entities = gold | model.others_matrix(encoded)
    seen = seen_cells(model, encoded, entities, negatives)
    span = span_loss(model, seen, scores, entities, extract_from_query)
    word = _weighted_word_loss(encoded, encoded, word_weight)
    if not joint:
        return Losses(span, torch.zeros_like(span), torch.zeros_like(span), word)
    states = model.mention_states(encoded)
    centres = model.prototypes(states)
    mentions = _mention_losses(model, encoded, scores, gold, states, centres, leave_one_out, rivals)
    return Losses(span, *mentions, word)


def held_out_losses(model: SpanProto, support: EpisodeBatch, query: EpisodeBatch) -> Losses:
    """The losses on query sets alone, with the prototypes of support sets encoded apart."""
    known, encoded = model.encode(support), model.encode(query)
    centres = model.prototypes(model.mention_states(known))
    scores, gold = model.boundary_scores(encoded), model.gold_matrix(encoded)
    entities = gold | model.others_matrix(encoded)
    seen = seen_cells(model, encoded, entities)
    span = span_loss(model, seen, scores, entities, all_sentences=True)
    states = model.mention_states(encoded)
    mentions = _mention_losses(model, encoded, scores, gold, states, centres)
    word = _weighted_word_loss(known, encoded, model.config.objective.word_weight)
    return Losses(span, *mentions, word)


def _mention_losses(
    model: SpanProto,
    encoded: EncodedBatch,
    scores: Tensor,
    gold: Tensor,
    states: MentionStates,
    centres: Tensor,
    leave_one_out: bool = False,
    rivals: Rivals = "episode",
) -> tuple[Tensor, Tensor]:
    """The two losses of the mention classifier: the prototypical and the margin loss."""
    proto = proto_loss(model, states, centres, leave_one_out, rivals)
    if not model.config.classifier.margin_loss:
        return proto, torch.zeros_like(proto)
    false, weight = false_positives(model, encoded, scores.detach(), gold)
    return proto, false_positive_loss(model, states, centres, false, weight)


def _weighted_word_loss(known: EncodedBatch, asked: EncodedBatch, weight: float) -> Tensor:
    """The loss of single words by its weight; without one it is not worked out."""
    if weight == 0:
        return asked.start.new_zeros(())
    return weight * word_loss(known.batch, known.start, asked.batch, asked.start)


def seen_cells(
    model: SpanProto, encoded: EncodedBatch, entities: Tensor, negatives: float = 1.0
) -> EncodedBatch:
    """The batch with the cells that Eq. 4 is taken over.

    Those are the share `negatives` of the spans apart from all entities, and nothing doubtful.
    """
    cells = encoded.cells
    if negatives < 1:
        cells = thinned(cells, entities, negatives)
    if len(encoded.batch.doubtful.sentence):
        cells = without_doubtful(cells, entities, model.doubtful_matrix(encoded))
    return encoded._replace(cells=cells)


def span_loss(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, gold: Tensor, all_sentences: bool
) -> Tensor:
    """Lines 5-8: Eq. 4 over the support sentences, or over all of them."""
    batch = encoded.batch
    weight = batch.sentence_weight if all_sentences else batch.support_weight
    rows = len(weight)
    if model.config.objective.doubtful == "skip":
        weight = of_certain(weight, batch)
    return model.extractor.loss(scores[:rows], gold[:rows], encoded.cells[:rows]) @ weight


def of_certain(weight: Tensor, batch: EpisodeBatch) -> Tensor:
    """The weights (S,) of the first sentences, shared among those without anything doubtful.

    They are shared by all of the batch, whichever episode they are of, so that an episode with
    few certain sentences weighs less. If all have something doubtful, none has a weight.
    """
    certain = torch.ones_like(batch.sentence_weight)
    certain = certain.scatter(0, batch.doubtful.sentence, 0.0)[: len(weight)]
    left = weight * certain
    return left * weight.sum() / left.sum().clamp(min=1e-6)


def proto_loss(
    model: SpanProto,
    states: MentionStates,
    centres: Tensor,
    leave_one_out: bool = False,
    rivals: Rivals = "episode",
) -> Tensor:
    """Line 11: Eq. 7 over the gold spans of the query sentences whose type has a prototype.

    With `leave_one_out` (support and query sets the same) a span's own type is where the others
    of that type are; otherwise a span that helps to make its prototype has little left to learn.
    With the types of the whole step as `rivals` there is more to tell it from, and the episodes
    stay what they are.
    """
    spans = states.batch.query_spans
    placement = model.place(states, spans, centres)
    squared = placement.squared
    if leave_one_out:
        to_others = model.squared_distance_to_others(states)
        squared = squared.scatter(1, spans.slot[:, None], to_others[:, None])
    distance = model.classifier.softmax_distance(squared)
    allowed = placement.allowed
    if rivals == "step":
        allowed = allowed | of_other_types(states.batch, spans.slot)
    return prototype_loss(distance, allowed, spans.slot) @ spans.weight


def of_other_types(batch: EpisodeBatch, slot: Tensor) -> Tensor:
    """The slots of any episode, (P, slots), that have a prototype of another type than `slot`."""
    label = batch.label
    return batch.types.any(0) & (label != label.index_select(0, slot)[:, None])


def false_positives(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, gold: Tensor
) -> tuple[SpanPlaces, Tensor]:
    """The set M_q^- of the extractor's query spans that are not gold, and each one's weight.

    An entity of no type of the episode is not gold: it is to be found, and rejected. So is what is
    doubtful: it may be an entity, but as far as is known of none of these types.

    There are C places for each query sentence; one that holds no false positive weighs 0, the
    others share 1 / |M_q^-| of their sentence's weight.
    """
    first = encoded.batch.query_start
    found = model.extractor.candidates(scores[first:], encoded.cells[first:])
    spared = gold[first:]
    if model.config.classifier.false_positives == "released":
        spared = near_gold(spared)
    row = torch.arange(len(found.start), device=scores.device)[:, None].expand_as(found.start)
    false = found.keep & ~spared[row, found.start, found.end - 1]  # (S_q, C)
    count = false.sum(1, keepdim=True).clamp(min=1)
    weight = false * encoded.batch.query_weight[:, None] / count
    places = SpanPlaces((row + first).flatten(), found.start.flatten(), found.end.flatten())
    return places, weight.flatten()


def false_positive_loss(
    model: SpanProto, states: MentionStates, centres: Tensor, false: SpanPlaces, weight: Tensor
) -> Tensor:
    """Line 12: Eq. 9 keeps the false positives at least r away from every prototype."""
    placement = model.place(states, false, centres)
    distance = model.classifier.margin_distance(placement.squared)
    return margin_loss(distance, placement.allowed, model.config.classifier.margin) @ weight


def near_gold(gold: Tensor) -> Tensor:
    """Cells (S, L, L) within one word of a gold span at both ends, the gold cells included."""
    return F.max_pool2d(gold.float()[:, None], 3, stride=1, padding=1)[:, 0] > 0
