"""SpanProto: encoder, span extractor and mention classifier as one module."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Self

import torch
from torch import Tensor

from spanproto.adaptation import AdaptationConfig
from spanproto.batch import EpisodeBatch, SpanPlaces, collate
from spanproto.classifier import (
    ClassifierConfig,
    MentionClassifier,
    prototypes,
    squared_distances,
    without_self,
)
from spanproto.clustering import k_means
from spanproto.config import require
from spanproto.data.types import Episode, Sentence
from spanproto.decision import DecisionConfig
from spanproto.encoder import Encoder
from spanproto.extractor import ExtractorConfig, SpanExtractor, boundary_matrix, span_cells
from spanproto.meta import TaskBatch, carry_gradients, task_copies
from spanproto.methods.base import Method, MethodConfig
from spanproto.objective import Losses, ObjectiveConfig, held_out_losses, losses

if TYPE_CHECKING:
    from spanproto.learned_meaning import MeaningMap
    from spanproto.meaning import Meaning
    from spanproto.observation import CandidateRule
    from spanproto.prediction import SentencePrediction


@dataclass(frozen=True)
class ModelConfig(MethodConfig):
    """The settings of the three parts, of what is made of them, and of how they are trained."""

    extractor: ExtractorConfig = field(default_factory=ExtractorConfig)
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    decision: DecisionConfig = field(default_factory=DecisionConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)

    def __post_init__(self) -> None:
        if self.extractor.head == "none":
            require(
                self.decision.rule == "joint",
                "extractor.head=none has no boundary scores to decide by; set decision.rule=joint",
            )
            require(
                self.objective.extractor_steps <= 1,
                "extractor.head=none leaves no extractor to train first; set "
                "objective.extractor_steps=0",
            )
        require(
            self.classifier.centres == "prototypes" or self.objective.joint_weight == 0,
            "classifier.centres=k-means takes the place of a trained classifier; set "
            "objective.joint_weight=0",
        )

    @property
    def names(self) -> bool:
        """Whether the types' names have a part in its answers."""
        return self.classifier.names or self.decision.names_in_meaning != 0


class EncodedBatch(NamedTuple):
    """A batch after the encoder: word states, and which cells of the matrix are spans."""

    batch: EpisodeBatch
    start: Tensor  # (S, L, h)
    end: Tensor  # (S, L, h)
    cells: Tensor  # (S, L, L)


class MentionStates(NamedTuple):
    """A batch's word states as the mention classifier sees them."""

    batch: EpisodeBatch
    start: Tensor  # (S, L, d)
    end: Tensor  # (S, L, d)
    classifier: MentionClassifier

    def represent(self, spans: SpanPlaces) -> Tensor:
        """The representations u_j (M, d) of the given spans."""
        return self.classifier.represent(
            self.start, self.end, spans.sentence, spans.start, spans.end
        )


class Placement(NamedTuple):
    """Where M spans lie among the prototypes."""

    squared: Tensor  # (M, slots), squared Euclidean distances
    allowed: Tensor  # (M, slots), the types of the span's own episode that have a prototype


