"""The Matching Network by hand: mean dot products, its loss, and BIO tags read as spans."""

from math import exp, log
from pathlib import Path

import pytest
from by_hand import with_embeddings

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.matching_network import MatchingNetwork, MatchingNetworkConfig

VECTORS = {
    "the": (2, 0, 0), "of": (4, 0, 0), "old": (0, 2, 0), "river": (0, 0, 2),
    "seen": (0, 1, 0), "near": (0, 0, 1), "with": (1, 0, 0),
}  # fmt: skip
# Mean dot products of a word (a, b, c): 3a with O, 2b with B-x, 2c with I-x; y has no support.
SUPPORT = (Sentence(("the", "old", "river", "of"), (Span(1, 3, "x"),)),)


@pytest.fixture
def model(tiny_encoder: Path, monkeypatch) -> MatchingNetwork:
    config = MatchingNetworkConfig(EncoderConfig(str(tiny_encoder), dropout=0.0), scale=0.5)
    return with_embeddings(MatchingNetwork.from_config(config).eval(), VECTORS, monkeypatch)


def test_the_loss_of_one_episode(model: MatchingNetwork) -> None:
    query = Sentence(("with", "near", "river"), (Span(1, 2, "x"), Span(2, 3, "y")))
    loss = model.loss(model.prepare([Episode(("x", "y"), SUPPORT, (query,))], 1))
    # Halved logits of O, B-x, I-x: (1.5, 0, 0) for an O and (0, 0, 1) for a B-x.
    terms = (log(exp(1.5) + 2) - 1.5, log(2 + exp(1)))
    assert loss.item() == pytest.approx(sum(terms) / 2, rel=1e-5)


@pytest.mark.parametrize(
    ("words", "spans"),
    [
        (("with", "seen", "near", "seen"), [(1, 3), (3, 4)]),  # O B I B
        (("near", "near", "with"), [(0, 2)]),  # I I O, which no B begins
    ],
)
def test_tags_are_chosen_word_by_word(model: MatchingNetwork, words, spans) -> None:
    ((found,),) = model.predict([Episode(("x", "y"), SUPPORT, (Sentence(words),))])
    assert found.spans == [Span(start, end, "x") for start, end in spans]


def test_the_scale_is_learned(model: MatchingNetwork) -> None:
    query = Sentence(("with", "near"), (Span(1, 2, "x"),))
    model.gradients(model.prepare([Episode(("x",), SUPPORT, (query,))], 1), 1, 0)
    # O's logit 3s grows by 3 with the scale, in vain the more sure it is; I-x by 2, wrongly.
    right, wrong = exp(1.5) / (exp(1.5) + 2), exp(1) / (exp(1) + 2)
    assert model.scale.grad.item() == pytest.approx((-3 * (1 - right) + 2 * wrong) / 2, rel=1e-5)


def test_a_scale_is_positive() -> None:
    with pytest.raises(ConfigError, match="scale must be positive"):
        MatchingNetworkConfig(scale=0.0)
