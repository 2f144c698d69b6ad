"""Frozen layers that run once: what does not learn gives the same states at every step.

Fine-tuning the top of an encoder on one batch over and over would otherwise spend most of its time
below, where nothing changes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn


class Remembered(nn.Module):
    """A module without dropout or anything to learn, which knows its last answer.

    It is the same answer if the first tensor that it is given is the same object. Its neighbour's
    answer is then the same object too, so a whole stack of such modules answers at once.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module
        self._last: tuple[Tensor, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        """Also the module's own: some encoders ask their layers what kind they are."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("module"), name)

    def train(self, mode: bool = True) -> "Remembered":
        """Stay as in prediction, without dropout, so that there is one answer."""
        return super().train(False)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's answer, from memory if the question is the last one."""
        first = next(v for v in (*args, *kwargs.values()) if isinstance(v, Tensor))
        if self._last is None or self._last[0] is not first:
            self._last = first, self.module(*args, **kwargs)
        return self._last[1]


@contextmanager
def frozen_layers_remembered(encoder: nn.Module) -> Iterator[None]:
    """Within the block, the embeddings and frozen layers below all tuned ones run once a batch."""
    replaced = [
        (parent, name, module)
        for parent, name, module in _in_order(encoder)
        if not any(parameter.requires_grad for parameter in module.parameters())
    ]
    for parent, name, module in replaced:
        parent._modules[name] = Remembered(module)
    try:
        yield
    finally:
        for parent, name, module in replaced:
            parent._modules[name] = module


def _in_order(encoder: nn.Module) -> Iterator[tuple[nn.Module, str, nn.Module]]:
    """The embeddings and each layer of an encoder, with where they hang."""
    for name, child in encoder.named_children():
        if name == "embeddings":
            yield encoder, name, child
        elif isinstance(child, nn.ModuleList):
            for number, layer in child.named_children():
                yield child, number, layer
        else:
            yield from _in_order(child)
