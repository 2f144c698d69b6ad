"""Models on disk: weights as safetensors, settings as JSON; no pickle is ever read or written.

A model directory holds `spanproto.json` (format version, method and model settings), the encoder's
`config.json` and tokenizer files, the weights (see `weights.py`), and a model card, `README.md`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from torch import Tensor

from spanproto import config
from spanproto.data.files import atomic_writer, parse_json, read_text
from spanproto.data.types import Episode
from spanproto.encoder import SETTINGS, Encoder
from spanproto.errors import CheckpointError, ConfigError, DataError
from spanproto.methods import METHODS, method_named
from spanproto.methods.base import Method, MethodConfig
from spanproto.model import ModelConfig, SpanProto
from spanproto.model_card import model_card, save_card
from spanproto.stacking import unstacked
from spanproto.tensor_file import load_tensors as load_tensors
from spanproto.tensor_file import save_tensors as save_tensors
from spanproto.weights import load_weights, save_weights

FORMAT_VERSION = 2
RETIRED: dict[str, Any] = {"pairs": {}, "nearest_in_meaning": 0.0, "shots_in_type": 0.0}
"""Settings that decisions no longer have, and the values by which they did nothing."""


def save_model(
    model: Method,
    directory: Path,
    *,
    half: bool = False,
    shard_bytes: int | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write a model directory; older weights in it are replaced only once the new ones are whole.

    `half` and `shard_bytes` make the weights smaller and cut them into files; `labels` are the
    types that the model was fitted to, for its card. A model that was fine-tuned to one support
    set is saved with the weights that it has now.
    """
    if model.stacked:
        raise CheckpointError(
            "copies fine-tuned to several support sets are not one model; adapt to one, then save"
        )
    if isinstance(model, SpanProto) and model.before is not None:
        raise CheckpointError(
            "a model that recalls the one before its fine-tuning is two; adapt without recall to "
            "save it"
        )
    model = unstacked(model)
    save_settings(model, directory)
    weights = {_shared_name(name): tensor for name, tensor in model.state_dict().items()}
    save_weights(directory, weights, half=half, shard_bytes=shard_bytes)
    save_card(
        directory,
        model_card(
            encoder=model.config.encoder.name,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            labels=labels or model.head_types,
            origin=model.origin,
            method=model.name,
        ),
    )


def save_settings(model: Method, directory: Path) -> None:
    """Write all of a model directory but the weights."""
    directory.mkdir(parents=True, exist_ok=True)
    model.encoder.save_architecture(directory)
    content = {
        "format_version": FORMAT_VERSION,
        "method": model.name,
        "model": config.to_dict(model.config),
        "origin": model.origin,
        "head_types": list(model.head_types),
    }
    with atomic_writer(directory / SETTINGS) as stream:
        json.dump(content, stream, indent=2)
        stream.write("\n")


def load_model(
    source: Path | str, method: str | None = None, overrides: Sequence[str] = ()
) -> Method:
    """The model saved in the directory `source`, or in its `model` folder if it is a training run.

    With `method`, the weights serve that method, if it trains the same ones; one that needs no
    training takes the encoder of any model, or a bare one by directory or hub name. `overrides`
    change its settings, each `key=value`.
    """
    directory = _model_directory(Path(source))
    if directory is None:
        return _from_encoder(str(source), method, overrides).eval()
    content = _read_settings(directory / SETTINGS)
    saved = method_named(content["method"])
    wanted = saved if method is None else method_named(method)
    if not (wanted is saved or wanted.trains_on is None or saved.name in wanted.weights_of):
        fitting = sorted({wanted.name, *wanted.weights_of})
        raise CheckpointError(
            f"{directory}: the weights of {saved.title()} do not serve {wanted.title()}; give a "
            f"model trained with --method {' or '.join(fitting)}"
        )
    values = content["model"] if wanted is saved else _known(wanted, content["model"])
    try:
        _configured(wanted, values)
    except ConfigError as error:
        raise CheckpointError(f"{directory / SETTINGS}: {error}") from None
    model_config = _configured(wanted, values, overrides)
    model = wanted(Encoder.from_architecture(directory, model_config.encoder), model_config)
    if wanted is saved and content.get("head_types"):
        model = model.for_episodes([Episode(tuple(content["head_types"]), (), ())])
    own = {_shared_name(name): name for name in model.state_dict()}
    weights = {own.get(name, name): tensor for name, tensor in load_weights(directory).items()}
    fill(model, weights, directory)
    origin = content.get("origin")
    model.origin = origin if isinstance(origin, dict) else {}
    return model.eval()


