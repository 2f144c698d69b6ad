"""The outcome of an evaluation, as numbers for a file and as a table for a reader."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spanproto.evaluation.counts import Counts, percent


@dataclass(frozen=True, slots=True)
class Report:
    """Scores over a set of episodes; every score is in percent.

    `micro` pools the counts of all episodes and is the headline. `episode_f1_mean` and
    `episode_f1_std` (over the population of episodes) take the F1 of each episode alone.
    `span` compares boundaries with types ignored, `extraction` those that the extraction stage
    proposed, where they are known. A false positive is of kind "type" when its boundary is that of
    a gold entity, and of kind "span" otherwise. `unsupported` gold entities have a type without
    any support span: no method could find them, and they count as misses.
    """

    protocol: str
    episodes: int
    sentences: int
    micro: Counts
    episode_f1_mean: float
    episode_f1_std: float
    span: Counts
    extraction: Counts | None
    wrong_boundaries: int
    wrong_types: int
    unsupported: int
    types: dict[str, Counts]

    @property
    def entities(self) -> int:
        """The number of gold entities in the query sentences."""
        return self.micro.gold

    @property
    def false_positives(self) -> int:
        """The number of predicted entities that are not gold."""
        return self.wrong_boundaries + self.wrong_types

    @property
    def fp_span(self) -> float:
        """FP-Span: percent of the false positives with a wrong boundary, 0 if there are none."""
        return percent(self.wrong_boundaries, self.false_positives)

    @property
    def fp_type(self) -> float:
        """FP-Type: percent with a right boundary and a wrong type, 0 if there are none."""
        return percent(self.wrong_types, self.false_positives)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {
            "protocol": self.protocol,
            "episodes": self.episodes,
            "sentences": self.sentences,
            "entities": self.entities,
            "micro": self.micro.to_dict(),
            "episode_f1": {"mean": self.episode_f1_mean, "std": self.episode_f1_std},
            "span": self.span.to_dict(),
            "extraction": None if self.extraction is None else self.extraction.to_dict(),
            "false_positives": {
                "count": self.false_positives,
                "fp_span": self.fp_span,
                "fp_type": self.fp_type,
            },
            "unsupported": self.unsupported,
            "types": {label: counts.to_dict() for label, counts in self.types.items()},
        }

    def to_table(self) -> str:
        """Readable text: the scores, then one line for each type."""
        totals = [("entities", self.micro), ("boundaries", self.span)]
        if self.extraction is not None:
            totals.append(("candidates", self.extraction))
        width = max(len(name) for name, _ in (*totals, *self.types.items()))
        header = _line(" " * width, ("P", "R", "F1", "gold", "predicted", "correct"))
        return "\n".join(
            [
                f"{self.protocol}: {self.episodes} episodes, {self.sentences} query sentences, "
                f"{self.entities} entities ({self.unsupported} of a type without support)",
                f"F1 by episode: {self.episode_f1_mean:.2f} ± {self.episode_f1_std:.2f}",
                f"false positives: {self.false_positives} "
                f"(FP-Span {self.fp_span:.2f} %, FP-Type {self.fp_type:.2f} %)",
                "",
                header,
                *(_line(f"{name:{width}}", _cells(counts)) for name, counts in totals),
                "-" * len(header),
                *(_line(f"{name:{width}}", _cells(counts)) for name, counts in self.types.items()),
            ]
        )


def _cells(counts: Counts) -> tuple[str, ...]:
    scores = (counts.precision, counts.recall, counts.f1)
    numbers = (counts.gold, counts.predicted, counts.correct)
    return (*(f"{score:.2f}" for score in scores), *map(str, numbers))


def _line(name: str, cells: Iterable[str]) -> str:
    return name + "".join(f"{cell:>11}" for cell in cells)
