"""Tensors in a file, as safetensors: no pickle is ever read or written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from spanproto.data.files import replaced_when_done
from spanproto.errors import CheckpointError

Tensors = dict[str, Tensor]


def save_tensors(path: Path, tensors: Tensors, about: Mapping[str, Any] | None = None) -> None:
    """Write tensors, with plain values `about` them, as one file that is whole or not there."""
    with replaced_when_done(path) as temporary:
        write_tensors(temporary, tensors, about)


def write_tensors(path: Path, tensors: Tensors, about: Mapping[str, Any] | None = None) -> None:
    """Write tensors as they come; see `save_tensors`."""
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry only: the file's bytes would depend on the order of several.
    save_file(whole, path, metadata={"about": json.dumps(dict(about or {}))})


def load_tensors(path: Path) -> tuple[Tensors, dict[str, Any]]:
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
