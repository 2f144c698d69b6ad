"""One model of several: the mean of the weights of trainings that began alike.

Trainings that begin with the same weights, and see other data each or the same in another order,
end near enough to each other for the mean of their weights to be a model, too, and often a better
one than any of them (Wortsman et al., ICML 2022). It costs as many trainings, and no more than one
in use.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from spanproto.checkpoint import load_model
from spanproto.errors import CheckpointError
from spanproto.methods.base import Method


def averaged(folders: Sequence[Path]) -> Method:
    """The model whose weights are the means of those in the folders.

    They must be trainings of the same method with the same settings and seed, and so have begun
    with the same weights; what they differ in is their data, or `training.order_seed`.
    """
    if len(folders) < 2:
        raise CheckpointError(f"{len(folders)} model(s) to average; name two or more")
    models = [load_model(folder) for folder in folders]
    first = models[0]
    for folder, model in zip(folders, models, strict=True):
        if (model.name, model.config) != (first.name, first.config):
            raise CheckpointError(
                f"{folder}: another method or other settings than {folders[0]}; average trainings "
                "that differ in their data or in training.order_seed alone"
            )
        if _seed(model) is None:
            raise CheckpointError(
                f"{folder}: no seed is recorded, so nothing says with which weights it began; "
                "average models that `spanproto train` has written"
            )
        if _seed(model) != _seed(first):
            raise CheckpointError(
                f"{folder}: trained with seed {_seed(model)}, and {folders[0]} with "
                f"{_seed(first)}, so they began with other weights; train with one seed, and vary "
                "the data or training.order_seed"
            )
    states = [model.state_dict() for model in models]
    first.load_state_dict(
        {
            name: torch.stack([state[name] for state in states]).mean(0)
            if tensor.is_floating_point()
            else tensor
            for name, tensor in states[0].items()
        }
    )
    first.origin = _origin_of_all([model.origin for model in models])
    return first


def _origin_of_all(origins: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """That of the first, with the data files of all, and what each was set to."""
    files = {str(file): file for origin in origins for file in origin.get("data", [])}
    settings = ("data_config", "training_config")
    each = [{name: origin[name] for name in settings if name in origin} for origin in origins]
    return {
        **origins[0],
        "data": list(files.values()),
        "averaged": len(origins),
        "trainings": each,
    }


def _seed(model: Method) -> int | None:
    found: int | None = model.origin.get("seed")
    return found
