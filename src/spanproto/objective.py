"""The training objective: lines 4-15 of Algorithm 1 for all episodes of a step at once.

Every loss is a mean over a sentence's spans, then over an episode's sentences, then over the
episodes, so a step over several episodes is the mean of their steps. Nothing here waits for the
device: shapes are known on the host, and the candidates have a fixed number of places.
"""

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import margin_loss, mean_by_group, prototype_loss
from spanproto.model import EncodedBatch, Prototypes, SpanProto


class Losses(NamedTuple):
    """The three terms of Algorithm 1, each a mean over the episodes of the step."""

    span: Tensor
    proto: Tensor
    margin: Tensor


def losses(
    model: SpanProto, batch: EpisodeBatch, *, joint: bool = True, extract_from_query: bool = False
) -> Losses:
    """Span, prototypical and margin loss of a batch of episodes.

    With `joint` false only the extractor learns (lambda = 0 in Algorithm 1). The extractor's
    training data is the support set, and with `extract_from_query` the query sentences too.
    """
    encoded = model.encode(batch)
    scores = model.extractor(encoded.start, encoded.end)  # (S, L, L)
    gold = model.gold_matrix(encoded)
    span = span_loss(model, encoded, scores, gold, extract_from_query)
    nothing = torch.zeros_like(span)
    if not joint:
        return Losses(span, nothing, nothing)
    known = model.prototypes(encoded)
    proto = proto_loss(model, encoded, known)
    if not model.config.classifier.margin_loss:
        return Losses(span, proto, nothing)
    false, weight = false_positives(model, encoded, scores.detach(), gold)
    return Losses(span, proto, false_positive_loss(model, encoded, known, false, weight))


def span_loss(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, gold: Tensor, all_sentences: bool
) -> Tensor:
    """Lines 5-8: Eq. 4 over the support sentences, or over all of them."""
    batch = encoded.batch
    rows = len(scores) if all_sentences else batch.support_count
    loss = model.extractor.loss(scores[:rows], gold[:rows], encoded.cells[:rows])  # (rows,)
    ones = torch.ones_like(loss)
    return mean_by_group(loss, ones, batch.episode[:rows], batch.episodes).mean()


def proto_loss(model: SpanProto, encoded: EncodedBatch, known: Prototypes) -> Tensor:
    """Line 11: Eq. 7 over the gold spans of the query sentences whose type has a prototype."""
    spans = encoded.batch.query_spans
    placement = model.place(encoded, spans, known)
    distance = model.classifier.softmax_distance(placement.squared)
    loss = prototype_loss(distance, placement.allowed, spans.slot)
    weight = placement.allowed.gather(1, spans.slot[:, None])[:, 0].to(loss.dtype)
    return _mean_over_query(encoded.batch, loss, weight, spans.sentence)


def false_positives(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, gold: Tensor
) -> tuple[SpanPlaces, Tensor]:
    """The set M_q^- of the extractor's query spans that are not gold, as places and weights.

    There are C places for each query sentence; a place that holds no false positive weighs 0.
    """
    first = encoded.batch.support_count
    found = model.extractor.candidates(scores[first:], encoded.cells[first:])
    spared = gold[first:]
    if model.config.classifier.false_positives == "released":
        spared = near_gold(spared)
    row = torch.arange(len(found.start), device=scores.device)[:, None].expand_as(found.start)
    weight = found.keep & ~spared[row, found.start, found.end - 1]  # (S_q, C)
    places = SpanPlaces(
        sentence=(row + first).flatten(),
        start=found.start.flatten(),
        end=found.end.flatten(),
    )
    return places, weight.flatten().to(scores.dtype)


def false_positive_loss(
    model: SpanProto, encoded: EncodedBatch, known: Prototypes, false: SpanPlaces, weight: Tensor
) -> Tensor:
    """Line 12: Eq. 9 keeps the false positives at least r away from every prototype."""
    placement = model.place(encoded, false, known)
    distance = model.classifier.margin_distance(placement.squared)
    loss = margin_loss(distance, placement.allowed, model.config.classifier.margin)
    return _mean_over_query(encoded.batch, loss, weight, false.sentence)


def near_gold(gold: Tensor) -> Tensor:
    """Cells (S, L, L) within one word of a gold span at both ends, the gold cells included."""
    return F.max_pool2d(gold.float()[:, None], 3, stride=1, padding=1)[:, 0] > 0


def _mean_over_query(batch: EpisodeBatch, loss: Tensor, weight: Tensor, sentence: Tensor) -> Tensor:
    """Mean over spans in each query sentence, over sentences in each episode, over episodes."""
    first = batch.support_count
    episode = batch.episode[first:]
    by_sentence = mean_by_group(loss, weight, sentence - first, len(episode))
    ones = torch.ones_like(by_sentence)
    return mean_by_group(by_sentence, ones, episode, batch.episodes).mean()
