"""Data-parallel training under torchrun: every process takes its share of a step's items."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from spanproto.errors import ConfigError
from spanproto.training.settings import Precision


@dataclass(frozen=True)
class World:
    """This process among all that train together."""

    rank: int
    size: int
    device: torch.device

    @property
    def leads(self) -> bool:
        """Whether this process writes files, validates and shows progress."""
        return self.rank == 0

    def average(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its mean over all processes, in one exchange."""
        parts = list(tensors)
        if self.size == 1 or not parts:
            return
        flat = torch.cat([part.flatten() for part in parts])
        dist.all_reduce(flat)
        flat /= self.size
        for part, mean in zip(
            parts, torch.split(flat, [part.numel() for part in parts]), strict=True
        ):
            part.copy_(mean.view_as(part))

    def average_gradients(self, model: nn.Module) -> None:
        """Make all processes take the same step, that of the mean over their shares.

        Which parameters have a gradient depends on the settings and the step alone, so the
        processes agree on it.
        """
        self.average(p.grad for p in model.parameters() if p.grad is not None)

    def share(self, first: int, count: int) -> range:
        """The numbers of this process's items among `count` from number `first` on."""
        each = count // self.size
        return range(first + self.rank * each, first + (self.rank + 1) * each)

    def wait(self) -> None:
        """Let all processes reach this place."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def join_world(device: str, per_step: int, setting: str) -> Iterator[World]:
    """The processes that torchrun started, or this one alone.

    They share the items of a step, whose number a `setting` gives.
    """
    size, rank = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("RANK", "0"))
    place = choose_device(device, int(os.environ.get("LOCAL_RANK", "0")))
    if per_step % size:
        raise ConfigError(
            f"training.{setting}={per_step} cannot be shared evenly by {size} processes; make it a "
            "multiple"
        )
    if size == 1:
        yield World(0, 1, place)
        return
    if place.type == "cuda":
        torch.cuda.set_device(place)
    dist.init_process_group("nccl" if place.type == "cuda" else "gloo")
    try:
        yield World(rank, size, place)
    finally:
        dist.destroy_process_group()


def choose_device(name: str, local_rank: int = 0) -> torch.device:
    """The device called `name`; `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if re.fullmatch(r"cpu|cuda(:\d+)?", name) is None:
        raise ConfigError(f"device {name!r} is not supported; use auto, cpu, cuda or cuda:NUMBER")
    device = torch.device(name)
    if device.type == "cuda":
        if not torch.cuda.is_available():
            raise ConfigError("this machine has no usable GPU; set the device to cpu or auto")
        return torch.device("cuda", device.index if device.index is not None else local_rank)
    return device


def in_bf16(precision: Precision, device: torch.device) -> bool:
    """Whether the encoder runs in bf16: where it is asked for, and on a GPU unless it is not."""
    return precision == "bf16" or (precision == "auto" and device.type == "cuda")
