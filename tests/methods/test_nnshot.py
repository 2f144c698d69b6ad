"""NNShot by hand: the nearest word decides; it is trained as ProtoBERT, or by nearest words."""

from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import with_embeddings

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.methods.nnshot import NNShot, NNShotConfig
from spanproto.methods.protobert import ProtoBert
from spanproto.methods.structshot import StructShot


@pytest.fixture
def config(tiny_encoder: Path) -> NNShotConfig:
    return NNShotConfig(EncoderConfig(str(tiny_encoder), dropout=0.0))


def test_the_nearest_word_decides_and_not_the_mean(config: NNShotConfig, monkeypatch) -> None:
    vectors = {"the": (0, 0), "of": (10, 0), "old": (3, 0), "seen": (1, 0), "near": (2.5, 0)}
    support = (Sentence(("the", "old", "of"), (Span(1, 2, "x"),)),)
    episode = Episode(("x",), support, (Sentence(("seen", "near")),))
    found = {}
    for method in (NNShot, ProtoBert):
        model = with_embeddings(method.from_config(config), vectors, monkeypatch)
        ((sentence,),) = model.predict([episode])
        found[method] = sentence.spans
    # seen: squared distances 1 to O's nearest word and 4 to x; 16 to O's mean (5, 0).
    assert found[NNShot] == [Span(1, 2, "x")]
    assert found[ProtoBert] == [Span(0, 2, "x")]


def test_it_is_trained_as_protobert(config: NNShotConfig) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2)]
    losses = []
    for method in (NNShot, ProtoBert):
        torch.manual_seed(0)
        model = method.from_config(config)
        losses.append(model.gradients(model.prepare(episodes, 1), 1, 0)["loss"].item())
    assert losses[0] == losses[1]


@pytest.mark.parametrize("method", [NNShot, StructShot])
def test_it_can_be_trained_by_the_nearest_words(
    method: type[NNShot], tiny_encoder: Path, monkeypatch
) -> None:
    vectors = {"the": (0, 0), "of": (9, 0), "old": (2, 0), "seen": (2, 2), "near": (1.5, 0)}
    support = (Sentence(("the", "old", "of", "seen"), (Span(1, 2, "x"), Span(3, 4, "x"))),)
    query = Sentence(("near", "old"), (Span(1, 2, "x"),))
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    model = method.from_config(method.Config(encoder, loss="nearest")).eval()
    model = with_embeddings(model, vectors, monkeypatch)
    loss = model.loss(model.prepare([Episode(("x",), support, (query,))], 1))
    # near, of O: squared distances 2.25 to O's nearest word, 0.25 to x's; old, of x: 4 and 0.
    assert loss.item() == pytest.approx((log(1 + exp(2)) + log(1 + exp(-4))) / 2, rel=1e-5)
