"""One method's weights for another: where they fit, and what is said where they do not."""

from pathlib import Path

import pytest
import torch

from spanproto.checkpoint import load_model, load_spanproto, save_model
from spanproto.encoder import EncoderConfig
from spanproto.errors import CheckpointError, ConfigError
from spanproto.methods import method_named
from spanproto.methods.protobert import ProtoBert, ProtoBertConfig
from spanproto.methods.structshot import StructShot
from spanproto.model import SpanProto


@pytest.fixture
def saved(tiny_encoder: Path, tmp_path: Path) -> Path:
    model = ProtoBert.from_config(ProtoBertConfig(EncoderConfig(str(tiny_encoder)), dropout=0.25))
    model.transitions.copy_(100_003 * torch.arange(9).view(3, 3))
    model.origin = {"seed": 5}
    save_model(model, tmp_path / "model")
    return tmp_path


def test_methods_trained_alike_share_weights(saved: Path) -> None:
    model = load_model(saved, "structshot", ["temperature=0.434"])
    assert isinstance(model, StructShot)
    assert (model.config.dropout, model.config.temperature) == (0.25, 0.434)
    assert model.origin == {"seed": 5}
    for name, tensor in load_model(saved).state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor)
    save_model(model, saved / "other", half=True)
    assert torch.equal(load_model(saved / "other").transitions, model.transitions)
    assert load_model(saved / "other", "nnshot").config.dropout == 0.25  # has no temperature


def test_weights_that_do_not_fit_are_refused(saved: Path, tiny_model: SpanProto) -> None:
    with pytest.raises(CheckpointError, match=r"ProtoBERT do not serve SpanProto; .* spanproto$"):
        load_model(saved, "spanproto")
    with pytest.raises(CheckpointError, match="ProtoBERT do not serve SpanProto"):
        load_spanproto(saved)
    save_model(tiny_model, saved / "span")
    assert load_spanproto(saved / "span").config == tiny_model.config
    with pytest.raises(
        CheckpointError, match=r"SpanProto do not serve NNShot.*nnshot or protobert or structshot"
    ):
        load_model(saved / "span", "nnshot")


def test_unknown_names_come_with_the_nearest(saved: Path) -> None:
    with pytest.raises(ConfigError, match="no method 'structsho'; did you mean 'structshot'"):
        load_model(saved, "structsho")
    with pytest.raises(ConfigError, match="no method 'bert'; "):
        method_named("bert")
    with pytest.raises(ConfigError, match=r"^there is no setting 'model\.dropot'; did you mean"):
        load_model(saved, overrides=["dropot=0.1"])


def test_the_encoder_of_any_model_serves_what_needs_no_training(
    saved: Path, tiny_model: SpanProto
) -> None:
    save_model(tiny_model, saved / "span", half=True, shard_bytes=20_000)
    for source in (saved, saved / "span"):
        own, other = load_model(source), load_model(source, "token-classifier", ["scheme=bio"])
        assert other.name == "token-classifier"
        assert other.config.encoder == own.config.encoder
        assert other.config.scheme == "bio"
        assert other.origin == own.origin
        for name, tensor in own.encoder.state_dict().items():
            assert torch.equal(other.encoder.state_dict()[name], tensor)


def test_a_bare_encoder_serves_what_needs_no_training(tiny_encoder: Path) -> None:
    model = load_model(tiny_encoder, "token-classifier", ["encoder.max_length=64"])
    assert model.config.encoder == EncoderConfig(str(tiny_encoder), max_length=64)
    for method in (None, "protobert"):
        with pytest.raises(CheckpointError, match="not a spanproto model"):
            load_model(tiny_encoder, method)
