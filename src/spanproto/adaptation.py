"""Fine-tuning to a support set, for one episode or for many side by side.

For each episode a copy of the model learns from the support set alone, which stands in for both
sets of Algorithm 1; the query sentences are not looked at until the copy predicts them.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch

from spanproto.batch import EpisodeBatch, collate
from spanproto.config import require
from spanproto.data.types import Episode
from spanproto.model import SpanProto
from spanproto.objective import losses
from spanproto.prediction import CandidateRule, SentencePrediction, predict
from spanproto.stacking import TuningConfig, can_stack, stack


@dataclass(frozen=True)
class AdaptationConfig:
    """How a copy of the model is fine-tuned to a support set."""

    steps: int = 40
    seconds: float | None = None  # stop after so long, if that is earlier
    learning_rate: float = 3e-5
    head_learning_rate: float | None = None  # None: as the encoder's
    weight_decay: float = 0.01
    joint_weight: float = 1.0  # lambda of Algorithm 1
    dropout: bool = True
    seed: int = 42
    tuning: TuningConfig = field(default_factory=TuningConfig)
    episodes_at_once: int = 32
    tokens_at_once: int = 40_000  # sub-tokens of support sentences in a batch

    def __post_init__(self) -> None:
        require(self.steps > 0, "adaptation.steps must be positive")
        require(self.learning_rate > 0, "adaptation.learning_rate must be positive")
        require(self.episodes_at_once > 0, "adaptation.episodes_at_once must be positive")


def adapt(model: SpanProto, episodes: Sequence[Episode], config: AdaptationConfig) -> SpanProto:
    """A copy of the model for each episode, fine-tuned to its support set, stacked into one."""
    began = time.monotonic()
    with torch.random.fork_rng(devices=_gpus(model)):
        torch.manual_seed(config.seed)
        adapted = stack(model, len(episodes), config.tuning)
        batch = collate(episodes, model.encoder.words, "support", even=len(episodes) > 1)
        batch = batch.to(model.device)
        optimizer = _optimizer(adapted, config)
        adapted.train(config.dropout)
        for step in range(config.steps):
            if config.seconds is not None and time.monotonic() - began > config.seconds:
                break
            for group in optimizer.param_groups:
                group["lr"] = group["base_lr"] * (1 - step / config.steps)
            optimizer.zero_grad(set_to_none=True)
            _loss(adapted, batch, len(episodes), config).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return adapted.eval()


def _loss(
    model: SpanProto, batch: EpisodeBatch, episodes: int, config: AdaptationConfig
) -> torch.Tensor:
    """The sum over the episodes of each one's loss, so that none is scaled by the others."""
    terms = losses(model, batch, joint=config.joint_weight > 0)
    return episodes * (terms.span + config.joint_weight * (terms.proto + terms.margin))


def _optimizer(model: SpanProto, config: AdaptationConfig) -> torch.optim.AdamW:
    """AdamW over what is tuned: elementwise, so stacked weights do not mix."""
    heads_rate = config.head_learning_rate or config.learning_rate
    groups: dict[float, list[torch.nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            rate = config.learning_rate if name.startswith("encoder.") else heads_rate
            groups.setdefault(rate, []).append(parameter)
    return torch.optim.AdamW(
        [{"params": parameters, "base_lr": rate} for rate, parameters in groups.items()],
        lr=config.learning_rate,
        weight_decay=config.weight_decay,
        fused=model.device.type == "cuda",
    )


def predict_adapted(
    model: SpanProto,
    episodes: Sequence[Episode],
    config: AdaptationConfig,
    candidates: CandidateRule = "model",
) -> Iterator[list[SentencePrediction]]:
    """Adapt to each episode's support set, then predict its query sentences, in order.

    Episodes of similar size are adapted side by side, so all of them are done before the first
    result comes out.
    """
    results: dict[int, list[SentencePrediction]] = {}
    for numbers in _groups(model, episodes, config):
        group = [episodes[number] for number in numbers]
        adapted = adapt(model, group, config)
        found = predict(adapted, group, candidates)
        results.update(zip(numbers, found, strict=True))
        del adapted
    return (results[number] for number in range(len(episodes)))


def _groups(
    model: SpanProto, episodes: Sequence[Episode], config: AdaptationConfig
) -> Iterator[list[int]]:
    """Numbers of episodes to adapt together: of similar size, within the limits."""
    limit = config.episodes_at_once if can_stack(model) else 1
    sizes = [
        (len(episode.support), max(len(sentence.words) for sentence in episode.support))
        for episode in episodes
    ]
    group: list[int] = []
    for number in sorted(range(len(episodes)), key=sizes.__getitem__, reverse=True):
        rows, length = sizes[group[0] if group else number]
        full = (len(group) + 1) * rows * 2 * length > config.tokens_at_once
        if group and (len(group) == limit or full):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _gpus(model: SpanProto) -> list[torch.device]:
    return [model.device] if model.device.type == "cuda" else []
