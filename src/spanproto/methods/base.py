"""The contract of a few-shot NER system, as training, evaluation and checkpoints see it.

A method learns from episodes or from labelled sentences, or not at all; it may be fine-tuned to a
support set; and it finds entities in the query sentences of episodes. Its class says what of that
it does, its `Config` has its settings, and everything else is shared.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

import torch
from torch import Tensor, nn

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.batch import TensorBatch
from spanproto.config import build
from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods import METHODS

if TYPE_CHECKING:
    from spanproto.observation import CandidateRule


@dataclass(frozen=True)
class MethodConfig:
    """The settings that all methods have."""

    encoder: EncoderConfig = field(default_factory=EncoderConfig)


class Prediction(Protocol):
    """What a method says of one query sentence."""

    @property
    def spans(self) -> Sequence[Span]:
        """The entities found."""

    @property
    def candidates(self) -> Sequence[tuple[int, int]] | None:
        """The boundaries that its extraction stage proposed, if it has one."""


class FoundSpans(NamedTuple):
    """The plainest prediction."""

    spans: list[Span]
    candidates: list[tuple[int, int]] | None = None


class Method(nn.Module, ABC):
    """A few-shot NER system: an encoder and what the method puts on it.

    Every method predicts. One that is trained says what on, makes batches of it (`prepare`), and
    has a `loss` or sets `gradients` by itself. One that can be fine-tuned to a support set makes
    batches of those (`support_batch`) and has a `support_loss`.
    """

    name: ClassVar[str]
    Config: ClassVar[type[MethodConfig]] = MethodConfig
    trains_on: ClassVar[Literal["episodes", "sentences"] | None] = "episodes"
    training_defaults: ClassVar[Mapping[str, Any]] = {}
    """Settings of `training` that the method has of its own, as a rule those of its authors; the
    user's come before them."""
    rate_factors: ClassVar[Mapping[str, float]] = {}
    """What the learning rate of training is multiplied by where a parameter's name begins so."""
    always_adapts: ClassVar[bool] = False
    """Whether fine-tuning to the support set is part of the method, asked for or not."""
    adaptation_defaults: ClassVar[Mapping[str, Any]] = {}
    """Settings of the adaptation that suit the method."""
    without_use: ClassVar[frozenset[str]] = frozenset(
        {"joint_weight", "leave_one_out", "negatives"}
    )
    """Settings of the adaptation that change nothing of it."""
    heeds_doubts: ClassVar[bool] = False
    """Whether it learns nothing from what `data.doubtful` names."""
    weights_of: ClassVar[frozenset[str]] = frozenset()
    """Other methods that train the same weights."""

    config: MethodConfig

    def __init__(self, encoder: Encoder, config: MethodConfig) -> None:
        super().__init__()
        self.config = config
        self.bf16 = False  # whether the encoder runs in mixed precision
        self.stacked = False  # whether every episode of a batch has weights of its own
        self.origin: dict[str, Any] = {}  # how the model was trained, saved with it
        self.head_types: tuple[str, ...] = ()  # that a head was made for, if any, saved with it
        self.encoder = encoder

    @classmethod
    def from_config(cls, config: MethodConfig) -> Self:
        """A pretrained encoder with fresh heads."""
        return cls(Encoder.from_pretrained(config.encoder), config)

    @classmethod
    def title(cls) -> str:
        """The name that papers use."""
        return METHODS[cls.name].title

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(self.parameters()).device

    def use_mixed_precision(self, on: bool) -> Self:
        """Run the encoder in bf16, or no longer; the heads stay in fp32.

        Their matrix products then round what they multiply to TF32, which is still finer than what
        the encoder gives them, and many times faster on a GPU. That is a setting of torch, so it
        holds for the whole process.
        """
        self.bf16 = on
        torch.set_float32_matmul_precision("high" if on else "highest")
        return self

    def mixed_precision(self) -> torch.autocast:
        """The context in which the encoder runs."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)

    # Training

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Called once before the first of so many steps: count what must be counted, or refuse.

        The distinct training sentences are read only if they are iterated over.
        """

    def prepare(self, items: Sequence[Any], step: int) -> TensorBatch:
        """The batch of one step from its episodes or sentences; runs on the host, ahead of time."""
        raise NotImplementedError

    def loss(self, batch: Any) -> Tensor:
        """The training loss of a batch on the model's device: a mean over its episodes or words."""
        raise NotImplementedError

    def gradients(self, batch: Any, step: int, seed: int) -> dict[str, Tensor]:
        """Set the gradients of one step, 1..T; returns the terms to log, "loss" among them.

        The model is in training mode and torch's generators have the seed. Which parameters have a
        gradient must depend on the settings and the step alone.
        """
        loss = self.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"loss": loss}

    # Adaptation

    @classmethod
    def adaptation(cls, settings: Mapping[str, Any]) -> AdaptationConfig:
        """How copies are fine-tuned: the given settings over the method's own."""
        for name in sorted(settings.keys() & cls.without_use):
            raise ConfigError(
                f"adaptation.{name} says how spanproto learns from a support set, and "
                f"{cls.title()} has no use for it; drop it"
            )
        return build(AdaptationConfig, {**cls.adaptation_defaults, **settings}, "adaptation")

    def adapted(self, episodes: Sequence[Episode], config: AdaptationConfig) -> Self:
        """A copy for each episode, fine-tuned to its support set, stacked into one."""
        return adapt(self, episodes, config)

    def for_episodes(self, episodes: Sequence[Episode]) -> Self:
        """What fine-tuning begins with; a method that needs a head for their types adds it."""
        return self

    def support_batch(self, episodes: Sequence[Episode]) -> TensorBatch:
        """The support sets as they are fine-tuned on; rows are even if there are several."""
        raise ConfigError(f"{self.title()} is not fine-tuned to support sets; drop --adapt")

    def support_loss(self, batch: Any, config: AdaptationConfig) -> Tensor:
        """The loss of fine-tuning on a batch of support sets: a mean over the episodes."""
        return self.loss(batch)

    def recall(self, before: Self) -> None:
        """Count what the model says before its fine-tuning as evidence, too."""
        raise ConfigError(f"{self.title()} decides by itself alone; set adaptation.recall=false")

    # Prediction

    @abstractmethod
    def predict(self, episodes: Sequence[Episode]) -> Sequence[Sequence[Prediction]]:
        """The entities of every query sentence of every episode, in one batch.

        The spans of the query sentences must not be looked at, and a type without any support span
        must not be predicted.
        """

    def with_candidates(self, rule: "CandidateRule") -> Self:
        """The same model with candidate spans by another rule, where it has several."""
        if rule != "model":
            raise ConfigError(
                f"{self.title()} has no candidate rule {rule!r}; it finds entities by itself"
            )
        return self
