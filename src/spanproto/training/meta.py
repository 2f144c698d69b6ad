"""First-order meta-learning: a step towards weights that are good once they have been adapted.

Each episode of the step is a task. Copies of the model are adapted to the support sets, side by
side; the gradient of the loss on the query sets, taken where the copies have arrived, moves the
model itself (first-order MAML, Finn et al. 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.batch import EpisodeBatch, collate
from spanproto.data.types import Episode
from spanproto.model import SpanProto
from spanproto.objective import Losses, held_out_losses
from spanproto.tokenization import WordTokenizer
from spanproto.training.settings import MetaConfig


@dataclass(frozen=True)
class TaskBatch:
    """The episodes of a meta-step, as they are and as batches for stacked copies."""

    episodes: Sequence[Episode]
    support: EpisodeBatch
    query: EpisodeBatch

    @classmethod
    def of(cls, episodes: Sequence[Episode], words: WordTokenizer) -> "TaskBatch":
        """The batches of some episodes."""
        even = len(episodes) > 1
        support, query = (collate(episodes, words, part, even) for part in ("support", "query"))
        return cls(episodes, support, query)


def meta_gradients(
    model: SpanProto, tasks: TaskBatch, config: MetaConfig, joint_weight: float, seed: int
) -> Losses:
    """Set the gradients of the model's tuned weights for one meta-step; returns the query losses.

    The embeddings are not adapted and get no gradient.
    """
    inner = AdaptationConfig(
        steps=config.steps,
        learning_rate=config.learning_rate,
        joint_weight=joint_weight,
        seed=seed,
    )
    copies = adapt(model, tasks.episodes, inner)
    copies.train()
    copies.zero_grad(set_to_none=True)
    device = model.device
    terms = held_out_losses(copies, tasks.support.to(device), tasks.query.to(device))
    terms.total(joint_weight).backward()  # type: ignore[no-untyped-call]
    own = dict(model.named_parameters())
    with torch.no_grad():
        for name, stacked in copies.named_parameters():
            if stacked.grad is not None:
                own[name].grad = stacked.grad.sum(0)
    return terms
