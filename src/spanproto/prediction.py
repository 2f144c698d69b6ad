"""Prediction: candidate spans from the extractor, each given its nearest type or rejected."""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.batch import SpanPlaces, collate
from spanproto.classifier import type_log_probabilities
from spanproto.data.types import Episode, Span
from spanproto.extractor import NEVER, Candidates, decode
from spanproto.model import EncodedBatch, SpanProto
from spanproto.objective import near_gold

CandidateRule = Literal["model", "released"]


class Mention(NamedTuple):
    """A predicted entity and what spoke for it."""

    start: int
    end: int
    label: str
    boundary_probability: float  # sigmoid(f) of the extractor
    type_probability: float  # Eq. 8
    distance: float  # to the nearest prototype

    @property
    def span(self) -> Span:
        """The mention as plain data."""
        return Span(self.start, self.end, self.label)


class SentencePrediction(NamedTuple):
    """What the two stages say of one query sentence."""

    mentions: list[Mention]
    candidates: list[tuple[int, int]]  # the extractor's spans, before any was rejected


def predict_all(
    model: SpanProto,
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
    sentences_per_batch: int = 128,
) -> Iterator[list[SentencePrediction]]:
    """Predictions for any number of episodes, a few at a time."""
    group: list[Episode] = []
    size = 0
    for episode in episodes:
        count = len(episode.support) + len(episode.query)
        if group and size + count > sentences_per_batch:
            yield from predict(model, group, candidates)
            group, size = [], 0
        group.append(episode)
        size += count
    if group:
        yield from predict(model, group, candidates)


@torch.inference_mode()
def predict(
    model: SpanProto, episodes: Sequence[Episode], candidates: CandidateRule = "model"
) -> list[list[SentencePrediction]]:
    """Entities of every query sentence of every episode, in one batch.

    Under the rule `model` the spans of the query sentences are never looked at. `released`
    repeats the evaluation of the paper's released code, which is an oracle: the gold spans are
    candidates, and predictions within one word of a gold span at both ends are dropped.
    """
    model.eval()
    if candidates == "model":
        episodes = [episode.without_query_spans() for episode in episodes]
    encoded = model.encode(collate(episodes, model.encoder.words).to(model.device))
    first = encoded.batch.support_count
    scores = model.extractor(encoded.start[first:], encoded.end[first:])
    if candidates == "released":
        gold = model.gold_matrix(encoded)[first:]
        scores = scores.masked_fill(near_gold(gold), NEVER).masked_fill(gold, -NEVER)
    lengths = encoded.batch.words.word_mask[first:].sum(1)
    found = model.extractor.candidates(scores, encoded.cells[first:], lengths)
    found = decode(found, model.config.extractor.decoding)
    return _classify(model, episodes, encoded, found)


def _classify(
    model: SpanProto, episodes: Sequence[Episode], encoded: EncodedBatch, found: Candidates
) -> list[list[SentencePrediction]]:
    """The nearest prototype of each candidate, unless all are farther away than r."""
    row, place = found.keep.nonzero(as_tuple=True)
    spans = SpanPlaces(
        sentence=row + encoded.batch.support_count,
        start=found.start[row, place],
        end=found.end[row, place],
    )
    placement = model.place(encoded, spans, model.prototypes(encoded))
    log_p = type_log_probabilities(
        model.classifier.softmax_distance(placement.squared), placement.allowed
    )
    best, slot = log_p.max(-1)
    distance = model.classifier.margin_distance(placement.squared).gather(1, slot[:, None])[:, 0]
    settings = model.config.classifier
    accepted = distance <= settings.margin if settings.reject else distance <= torch.inf

    labels = [label for episode in episodes for label in episode.types]
    results = [[SentencePrediction([], []) for _ in episode.query] for episode in episodes]
    by_row = [sentence for episode in results for sentence in episode]
    probability, boundary = best.exp(), found.score[row, place].sigmoid()
    columns: list[Tensor] = [
        row, spans.start, spans.end, slot, boundary, probability, distance, accepted
    ]  # fmt: skip
    for at, start, end, label, *evidence, keep in zip(*(c.tolist() for c in columns), strict=True):
        by_row[at].candidates.append((start, end))
        if keep:
            by_row[at].mentions.append(Mention(start, end, labels[label], *evidence))
    return results
