"""How the tests that all methods must pass ask a method what it finds."""

from collections.abc import Mapping
from typing import Any

from spanproto.adaptation import AdaptationConfig, predict_adapted
from spanproto.benchmark import evaluate
from spanproto.data.types import Episode, Span
from spanproto.evaluation import Report
from spanproto.methods.base import Method
from spanproto.prediction import predict_all

# What a method needs to learn from a support set with a tiny encoder.
ADAPTATION: dict[str, dict[str, Any]] = {"token-classifier": {"steps": 60, "learning_rate": 1e-3}}


def adaptation_of(model: Method, settings: Mapping[str, Any] | None = None) -> AdaptationConfig:
    return model.adaptation({**ADAPTATION.get(model.name, {}), **(settings or {})})


def found(model: Method, episodes: list[Episode]) -> list[list[list[Span]]]:
    """What a method finds, adapted if that is a part of it."""
    if model.always_adapts:
        predictions = predict_adapted(model, episodes, adaptation_of(model))
    else:
        predictions = predict_all(model, episodes)
    return [[sorted(one.spans) for one in sentences] for sentences in predictions]


def report_of(model: Method, episodes: list[Episode]) -> Report:
    settings = adaptation_of(model) if model.always_adapts else None
    return evaluate(model, episodes, "fewnerd", adaptation=settings)
