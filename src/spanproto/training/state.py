"""The state of a run in one file, so that a killed run goes on as if nothing had happened.

All randomness of a step is a function of the seed and the step, so weights, the optimiser's
moments and a few numbers are the whole state. One file is replaced at once or not at all.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from spanproto import config
from spanproto.checkpoint import fill, load_tensors, save_tensors
from spanproto.errors import CheckpointError, ConfigError
from spanproto.methods.base import Method
from spanproto.tensor_file import Tensors
from spanproto.training.optimization import optimizer_tensors, restore_optimizer
from spanproto.training.settings import RunConfig

FILE = "last.safetensors"
STATE_VERSION = 1
# Settings that may change between the two halves of a run without changing what it computes.
_FREE = {"output", "device", "log_every", "checkpoint_every", "tensorboard"}


@dataclass
class Progress:
    """How far a run has come."""

    step: int = 0
    best_f1: float = -1.0
    best_step: int = 0


def save_state(
    folder: Path, run: RunConfig, progress: Progress, model: Method, optimizer: torch.optim.AdamW
) -> None:
    """Write the run's state."""
    tensors = {f"model/{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"optimizer/{key}": t for key, t in optimizer_tensors(model, optimizer).items()}
    about = {"version": STATE_VERSION, "progress": asdict(progress), "run": config.to_dict(run)}
    save_tensors(folder / FILE, tensors, about)


def resume_state(
    folder: Path, run: RunConfig, model: Method, optimizer: torch.optim.AdamW
) -> Progress:
    """Load the run's last state into model and optimiser; a fresh start if there is none."""
    saved = saved_state(folder, run)
    if saved is None:
        return Progress()
    tensors, about = saved
    fill(model, _under("model/", tensors), folder / FILE)
    restore_optimizer(model, optimizer, _under("optimizer/", tensors))
    return Progress(**about["progress"])


def saved_state(folder: Path, run: RunConfig) -> tuple[Tensors, dict[str, Any]] | None:
    """The state that the run has left in its folder, if any; that of another run is refused."""
    path = folder / FILE
    if not path.exists():
        return None
    try:
        tensors, about = load_tensors(path)
    except CheckpointError as error:
        raise CheckpointError(f"{error}, or start again with --restart") from None
    if about.get("version") != STATE_VERSION:
        raise CheckpointError(
            f"{path}: training state of version {about.get('version')!r}, but this spanproto reads "
            f"{STATE_VERSION}; start again with --restart"
        )
    changed = sorted(_differences(_completed(about["run"]), config.to_dict(run)))
    if changed:
        raise CheckpointError(
            f"{path}: the run there has another {', '.join(changed)}; choose another "
            "training.output, or start again with --restart"
        )
    return tensors, about


def _under(prefix: str, tensors: dict[str, Any]) -> dict[str, Any]:
    return {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}


def _completed(run: dict[str, Any]) -> dict[str, Any]:
    """The settings of a run; those that there were not when it began are as by default."""
    try:
        return config.to_dict(RunConfig.of(run))
    except ConfigError:  # it has one that there is no more
        return run


def _differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> set[str]:
    """The dotted names of the settings that differ and matter."""
    found: set[str] = set()
    for key in (old.keys() | new.keys()) - _FREE:
        before, after = old.get(key), new.get(key)
        if isinstance(before, dict) and isinstance(after, dict):
            found |= _differences(before, after, f"{prefix}{key}.")
        elif before != after:
            found.add(prefix + key)
    return found
