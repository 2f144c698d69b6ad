"""Every method trained once on an easy task, for the tests that all methods must pass."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import process_time
from typing import Any

import pytest
import synthetic

from spanproto.checkpoint import load_model
from spanproto.data.formats import write_sentences
from spanproto.methods import method_named
from spanproto.methods.base import Method
from spanproto.training.loop import train
from spanproto.training.settings import RunConfig

# What a method needs, beyond 200 steps, to learn the easy task with a tiny encoder.
TRAINING: dict[str, dict[str, Any]] = {
    "spanproto": {
        "model": {
            "classifier": {"margin": 8.0},
            "objective": {"extractor_steps": 30, "extractor_data": "support+query"},
        },
        "training": {"steps": 400, "learning_rate": 5e-3},
    },
    "container": {"model": {"dropout": 0.5}},
    "decommeta": {
        "model": {"dropout": 0.0, "inner_learning_rate": 1e-3},
        "training": {"steps": 400, "learning_rate": 2e-3, "clip": 1.0, "episodes_per_step": 4},
    },
    "esd": {
        "model": {"longest": 2, "dropout": 0.1, "state_dropout": 0.1},
        "training": {"steps": 600, "learning_rate": 5e-3, "head_learning_rate": 1e-3},
    },
}


@pytest.fixture(scope="session")
def training_seconds() -> dict[str, float]:
    """The processor's time that the training of each method took, of those that are trained."""
    return {}


@pytest.fixture(scope="session")
def trained(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_encoder: Path,
    training_seconds: dict[str, float],
) -> Callable[[str], Path]:
    """The folder of a method's trained model; of an encoder, if the method needs no training."""
    folder = tmp_path_factory.mktemp("methods")
    write_sentences(folder / "corpus.json", synthetic.corpus(1, 120), "token-json")

    @cache
    def make(name: str) -> Path:
        if method_named(name).trains_on is None:
            return save_encoder(load_model(make("protobert")), folder / "encoder")
        extra = TRAINING.get(name, {})
        content = {
            "method": name,
            "model": {
                "encoder": {"name": str(tiny_encoder), "dropout": 0.0},
                **extra.get("model", {}),
            },
            "data": {"train": str(folder / "corpus.json"), "ways": 3, "protocol": "crossdomain"},
            "training": {
                "output": str(folder / name),
                "steps": 200,
                "learning_rate": 3e-3,
                "checkpoint_every": 1000,
                "device": "cpu",
                **extra.get("training", {}),
            },
        }
        begun = process_time()
        done = train(RunConfig.of(content))
        training_seconds[name] = process_time() - begun
        return done

    return make


def save_encoder(model: Method, folder: Path) -> Path:
    """The encoder of a trained model stands for a pretrained one."""
    model.encoder.transformer.save_pretrained(folder)
    model.encoder.words.tokenizer.save_pretrained(folder)
    return folder
