"""Thresholds that make the F1 on labelled data best."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from spanproto.data.types import Sentence
from spanproto.evaluation import Counts
from spanproto.judging import Candidate

ENOUGH = 10  # labelled entities of a type that can tell a threshold of its own
_BY_CHANCE = 0.005  # of F1

Thresholds = dict[str, float]
Predict = Callable[[Thresholds], list[list[Candidate]]]


class Scored(NamedTuple):
    """A prediction that would be made if there were no threshold."""

    label: str
    score: float
    correct: bool


@dataclass(frozen=True, slots=True)
class Tuning:
    """The thresholds that were chosen, and the micro F1 in percent before and with them."""

    thresholds: Thresholds
    f1_before: float
    f1_after: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def tune(gold: Sequence[Sentence], predict: Predict, current: Thresholds) -> Tuning:
    """The best thresholds for what `predict` finds in the labelled sentences under given ones.

    The current ones stay unless others are better.
    """
    labels = tuple(current)
    free = [
        Scored(candidate.label, candidate.score, candidate.span in sentence.spans)
        for sentence, found in zip(gold, predict(dict.fromkeys(labels, 0.0)), strict=True)
        for candidate in found
    ]
    counts = Counter(span.label for sentence in gold for span in sentence.spans)
    chosen, before = current, _f1(gold, predict(current))
    best = before
    for thresholds in proposals(free, counts, labels):
        f1 = _f1(gold, predict(thresholds))
        if f1 > best:
            chosen, best = thresholds, f1
    return Tuning(chosen, before, best)


def proposals(
    predictions: Sequence[Scored], gold: Mapping[str, int], labels: Sequence[str]
) -> list[Thresholds]:
    """Thresholds worth trying: one for all types, and that with the types' own where they can tell.

    `gold` is the number of entities of each type.
    """
    common = best_threshold(predictions, sum(gold.values()))
    if common is None:
        return []
    shared = dict.fromkeys(labels, common)
    own = {}
    for label in labels:
        if gold.get(label, 0) >= ENOUGH:
            mine = [prediction for prediction in predictions if prediction.label == label]
            threshold = best_threshold(mine, gold[label])
            if threshold is not None:
                own[label] = threshold
    return [shared, shared | own] if own else [shared]


def best_threshold(predictions: Sequence[Scored], gold: int) -> float | None:
    """The threshold of the best F1, in the middle of the widest gap that has it; None if none has.

    `gold` is the number of entities that there are to find.
    """
    best = max(_cuts(predictions, gold), default=None)
    return best.threshold if best is not None and best.f1 else None


def steady_threshold(predictions: Sequence[Scored], gold: int) -> float | None:
    """Where F1 is best, give or take what is chance; None if it is 0 everywhere.

    F1 hardly changes near its best, so that which threshold comes first depends on a few
    predictions. The mean of all thresholds by their e^(F1 / 0.005), so that of those half a point
    apart the better counts e times as much, differs far less from one sample to another.
    """
    cuts = _cuts(predictions, gold)
    best = max((cut.f1 for cut in cuts), default=0.0)
    if not best:
        return None
    weights = [math.exp((cut.f1 - best) / _BY_CHANCE) for cut in cuts]
    total = sum(weight * cut.threshold for weight, cut in zip(weights, cuts, strict=True))
    return total / sum(weights)


def lowered(threshold: float, log_odds: float) -> float:
    """The threshold whose log-odds are lower by so much, or higher if that is negative."""
    if log_odds == 0 or not 0 < threshold < 1:
        return threshold
    return 1 / (1 + (1 - threshold) / threshold * math.exp(log_odds))


class Cut(NamedTuple):
    """A place between two neighbouring scores, and the F1 of what is above it."""

    f1: float
    gap: float
    threshold: float


def _cuts(predictions: Sequence[Scored], gold: int) -> list[Cut]:
    """All places to cut, the highest first."""
    ranked = sorted(predictions, key=lambda prediction: -prediction.score)
    cuts, correct = [], 0
    for kept, prediction in enumerate(ranked, start=1):
        correct += prediction.correct
        lower = ranked[kept].score if kept < len(ranked) else 0.0
        gap = prediction.score - lower
        if gap > 0:
            cuts.append(Cut(2 * correct / (kept + gold), gap, lower + gap / 2))
    return cuts


def _f1(gold: Sequence[Sentence], found: Sequence[Sequence[Candidate]]) -> float:
    counts = Counts()
    for sentence, candidates in zip(gold, found, strict=True):
        counts += Counts.of({candidate.span for candidate in candidates}, set(sentence.spans))
    return counts.f1
