"""Which layers of an encoder are tuned, whatever it calls them."""

from typing import Any

import pytest
import synthetic
from transformers import AutoConfig, AutoModel

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.errors import ConfigError
from spanproto.model import ModelConfig, SpanProto
from spanproto.ner import FewShotNER
from spanproto.stacking import TuningConfig, stack

SHAPES: dict[str, dict[str, Any]] = {
    "distilbert": {"dim": 32, "n_layers": 3, "n_heads": 2, "hidden_dim": 64},
    "gpt_neo": {
        "hidden_size": 32,
        "num_layers": 3,
        "num_heads": 2,
        "attention_types": [[["global"], 3]],
    },
    "gpt2": {"n_embd": 32, "n_layer": 3, "n_head": 2},
    "albert": {
        "hidden_size": 32,
        "embedding_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "intermediate_size": 64,
    },
}
IN_LAYERS = TuningConfig("all"), TuningConfig("top", top_layers=2), TuningConfig("low-rank", rank=4)


def model_of(kind: str, pretrained: Encoder) -> SpanProto:
    """SpanProto on a very small encoder of a kind, with the tokenizer of another."""
    tokenizer = pretrained.words.tokenizer
    settings = AutoConfig.for_model(kind, vocab_size=len(tokenizer), **SHAPES[kind])
    config = EncoderConfig(name=f"some/{kind}")
    encoder = Encoder(AutoModel.from_config(settings), tokenizer, config)
    return SpanProto(encoder, ModelConfig(encoder=config)).eval()


def tuned_layers(model: SpanProto, tuning: TuningConfig) -> set[str]:
    """The names of the encoder's layers in which something is tuned."""
    names = [name for name, p in stack(model, 1, tuning).named_parameters() if p.requires_grad]
    layers = model.encoder.layers()
    return {layer for layer in layers for name in names if name.startswith(f"encoder.{layer}.")}


@pytest.mark.parametrize(
    ("kind", "place"),
    [("distilbert", "transformer.transformer.layer"), ("gpt_neo", "transformer.h")],
)
def test_layers_are_found_whatever_they_are_called(
    kind: str, place: str, pretrained: Encoder
) -> None:
    model = model_of(kind, pretrained)
    everything, top, low_rank = (tuned_layers(model, tuning) for tuning in IN_LAYERS)
    assert everything == low_rank == {f"{place}.{number}" for number in range(3)}
    assert top == {f"{place}.1", f"{place}.2"}
    assert tuned_layers(model, TuningConfig("top", top_layers=9)) == everything
    assert tuned_layers(model, TuningConfig("heads")) == set()


@pytest.mark.parametrize("kind", ["albert", "gpt2"])
def test_an_encoder_without_layers_to_tune_is_refused(kind: str, pretrained: Encoder) -> None:
    """Layers that share their weights, or that have no linear layers in them."""
    model, episode = model_of(kind, pretrained), synthetic.episode(4)
    reason = rf"encoder 'some/{kind}': .*tuning\.tune=heads"
    for tuning in IN_LAYERS:
        with pytest.raises(ConfigError, match=reason):
            adapt(model, [episode], AdaptationConfig(steps=1, tuning=tuning))
    with pytest.raises(ConfigError, match=reason):
        FewShotNER(model).fit(episode.support)
    heads = AdaptationConfig(steps=1, tuning=TuningConfig("heads"))
    assert len(adapt(model, [episode], heads).predict([episode])[0]) == len(episode.query)