class SpanProto(Method):
    """The two-stage model: where the entities are, then which type each has, if any."""

    name = "spanproto"
    Config = ModelConfig
    without_use = frozenset()
    heeds_doubts = True
    config: ModelConfig
    candidate_rule: "CandidateRule" = "model"
    _before: "tuple[SpanProto, ...]" = ()  # in a tuple, or it would count as a part of the model
    meaning: "Meaning | None" = None  # the pretrained encoder, where it is asked too

    def __init__(self, encoder: Encoder, config: ModelConfig) -> None:
        super().__init__(encoder, config)
        self.extractor = SpanExtractor(encoder.hidden_size, config.extractor)
        self.classifier = MentionClassifier(encoder.hidden_size, config.classifier)

    def batch(
        self, episodes: Sequence[Episode], part: Literal["all", "support", "query"] = "all"
    ) -> EpisodeBatch:
        """The sentences of the episodes, or of one part of them, as this model reads them."""
        return collate(
            episodes, self.encoder.words, part, self.stacked, self.config.classifier.names
        )

    def encode(self, batch: EpisodeBatch) -> EncodedBatch:
        """One encoder pass over all sentences of all episodes."""
        with self.mixed_precision():
            start, end = self.encoder(batch.words)
        return EncodedBatch(batch, start, end, span_cells(batch.words.word_mask))

    def boundary_scores(self, encoded: EncodedBatch) -> Tensor:
        """The boundary scores f (S, L, L) of all spans, Eq. 1-2."""
        scores: Tensor = self.extractor(encoded.start, encoded.end, encoded.cells)
        return scores

    def mention_states(self, encoded: EncodedBatch) -> MentionStates:
        """The word states projected to where prototypes and distances are."""
        project = self.classifier.project
        start, end = project(encoded.start), project(encoded.end)
        return MentionStates(encoded.batch, start, end, self.classifier)

    def prototypes(self, states: MentionStates) -> Tensor:
        """The prototypes c_t (slots, d) of every type of every episode, Eq. 5-6."""
        return self.classifier.settle(self.support_means(states))

    def support_means(self, states: MentionStates) -> Tensor:
        """The prototypes before they are put on the sphere, if there is one."""
        spans = states.batch.support_spans
        represented = states.represent(spans)
        means = self._means(states, represented)
        if self.config.classifier.centres == "prototypes":
            return means
        return k_means(represented, means, states.batch.types.index_select(0, spans.sentence))

    def squared_distance_to_others(self, states: MentionStates) -> Tensor:
        """From each support span to the prototype that the rest of it makes, (P,).

        The rest are the others of its type and, where it has a weight, the type's name.
        """
        spans = states.batch.support_spans
        represented = states.represent(spans)
        means = self._means(states, represented)
        share = (1 - self.config.classifier.names_weight) * spans.weight
        others = self.classifier.settle(without_self(represented, means, spans.slot, share))
        return (represented - others).square().sum(1)

    def _means(self, states: MentionStates, represented: Tensor) -> Tensor:
        """The mean (slots, d) of each type's support spans (P, d), moved towards its name."""
        batch, weight = states.batch, self.config.classifier.names_weight
        spans, names, slots = batch.support_spans, batch.names, batch.types.shape[1]
        means = prototypes(represented, spans.weight, spans.slot, slots)
        if not weight:
            return means
        assert len(names.slot), "the batch was made without names"
        named = prototypes(states.represent(names), names.weight, names.slot, slots)
        return means.lerp(named, weight)

    def represent_others(self, states: MentionStates) -> tuple[Tensor, Tensor]:
        """The entities (P, d) that have no type of their episode, and the episode (P,) of each."""
        others = states.batch.others
        return states.represent(others), states.batch.episode.index_select(0, others.sentence)

    def place(self, states: MentionStates, spans: SpanPlaces, centres: Tensor) -> Placement:
        """Distances of the given spans to all prototypes, and which of those count."""
        squared = squared_distances(states.represent(spans), centres)
        return Placement(squared, states.batch.types.index_select(0, spans.sentence))

    def gold_matrix(self, encoded: EncodedBatch) -> Tensor:
        """The boundary matrix Omega (S, L, L) of all sentences of the batch, Eq. 3."""
        return _matrix(encoded, encoded.batch.support_spans, encoded.batch.query_spans)

    def others_matrix(self, encoded: EncodedBatch) -> Tensor:
        """The same for the entities that have no type of their episode."""
        return _matrix(encoded, encoded.batch.others)

    def doubtful_matrix(self, encoded: EncodedBatch) -> Tensor:
        """The same for what may be an entity that nobody labelled."""
        return _matrix(encoded, encoded.batch.doubtful)

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Refuse a run that would never train the mention classifier."""
        first = self.config.objective.extractor_steps
        require(
            first <= steps,
            f"model.objective.extractor_steps={first} must lie between 0 and "
            f"training.steps={steps}: set it to {steps} or less, or to 0 to train both stages "
            "from the start",
        )

    def prepare(
        self, items: Sequence[Episode], step: int
    ) -> EpisodeBatch | TaskBatch[EpisodeBatch]:
        """The episodes of a step, as tasks if it is a meta-step."""
        if step > self.config.objective.meta.after:
            return TaskBatch.of(items, self.encoder.words, self.config.classifier.names)
        return self.batch(items)

    def gradients(
        self, batch: EpisodeBatch | TaskBatch[EpisodeBatch], step: int, seed: int
    ) -> dict[str, Tensor]:
        """Lines 2-17 of Algorithm 1."""
        objective = self.config.objective
        weight = objective.joint_weight_at(step)
        if isinstance(batch, TaskBatch):
            terms = self.meta_gradients(batch, weight, seed)
        else:
            both = objective.extractor_data == "support+query"
            terms = losses(
                self,
                batch,
                joint=weight > 0,
                extract_from_query=both,
                negatives=objective.negatives,
                rivals=objective.rivals,
                word_weight=objective.word_weight,
            )
            terms.total(weight).backward()  # type: ignore[no-untyped-call]
        total = terms.total(weight)
        return {"loss": total, **terms._asdict(), "lambda": torch.full_like(total, weight)}

    def meta_gradients(
        self, tasks: TaskBatch[EpisodeBatch], joint_weight: float, seed: int
    ) -> Losses:
        """Set the gradients of a meta-step; returns the losses on the query sets."""
        inner = replace(self.config.objective.meta.adaptation(seed), joint_weight=joint_weight)
        copies = task_copies(self, tasks, inner)
        terms = held_out_losses(copies, tasks.support, tasks.query)
        terms.total(joint_weight).backward()  # type: ignore[no-untyped-call]
        carry_gradients(copies, self)
        return terms

    def support_batch(self, episodes: Sequence[Episode]) -> EpisodeBatch:
        """The support sets, each its own query set."""
        return self.batch(episodes, "support")

    def support_loss(self, batch: EpisodeBatch, config: AdaptationConfig) -> Tensor:
        """The objective with the support set in place of both sets of Algorithm 1."""
        trains_classifier = self.config.classifier.centres == "prototypes"
        weight = config.joint_weight if trains_classifier else 0.0
        terms = losses(
            self,
            batch,
            joint=weight > 0,
            negatives=config.negatives,
            leave_one_out=config.leave_one_out,
        )
        return terms.total(weight)

    def recall(self, before: "SpanProto") -> None:
        """Count what the model says before its fine-tuning as evidence, too."""
        self._before = (before,)

    @property
    def before(self) -> "SpanProto | None":
        """The model before its fine-tuning, if it is asked too."""
        return self._before[0] if self._before else None

    def ask_meaning(self, encoder: Encoder, learned: "MeaningMap | None" = None) -> None:
        """Count what spans mean to the pretrained encoder as evidence, too.

        And what a map says of them that was learned of it (see `Meaning.learn`).
        """
        from spanproto.meaning import Meaning

        self.meaning = Meaning(encoder.to(self.device), learned)

    def predict(self, episodes: Sequence[Episode]) -> "list[list[SentencePrediction]]":
        """Candidate spans from the extractor, each given its nearest type or rejected."""
        from spanproto.prediction import predict  # which is built on this module

        return predict(self, episodes, self.candidate_rule)

    def with_candidates(self, rule: "CandidateRule") -> Self:
        """The same weights with the given candidate rule."""
        twin = copy.copy(self)
        twin.candidate_rule = rule
        return twin

    def with_settings(self, config: ModelConfig) -> Self:
        """The same weights with other settings, such as theta or the decision, from now on."""
        twin = copy.copy(self)
        twin.config = config
        extractor, classifier = copy.copy(self.extractor), copy.copy(self.classifier)
        extractor.config, classifier.config = config.extractor, config.classifier
        twin._modules = {**self._modules, "extractor": extractor, "classifier": classifier}
        return twin


def _matrix(encoded: EncodedBatch, *several: SpanPlaces) -> Tensor:
    sentence, start, end = (
        torch.cat([getattr(spans, name) for spans in several])
        for name in ("sentence", "start", "end")
    )
    return boundary_matrix(sentence, start, end, like=encoded.cells)
