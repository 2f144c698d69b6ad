"""Mention classifier: prototypes (Eq. 5-6), prototypical loss (Eq. 7-8), margin (Eq. 9), rejection.

The types of all episodes of a batch share one axis of `slots` (episode e, type t -> slot), so
prototypes, distances and losses of every episode are computed at once; `allowed` (M, slots)
says which slots belong to a span's own episode and have a prototype.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.config import require

Distance = Literal["squared-euclidean", "euclidean"]


@dataclass(frozen=True)
class ClassifierConfig:
    """The choices that the paper and its released code make differently, and their defaults."""

    representation: Literal["boundary", "mean"] = "boundary"  # h_s + h_e, or all words' mean
    projection: Literal["none", "linear", "sigmoid"] = "linear"
    projection_size: int | None = None  # None: as wide as the encoder's states
    centres: Literal["prototypes", "k-means"] = (
        "prototypes"  # k-means: clusters that grow from them
    )
    names_weight: float = 0.0  # of a type's name in its prototype; the examples have the rest
    sphere: float | None = None  # radius of a sphere on which spans and prototypes lie; None: none
    softmax_distance: Distance = "squared-euclidean"
    margin_distance: Distance = "euclidean"  # in the margin loss and in the rejection
    margin: float = 3.0  # r
    margin_loss: bool = True
    false_positives: Literal["all", "released"] = "all"  # "released" spares near misses
    reject: bool = True  # drop candidates farther than r from every prototype
    fitted_radius: float | None = None  # the r of that, where it was fitted; None: the margin

    def __post_init__(self) -> None:
        require(self.margin > 0, "classifier.margin must be positive")
        require(
            self.fitted_radius is None or self.fitted_radius >= 0,
            "classifier.fitted_radius must not be negative",
        )
        require(0 <= self.names_weight <= 1, "classifier.names_weight is a share, between 0 and 1")
        require(
            self.names_weight == 0 or self.centres == "prototypes",
            "classifier.centres=k-means makes clusters of support spans alone; set "
            "classifier.names_weight=0",
        )
        require(
            self.sphere is None or self.sphere > 0, "classifier.sphere is a radius, so positive"
        )
        require(
            self.projection_size is None or self.projection_size > 0,
            "classifier.projection_size must be positive",
        )
        require(
            self.projection != "none" or self.projection_size is None,
            "classifier.projection_size needs a projection; set classifier.projection=linear",
        )

    @property
    def names(self) -> bool:
        """Whether the types' names have a part in their prototypes."""
        return self.names_weight > 0

    @property
    def radius(self) -> float:
        """The r beyond which candidates are dropped."""
        return self.margin if self.fitted_radius is None else self.fitted_radius


