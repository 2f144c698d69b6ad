"""The token classifier by hand: its loss, its tags, and where its layer begins."""

from dataclasses import replace
from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto.adaptation import AdaptationConfig
from spanproto.checkpoint import load_model, save_model
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError
from spanproto.methods.token_classifier import TokenClassifier

ANY = AdaptationConfig()
EPISODE = Episode(
    ("x", "y", "z"),  # nothing is known of z
    (Sentence(("the", "old", "tool"), (Span(1, 2, "x"), Span(2, 3, "y"))),),
    (Sentence(("the", "old", "tool", "near")),),
)


@pytest.fixture
def model(tiny_encoder: Path) -> TokenClassifier:
    return load_model(tiny_encoder, "token-classifier")


def loss(model: TokenClassifier, *episodes: Episode) -> float:
    model.stacked = len(episodes) > 1
    return model.support_loss(model.support_batch(episodes), ANY).item()


def test_at_first_all_tags_of_known_types_are_as_probable(model: TokenClassifier) -> None:
    assert loss(model.for_episodes([EPISODE]), EPISODE) == pytest.approx(log(3))
    other = synthetic.episode(1, synthetic.TYPES[:4])
    both = model.for_episodes([EPISODE, other])
    assert loss(both, EPISODE, other) == pytest.approx((log(3) + log(5)) / 2)


def test_loss_and_tags_by_hand(model: TokenClassifier, monkeypatch) -> None:
    fresh = model.for_episodes([EPISODE])
    weights = torch.tensor([[1.0, 0], [0, 2], [0, 0], [9, 9]])  # of O, x, y, z
    fresh.head.weight = torch.nn.Parameter(weights)
    fresh.head.bias = torch.nn.Parameter(torch.zeros(4))
    # The states of the words in turn: logits (1, 0, 0), (0, 2, 0), (0, 0, 0), (1, 0, 0) without z.
    states = torch.tensor([[1.0, 0], [0, 1], [0, 0], [1, 0]])
    monkeypatch.setattr(
        fresh.encoder, "first_states", lambda words: states[None, : words.first.shape[1]]
    )
    terms = (log(exp(1) + 2) - 1, log(exp(2) + 2) - 2, log(3))
    assert loss(fresh, EPISODE) == pytest.approx(sum(terms) / 3)
    ((found,),) = fresh.predict([EPISODE])
    assert found.spans == [Span(1, 2, "x")]


def test_fine_tuning_learns_the_support_set(model: TokenClassifier) -> None:
    config = model.adaptation({"steps": 60, "learning_rate": 3e-3, "head_learning_rate": 3e-2})
    adapted = model.adapted([EPISODE], config)
    assert loss(adapted, EPISODE) < 0.1
    ((found,),) = adapted.predict([replace(EPISODE, query=EPISODE.support)])
    assert found.spans == [Span(1, 2, "x"), Span(2, 3, "y")]


def test_fine_tuned_it_comes_back_with_its_layer_and_types(
    model: TokenClassifier, tmp_path: Path
) -> None:
    adapted = model.adapted([EPISODE], model.adaptation({"steps": 20, "learning_rate": 3e-3}))
    save_model(adapted, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.head_types == EPISODE.types
    assert loss(loaded, EPISODE) == pytest.approx(loss(adapted, EPISODE))
    assert loss(loaded, EPISODE) < log(3)
    assert "- `x`\n- `y`\n- `z`\n" in (tmp_path / "README.md").read_text()
    with pytest.raises(ConfigError, match=r"fine-tuned to \['x', 'y', 'z'\] is asked for \['y'"):
        loaded.predict([replace(EPISODE, types=("y", "x", "z"))])


def test_it_needs_a_support_set_before_it_predicts(model: TokenClassifier) -> None:
    with pytest.raises(ConfigError, match="adapt it first"):
        model.predict([EPISODE])
