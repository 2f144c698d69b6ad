"""NNShot by hand: the nearest word decides, and training is ProtoBERT's."""

from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import with_embeddings

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.methods.nnshot import NNShot
from spanproto.methods.protobert import ProtoBert, ProtoBertConfig


@pytest.fixture
def config(tiny_encoder: Path) -> ProtoBertConfig:
    return ProtoBertConfig(EncoderConfig(str(tiny_encoder), dropout=0.0))


def test_the_nearest_word_decides_and_not_the_mean(config: ProtoBertConfig, monkeypatch) -> None:
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


def test_it_is_trained_as_protobert(config: ProtoBertConfig) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2)]
    losses = []
    for method in (NNShot, ProtoBert):
        torch.manual_seed(0)
        model = method.from_config(config)
        losses.append(model.gradients(model.prepare(episodes, 1), 1, 0)["loss"].item())
    assert losses[0] == losses[1]
