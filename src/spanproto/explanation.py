"""Why a span of a text was kept or not, in numbers and in words."""

from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

from spanproto.documents import DocumentJudge, Judged, clash
from spanproto.judging import Candidate, Outcome


@dataclass(frozen=True, slots=True)
class Explanation:
    """A span that was considered, and what spoke for and against it.

    `start` and `end` count as in the `Entity` that it would have been; `label` is the nearest type
    and `score` the span's score for it.
    """

    text: str
    label: str
    start: int
    end: int
    score: float
    boundary_probability: float
    distances: dict[str, float]  # to the prototype of each type
    scores: dict[str, float]  # for each type
    outcome: Outcome
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        return asdict(self)


def explanations(judge: DocumentJudge, judged: Judged, in_characters: bool) -> list[Explanation]:
    """Every candidate of a document that `judge` has judged, in reading order."""
    labels = judge.task.types
    found = []
    for candidate in judged.candidates:
        text, start, end = judged.place(candidate, in_characters)
        found.append(
            Explanation(
                text,
                candidate.label,
                start,
                end,
                candidate.score,
                candidate.boundary_probability,
                dict(zip(labels, candidate.distances, strict=True)),
                dict(zip(labels, candidate.scores, strict=True)),
                candidate.outcome,
                _reason(judge, judged, candidate),
            )
        )
    return found


def _reason(judge: DocumentJudge, judged: Judged, candidate: Candidate) -> str:
    """What became of a candidate, in words."""
    match candidate.outcome:
        case "overlap":
            better = _better(judge, judged, candidate)
            name = "" if better is None else f" {judged.place(better, in_characters=True)[0]!r}"
            return f"overlaps a better span{name}"
        case "far":
            return f"farther than r = {judge.model.config.classifier.radius:.3g} from every type"
        case "unlikely":
            score, limit = _told_apart(candidate.score, judge.thresholds[candidate.label])
            return f"score {score} is below the threshold {limit}"
    return "kept"


def _better(judge: DocumentJudge, judged: Judged, beaten: Candidate) -> Candidate | None:
    """The best span that stood in the way; its own window may not have shown it to the others."""
    joint = judge.model.config.decision.rule == "joint"
    in_the_way = [
        other
        for other in judged.candidates
        # Where boundaries are compared first, a span that is rejected later stands in the way too.
        if other.outcome == "kept" or (other.outcome != "overlap" and not joint)
        if clash(beaten, other, judge.decoding)
    ]
    rank = attrgetter("score" if joint else "boundary_score")
    return max(in_the_way, key=rank, default=None)


def _told_apart(score: float, limit: float) -> tuple[str, str]:
    """Both numbers with as many digits as it takes to see that they differ, two at least."""
    for digits in (2, 3, 4):
        if f"{score:.{digits}f}" != f"{limit:.{digits}f}":
            return f"{score:.{digits}f}", f"{limit:.{digits}f}"
    return str(score), str(limit)
