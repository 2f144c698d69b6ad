"""A method that learns from support sets alone: its model is written without any data."""

from pathlib import Path

import pytest
import torch

from spanproto.checkpoint import load_model
from spanproto.config import to_yaml
from spanproto.errors import CheckpointError
from spanproto.tensor_file import save_tensors
from spanproto.training.loop import train
from spanproto.training.settings import RunConfig


@pytest.fixture
def run(tiny_encoder: Path, tmp_path: Path) -> RunConfig:
    return RunConfig.of(
        {
            "method": "token-classifier",
            "model": {"encoder": {"name": str(tiny_encoder)}, "scheme": "bio"},
            "training": {"output": str(tmp_path)},
        }
    )


def test_its_model_is_that_of_its_encoder(run: RunConfig, tmp_path: Path) -> None:
    assert train(run) == tmp_path / "model"
    assert (tmp_path / "config.yaml").read_text() == to_yaml(run)
    model, bare = load_model(tmp_path), load_model(run.model.encoder.name, run.method)
    assert model.config == run.model
    weights = bare.state_dict()
    assert weights.keys() == model.state_dict().keys()
    assert all(torch.equal(weights[name], own) for name, own in model.state_dict().items())


def test_it_does_not_take_the_place_of_another_run(run: RunConfig, tmp_path: Path) -> None:
    about = {"version": 1, "run": {"method": "protobert"}}
    save_tensors(tmp_path / "last.safetensors", {"x": torch.zeros(1)}, about)
    with pytest.raises(CheckpointError, match=r"the run there has another .*method"):
        train(run)
    assert not (tmp_path / "model").exists()
    assert load_model(train(run, restart=True)).name == "token-classifier"
    assert not (tmp_path / "last.safetensors").exists()
