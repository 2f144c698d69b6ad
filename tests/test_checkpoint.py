"""Models on disk: the same model comes back, and what is damaged is refused in one sentence."""

import json
from pathlib import Path

import pytest
import synthetic
import torch
from transformers import AutoModel

from spanproto.adaptation import AdaptationConfig
from spanproto.checkpoint import SETTINGS, load_model, save_model
from spanproto.errors import CheckpointError
from spanproto.model import SpanProto
from spanproto.prediction import predict
from spanproto.tensor_file import load_tensors, save_tensors
from spanproto.weights import WEIGHTS


@pytest.fixture
def saved(tiny_model: SpanProto, tmp_path: Path) -> Path:
    save_model(tiny_model, tmp_path / "model")
    return tmp_path / "model"


def test_a_model_comes_back_as_it_was(tiny_model: SpanProto, saved: Path) -> None:
    loaded = load_model(saved)
    assert loaded.config == tiny_model.config
    for name, tensor in tiny_model.state_dict().items():
        assert torch.equal(tensor, loaded.state_dict()[name])
    episode = synthetic.episode()
    assert predict(loaded, [episode]) == predict(tiny_model, [episode])


def test_a_model_that_recalls_another_is_refused(tiny_model: SpanProto, tmp_path: Path) -> None:
    config = AdaptationConfig(steps=1, recall=True)
    with pytest.raises(CheckpointError, match="adapt without recall"):
        save_model(tiny_model.adapted([synthetic.episode()], config), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_folder_stands_for_its_model(saved: Path) -> None:
    assert load_model(saved.parent).config == load_model(saved).config


def test_saving_again_leaves_no_other_files(tiny_model: SpanProto, saved: Path) -> None:
    before = sorted(path.name for path in saved.iterdir())
    save_model(tiny_model, saved)
    assert sorted(path.name for path in saved.iterdir()) == before


@pytest.mark.parametrize("size", [0, 5, 1000, -1])
def test_truncated_weights_are_refused(saved: Path, size: int) -> None:
    weights = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(weights[:size])
    with pytest.raises(CheckpointError, match="truncated or damaged"):
        load_model(saved)


def test_another_version_is_refused(saved: Path) -> None:
    content = json.loads((saved / SETTINGS).read_text())
    (saved / SETTINGS).write_text(json.dumps(content | {"format_version": 99}))
    with pytest.raises(CheckpointError, match="checkpoint format 99"):
        load_model(saved)


def test_models_from_before_there_were_other_methods_are_spanproto_models(saved: Path) -> None:
    content = json.loads((saved / SETTINGS).read_text()) | {"format_version": 1}
    del content["method"], content["model"]["objective"]
    (saved / SETTINGS).write_text(json.dumps(content))
    assert isinstance(load_model(saved), SpanProto)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not a spanproto model"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", [WEIGHTS, "config.json", "tokenizer.json"])
def test_a_missing_file_is_named(saved: Path, name: str) -> None:
    (saved / name).unlink()
    with pytest.raises(CheckpointError, match=r"missing|no such file"):
        load_model(saved)


def test_damaged_settings_are_refused(saved: Path) -> None:
    (saved / SETTINGS).write_text("{")
    with pytest.raises(CheckpointError, match="not valid JSON"):
        load_model(saved)
    content = {"format_version": 2, "method": "spanproto", "model": {"encodr": {}}}
    (saved / SETTINGS).write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="did you mean 'encoder'"):
        load_model(saved)


def test_settings_without_a_model_are_refused(saved: Path) -> None:
    content = {"format_version": 2, "method": "spanproto", "model": None}
    (saved / SETTINGS).write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="settings are missing"):
        load_model(saved)


def test_weights_of_another_model_are_refused(tiny_model: SpanProto, saved: Path) -> None:
    content = json.loads((saved / SETTINGS).read_text())
    content["model"]["extractor"]["head"] = "rotary"
    (saved / SETTINGS).write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=r"shape|missing"):
        load_model(saved)


def test_values_are_kept_with_tensors(tiny_model: SpanProto, saved: Path) -> None:
    tensors, about = load_tensors(saved / WEIGHTS)
    names = (name.removeprefix("encoder.transformer.") for name in tiny_model.state_dict())
    assert set(tensors) == set(names)
    assert about == {}


def test_transformers_finds_the_encoder_in_a_model_directory(
    tiny_model: SpanProto, tmp_path: Path
) -> None:
    save_model(tiny_model, tmp_path)
    loaded = AutoModel.from_pretrained(tmp_path).state_dict()
    for name, tensor in tiny_model.encoder.transformer.state_dict().items():
        torch.testing.assert_close(loaded[name], tensor, atol=0, rtol=0)


def test_tensors_may_have_the_names_that_they_have_in_the_model(
    tiny_model: SpanProto, tmp_path: Path
) -> None:
    save_model(tiny_model, tmp_path)
    save_tensors(tmp_path / "model.safetensors", dict(tiny_model.state_dict()))
    again = load_model(tmp_path).state_dict()
    assert all(again[name].equal(tensor) for name, tensor in tiny_model.state_dict().items())
