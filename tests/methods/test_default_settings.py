"""Default settings: those that a method's authors state are theirs, and none moves by accident."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pytest

from spanproto.config import to_dict
from spanproto.methods import method_named
from spanproto.training.settings import RunConfig


class Settings(NamedTuple):
    model: dict[str, Any]
    training: dict[str, Any]
    adaptation: dict[str, Any]
    rate_factors: Mapping[str, float] = {}


PROTOTYPES = {"layers": 4, "dropout": 0.5}
PROTOTYPE_TRAINING = {"learning_rate": 1e-4, "weight_decay": 0.01, "warmup": 0.1}
PAIRED_TRAINING = {
    "learning_rate": 1e-5,
    "head_learning_rate": 1e-3,
    "episodes_per_step": 4,
    "clip": 5.0,
}
SETTINGS = {
    "protobert": Settings(PROTOTYPES, PROTOTYPE_TRAINING, {}),
    "nnshot": Settings({**PROTOTYPES, "loss": "prototypes"}, PROTOTYPE_TRAINING, {}),
    "structshot": Settings(
        {**PROTOTYPES, "loss": "prototypes", "temperature": 0.32}, PROTOTYPE_TRAINING, {}
    ),
    "container": Settings(
        {"size": 128, "dropout": 0.1, "temperature": 0.01},
        {
            "sentences_per_step": 32,
            "learning_rate": 5e-5,
            "weight_decay": 0.0,
            "warmup": 0.0,
            "clip": 1.0,
        },
        {"steps": 200, "learning_rate": 5e-5, "decay": False, "weight_decay": 0.0},
    ),
    "matching-network": Settings({"spread": 5.0}, PAIRED_TRAINING, {}, {"scale.": 10}),
    "l-tapnet-cdt": Settings(
        {
            "pairwise": True,
            "anchors": 128,
            "anchor_share": 0.5,
            "prototype_share": 0.3,
            "spread": 5.0,
            "spelled_out": True,
        },
        {**PAIRED_TRAINING, "weight_decay": 0.01},
        {},
        {"scale.": 10, "transitions.": 10},
    ),
    "esd": Settings(
        {
            "longest": 8,
            "size": 100,
            "heads": 1,
            "dropout": 0.1,
            "state_dropout": 0.5,
            "soft_nms": {"beams": 5, "overlap": 1e-5, "decay": 1e-5, "least": 0.1},
        },
        {
            "steps": 10_000,
            "warmup": 0.1,  # 1000 steps
            "episodes_per_step": 2,
            "learning_rate": 2e-5,
            "head_learning_rate": 5e-4,
        },
        {},
    ),
    "decommeta": Settings(
        {
            "dropout": 0.1,
            "worst_weight": 2.0,
            "inner_worst_weight": 5.0,
            "similarity_scale": 10.0,
            "inner_steps": 2,
            "inner_learning_rate": 3e-5,
        },
        {
            "steps": 5000,
            "episodes_per_step": 32,
            "learning_rate": 3e-5,
            "weight_decay": 0.01,
            "warmup": 0.1,
            "clip": 1000.0,
        },
        {"steps": 3, "learning_rate": 3e-5, "decay": False, "episodes_at_once": 4},
        {"typing_encoder.": pytest.approx(10 / 3), "norm.": pytest.approx(10 / 3)},
    ),
    "token-classifier": Settings(
        {"scheme": "io"},
        {},
        {"steps": 100, "learning_rate": 5e-5, "head_learning_rate": 1e-3},
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_defaults_of_a_method(name: str) -> None:
    method, expected = method_named(name), SETTINGS[name]
    run = to_dict(RunConfig.of({"method": name}))
    adaptation = to_dict(method.adaptation({}))
    assert chosen(run["model"], run["model"].keys() - {"encoder"}) == expected.model
    assert chosen(run["training"], method.training_defaults) == expected.training
    assert chosen(adaptation, method.adaptation_defaults) == expected.adaptation
    assert method.rate_factors == expected.rate_factors


def chosen(settings: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: settings[name] for name in names}
