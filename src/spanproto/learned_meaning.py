"""A map under which spans of one type are alike, learned from the types of training data.

What a pretrained encoder knows of spans lies in all of its layers, and most of it says nothing of
types. A linear map of what they say is learned by telling types apart that are shown, so that it
may tell new ones apart, too. The encoder itself stays as it was, so that all spans are read once.
"""

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.classifier import prototypes
from spanproto.config import require
from spanproto.data.types import Sentence
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
    first_scale: float = 10.0  # of cosines in the softmax, which goes by equal factors
    last_scale: float = 2.0  # to this one

    def __post_init__(self) -> None:
        for name in ("mentions", "layers", "steps", "episodes_per_step", "queries"):
            require(getattr(self, name) > 0, f"{name} of the map must be positive")
        for name in ("learning_rate", "first_scale", "last_scale"):
            require(getattr(self, name) > 0, f"{name} of the map must be positive")
        require(self.ways > 1, "ways of the map must be at least 2")
        require(self.weight_decay >= 0, "weight_decay of the map must not be negative")
        require(0 <= self.dropout < 1, "dropout of the map is a share, at least 0 and less than 1")


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


def label_groups(corpora: Iterable[Iterable[Sentence]]) -> list[set[str]]:
    """The types of corpora, those together that are labelled beside one another.

    Corpora that have a type of one name are taken to label alike. Others may have the same type by
    two names, as `PER` and `person`, which are not to be told apart.
    """
    groups: list[set[str]] = []
    for corpus in corpora:
        labels = {span.label for sentence in corpus for span in sentence.spans}
        alike = [group for group in groups if group & labels]
        groups = [group for group in groups if group not in alike]
        groups.append(labels.union(*alike))
    return groups


def learn_map(
    views: Tensor,
    labels: Sequence[str],
    groups: Sequence[Collection[str]],
    layers: Sequence[int],
    config: MapConfig,
    seed: int,
) -> MeaningMap:
    """The map learned from mentions: what the layers say of them (M, V, h), and the type of each.

    Each step makes episodes of them: the mean direction of a few mentions of a type is its
    prototype, and others are told by their cosines with all prototypes. The types of an episode are
    of one of the groups. The same seed gives the same map.
    """
    corpora = _mentions_by_type(labels, groups)
    rng = random.Random(seed)
    with torch.random.fork_rng(devices=[views.device] if views.is_cuda else []):
        torch.manual_seed(seed)
        learned = MeaningMap(layers, views.shape[-1]).to(views.device)
        learned.centre = F.normalize(views.float(), dim=-1).mean(0)
        optimizer = torch.optim.AdamW(
            learned.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        for step in range(config.steps):
            done = step / config.steps
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * (1 - done)
            scale = config.first_scale ** (1 - done) * config.last_scale**done
            optimizer.zero_grad(set_to_none=True)
            losses = [
                _episode_loss(learned, views, _draw(corpora, config, rng), scale, config.dropout)
                for _ in range(config.episodes_per_step)
            ]
            torch.stack(losses).mean().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return learned.eval().requires_grad_(False)


def _mentions_by_type(
    labels: Sequence[str], groups: Sequence[Collection[str]]
) -> list[list[list[int]]]:
    """Of each group, the numbers of the mentions of each type that has two or more.

    A group of fewer than two such types tells nothing.
    """
    found: dict[str, list[int]] = {}
    for number, label in enumerate(labels):
        found.setdefault(label, []).append(number)
    several = {label: numbers for label, numbers in sorted(found.items()) if len(numbers) > 1}
    by_type = [[several[label] for label in sorted(group) if label in several] for group in groups]
    telling = [types for types in by_type if len(types) > 1]
    if not telling:
        raise DataError(
            "what spans mean is learned by telling types apart: the training data need two types "
            "or more with two mentions each"
        )
    return telling


def _draw(
    corpora: Sequence[list[list[int]]], config: MapConfig, rng: random.Random
) -> list[list[list[int]]]:
    """Support and query mentions of each type of an episode; there may be fewer of a rare one."""
    sizes = [sum(map(len, types)) for types in corpora]
    (by_type,) = rng.choices(corpora, sizes)
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
    scale: float,
    dropout: float,
) -> Tensor:
    """The cross-entropy of the query mentions' types, by their cosines with the prototypes."""
    mentions = [number for pair in drawn for part in pair for number in part]
    slots = [slot for slot, pair in enumerate(drawn) for part in pair for _ in part]
    asked = [at for pair in drawn for at, part in enumerate(pair) for _ in part]
    device = views.device
    slot, query = torch.tensor(slots, device=device), torch.tensor(asked, device=device).bool()
    centred = learned.centred(views[torch.tensor(mentions, device=device)])
    vectors = learned.of_centred(F.dropout(centred, dropout))
    known, each = vectors[~query], torch.ones_like(vectors[~query, 0])
    centres = F.normalize(prototypes(known, each, slot[~query], len(drawn)), dim=-1)
    return F.cross_entropy(scale * vectors[query] @ centres.T, slot[query])
