"""Spans seen from the middle of those of training."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto.adaptation import AdaptationConfig
from spanproto.batch import collate
from spanproto.centring import centred, mean_representation
from spanproto.checkpoint import load_model, save_model
from spanproto.classifier import mean_representations
from spanproto.data.types import Episode
from spanproto.errors import ConfigError, DataError
from spanproto.model import SpanProto


@pytest.fixture
def model(trained_model: Path) -> SpanProto:
    loaded = load_model(trained_model, overrides=["classifier.representation=mean"])
    assert isinstance(loaded, SpanProto)
    return loaded


@pytest.fixture
def episodes() -> list[Episode]:
    return [synthetic.varied_episode(seed) for seed in range(5)]


def test_the_middle_is_taken_off_and_lengths_are_equal(
    model: SpanProto, episodes: list[Episode]
) -> None:
    before = model.classifier.projection.bias.clone()
    moved = centred(model, episodes, radius=2.0)
    assert moved.config.classifier.sphere == 2.0
    batch = collate(episodes, model.encoder.words)
    with torch.no_grad():
        states = moved.mention_states(moved.encode(batch))
        vectors = []
        for spans in (batch.support_spans, batch.query_spans):
            lengths = states.represent(spans).norm(dim=1)
            assert lengths.tolist() == pytest.approx([2.0] * len(lengths), abs=1e-4)
            places = (spans.sentence, spans.start, spans.end)
            vectors.append(mean_representations(states.start, states.end, *places))
    assert torch.cat(vectors).mean(0).abs().max() < 1e-4
    assert mean_representation(model, episodes).abs().max() > 0.01
    torch.testing.assert_close(model.classifier.projection.bias, before)
    assert model.config.classifier.sphere is None


def test_what_is_centred_is_saved_and_fine_tuned(
    model: SpanProto, episodes: list[Episode], tmp_path: Path
) -> None:
    moved = centred(model, episodes)
    found = moved.predict(episodes)
    save_model(moved, tmp_path / "model")
    assert load_model(tmp_path / "model").predict(episodes) == found
    assert found != model.predict(episodes)
    tuned = moved.adapted(episodes[:2], AdaptationConfig(steps=2, learning_rate=1e-2))
    assert tuned.config.classifier.sphere == moved.config.classifier.sphere
    assert len(tuned.predict(episodes[:2])) == 2


def test_what_cannot_be_centred_is_refused(model: SpanProto, episodes: list[Episode]) -> None:
    with pytest.raises(DataError, match="no labelled spans"):
        centred(model, [])
    settings = replace(model.config.classifier, sphere=1.0)
    with pytest.raises(ConfigError, match="without a sphere"):
        centred(model.with_settings(replace(model.config, classifier=settings)), episodes)
