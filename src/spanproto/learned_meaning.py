"""A map under which spans of one type are alike, learned from the types of training data.

What a pretrained encoder knows of spans lies in all of its layers, and most of it says nothing of
types. A linear map of what they say, learned from types that are shown, tells new types apart
better than the encoder's own cosines, and other than a trained encoder does, which has changed
what it knows. The encoder itself stays as it was, so that all spans are read but once.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.config import require
from spanproto.errors import DataError


@dataclass(frozen=True)
class MapConfig:
    """Which layers the map reads, and how it is learned."""

    mentions: int = 12_000  # at most so many, drawn at random: each takes memory
    layers: int = 5  # so many of the encoder's, evenly from the last down to a third of its depth
    steps: int = 400
    episodes_per_step: int = 4
    ways: int = 10  # types in an episode, or all there are
    queries: int = 4  # mentions of each that are told apart
    learning_rate: float = 1e-3  # falls to 0
    weight_decay: float = 3.0
    dropout: float = 0.5  # of what the encoder says
    scale: float = 10.0  # of cosines in the softmax, at first: it is learned

    def __post_init__(self) -> None:
        for name in ("mentions", "layers", "steps", "episodes_per_step", "queries"):
            require(getattr(self, name) > 0, f"meaning.{name} must be positive")
        require(self.ways > 1, "meaning.ways must be at least 2")


SHOTS = (1, 1, 2, 5)  # of which each episode has one number


class MeaningMap(nn.Module):
    """Views of a span, two of each layer that is read, to one unit vector: (M, V, h) -> (M, h)."""

    def __init__(self, layers: Sequence[int], hidden: int) -> None:
        super().__init__()
        self.layers = tuple(layers)
        views = 2 * len(self.layers)
        self.linear = nn.Linear(views * hidden, hidden, bias=False)
        self.centre: Tensor
        self.register_buffer("centre", torch.zeros(views, hidden))

    def forward(self, views: Tensor) -> Tensor:
        """The unit vectors (M, h) of spans of which the encoder's layers say `views` (M, V, h)."""
        return self.of_centred(self.centred(views))

    def centred(self, views: Tensor) -> Tensor:
        """Each view as a direction, seen from the middle of those of the training data."""
        return F.normalize(views.float(), dim=-1) - self.centre

    def of_centred(self, centred: Tensor) -> Tensor:
        """The unit vectors (M, h) of centred views (M, V, h)."""
        return F.normalize(self.linear(centred.flatten(1)), dim=-1)


def read_layers(count: int, layers: int) -> tuple[int, ...]:
    """The numbers of the layers that are read, counted from 1: of 12, five are 4, 6, 8, 10, 12."""
    first = count / 3
    spread = [first + (count - first) * at / max(1, layers - 1) for at in range(layers)]
    chosen = spread if layers > 1 else [float(count)]
    return tuple(sorted({max(1, round(number)) for number in chosen}))


def learn_map(
    views: Tensor, labels: Sequence[str], layers: Sequence[int], config: MapConfig, seed: int
) -> MeaningMap:
    """The map learned from mentions: what the layers say of them (M, V, h), and the type of each.

    Each step makes episodes of them: the mean direction of a few mentions of a type is its
    prototype, and others are told by their cosines with all prototypes. The same seed gives the
    same map.
    """
    by_type = _mentions_by_type(labels)
    rng = random.Random(seed)
    with torch.random.fork_rng(devices=[views.device] if views.is_cuda else []):
        torch.manual_seed(seed)
        learned = MeaningMap(layers, views.shape[-1]).to(views.device)
        learned.centre = F.normalize(views.float(), dim=-1).mean(0)
        log_scale = nn.Parameter(torch.tensor(config.scale, device=views.device).log())
        optimizer = torch.optim.AdamW(
            [*learned.parameters(), log_scale],
            lr=config.learning_rate,
            weight_decay=config.weight_decay,
        )
        for step in range(config.steps):
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * (1 - step / config.steps)
            optimizer.zero_grad(set_to_none=True)
            losses = [
                _episode_loss(learned, views, _draw(by_type, config, rng), log_scale, config)
                for _ in range(config.episodes_per_step)
            ]
            torch.stack(losses).mean().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return learned.eval().requires_grad_(False)


def _mentions_by_type(labels: Sequence[str]) -> list[list[int]]:
    """The numbers of the mentions of each type that has two or more."""
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    several = [numbers for _, numbers in sorted(found.items()) if len(numbers) > 1]
    if len(several) < 2:
        raise DataError(
            "what spans mean is learned by telling types apart: the training data need two types "
            "or more with two mentions each"
        )
    return several


def _draw(by_type: list[list[int]], config: MapConfig, rng: random.Random) -> list[list[list[int]]]:
    """Support and query mentions of each type of an episode; there may be fewer of a rare one."""
    shots = rng.choice(SHOTS)
    drawn = []
    for numbers in rng.sample(by_type, min(config.ways, len(by_type))):
        mentions = rng.sample(numbers, min(len(numbers), shots + config.queries))
        support = min(shots, len(mentions) - 1)
        drawn.append([mentions[:support], mentions[support:]])
    return drawn


def _episode_loss(
    learned: MeaningMap,
    views: Tensor,
    drawn: list[list[list[int]]],
    log_scale: Tensor,
    config: MapConfig,
) -> Tensor:
    """The cross-entropy of the query mentions' types, by their cosines with the prototypes."""
    mentions = [number for pair in drawn for part in pair for number in part]
    kind = [type_ for type_, pair in enumerate(drawn) for part in pair for _ in part]
    asked = [at for pair in drawn for at, part in enumerate(pair) for _ in part]
    device = views.device
    slot, query = torch.tensor(kind, device=device), torch.tensor(asked, device=device).bool()
    centred = learned.centred(views[torch.tensor(mentions, device=device)])
    vectors = learned.of_centred(F.dropout(centred, config.dropout))
    total = torch.zeros(len(drawn), vectors.shape[1], device=device)
    prototypes = F.normalize(total.index_add(0, slot[~query], vectors[~query]), dim=-1)
    return F.cross_entropy(log_scale.exp() * vectors[query] @ prototypes.T, slot[query])
