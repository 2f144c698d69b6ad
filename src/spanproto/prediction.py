"""Prediction: candidate spans from the extractor, each given its nearest type or rejected."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.batch import SpanPlaces, collate
from spanproto.classifier import type_log_probabilities
from spanproto.data.types import Episode, Span
from spanproto.extractor import boundary_matrix, decode
from spanproto.methods.base import Method, Prediction
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

    @property
    def spans(self) -> list[Span]:
        """The mentions as plain data."""
        return [mention.span for mention in self.mentions]


def predict_all(
    model: Method,
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
    sentences_per_batch: int = 128,
    cells_per_batch: int = 2**22,
) -> Iterator[Sequence[Prediction]]:
    """Predictions of any method for any number of episodes, a few at a time.

    A boundary matrix grows with the square of the longest sentence, so `cells_per_batch` bounds
    the cells of a batch; an episode beyond it is predicted in parts, long sentences by themselves.
    """
    model = model.with_candidates(candidates)
    group: list[Episode] = []
    for episode in episodes:
        grown = [*group, episode]
        fits = sum(len(e.query) for e in grown) <= sentences_per_batch
        if group and not (fits and _cells(grown) <= cells_per_batch):
            yield from model.predict(group)
            group = []
        if _cells([episode]) > cells_per_batch:
            yield _predict_in_parts(model, episode, cells_per_batch)
        else:
            group.append(episode)
    if group:
        yield from model.predict(group)


def _cells(episodes: Sequence[Episode]) -> int:
    """The size of the boundary matrices of the query sentences in one batch."""
    lengths = [len(sentence.words) for episode in episodes for sentence in episode.query]
    return len(lengths) * max(lengths, default=0) ** 2


def _predict_in_parts(model: Method, episode: Episode, cells_per_batch: int) -> list[Prediction]:
    """Predictions of one episode, sentences of similar length together."""
    found: dict[int, Prediction] = {}
    part: list[int] = []
    by_length = sorted(range(len(episode.query)), key=lambda i: len(episode.query[i].words))
    for at, number in enumerate(by_length):
        part.append(number)
        following = by_length[at + 1 : at + 2]
        longest = len(episode.query[following[0]].words) if following else 0
        if not following or (len(part) + 1) * longest**2 > cells_per_batch:
            piece = replace(episode, query=tuple(episode.query[i] for i in part))
            found.update(zip(part, model.predict([piece])[0], strict=True))
            part = []
    return [found[number] for number in range(len(episode.query))]


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
    scores = model.extractor(encoded.start, encoded.end)
    found = _candidates(model, encoded, scores)
    if candidates == "released":
        gold = model.gold_matrix(encoded)
        found = (found & ~near_gold(gold)) | gold
    mentions = _classify(model, encoded, scores, found, centres, _labels(episodes))
    rows = iter(query.query_rows)
    return [[mentions[next(rows)] for _ in episode.query] for episode in episodes]


def _labels(episodes: Sequence[Episode]) -> list[str]:
    """The name of each slot."""
    return [label for episode in episodes for label in episode.types]


def _candidates(model: SpanProto, encoded: EncodedBatch, scores: Tensor) -> Tensor:
    """The cells (S, L, L) of the extractor's spans, decoded."""
    lengths = encoded.batch.words.word_mask.sum(1)
    found = model.extractor.candidates(scores, encoded.cells, lengths)
    found = decode(found, model.config.extractor.decoding)
    row, place = found.keep.nonzero(as_tuple=True)
    return boundary_matrix(row, found.start[row, place], found.end[row, place], encoded.cells)


def _classify(
    model: SpanProto,
    encoded: EncodedBatch,
    scores: Tensor,
    found: Tensor,
    centres: Tensor,
    labels: Sequence[str],
) -> list[SentencePrediction]:
    """Each row's candidates, and those with a prototype within r, with its type."""
    row, first, last = found.nonzero(as_tuple=True)
    spans = SpanPlaces(row, first, last + 1)
    placement = model.place(model.mention_states(encoded), spans, centres)
    log_p = type_log_probabilities(
        model.classifier.softmax_distance(placement.squared), placement.allowed
    )
    best, slot = log_p.max(-1)
    distance = model.classifier.margin_distance(placement.squared).gather(1, slot[:, None])[:, 0]
    settings = model.config.classifier
    accepted = distance <= (settings.margin if settings.reject else torch.inf)

    results = [SentencePrediction([], []) for _ in range(len(found))]
    probability, boundary = best.exp(), scores[row, first, last].sigmoid()
    columns: list[Tensor] = [
        row, spans.start, spans.end, slot, boundary, probability, distance, accepted
    ]  # fmt: skip
    for at, start, end, label, *evidence, keep in zip(*(c.tolist() for c in columns), strict=True):
        results[at].candidates.append((start, end))
        if keep:
            results[at].mentions.append(Mention(start, end, labels[label], *evidence))
    return results
