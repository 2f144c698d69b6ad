"""SpanProto: encoder, span extractor and mention classifier as one module."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import (
    ClassifierConfig,
    MentionClassifier,
    prototypes,
    squared_distances,
    without_self,
)
from spanproto.decision import DecisionConfig
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.extractor import ExtractorConfig, SpanExtractor, boundary_matrix, span_cells


@dataclass(frozen=True)
class ModelConfig:
    """The settings of the three parts and of what is made of them."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    extractor: ExtractorConfig = field(default_factory=ExtractorConfig)
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    decision: DecisionConfig = field(default_factory=DecisionConfig)


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


class SpanProto(nn.Module):
    """The two-stage model: where the entities are, then which type each has, if any."""

    def __init__(self, encoder: Encoder, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.bf16 = False  # run the encoder in mixed precision; the heads never are
        self.stacked = False  # whether every episode of a batch has weights of its own
        self.origin: dict[str, Any] = {}  # how the model was trained, saved with it
        self.encoder = encoder
        self.extractor = SpanExtractor(encoder.hidden_size, config.extractor)
        self.classifier = MentionClassifier(encoder.hidden_size, config.classifier)

    @classmethod
    def from_config(cls, config: ModelConfig) -> "SpanProto":
        """A pretrained encoder with fresh heads."""
        return cls(Encoder.from_pretrained(config.encoder), config)

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def encode(self, batch: EpisodeBatch) -> EncodedBatch:
        """One encoder pass over all sentences of all episodes."""
        device = batch.types.device.type
        with torch.autocast(device, torch.bfloat16, enabled=self.bf16):
            start, end = self.encoder(batch.words)
        return EncodedBatch(batch, start, end, span_cells(batch.words.word_mask))

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
        spans, slots = states.batch.support_spans, states.batch.types.shape[1]
        return prototypes(states.represent(spans), spans.weight, spans.slot, slots)

    def squared_distance_to_others(self, states: MentionStates) -> Tensor:
        """From each support span to the prototype that the others of its type make, (P,)."""
        spans, slots = states.batch.support_spans, states.batch.types.shape[1]
        represented = states.represent(spans)
        means = prototypes(represented, spans.weight, spans.slot, slots)
        others = self.classifier.settle(without_self(represented, means, spans.slot, spans.weight))
        return (represented - others).square().sum(1)

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


def _matrix(encoded: EncodedBatch, *several: SpanPlaces) -> Tensor:
    sentence, start, end = (
        torch.cat([getattr(spans, name) for spans in several])
        for name in ("sentence", "start", "end")
    )
    return boundary_matrix(sentence, start, end, like=encoded.cells)
