"""ProtoBERT by hand: prototypes, loss and argmax, and how words are embedded."""

from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import with_embeddings

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.nnshot import NNShot
from spanproto.methods.parts.word_tagger import word_loss
from spanproto.methods.protobert import ProtoBert, ProtoBertConfig
from spanproto.methods.structshot import StructShot

VECTORS = {"the": (0, 0), "of": (2, 0), "near": (1, 0.5), "old": (1, 2), "seen": (1, 1.5)}
# The prototype of O is (1, 0), that of the one type (1, 2).
SUPPORT = (Sentence(("the", "old", "of"), (Span(1, 2, "x"),)),)


@pytest.fixture
def model(tiny_encoder: Path) -> ProtoBert:
    torch.manual_seed(0)
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    return ProtoBert.from_config(ProtoBertConfig(encoder)).eval()


@pytest.mark.parametrize("method", [ProtoBert, NNShot, StructShot])  # all are trained so
def test_the_loss_of_one_episode(method: type[ProtoBert], tiny_encoder: Path, monkeypatch) -> None:
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    model = method.from_config(method.Config(encoder=encoder)).eval()
    with_embeddings(model, VECTORS, monkeypatch)
    query = Sentence(("near", "seen", "near"), (Span(1, 3, "x"),))
    loss = model.loss(model.prepare([Episode(("x",), SUPPORT, (query,))], 1))
    # near: distances 0.25 to O and 2.25 to x; seen: 2.25 and 0.25.
    right, wrong = log(1 + exp(-2)), log(1 + exp(2))
    assert loss.item() == pytest.approx((right + right + wrong) / 3, rel=1e-5)


def test_the_loss_is_a_mean_in_each_episode_and_then_over_them(
    model: ProtoBert, monkeypatch
) -> None:
    with_embeddings(model, VECTORS, monkeypatch)
    right, wrong = (
        Episode(("x",), SUPPORT, (Sentence(words, ()),))
        for words in (("near", "near"), ("seen", "seen", "seen", "seen"))
    )
    loss = model.loss(model.prepare([right, wrong], 1))
    assert loss.item() == pytest.approx((log(1 + exp(-2)) + log(1 + exp(2))) / 2, rel=1e-5)


def test_every_word_gets_the_nearest_prototype(model: ProtoBert, monkeypatch) -> None:
    with_embeddings(model, VECTORS, monkeypatch)
    query = Sentence(("near", "seen", "seen", "near", "old"))
    ((found,),) = model.predict([Episode(("x",), SUPPORT, (query,))])
    assert found.spans == [Span(1, 3, "x"), Span(4, 5, "x")]
    assert found.candidates is None


def test_words_without_support_and_padding_have_no_part_in_the_loss() -> None:
    inf = torch.inf
    scores = torch.tensor([[[0.0, 0, -inf], [0, 0, -inf], [9, 0, -inf]]])
    assert word_loss(scores, torch.tensor([[0, 2, -1]])).item() == pytest.approx(log(2))
    assert word_loss(scores[:, :1], torch.tensor([[2]])).item() == 0


def test_an_embedding_is_the_sum_of_the_last_layers(model: ProtoBert) -> None:
    words = model.encoder.words.batch([synthetic.corpus(size=1)[0].words])
    with torch.no_grad():
        both = model.embed(words)
        model.config = ProtoBertConfig(model.config.encoder, layers=1)
        last = model.embed(words)
        hidden = model.encoder.transformer(
            words.input_ids, words.attention_mask, output_hidden_states=True
        ).hidden_states
    assert len(hidden) == 3  # the tiny encoder has two layers, so that four are both of them
    first = words.first.flatten()
    torch.testing.assert_close(both[0], (hidden[1] + hidden[2])[0, first])
    torch.testing.assert_close(last[0], hidden[2][0, first])


def test_embeddings_are_dropped_out_in_training_alone(model: ProtoBert) -> None:
    words = model.encoder.words.batch([("old", "river")])
    with torch.no_grad():
        zeros = [(model.train(mode).embed(words) == 0).float().mean() for mode in (True, False)]
    assert 0.3 < zeros[0] < 0.7
    assert zeros[1] == 0


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"layers": 0}, {"dropout": 1.0}):
        with pytest.raises(ConfigError, match=f"model.{next(iter(wrong))}"):
            ProtoBertConfig(**wrong)