def boundary_representations(
    start_states: Tensor, end_states: Tensor, sentence: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """u_j = h_{s_j} + h_{e_j} (M, d) of half-open spans (M,), from projected states (S, L, d)."""
    row = sentence * start_states.shape[1]
    first = start_states.flatten(0, 1).index_select(0, row + start)
    return first + end_states.flatten(0, 1).index_select(0, row + end - 1)


def mean_representations(
    start_states: Tensor, end_states: Tensor, sentence: Tensor, start: Tensor, end: Tensor
) -> Tensor:
    """The sum of the mean start and the mean end state of a span's words, (M, d).

    For a span of one word this is h_s + h_e too; longer ones also have their inner words' say.
    """
    total = span_sums(start_states + end_states, sentence, start, end)
    return total / (end - start).clamp(min=1)[:, None]  # places that hold no span


def span_sums(words: Tensor, sentence: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """The sums (M, d) of what is said of single words (S, L, d) over the words of each span."""
    sums = F.pad(words.cumsum(1), (0, 0, 1, 0)).flatten(0, 1)  # (S * (L + 1), d)
    row = sentence * (words.shape[1] + 1)
    return sums.index_select(0, row + end) - sums.index_select(0, row + start)


def on_sphere(vectors: Tensor, radius: float) -> Tensor:
    """The vectors (M, d) stretched to length `radius`, so that only their directions count."""
    return radius * F.normalize(vectors, dim=-1)


def prototypes(spans: Tensor, weight: Tensor, slot: Tensor, slots: int) -> Tensor:
    """Eq. 5: the mean c_t of each type's support spans, (slots, d).

    `spans` is (P, d), `slot` (P,) the type of each and `weight` (P,) its 1 / K_t of Eq. 6. A type
    with no span gets no prototype to speak of, and must not be used.
    """
    return spans.new_zeros(slots, spans.shape[1]).index_add(0, slot, spans * weight[:, None])


def without_self(spans: Tensor, means: Tensor, slot: Tensor, weight: Tensor) -> Tensor:
    """For each support span (P, d), the mean of the others of its type; its own if it is alone.

    `means` are the prototypes (slots, d) of all of them, `weight` (P,) is each one's 1 / K_t.
    """
    own, share = means.index_select(0, slot), weight[:, None]
    others = (own - share * spans) / (1 - share).clamp(min=1e-6)
    return torch.where(share < 1 - 1e-6, others, own)


def squared_distances(spans: Tensor, centres: Tensor) -> Tensor:
    """Squared Euclidean distances (..., M, N) between spans (..., M, d) and centres (..., N, d)."""
    cross = spans @ centres.mT
    squares = spans.square().sum(-1)[..., :, None] + centres.square().sum(-1)[..., None, :]
    return (squares - 2 * cross).clamp(min=0)


def as_distance(squared: Tensor, distance: Distance) -> Tensor:
    """The chosen distance d from squared Euclidean ones, with a finite slope at 0."""
    return squared if distance == "squared-euclidean" else (squared + 1e-12).sqrt()


def type_log_probabilities(
    distances: Tensor, allowed: Tensor, to_none: Tensor | None = None
) -> Tensor:
    """Eq. 8: log SoftMax(-d) over the allowed slots, (M, slots).

    Where the distances (M,) to what has none of the types are known, that is one more outcome.
    """
    if to_none is None:
        return (-distances).masked_fill(~allowed, -torch.inf).log_softmax(-1)
    return log_probabilities_with_none(distances, allowed, to_none)[:, :-1]


def log_probabilities_with_none(distances: Tensor, allowed: Tensor, to_none: Tensor) -> Tensor:
    """The same with none of the types as one more outcome, the last, (M, slots + 1)."""
    logits = (-distances).masked_fill(~allowed, -torch.inf)
    return torch.cat((logits, -to_none[:, None]), 1).log_softmax(-1)


def prototype_loss(distances: Tensor, allowed: Tensor, slot: Tensor) -> Tensor:
    """The terms of Eq. 7: -log p(y_j | s_j, e_j) of each span (M,), over the allowed slots.

    A span whose own type is not allowed has a meaningless (finite) term, to be weighted by 0.
    """
    logits = (-distances).masked_fill(~allowed, -1e9)
    return F.cross_entropy(logits, slot, reduction="none")


def margin_loss(distances: Tensor, allowed: Tensor, margin: float) -> Tensor:
    """The terms of Eq. 9: mean over the episode's types of max(0, r - d), for each span (M,)."""
    hinge = (margin - distances).clamp(min=0) * allowed
    return hinge.sum(1) / allowed.sum(1).clamp(min=1)


class MentionClassifier(nn.Module):
    """Span representations and their place among the prototypes."""

    def __init__(self, hidden_size: int, config: ClassifierConfig) -> None:
        super().__init__()
        self.config = config
        self.projection: nn.Module = nn.Identity()
        if config.projection != "none":
            self.projection = nn.Linear(hidden_size, config.projection_size or hidden_size)

    def project(self, states: Tensor) -> Tensor:
        """Word states (S, L, h) in the space of the prototypes, (S, L, d)."""
        projected: Tensor = self.projection(states)
        return projected.sigmoid() if self.config.projection == "sigmoid" else projected

    def represent(
        self, start_states: Tensor, end_states: Tensor, sentence: Tensor, start: Tensor, end: Tensor
    ) -> Tensor:
        """The representations u_j (M, d) of half-open spans (M,), from projected states."""
        boundary = self.config.representation == "boundary"
        chosen = boundary_representations if boundary else mean_representations
        return self.settle(chosen(start_states, end_states, sentence, start, end))

    def settle(self, vectors: Tensor) -> Tensor:
        """Spans or prototypes (M, d) where distances are taken: on the sphere, if there is one."""
        return vectors if self.config.sphere is None else on_sphere(vectors, self.config.sphere)

    def softmax_distance(self, squared: Tensor) -> Tensor:
        """The distance of Eq. 8."""
        return as_distance(squared, self.config.softmax_distance)

    def margin_distance(self, squared: Tensor) -> Tensor:
        """The distance of Eq. 9 and of the rejection."""
        return as_distance(squared, self.config.margin_distance)
