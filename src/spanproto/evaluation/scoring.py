"""Predictions against gold query spans, episode by episode."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from statistics import fmean, pstdev

from spanproto.data.types import Episode, Span
from spanproto.errors import DataError
from spanproto.evaluation.counts import Counts
from spanproto.evaluation.protocols import entities_under
from spanproto.evaluation.report import Report

Boundary = tuple[int, int]


def score(
    episodes: Iterable[Episode],
    predictions: Iterable[Sequence[Iterable[Span]]],
    protocol: str,
    candidates: Iterable[Sequence[Iterable[Boundary]]] | None = None,
) -> Report:
    """The scores of predictions, which are given for each episode, in it for each query sentence.

    `candidates`, in the same order, are the boundaries that an extraction stage proposed.
    """
    scorer = Scorer(protocol)
    given = () if candidates is None else candidates
    for number, (episode, spans, proposed) in enumerate(zip_longest(episodes, predictions, given)):
        if episode is None or spans is None or (candidates is not None and proposed is None):
            raise DataError(
                f"episode {number}: the lists of episodes, predictions and candidates do not end "
                "together; give predictions (and candidates, if any) for every episode"
            )
        scorer.add(episode, spans, proposed)
    return scorer.report()


class Scorer:
    """Adds up the counts of episodes as their predictions come in."""

    def __init__(self, protocol: str) -> None:
        self.protocol = protocol
        self._entities = entities_under(protocol)
        self._sentences = 0
        self._episode_f1: list[float] = []
        self._micro = Counts()
        self._span = Counts()
        self._extraction: Counts | None = None
        self._wrong_boundaries = 0
        self._wrong_types = 0
        self._unsupported = 0
        self._types: defaultdict[str, Counts] = defaultdict(Counts)

    def add(
        self,
        episode: Episode,
        predictions: Sequence[Iterable[Span]],
        candidates: Sequence[Iterable[Boundary]] | None = None,
    ) -> None:
        """Score one episode: the spans and, where known, the candidates of each query sentence."""
        where = f"episode {len(self._episode_f1)}"
        predicted = [tuple(spans) for spans in predictions]
        self._check(episode, [[span[:2] for span in spans] for spans in predicted], where)
        supported = frozenset(episode.supported_types())
        for spans in predicted:
            for span in spans:
                if span.label not in supported:
                    raise DataError(
                        f"{where}: a span of type {span.label!r} is predicted, which has no "
                        f"support span; predict only {', '.join(sorted(supported)) or 'nothing'}"
                    )
        gold = [self._entities(sentence.spans) for sentence in episode.query]
        if candidates is not None:
            proposed = [{(start, end) for start, end in boundaries} for boundaries in candidates]
            self._check(episode, proposed, where)
            extraction = [
                Counts.of(boundaries, _boundaries(entities))
                for boundaries, entities in zip(proposed, gold, strict=True)
            ]
            self._extraction = sum(extraction, self._extraction or Counts())

        total = Counts()
        for entities, spans in zip(gold, predicted, strict=True):
            total += self._add_sentence(entities, self._entities(spans))
            self._unsupported += sum(entity.label not in supported for entity in entities)
        self._micro += total
        self._episode_f1.append(total.f1)
        self._sentences += len(gold)

    def report(self) -> Report:
        """The scores of all episodes so far."""
        if not self._episode_f1:
            raise DataError("there is no episode to score; give at least one")
        return Report(
            protocol=self.protocol,
            episodes=len(self._episode_f1),
            sentences=self._sentences,
            micro=self._micro,
            episode_f1_mean=fmean(self._episode_f1),
            episode_f1_std=pstdev(self._episode_f1),
            span=self._span,
            extraction=self._extraction,
            wrong_boundaries=self._wrong_boundaries,
            wrong_types=self._wrong_types,
            unsupported=self._unsupported,
            types=dict(sorted(self._types.items())),
        )

    def _add_sentence(self, gold: frozenset[Span], predicted: frozenset[Span]) -> Counts:
        boundaries = _boundaries(gold)
        self._span += Counts.of(_boundaries(predicted), boundaries)
        for label in {span.label for span in gold | predicted}:
            self._types[label] += Counts.of(
                {span for span in predicted if span.label == label},
                {span for span in gold if span.label == label},
            )
        false_positives = predicted - gold
        wrong_types = sum(span[:2] in boundaries for span in false_positives)
        self._wrong_types += wrong_types
        self._wrong_boundaries += len(false_positives) - wrong_types
        return Counts.of(predicted, gold)

    @staticmethod
    def _check(episode: Episode, given: Sequence[Iterable[Boundary]], where: str) -> None:
        """Refuse what was given for other sentences than these."""
        if len(given) != len(episode.query):
            raise DataError(
                f"{where}: {len(given)} lists of spans for {len(episode.query)} query sentences; "
                "give one for each sentence, empty where nothing was found"
            )
        for index, (sentence, boundaries) in enumerate(zip(episode.query, given, strict=True)):
            for start, end in boundaries:
                if not 0 <= start < end <= len(sentence.words):
                    raise DataError(
                        f"{where}: predicted span [{start}, {end}) does not fit query sentence "
                        f"{index} of {len(sentence.words)} words; spans are half-open"
                    )


def _boundaries(spans: Iterable[Span]) -> set[Boundary]:
    return {(span.start, span.end) for span in spans}
