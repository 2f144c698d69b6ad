"""Models on disk: weights as safetensors, settings as JSON; no pickle is ever read or written.

A model directory holds `spanproto.json` (format version and model settings), the encoder's
`config.json` and tokenizer files, and `model.safetensors`.
"""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from spanproto import config
from spanproto.data.files import atomic_writer, parse_json, read_text, replaced_when_done
from spanproto.encoder import Encoder
from spanproto.errors import CheckpointError, ConfigError, DataError
from spanproto.model import ModelConfig, SpanProto

FORMAT_VERSION = 1
SETTINGS, WEIGHTS = "spanproto.json", "model.safetensors"


def save_model(model: SpanProto, directory: Path) -> None:
    """Write a model directory; an older model in it is replaced only once the new one is whole."""
    save_settings(model, directory)
    save_tensors(directory / WEIGHTS, dict(model.state_dict()))


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
    tensors, _ = load_tensors(directory / WEIGHTS)
    fill(model, tensors, directory / WEIGHTS)
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


def save_tensors(
    path: Path, tensors: dict[str, Tensor], about: dict[str, Any] | None = None
) -> None:
    """Write tensors, with plain values `about` them, as one file that is whole or not there."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with replaced_when_done(path) as temporary:
        # One entry only: the file's bytes would depend on the order of several.
        save_file(whole, temporary, metadata={"about": json.dumps(about or {})})


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a file and the values saved with them."""
    try:
        with safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get("about", "{}"))
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118
    except FileNotFoundError:
        raise CheckpointError(f"{path}: no such file; the checkpoint is incomplete") from None
    except (SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(
            f"{path}: truncated or damaged ({error}); restore it or save the model again"
        ) from None
