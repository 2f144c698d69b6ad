"""The Matching Network by hand: mean dot products, its loss, and BIO tags read as spans."""

from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
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
    config = MatchingNetworkConfig(EncoderConfig(str(tiny_encoder), dropout=0.0))
    model = MatchingNetwork.from_config(config).eval()
    with torch.no_grad():
        model.scale.log.fill_(log(0.5))
    return with_embeddings(model, VECTORS, monkeypatch)


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
    # The scale s grows by s with its logarithm.
    right, wrong = exp(1.5) / (exp(1.5) + 2), exp(1) / (exp(1) + 2)
    expected = 0.5 * (-3 * (1 - right) + 2 * wrong) / 2
    assert model.scale.log.grad.item() == pytest.approx(expected, rel=1e-5)


def test_the_scale_begins_where_the_encoder_needs_it(tiny_encoder: Path) -> None:
    config = MatchingNetworkConfig(EncoderConfig(str(tiny_encoder), dropout=0.0), spread=3.0)
    model = MatchingNetwork.from_config(config).eval()
    sentences = [sentence for sentence in synthetic.corpus(1, 5) if sentence.words]
    model.begin_training(sentences, 10)
    words = model.encoder.words.batch([sentence.words for sentence in sentences])
    states = model.embed(words)[words.word_mask]
    assert model.scale(states @ states.mT).std().item() == pytest.approx(3.0, rel=1e-3)


def test_a_spread_is_positive() -> None:
    with pytest.raises(ConfigError, match="spread must be positive"):
        MatchingNetworkConfig(spread=0.0)
