"""Beam soft-NMS: which of several overlapping spans to keep, by looking at whole sets of them.

Plain non-maximum suppression takes the best span and drops what overlaps it. Here what overlaps a
taken span loses most of its score instead, and several sets of spans are grown side by side; the
set with the best mean score wins (Wang et al., NAACL 2022).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spanproto.config import require

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SoftNmsConfig:
    """How conflicts between spans are resolved."""

    beams: int = 5  # sets that are grown side by side
    overlap: float = 1e-5  # intersection over union from which on spans are in conflict
    decay: float = 1e-5  # what a score is multiplied by for each span taken that is in conflict
    least: float = 0.1  # the least score, after that, of a span that is taken

    def __post_init__(self) -> None:
        require(self.beams > 0, "soft_nms.beams must be positive")
        require(0 < self.overlap <= 1, "soft_nms.overlap must lie in (0, 1]")
        require(0 <= self.decay <= 1, "soft_nms.decay must lie in [0, 1]")
        require(0 < self.least <= 1, "soft_nms.least must lie in (0, 1]")


class _Beam(NamedTuple):
    """A set of spans, and what is left of the scores of all."""

    taken: frozenset[int]
    total: float  # of the scores that the spans had when they were taken
    left: Scores  # (C,), 0 for those that are taken

    @property
    def mean(self) -> float:
        return self.total / len(self.taken)


def soft_nms(
    spans: Sequence[tuple[int, int]], scores: Sequence[float], config: SoftNmsConfig
) -> list[int]:
    """The numbers of the spans of one sentence to keep, in order.

    Every set begins with the best span and grows as long as a span with score enough is left.
    """
    if not spans:
        return []
    factor = conflict_factors(spans, config)
    whole = np.asarray(scores, np.float64)
    beams = [_with(_Beam(frozenset(), 0.0, whole), int(whole.argmax()), factor)]
    growing = True
    while growing:
        growing = False
        best: dict[frozenset[int], _Beam] = {}
        for beam in beams:
            longer = _longer(beam, factor, config)
            growing |= bool(longer)
            for one in longer or [beam]:
                rival = best.get(one.taken)
                # Scores depend on the order of taking, what is left of the others does not.
                if rival is None or one.total > rival.total:
                    best[one.taken] = one
        beams = sorted(best.values(), key=lambda beam: -beam.mean)[: config.beams]
    return sorted(beams[0].taken)


def conflict_factors(spans: Sequence[tuple[int, int]], config: SoftNmsConfig) -> Scores:
    """What taking one span (rows) leaves of the score of another, as a factor; 0 of its own."""
    start, end = np.asarray(spans).T  # (C,)
    shared = np.minimum(end[:, None], end) - np.maximum(start[:, None], start)
    both = np.maximum(end[:, None], end) - np.minimum(start[:, None], start)
    factor = np.where(shared / both >= config.overlap, config.decay, 1.0)
    np.fill_diagonal(factor, 0.0)
    return factor


def _longer(beam: _Beam, factor: Scores, config: SoftNmsConfig) -> list[_Beam]:
    """The sets with one more span; no more than can be among the best."""
    order = (-beam.left).argsort(kind="stable")[: config.beams].tolist()
    return [_with(beam, one, factor) for one in order if beam.left[one] >= config.least]


def _with(beam: _Beam, span: int, factor: Scores) -> _Beam:
    total = beam.total + float(beam.left[span])
    return _Beam(beam.taken | {span}, total, beam.left * factor[span])
