"""Fine-tuning that ends for each support set when its loss first rises."""

from torch import Tensor, nn


class FirstRise:
    """Lets stacked copies go on together, and remembers each as it was when its loss had risen."""

    def __init__(self, copies: int) -> None:
        self._last = [float("inf")] * copies
        self._ended: dict[int, list[Tensor]] = {}  # the number of a copy -> its weights

    def goes_on(self, model: nn.Module, losses: Tensor) -> bool:
        """Whether any copy has yet to end, after a step that had these losses (B,) before it."""
        now: list[float] = losses.tolist()
        for number, (before, loss) in enumerate(zip(self._last, now, strict=True)):
            if loss > before and number not in self._ended:
                self._ended[number] = [each[number].clone() for each in _tuned(model)]
        self._last = now
        return len(self._ended) < len(now)

    def restore(self, model: nn.Module) -> None:
        """Give the copies that have ended their weights of then."""
        for number, weights in self._ended.items():
            for stacked, weight in zip(_tuned(model), weights, strict=True):
                stacked[number].copy_(weight)


def _tuned(model: nn.Module) -> list[Tensor]:
    """The weights that every copy has of its own, (B, ...) each."""
    return [weight.detach() for weight in model.parameters() if weight.requires_grad]
