"""Weights in half precision and in shards: whole, small, and never mixed up."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from spanproto.checkpoint import load_model, save_model
from spanproto.errors import CheckpointError
from spanproto.model import SpanProto
from spanproto.tensor_file import load_tensors
from spanproto.weights import INDEX, WEIGHTS, load_weights, save_weights

LIMIT = 20_000


@pytest.fixture
def saved(tiny_model: SpanProto, tmp_path: Path) -> Path:
    save_model(tiny_model, tmp_path, half=True, shard_bytes=LIMIT)
    return tmp_path


def shards(folder: Path) -> list[Path]:
    return sorted(folder.glob("model-*.safetensors"))


def test_half_precision_loads_as_single(tiny_model: SpanProto, saved: Path) -> None:
    loaded = load_model(saved).state_dict()
    for name, tensor in tiny_model.state_dict().items():
        assert loaded[name].dtype == tensor.dtype
        assert torch.allclose(loaded[name], tensor, atol=1e-3)


def test_no_shard_is_larger_than_asked(tiny_model: SpanProto, saved: Path) -> None:
    index = json.loads((saved / INDEX).read_text())
    assert set(index["weight_map"].values()) == {path.name for path in shards(saved)}
    largest = max(tensor.nbytes // 2 for tensor in tiny_model.state_dict().values())
    assert largest > LIMIT  # so one was cut
    for path in shards(saved):
        tensors, _ = load_tensors(path)
        assert sum(tensor.nbytes for tensor in tensors.values()) <= LIMIT
        assert path.name.endswith(f"of-{len(shards(saved)):05d}.safetensors")


def test_one_form_takes_the_place_of_the_other(tiny_model: SpanProto, saved: Path) -> None:
    save_model(tiny_model, saved)
    assert not shards(saved)
    assert not (saved / INDEX).exists()
    save_model(tiny_model, saved, shard_bytes=100_000)
    fewer = len(shards(saved))
    assert not (saved / WEIGHTS).exists()
    save_model(tiny_model, saved, shard_bytes=LIMIT)
    assert len(shards(saved)) > fewer
    before = tiny_model.state_dict()
    assert all(torch.equal(before[k], v) for k, v in load_model(saved).state_dict().items())


def test_the_same_weights_are_the_same_files(tiny_model: SpanProto, saved: Path) -> None:
    before = {path.name: path.read_bytes() for path in saved.iterdir()}
    save_model(tiny_model, saved, half=True, shard_bytes=LIMIT)
    assert {path.name: path.read_bytes() for path in saved.iterdir()} == before


def test_any_tensor_can_be_cut(tmp_path: Path) -> None:
    tensors: dict[str, Tensor] = {
        "rows": torch.arange(60.0).view(20, 3),
        "line": torch.arange(11),
        "number": torch.tensor(3.0),
        "none": torch.empty(0, 4),
    }
    save_weights(tmp_path, tensors, half=False, shard_bytes=16)
    loaded = load_weights(tmp_path)
    assert loaded.keys() == tensors.keys()
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_a_failed_save_leaves_the_old_model(tiny_model: SpanProto, saved: Path) -> None:
    before = load_weights(saved)
    too_large = dict(tiny_model.state_dict())
    name = next(iter(too_large))
    too_large[name] = too_large[name] * 0 + 1e30
    with pytest.raises(CheckpointError, match="beyond half precision"):
        save_weights(saved, too_large, half=True, shard_bytes=LIMIT)
    after = load_weights(saved)
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_shards_of_two_models_are_refused(tiny_model: SpanProto, saved: Path) -> None:
    first = shards(saved)[0]
    old = first.read_bytes()
    other = {name: tensor + 1 for name, tensor in tiny_model.state_dict().items()}
    save_weights(saved, other, half=True, shard_bytes=LIMIT)
    first.write_bytes(old)
    with pytest.raises(CheckpointError, match="belongs to other weights"):
        load_model(saved)


def test_a_missing_or_damaged_shard_is_named(saved: Path) -> None:
    last = shards(saved)[-1]
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match=rf"{last.name}: truncated or damaged"):
        load_model(saved)
    last.unlink()
    with pytest.raises(CheckpointError, match=rf"{last.name}: no such file"):
        load_model(saved)


@pytest.mark.parametrize("content", ["[]", "{", '{"metadata": {}}', '{"weight_map": 3}'])
def test_a_damaged_index_is_refused(saved: Path, content: str) -> None:
    (saved / INDEX).write_text(content)
    with pytest.raises(CheckpointError, match=r"not valid JSON|not an index"):
        load_model(saved)


def test_a_shard_needs_room(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="leaves no room"):
        save_weights(tmp_path, {}, half=False, shard_bytes=0)
