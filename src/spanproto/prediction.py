"""Prediction: the entities of the query sentences of one episode or of many."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from spanproto.data.types import Episode, Span
from spanproto.judging import Candidate, judge_by_settings
from spanproto.methods.base import Method, Prediction
from spanproto.model import ModelConfig, SpanProto
from spanproto.observation import CandidateRule


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


def predict(
    model: SpanProto, episodes: Sequence[Episode], candidates: CandidateRule = "model"
) -> list[list[SentencePrediction]]:
    """Entities of every query sentence of every episode, in one batch; see `judge`."""
    (predicted,) = predict_by_settings(model, [model.config], episodes, candidates)
    return predicted


def predict_by_settings(
    model: SpanProto,
    settings: Sequence[ModelConfig],
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
) -> list[list[list[SentencePrediction]]]:
    """The same under each of some settings, in less time than one after the other."""
    return [
        [[_prediction(sentence) for sentence in sentences] for sentences in judged]
        for judged in judge_by_settings(model, settings, episodes, candidates)
    ]


def _prediction(judged: Sequence[Candidate]) -> SentencePrediction:
    """What is kept, and what the extraction stage alone would have kept."""
    kept = [
        Mention(
            candidate.start,
            candidate.end,
            candidate.label,
            candidate.boundary_probability,
            max(candidate.type_probabilities),
            min(candidate.distances),
        )
        for candidate in judged
        if candidate.outcome == "kept"
    ]
    return SentencePrediction(
        kept, [(c.start, c.end) for c in judged if c.outcome in ("kept", "far")]
    )
