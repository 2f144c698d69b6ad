"""Many sets of weights in one model, so that episodes can be fine-tuned side by side.

A stacked model holds, for the layers that are tuned, one set of weights per episode; a batch's
rows are split evenly among the episodes in order, and a layer becomes a batched matrix product.
What is not tuned is shared with the model that was stacked.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.config import require
from spanproto.encoder import TAKES_READY_MASK, Encoder
from spanproto.errors import ConfigError

if TYPE_CHECKING:
    from spanproto.methods.base import Method

# Their linear layers see nothing but rows of the batch, and rows may be empty: others go one at a
# time.
STACKABLE = TAKES_READY_MASK


@dataclass(frozen=True)
class TuningConfig:
    """Which weights an episode has of its own. Embeddings and convolutions are always shared."""

    tune: Literal["all", "top", "low-rank", "heads"] = "all"
    top_layers: int = 4  # with "top": the encoder's last layers, all if it has no more
    rank: int = 16  # with "low-rank": of the adapters on every linear layer of the encoder

    def __post_init__(self) -> None:
        require(self.top_layers > 0, "tuning.top_layers must be positive")
        require(self.rank > 0, "tuning.rank must be positive")


Model = TypeVar("Model", bound="Method")
Change = Callable[[str, nn.Module], nn.Module | None]  # a module's name -> its replacement


class StackedLinear(nn.Module):
    """A linear layer with weights for each of B episodes: (B*n, ..., in) -> (B*n, ..., out).

    The weights lie in memory as (B, in, out), as the gradients of a batched product do; otherwise
    every step would turn them round, which takes as long as the products.
    """

    def __init__(self, linear: nn.Linear, copies: int) -> None:
        super().__init__()
        turned = _repeated(linear.weight.T, copies).detach()  # (B, in, out)
        self.weight = nn.Parameter(turned.transpose(1, 2))  # (B, out, in)
        self.bias = None if linear.bias is None else _repeated(linear.bias, copies)  # (B, out)

    def forward(self, states: Tensor) -> Tensor:
        """Apply each episode's layer to its rows."""
        grouped = states.reshape(len(self.weight), -1, states.shape[-1])  # (B, rows, in)
        result = torch.bmm(grouped, self.weight.transpose(1, 2))
        if self.bias is not None:
            result += self.bias.to(result.dtype)[:, None]
        return result.view(*states.shape[:-1], result.shape[-1])


class LowRankLinear(nn.Module):
    """A shared linear layer plus a product of two narrow matrices for each of B episodes."""

    def __init__(self, linear: nn.Linear, copies: int, rank: int) -> None:
        super().__init__()
        widest = max(linear.in_features, linear.out_features)
        require(
            rank <= widest,
            f"tuning.rank={rank} is more than a layer is wide, which is {widest}; choose a smaller",
        )
        self.linear = _frozen(linear)
        down = torch.empty(rank, linear.in_features, device=linear.weight.device)
        nn.init.kaiming_uniform_(down, a=5**0.5)
        self.down = _repeated(down, copies)  # (B, rank, in)
        self.up = _repeated(linear.weight.new_zeros(linear.out_features, rank), copies)

    def forward(self, states: Tensor) -> Tensor:
        """Apply the shared layer to all rows and each episode's change to its own."""
        shared: Tensor = self.linear(states)
        grouped = states.reshape(len(self.down), -1, states.shape[-1])
        change = torch.bmm(torch.bmm(grouped, self.down.transpose(1, 2)), self.up.transpose(1, 2))
        return shared + change.view_as(shared)


class StackedLayerNorm(nn.Module):
    """Layer normalisation with a gain and an offset for each of B episodes."""

    def __init__(self, norm: nn.LayerNorm, copies: int) -> None:
        super().__init__()
        self.shape, self.eps = norm.normalized_shape, norm.eps
        self.weight = _repeated(norm.weight, copies)  # (B, h)
        self.bias = _repeated(norm.bias, copies)

    def forward(self, states: Tensor) -> Tensor:
        """Normalise all rows, then scale and move each episode's."""
        normal = F.layer_norm(states, self.shape, eps=self.eps)
        grouped = normal.reshape(len(self.weight), -1, states.shape[-1])
        return torch.addcmul(self.bias[:, None], grouped, self.weight[:, None]).view_as(states)


