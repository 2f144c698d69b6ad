"""Models on disk: weights as safetensors, settings as JSON; no pickle is ever read or written.

A model directory holds `spanproto.json` (format version and model settings), the encoder's
`config.json` and tokenizer files, the weights (see `weights.py`), and a model card, `README.md`.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from spanproto import config
from spanproto.data.files import atomic_writer, parse_json, read_text
from spanproto.encoder import Encoder
from spanproto.errors import CheckpointError, ConfigError, DataError
from spanproto.model import ModelConfig, SpanProto
from spanproto.model_card import model_card, save_card
from spanproto.tensor_file import load_tensors as load_tensors
from spanproto.tensor_file import save_tensors as save_tensors
from spanproto.weights import load_weights, save_weights

FORMAT_VERSION = 1
SETTINGS = "spanproto.json"


def save_model(
    model: SpanProto,
    directory: Path,
    *,
    half: bool = False,
    shard_bytes: int | None = None,
    labels: Sequence[str] = (),
) -> None:
    """Write a model directory; older weights in it are replaced only once the new ones are whole.

    `half` and `shard_bytes` make the weights smaller and cut them into files; `labels` are the
    types that the model was fitted to, for its card.
    """
    save_settings(model, directory)
    save_weights(directory, model.state_dict(), half=half, shard_bytes=shard_bytes)
    save_card(
        directory,
        model_card(
            encoder=model.config.encoder.name,
            parameters=sum(parameter.numel() for parameter in model.parameters()),
            labels=labels,
            origin=model.origin,
        ),
    )


def save_settings(model: SpanProto, directory: Path) -> None:
    """Write all of a model directory but the weights."""
    directory.mkdir(parents=True, exist_ok=True)
    model.encoder.save_architecture(directory)
    content = {
        "format_version": FORMAT_VERSION,
        "model": config.to_dict(model.config),
        "origin": model.origin,
    }
    with atomic_writer(directory / SETTINGS) as stream:
        json.dump(content, stream, indent=2)
        stream.write("\n")


def load_model(directory: Path | str) -> SpanProto:
    """The model saved in `directory`, or in its `model` folder if it is a training run."""
    directory = Path(directory)
    if not (directory / SETTINGS).exists() and (directory / "model" / SETTINGS).exists():
        directory = directory / "model"
    if not (directory / SETTINGS).exists():
        raise CheckpointError(
            f"{directory}: not a spanproto model, {SETTINGS} is missing; give the directory that "
            "training or save wrote"
        )
    settings = directory / SETTINGS
    try:
        content = parse_json(read_text(settings), str(settings))
    except DataError as error:
        raise CheckpointError(str(error)) from None
    version = content.get("format_version") if isinstance(content, dict) else None
    if version != FORMAT_VERSION:
        raise CheckpointError(
            f"{settings}: checkpoint format {version!r}, but this spanproto reads format "
            f"{FORMAT_VERSION}; install the spanproto version that wrote it, or train again"
        )
    try:
        config.require(isinstance(content.get("model"), dict), "the model's settings are missing")
        model_config = config.build(ModelConfig, content["model"], "model")
    except ConfigError as error:
        raise CheckpointError(f"{settings}: {error}") from None
    model = SpanProto(Encoder.from_architecture(directory, model_config.encoder), model_config)
    fill(model, load_weights(directory), directory)
    origin = content.get("origin")
    model.origin = origin if isinstance(origin, dict) else {}
    return model.eval()


def fill(model: SpanProto, tensors: dict[str, Tensor], source: Path) -> None:
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
