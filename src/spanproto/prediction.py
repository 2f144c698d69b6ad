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
    words, even = model.encoder.words, model.stacked
    support = collate(episodes, words, "support", even).to(model.device)
    query = collate(episodes, words, "query", even).to(model.device)
    centres = model.prototypes(model.mention_states(model.encode(support)))
    encoded = model.encode(query)
    found = _candidates(model, encoded, candidates)
    mentions = _classify(model, encoded, found, centres, _labels(episodes))
    rows = iter(query.query_rows)
    return [[mentions[next(rows)] for _ in episode.query] for episode in episodes]


def _labels(episodes: Sequence[Episode]) -> list[str]:
    """The name of each slot."""
    return [label for episode in episodes for label in episode.types]


def _candidates(model: SpanProto, encoded: EncodedBatch, rule: CandidateRule) -> Candidates:
    """The extractor's spans of every sentence."""
    scores = model.extractor(encoded.start, encoded.end)
    if rule == "released":
        gold = model.gold_matrix(encoded)
        scores = scores.masked_fill(near_gold(gold), NEVER).masked_fill(gold, -NEVER)
    lengths = encoded.batch.words.word_mask.sum(1)
    found = model.extractor.candidates(scores, encoded.cells, lengths)
    return decode(found, model.config.extractor.decoding)


def _classify(
    model: SpanProto,
    encoded: EncodedBatch,
    found: Candidates,
    centres: Tensor,
    labels: Sequence[str],
) -> list[SentencePrediction]:
    """Each row's candidates, and those with a prototype within r, with its type."""
    row, place = found.keep.nonzero(as_tuple=True)
    spans = SpanPlaces(row, found.start[row, place], found.end[row, place])
    placement = model.place(model.mention_states(encoded), spans, centres)
    log_p = type_log_probabilities(
        model.classifier.softmax_distance(placement.squared), placement.allowed
    )
    best, slot = log_p.max(-1)
    distance = model.classifier.margin_distance(placement.squared).gather(1, slot[:, None])[:, 0]
    settings = model.config.classifier
    accepted = distance <= (settings.margin if settings.reject else torch.inf)

    results = [SentencePrediction([], []) for _ in range(len(found.start))]
    probability, boundary = best.exp(), found.score[row, place].sigmoid()
    columns: list[Tensor] = [
        row, spans.start, spans.end, slot, boundary, probability, distance, accepted
    ]  # fmt: skip
    for at, start, end, label, *evidence, keep in zip(*(c.tolist() for c in columns), strict=True):
        results[at].candidates.append((start, end))
        if keep:
            results[at].mentions.append(Mention(start, end, labels[label], *evidence))
    return results
