"""Precision, recall and F1 in percent, from counts that add up over sentences and episodes."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Counts:
    """How many items were predicted, how many are gold, and how many are both.

    Scores follow conlleval: what would be a division by zero is 0.
    """

    correct: int = 0
    predicted: int = 0
    gold: int = 0

    @classmethod
    def of(cls, predicted: Set[Any], gold: Set[Any]) -> "Counts":
        """The counts of one sentence: what is in both sets is correct."""
        return cls(len(predicted & gold), len(predicted), len(gold))

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.correct + other.correct, self.predicted + other.predicted, self.gold + other.gold
        )

    @property
    def precision(self) -> float:
        """Percent of the predicted items that are gold."""
        return percent(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Percent of the gold items that were predicted."""
        return percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, in percent."""
        return percent(2 * self.correct, self.predicted + self.gold)

    def to_dict(self) -> dict[str, int | float]:
        """Scores and counts as plain numbers."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "correct": self.correct,
            "predicted": self.predicted,
            "gold": self.gold,
        }


def percent(part: int, whole: int) -> float:
    """100 * part / whole, and 0 of nothing."""
    return 100 * part / whole if whole else 0.0