def encoder_prefixes(model: nn.Module) -> tuple[str, ...]:
    """How the names of what belongs to an encoder begin; what does not is a head."""
    modules = model.named_modules()
    return tuple(f"{name}." for name, module in modules if isinstance(module, Encoder))


def stack(model: Model, copies: int, tuning: TuningConfig) -> Model:
    """The model with `copies` sets of the weights that are tuned; the given one stays as it is."""
    encoders, tuned = encoder_prefixes(model), _tuned_layers(model, tuning)

    def change(name: str, module: nn.Module) -> nn.Module | None:
        in_encoder = name.startswith(encoders)
        if in_encoder and not name.startswith(tuned):
            return None
        narrow = in_encoder and tuning.tune == "low-rank"
        if isinstance(module, nn.Linear):
            if narrow:
                return LowRankLinear(module, copies, tuning.rank)
            return StackedLinear(module, copies)
        if isinstance(module, nn.LayerNorm) and not narrow:
            return StackedLayerNorm(module, copies)
        return None

    stacked = cast(Model, _rebuilt(model, "", change))
    stacked.stacked = copies > 1
    return stacked


def _tuned_layers(model: nn.Module, tuning: TuningConfig) -> tuple[str, ...]:
    """How the names begin of what belongs to those layers of encoders that are tuned."""
    if tuning.tune == "heads":
        return ()
    last = tuning.top_layers if tuning.tune == "top" else 0  # 0: all
    found = []
    for name, encoder in model.named_modules():
        if isinstance(encoder, Encoder):
            layers = encoder.layers()
            parts = (part for layer in layers.values() for part in layer.modules())
            if not any(isinstance(part, nn.Linear) for part in parts):
                raise ConfigError(
                    f"encoder {encoder.config.name!r}: it has no layers that can be told apart and "
                    "tuned; fine-tune the heads alone (tuning.tune=heads), or nothing"
                )
            found += [f"{name}.{layer}." for layer in list(layers)[-last:]]
    return tuple(found)


def unstacked(model: Model) -> Model:
    """A stack of one as a plain model with the same weights, such as can be saved."""

    def change(name: str, module: nn.Module) -> nn.Module | None:
        if isinstance(module, StackedLinear):
            bias = None if module.bias is None else module.bias[0]
            return _linear(module.weight[0], bias)
        if isinstance(module, LowRankLinear):
            shared = module.linear
            assert isinstance(shared, nn.Linear)
            return _linear(shared.weight + module.up[0] @ module.down[0], shared.bias)
        if isinstance(module, StackedLayerNorm):
            norm = nn.LayerNorm(module.shape, eps=module.eps, device="meta")
            norm.weight, norm.bias = _kept(module.weight[0]), _kept(module.bias[0])
            return norm
        return None

    return cast(Model, _rebuilt(model, "", change))


def can_stack(model: Method) -> bool:
    """Whether several episodes can share a batch of this model."""
    return model.encoder.transformer.config.model_type in STACKABLE


def _rebuilt(module: nn.Module, name: str, change: Change) -> nn.Module:
    """A twin of the module tree in which `change` has replaced modules and the rest is shared."""
    replacement = change(name, module)
    if replacement is not None:
        return replacement
    twin = _frozen(module)
    twin._modules = {
        key: None if child is None else _rebuilt(child, f"{name}.{key}".lstrip("."), change)
        for key, child in module._modules.items()
    }
    return twin


def _frozen(module: nn.Module) -> nn.Module:
    """The module with the same weights, which it does not train."""
    twin = copy.copy(module)
    twin._parameters = {
        key: None if p is None else nn.Parameter(p.detach(), requires_grad=False)
        for key, p in module._parameters.items()
    }
    return twin


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    linear.weight = _kept(weight)
    if bias is not None:
        linear.bias = _kept(bias)
    return linear


def _kept(tensor: Tensor) -> nn.Parameter:
    return nn.Parameter(tensor.detach().clone(), requires_grad=False)


def _repeated(tensor: Tensor, copies: int) -> nn.Parameter:
    shape = (copies, *(-1 for _ in tensor.shape))
    return nn.Parameter(tensor.detach().expand(*shape).clone(memory_format=torch.contiguous_format))
