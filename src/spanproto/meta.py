"""First-order meta-learning: a step towards weights that are good once they have been adapted.

Each episode of the step is a task. Copies of the model are adapted to the support sets, side by
side; the gradient of the loss on the query sets, taken where the copies have arrived, moves the
model itself (first-order MAML, Finn et al. 2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import torch

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.batch import EpisodeBatch, TensorBatch, collate
from spanproto.config import require
from spanproto.data.types import Episode
from spanproto.errors import ConfigError
from spanproto.stacking import Model, can_stack
from spanproto.tokenization import WordTokenizer

if TYPE_CHECKING:
    from spanproto.methods.base import Method

NEVER = 1_000_000_000
Part = TypeVar("Part", bound=TensorBatch)


@dataclass(frozen=True)
class MetaConfig:
    """First-order meta-learning: training the model to be good after it has been adapted."""

    after: int = NEVER  # the steps after this one are meta-steps
    steps: int = 3  # of adaptation to each support set
    learning_rate: float = 1e-4  # of the adaptation

    def __post_init__(self) -> None:
        require(self.after >= 0, "meta.after must not be negative")
        require(self.steps > 0, "meta.steps must be positive")
        require(self.learning_rate > 0, "meta.learning_rate must be positive")

    def adaptation(self, seed: int) -> AdaptationConfig:
        """The adaptation inside a meta-step."""
        return AdaptationConfig(steps=self.steps, learning_rate=self.learning_rate, seed=seed)


@dataclass(frozen=True)
class TaskBatch(TensorBatch, Generic[Part]):
    """The episodes of a meta-step, as they are and as batches for stacked copies."""

    episodes: Sequence[Episode]
    support: Part
    query: Part

    @staticmethod
    def of(
        episodes: Sequence[Episode], words: WordTokenizer, names: bool = False
    ) -> TaskBatch[EpisodeBatch]:
        """The batches of some episodes, with the names of their types or without."""
        even = len(episodes) > 1
        support, query = (
            collate(episodes, words, part, even, names) for part in ("support", "query")
        )
        return TaskBatch(episodes, support, query)


def task_copies(model: Model, tasks: TaskBatch[Part], inner: AdaptationConfig) -> Model:
    """Copies of the model adapted to each task, ready for the gradient of their query loss."""
    if len(tasks.episodes) > 1 and not can_stack(model):
        raise ConfigError(
            "this encoder cannot learn from several tasks side by side; set "
            "training.episodes_per_step=1"
        )
    copies = adapt(model, tasks.episodes, inner, batch=tasks.support)
    copies.zero_grad(set_to_none=True)
    copies.train()
    return copies


def carry_gradients(copies: Method, model: Method) -> None:
    """Give the model the sum of its copies' gradients.

    A loss that is a mean over the tasks thus becomes the mean of their gradients. What is not
    adapted, such as the embeddings, gets none.
    """
    own = dict(model.named_parameters())
    with torch.no_grad():
        for name, stacked in copies.named_parameters():
            if stacked.grad is not None:
                own[name].grad = stacked.grad.sum(0).contiguous()
