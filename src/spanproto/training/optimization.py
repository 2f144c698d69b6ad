"""AdamW with warm-up and linear decay."""

import torch
from torch import Tensor

from spanproto.methods.base import Method
from spanproto.stacking import encoder_prefixes
from spanproto.training.settings import TrainingConfig


def rate_factor(step: int, steps: int, warmup: float) -> float:
    """What the learning rate is multiplied by in step 1..T: linear warm-up, then linear decay."""
    rise = max(1, round(steps * warmup))
    if step <= rise:
        return step / rise
    return (steps - step + 1) / (steps - rise + 1)


def make_optimizer(model: Method, config: TrainingConfig) -> torch.optim.AdamW:
    """AdamW; vectors (biases, normalisation) do not decay, heads may have their own rate."""
    encoders = encoder_prefixes(model)
    given = config.head_learning_rate
    head_rate = config.learning_rate if given is None else given
    groups: dict[tuple[float, bool], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        rate = config.learning_rate if name.startswith(encoders) else head_rate
        for prefix, factor in model.rate_factors.items():
            rate *= factor if name.startswith(prefix) else 1.0
        groups.setdefault((rate, parameter.ndim > 1), []).append(parameter)
    return torch.optim.AdamW(
        [
            {
                "params": parameters,
                "base_lr": rate,
                "weight_decay": config.weight_decay if decays else 0.0,
            }
            for (rate, decays), parameters in groups.items()
        ],
        lr=config.learning_rate,
        fused=model.device.type == "cuda",
    )


def set_rate(optimizer: torch.optim.Optimizer, factor: float) -> None:
    """Set every group's learning rate to its base rate times `factor`."""
    for group in optimizer.param_groups:
        group["lr"] = group["base_lr"] * factor


def optimizer_tensors(model: Method, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's state, named after the parameters it belongs to."""
    return {
        f"{kind}/{name}": value
        for name, parameter in model.named_parameters()
        for kind, value in optimizer.state.get(parameter, {}).items()
    }


def restore_optimizer(
    model: Method, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]
) -> None:
    """Put back what `optimizer_tensors` gave."""
    parameters = dict(model.named_parameters())
    for key, tensor in tensors.items():
        kind, _, name = key.partition("/")
        parameter = parameters[name]
        on_host = kind == "step" and parameter.device.type == "cpu"
        device = torch.device("cpu") if on_host else parameter.device
        optimizer.state[parameter][kind] = tensor.to(device)
