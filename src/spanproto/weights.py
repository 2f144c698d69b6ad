"""A model's weights on disk: one file, or shards of limited size with an index.

The shards are those of the model hub: `model-00001-of-00003.safetensors` and so on, and
`model.safetensors.index.json`, which says where each tensor is. A tensor larger than a shard is
cut into parts along its first dimension, named `NAME#00001-of-00002`.
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import torch
from torch import Tensor

from spanproto.data.files import atomic_writer, parse_json, read_text, replaced_when_done
from spanproto.errors import CheckpointError, DataError
from spanproto.tensor_file import Tensors, load_tensors, save_tensors, write_tensors

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
_SHARD = "model-{:05d}-of-{:05d}.safetensors"
_SHARDS = "model-?????-of-?????.safetensors"
_PART = re.compile(r"(.*)#(\d{5})-of-(\d{5})")


def save_weights(
    directory: Path, tensors: Mapping[str, Tensor], *, half: bool, shard_bytes: int | None
) -> None:
    """Write a model's weights; those already there go once the new ones are whole.

    `half` halves the size: floating-point tensors are rounded to 16 bits. With `shard_bytes` no
    shard has more bytes of tensors than that.
    """
    if shard_bytes is not None and shard_bytes < 1:
        raise CheckpointError(f"shard_bytes={shard_bytes} leaves no room; give a positive number")
    whole = {
        name: _halved(name, tensor.detach()) if half else tensor.detach()
        for name, tensor in tensors.items()
    }
    if shard_bytes is None:
        save_tensors(directory / WEIGHTS, whole)
        kept = {WEIGHTS}
    else:
        kept = _save_shards(directory, whole, shard_bytes)
    # The index goes first: where it is, it is believed.
    for path in (directory / INDEX, directory / WEIGHTS, *directory.glob(_SHARDS)):
        if path.name not in kept:
            path.unlink(missing_ok=True)


def load_weights(directory: Path) -> Tensors:
    """The weights of a model directory in either form, as they were saved."""
    index = directory / INDEX
    if not index.exists():
        return load_tensors(directory / WEIGHTS)[0]
    try:
        content = parse_json(read_text(index), str(index))
    except DataError as error:
        raise CheckpointError(str(error)) from None
    try:
        digest, places = content["metadata"]["digest"], dict(content["weight_map"])
        names = sorted({str(name) for name in places.values()})
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"{index}: not an index of weights; restore it or save the model again"
        ) from None
    parts: Tensors = {}
    for name in names:
        tensors, about = load_tensors(directory / Path(name).name)
        if about.get("digest") != digest:
            raise CheckpointError(
                f"{directory / name}: belongs to other weights than {INDEX} lists; restore both or "
                "save the model again"
            )
        parts |= tensors
    return _joined(parts, index)


def _halved(name: str, tensor: Tensor) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    rounded = tensor.half()
    if rounded.isfinite().all() or not tensor.isfinite().all():
        return rounded
    raise CheckpointError(
        f"tensor {name!r} has values beyond half precision; save the model in full precision"
    )


def _save_shards(directory: Path, tensors: Tensors, limit: int) -> set[str]:
    """Write the shards, and the index once they are all there; the names of these files."""
    shards = list(_shards(tensors, limit))
    names = [_SHARD.format(number, len(shards)) for number in range(1, len(shards) + 1)]
    digest = _digest(tensors)
    with ExitStack() as until_all_are_written:
        for name, shard in zip(names, shards, strict=True):
            temporary = until_all_are_written.enter_context(replaced_when_done(directory / name))
            write_tensors(temporary, shard, {"digest": digest})
    size = sum(tensor.nbytes for tensor in tensors.values())
    places = {part: name for name, shard in zip(names, shards, strict=True) for part in shard}
    content = {"metadata": {"total_size": size, "digest": digest}, "weight_map": places}
    with atomic_writer(directory / INDEX) as stream:
        json.dump(content, stream, indent=2)
        stream.write("\n")
    return {INDEX, *names}


def _shards(tensors: Tensors, limit: int) -> Iterator[Tensors]:
    """The tensors in their order, as many to a shard as it has room for."""
    shard: Tensors = {}
    room = limit
    for name, part in _parts(tensors, limit):
        if shard and part.nbytes > room:
            yield shard
            shard, room = {}, limit
        shard[name] = part
        room -= part.nbytes
    yield shard


def _parts(tensors: Tensors, limit: int) -> Iterator[tuple[str, Tensor]]:
    """The tensors, cut where they are too large for a shard, though never within a row."""
    for name, tensor in tensors.items():
        if tensor.nbytes <= limit or tensor.dim() == 0:
            yield name, tensor
            continue
        rows = max(1, limit // tensor[0].nbytes)
        parts = [tensor[at : at + rows] for at in range(0, len(tensor), rows)]
        for number, part in enumerate(parts, start=1):
            yield f"{name}#{number:05d}-of-{len(parts):05d}", part


def _joined(parts: Tensors, source: Path) -> Tensors:
    """The tensors with those that were cut made whole again."""
    whole: Tensors = {}
    cut: dict[str, dict[int, Tensor]] = defaultdict(dict)
    for name, part in parts.items():
        if match := _PART.fullmatch(name):
            cut[match[1]][int(match[2])] = part
        else:
            whole[name] = part
    for name, numbered in cut.items():
        try:
            whole[name] = torch.cat([numbered[number] for number in sorted(numbered)])
        except RuntimeError:
            raise CheckpointError(
                f"{source}: the parts of tensor {name!r} do not fit together; save the model again"
            ) from None
    return whole


def _digest(tensors: Tensors) -> str:
    """What tells these weights from others, so that shards of two savings are not mixed."""
    digest = hashlib.sha256()
    for name, tensor in tensors.items():
        digest.update(name.encode())
        digest.update(tensor.cpu().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
