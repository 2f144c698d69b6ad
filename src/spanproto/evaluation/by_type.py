"""The scores of a fitted recogniser on a user's own labelled data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spanproto.data.types import Episode, Sentence, Span
from spanproto.display import table
from spanproto.evaluation.confusion import Confusion
from spanproto.evaluation.counts import Counts
from spanproto.evaluation.report import Report
from spanproto.evaluation.scoring import Scorer


@dataclass(frozen=True, slots=True)
class TypeReport:
    """Precision, recall and F1 in percent for each type and over all, and what was confused."""

    report: Report
    confusion: Confusion

    @property
    def micro(self) -> Counts:
        """The counts over all types."""
        return self.report.micro

    @property
    def types(self) -> dict[str, Counts]:
        """The counts of each type that was labelled or found."""
        return self.report.types

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "micro": self.micro.to_dict(),
            "types": {label: counts.to_dict() for label, counts in self.types.items()},
            "confusion": self.confusion.to_dict(),
        }

    def to_table(self) -> str:
        """A line for each type, one for all, and how often which type was taken for which."""
        rows = [_row(*scored) for scored in (*self.types.items(), ("all", self.micro))]
        lines = table([("type", "P", "R", "F1", "labelled", "found", "right"), *rows], range(1, 7))
        mistaken = [
            f"  {gold} as {predicted}: {self.confusion.count(gold, predicted)}"
            for gold in self.confusion.labels
            for predicted in self.confusion.labels
            if gold != predicted and self.confusion.count(gold, predicted)
        ]
        return "\n".join([*lines, *(["", "confused:", *mistaken] if mistaken else [])])

    def save_confusion(self, path: Path | str) -> None:
        """Draw the confusion counts to a file such as confusion.png."""
        self.confusion.save(path)


def type_report(
    task: Episode, gold: Sequence[Sentence], found: Sequence[Sequence[Span]]
) -> TypeReport:
    """The spans found in each labelled sentence against its own.

    `task` has the types that were looked for; entities of others count as missed.
    """
    labelled = (span.label for sentence in gold for span in sentence.spans)
    labels = tuple(dict.fromkeys((*task.types, *labelled)))
    confusion, scorer = Confusion(labels), Scorer("crossdomain")
    for sentence, spans in zip(gold, found, strict=True):
        confusion.add(sentence.spans, spans)
    scorer.add(Episode(labels, task.support, tuple(gold)), found)
    return TypeReport(scorer.report(), confusion)


def _row(name: str, counts: Counts) -> tuple[str, ...]:
    scores = (counts.precision, counts.recall, counts.f1)
    numbers = (counts.gold, counts.predicted, counts.correct)
    return (name, *(f"{score:.1f}" for score in scores), *map(str, numbers))
