"""The decision on a candidate: two thresholds in a row, or one score that weighs all evidence.

`two-stage` is the paper's: the boundary's probability must reach theta, and the nearest prototype
must lie within r. `joint` turns boundary score, type probability, distance and length into the odds
that the span is an entity of the type; a span too faint for one stage alone can be saved by the
other. Where a model was fine-tuned to the support set, what it said before is evidence too, and so
is, if it is asked for, what the span's single words are taken for, and what the span means to the
pretrained encoder.
The odds are those of a logistic regression, so once fitted on held-out episodes a score of 0.8
means that four of five such predictions are right.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.config import require
from spanproto.errors import ConfigError, nearest_name

EvidenceName = Literal["boundary", "type", "distance", "before", "length", "words", "meaning"]
EVIDENCE: tuple[EvidenceName, ...] = get_args(EvidenceName)
DEFAULT_EVIDENCE: tuple[EvidenceName, ...] = ("boundary", "type", "distance", "before", "length")
LEAST_PROBABILITY = 1e-7  # of a type; what is less counts as that

TYPE_SETTINGS = (
    "meaning_in_type",
    "learned_in_meaning",
    "names_in_meaning",
    "even_types",
)
"""What changes the probabilities of types themselves, before any evidence is weighed."""


@dataclass(frozen=True)
class DecisionConfig:
    """Which decision is taken, and what each piece of evidence weighs in a span's score."""

    rule: Literal["two-stage", "joint"] = "two-stage"
    threshold: float = 0.5  # joint: the least score of a mention
    floor: float = 0.05  # joint: the least boundary probability of a candidate
    boundary_weight: float = 1.0  # of the boundary score f, which is the boundary's log-odds
    type_weight: float = 1.0  # of the type's log-probability, Eq. 8
    distance_weight: float = 0.0  # of the distance to the type's prototype
    before_weight: float = 0.0  # of the boundary score before fine-tuning, where that is recalled
    length_weight: float = 0.0  # of the logarithm of the number of words
    words_weight: float = 0.0  # of the type's mean log-probability among the span's single words
    meaning_weight: float = 0.0  # of how alike the type's examples are to the pretrained encoder
    meaning_in_type: float = 12.0  # of the same in the type's log-probability, where it is asked
    learned_in_meaning: float = 1.0  # of the learned map in that, where there is one
    names_in_meaning: float = 0.0  # of the type's name in that, beside its examples
    even_types: bool = False  # a query set has about as many entities of each type: see `balance`
    bias: float = 0.0

    def __post_init__(self) -> None:
        require(0 <= self.threshold <= 1, "decision.threshold must lie in [0, 1]")
        require(0 <= self.floor <= 1, "decision.floor must lie in [0, 1]")
        require(self.learned_in_meaning >= 0, "decision.learned_in_meaning must not be negative")

    @property
    def words(self) -> bool:
        """Whether it counts what single words are taken for."""
        return self.counts("words")

    def counts(self, name: EvidenceName) -> bool:
        """Whether a piece of evidence has a weight."""
        weight: float = getattr(self, _weight(name))
        return weight != 0


def evidence_named(names: Iterable[str]) -> tuple[EvidenceName, ...]:
    """The evidence of these names; complains of what there is not."""
    found: list[EvidenceName] = []
    for name in names:
        known = next((one for one in EVIDENCE if one == name), None)
        if known is None:
            raise ConfigError(f"there is no evidence {name!r}; {nearest_name(name, EVIDENCE)}")
        found.append(known)
    return tuple(found)


def log_odds(
    boundary: Tensor,
    type_log_probability: Tensor,
    distance: Tensor,
    config: DecisionConfig,
    *,
    before: Tensor | float = 0.0,
    log_length: Tensor | float = 0.0,
    words: Tensor | float = 0.0,
    meaning: Tensor | float = 0.0,
) -> Tensor:
    """The log-odds (M, T) that each of M spans is an entity of each of T types.

    `boundary` is the boundary score f (M, 1), as is that `before` fine-tuning, and `log_length`
    is of that shape too; the others are (M, T).
    """
    return (
        config.boundary_weight * boundary
        + config.type_weight * type_log_probability
        + config.distance_weight * distance
        + config.before_weight * before
        + config.length_weight * log_length
        + config.words_weight * words
        + config.meaning_weight * meaning
        + config.bias
    )


def fit_weights(evidence: Mapping[EvidenceName, Tensor], correct: Tensor) -> dict[str, float]:
    """The weights of `log_odds` that make the scores of N predictions true, by maximum likelihood.

    All are (N,); `correct` says whether a span is an entity of its type. What is not given as
    evidence weighs nothing.
    """
    slopes, bias = _regression(torch.stack(tuple(evidence.values()), 1), correct)
    found = dict(zip(evidence, slopes, strict=True))
    return {**{_weight(name): found.get(name, 0.0) for name in EVIDENCE}, "bias": bias}


def fit_scale(odds: Tensor, correct: Tensor, config: DecisionConfig) -> dict[str, float]:
    """The weights that gave log-odds (N,), all times one factor, and a bias that make scores true.

    So the pieces of evidence weigh against each other as they did: to use where their own fit
    would not hold, as in another domain than that of the predictions.
    """
    (factor,), bias = _regression(odds[:, None], correct)
    weights = {_weight(name): factor * getattr(config, _weight(name)) for name in EVIDENCE}
    return {**weights, "bias": factor * config.bias + bias}


def _weight(name: EvidenceName) -> str:
    return f"{name}_weight"


def _regression(columns: Tensor, correct: Tensor) -> tuple[list[float], float]:
    """Slopes and bias of a logistic regression of `correct` (N,) on the columns (N, E).

    A slight pull towards 0 keeps them finite where the evidence separates right from wrong.
    """
    columns = columns.double()
    mean, spread = columns.mean(0), columns.std(0, unbiased=False).clamp(min=1e-6)
    scaled = F.pad((columns - mean) / spread, (0, 1), value=1.0)  # (N, E + 1)
    weights = torch.zeros(scaled.shape[1], dtype=torch.double, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        value = F.binary_cross_entropy_with_logits(scaled @ weights, correct.double())
        value = value + 1e-4 * weights.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    slopes = weights.detach()[:-1] / spread
    bias = weights.detach()[-1] - (slopes * mean).sum()
    return slopes.tolist(), bias.item()


def expected_calibration_error(scores: Tensor, correct: Tensor, bins: int = 10) -> float:
    """How far scores (N,) are from the share of right ones, on average over bins of equal width."""
    place = (scores * bins).long().clamp(max=bins - 1)
    error = 0.0
    for number in range(bins):
        inside = place == number
        if inside.any():
            gap = (scores[inside].double().mean() - correct[inside].double().mean()).abs()
            error += gap.item() * inside.double().mean().item()
    return error
