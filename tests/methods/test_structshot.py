"""StructShot by hand: transitions of the training data overrule a doubtful word."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from by_hand import with_embeddings

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.structshot import StructShot, StructShotConfig

# x lies at (0, 0), y at (2, 0), O far away; "near" is a little nearer to y.
VECTORS = {"old": (0, 0), "seen": (2, 0), "the": (0, 9), "near": (1.1, 0)}
SUPPORT = (Sentence(("old", "the", "seen"), (Span(0, 1, "x"), Span(2, 3, "y"))),)


@pytest.fixture
def model(tiny_encoder: Path, monkeypatch) -> StructShot:
    config = StructShotConfig(EncoderConfig(str(tiny_encoder)))
    return with_embeddings(StructShot.from_config(config), VECTORS, monkeypatch)


def spans(model: StructShot, *words: str) -> list[Span]:
    ((found,),) = model.predict([Episode(("x", "y"), SUPPORT, (Sentence(words),))])
    return found.spans


def test_the_best_sequence_by_hand(model: StructShot) -> None:
    """Emissions of "near": x -1.21, y -0.81, so y leads by 0.4 until a change costs more."""
    train = [Sentence(tuple("abcd"), (Span(0, 2, "a"), Span(2, 3, "b")))]  # a a b O
    model.begin_training(train, 1)
    assert model.transitions.tolist() == [[0, 1, 0], [0, 0, 0], [1, 1, 1]]
    # Of I: O, same and other have a third each, so going on costs no more than changing.
    assert spans(model, "old", "near") == [Span(0, 1, "x"), Span(1, 2, "y")]
    # Going on becomes four times as probable, at temperature 0.32 worth 0.32 log 4 = 0.44 > 0.4.
    model.transitions[2] = torch.tensor([1, 4, 1])
    assert spans(model, "old", "near") == [Span(0, 2, "x")]
    # At temperature 0.2 it is worth 0.28 < 0.4 only.
    model.config = replace(model.config, temperature=0.2)
    assert spans(model, "old", "near") == [Span(0, 1, "x"), Span(1, 2, "y")]


def test_transitions_are_part_of_the_weights(model: StructShot) -> None:
    assert "transitions" in model.state_dict()
    assert "transitions" not in dict(model.named_parameters())


def test_without_transitions_it_is_nnshot(model: StructShot) -> None:
    assert spans(model, "near", "old", "the") == [Span(0, 1, "y"), Span(1, 2, "x")]


def test_a_temperature_is_positive() -> None:
    with pytest.raises(ConfigError, match="temperature must be positive"):
        StructShotConfig(temperature=0.0)