def load_spanproto(source: Path | str) -> SpanProto:
    """The SpanProto model saved in the directory `source`; another method's is refused."""
    model = load_model(source, SpanProto.name)
    assert isinstance(model, SpanProto)
    return model


def _model_directory(source: Path) -> Path | None:
    """Where the model is: in the directory itself or, of a training run, in its `model`."""
    for directory in (source, source / "model"):
        if (directory / SETTINGS).exists():
            return directory
    return None


def _from_encoder(source: str, method: str | None, overrides: Sequence[str]) -> Method:
    """A method that needs no training, on a pretrained encoder."""
    wanted = None if method is None else method_named(method)
    if wanted is None or wanted.trains_on is not None:
        raise CheckpointError(
            f"{source}: not a spanproto model, {SETTINGS} is missing; give the directory that "
            "training or save wrote"
        )
    return wanted.from_config(_configured(wanted, {"encoder": {"name": source}}, overrides))


def _configured(
    method: type[Method], values: Mapping[str, Any], overrides: Sequence[str] = ()
) -> MethodConfig:
    return config.build(method.Config, config.apply_overrides(values, overrides), "model")


def configured(
    method: type[Method], saved: Mapping[str, Any], overrides: Sequence[str]
) -> MethodConfig:
    """The settings with which a method has the weights of a model with these, some changed."""
    return _configured(method, _known(method, saved), overrides)


def _known(method: type[Method], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that a method has, too."""
    names = {field.name for field in fields(method.Config)}
    return {name: value for name, value in saved.items() if name in names}


def reconfigured(model: SpanProto, overrides: Sequence[str]) -> ModelConfig:
    """The settings of a model with some of them changed, each `key=value`."""
    changed = _configured(type(model), config.to_dict(model.config), overrides)
    assert isinstance(changed, ModelConfig)
    return changed


def _read_settings(path: Path) -> dict[str, Any]:
    """The settings of a saved model: at least the method's name, and its own settings."""
    try:
        content: dict[str, Any] = parse_json(read_text(path), str(path))
    except DataError as error:
        raise CheckpointError(str(error)) from None
    version = content.get("format_version") if isinstance(content, dict) else None
    if version not in (1, FORMAT_VERSION):
        raise CheckpointError(
            f"{path}: checkpoint format {version!r}, but this spanproto reads format "
            f"{FORMAT_VERSION}; install the spanproto version that wrote it, or train again"
        )
    if version == 1:  # from before there were other methods
        content["method"] = SpanProto.name
    if not isinstance(content.get("model"), dict):
        raise CheckpointError(f"{path}: the model's settings are missing; save it again")
    if content.get("method") not in METHODS:
        raise CheckpointError(
            f"{path}: there is no method {content.get('method')!r} here; load the model with the "
            "spanproto that wrote it"
        )
    decision = content["model"].get("decision")
    if isinstance(decision, dict):
        content["model"]["decision"] = {
            key: value
            for key, value in decision.items()
            if key not in RETIRED or value != RETIRED[key]
        }
    return content


def _shared_name(name: str) -> str:
    """The name of a tensor on disk: those of the encoder are called as transformers calls them.

    So the encoder can be loaded from a model directory with `AutoModel.from_pretrained`, unless
    tensors were cut to pieces; `Encoder.from_pretrained` can in any case.
    """
    return name.removeprefix("encoder.transformer.")


def fill(model: Method, tensors: dict[str, Tensor], source: Path) -> None:
    """Load `tensors` into the model; every parameter must be there and fit."""
    state = model.state_dict()
    for name, tensor in state.items():
        if name not in tensors:
            raise CheckpointError(f"{source}: tensor {name!r} is missing; save the model again")
        if tensors[name].shape != tensor.shape:
            raise CheckpointError(
                f"{source}: tensor {name!r} has shape {tuple(tensors[name].shape)} instead of "
                f"{tuple(tensor.shape)}; its settings belong to another model"
            )
    model.load_state_dict({name: tensors[name] for name in state})
