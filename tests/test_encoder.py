"""Every common architecture gives word states, and none of them depend on the batch."""

import json
from pathlib import Path

import pytest
import synthetic
import torch
import transformers
from safetensors.torch import load_file, save_file

from spanproto.checkpoint import load_spanproto, save_model
from spanproto.encoder import TAKES_READY_MASK, Encoder, EncoderConfig
from spanproto.errors import CheckpointError, ConfigError
from spanproto.model import ModelConfig, SpanProto
from spanproto.paper.quick import ENCODER
from spanproto.remembering import frozen_layers_remembered
from spanproto.tokenization import WordTokenizer

SMALL = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
}
ARCHITECTURES = {
    "bert": (transformers.BertConfig, SMALL),
    "mpnet": (transformers.MPNetConfig, SMALL),
    "roberta": (transformers.RobertaConfig, SMALL),
    "xlm-roberta": (transformers.XLMRobertaConfig, SMALL),
    "distilbert": (
        transformers.DistilBertConfig,
        {
            "vocab_size": 300,
            "dim": 32,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 32,
            "max_position_embeddings": 64,
        },
    ),
    "deberta-v2": (transformers.DebertaV2Config, SMALL),
    "electra": (transformers.ElectraConfig, SMALL | {"embedding_size": 32}),
    "modernbert": (transformers.ModernBertConfig, SMALL | {"pad_token_id": 0}),
}


@pytest.fixture(params=sorted(ARCHITECTURES))
def encoder(request: pytest.FixtureRequest, tiny_encoder: Path, tmp_path: Path) -> Encoder:
    kind, values = ARCHITECTURES[request.param]
    torch.manual_seed(0)
    transformers.AutoModel.from_config(kind(**values)).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny_encoder).save_pretrained(tmp_path)
    return Encoder.from_pretrained(EncoderConfig(name=str(tmp_path), overlap=8)).eval()


def test_word_states_do_not_depend_on_the_batch(encoder: Encoder) -> None:
    sentences = [sentence.words for sentence in synthetic.corpus(size=3)]
    with torch.no_grad():
        together = encoder(encoder.words.batch(sentences))
        alone = [encoder(encoder.words.batch([words])) for words in sentences]
    for row, words in enumerate(sentences):
        for both, one in zip(together, alone[row], strict=True):
            assert both.shape[-1] == encoder.hidden_size
            torch.testing.assert_close(both[row, : len(words)], one[0], atol=1e-5, rtol=1e-4)


def test_the_last_of_several_layers_is_what_the_encoder_gives(encoder: Encoder) -> None:
    for name, weight in encoder.named_parameters():
        if "norm" in name.lower():
            torch.nn.init.uniform_(weight, 0.5, 2.0)
    batch = encoder.words.batch([sentence.words for sentence in synthetic.corpus(size=3)])
    with torch.no_grad():
        states = encoder.states_of(batch, range(1, encoder.layer_count + 1))
        (alone,) = encoder.states_of(batch, [encoder.layer_count])
        given = encoder(batch)
    assert len(states) == 2
    assert not torch.equal(states[0][0], states[1][0])
    for last in (states[-1], alone):
        assert all(torch.equal(one, other) for one, other in zip(last, given, strict=True))


def test_sentences_that_share_rows_do_not_see_each_other(encoder: Encoder) -> None:
    corpus = [sentence.words for sentence in synthetic.corpus(size=12)]
    sentences = [words[: 1 + number % 4] for number, words in enumerate(corpus)] + [corpus[0], ()]
    words = encoder.words
    apart = WordTokenizer(words.tokenizer, words.max_length, words.overlap)
    mine, alone = words.batch(sentences), apart.batch(sentences)
    kind = encoder.transformer.config.model_type
    assert (len(mine.input_ids) < len(sentences)) == (kind in TAKES_READY_MASK)
    with torch.no_grad():
        plain = encoder.transformer(alone.input_ids, alone.attention_mask).last_hidden_state
        for one, places in zip(encoder(mine), (alone.first, alone.last), strict=True):
            there = plain.flatten(0, 1)[places]
            mask = mine.word_mask
            torch.testing.assert_close(one[mask], there[mask], atol=1e-5, rtol=1e-4)


def test_states_are_summed_over_the_last_layers(encoder: Encoder) -> None:
    words = encoder.words.batch([sentence.words for sentence in synthetic.corpus(size=3)])
    with torch.no_grad():
        last, (start, _), both = encoder.first_states(words), encoder(words), []
        for frozen in (False, True):
            encoder.requires_grad_(not frozen)
            with frozen_layers_remembered(encoder):
                both += [encoder.first_states(words, layers=2) for _ in range(2)]
    torch.testing.assert_close(last, start)
    for states in both:  # these encoders have one layer; a final norm is no part of it
        assert states.shape == last.shape
        torch.testing.assert_close(states, both[0])


def test_what_opens_a_sentence_has_a_state(encoder: Encoder) -> None:
    words = encoder.words.batch([("old",) * 70, ("river",)])
    with torch.no_grad():
        opening = encoder.opening_states(words)
        hidden = encoder.transformer(words.input_ids, words.attention_mask).last_hidden_state
    windows = words.first[:, 0] // words.input_ids.shape[1]
    assert windows.tolist() == [0, len(words.input_ids) - 1]
    assert len(words.input_ids) > 2
    torch.testing.assert_close(opening, hidden[windows, 0], atol=1e-5, rtol=1e-4)


def test_sentences_beyond_the_position_limit_are_windowed(encoder: Encoder) -> None:
    words = ["river", "old"] * 60
    with torch.no_grad():
        start, end = encoder(encoder.words.batch([words]))
    assert start.shape == end.shape == (1, 120, encoder.hidden_size)
    assert start.isfinite().all()
    assert not torch.equal(start[0, 0], start[0, 100])


def test_the_first_layers_can_stand_alone(tiny_encoder: Path, tmp_path: Path) -> None:
    words = [synthetic.corpus(size=1)[0].words]
    whole = Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder))).eval()
    first = Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder), layers=1)).eval()
    assert (len(whole.layers()), len(first.layers())) == (2, 1)
    seen: list[torch.Tensor] = []
    next(iter(whole.layers().values())).register_forward_hook(
        lambda _m, _a, output: seen.append(output)
    )
    with torch.no_grad():
        whole.run(whole.words.batch(words))
        alone = first.run(first.words.batch(words))
    lower = seen[0] if isinstance(seen[0], torch.Tensor) else seen[0][0]
    assert torch.equal(alone, lower)

    save_model(SpanProto(first, ModelConfig(encoder=first.config)), tmp_path / "model")
    again = load_spanproto(tmp_path / "model").encoder.eval()
    with torch.no_grad():
        assert torch.equal(again.run(again.words.batch(words)), alone)

    more = Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder), layers=3))
    assert len(more.layers()) == 2


def test_dropout_is_as_configured(tiny_encoder: Path) -> None:
    def rate(dropout: float | None) -> float:
        encoder = Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder), dropout=dropout))
        return encoder.transformer.embeddings.dropout.p

    assert (rate(None), rate(0.3), rate(0.0)) == (0.1, 0.3, 0.0)


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no such directory"):
        Encoder.from_pretrained(EncoderConfig(name=str(tmp_path / "none")))
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        Encoder.from_pretrained(EncoderConfig(name="no-such-encoder-anywhere"))
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        Encoder.from_pretrained(EncoderConfig(name=str(tmp_path)))


def test_truncated_weights_of_an_encoder_are_named(tiny_encoder: Path, tmp_path: Path) -> None:
    for path in tiny_encoder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        Encoder.from_pretrained(EncoderConfig(name=str(tmp_path)))


def test_an_encoder_that_is_not_whole_is_refused(tiny_encoder: Path, tmp_path: Path) -> None:
    for path in tiny_encoder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    weights = load_file(tmp_path / "model.safetensors")
    name = next(name for name in weights if "layer.0." in name)
    save_file({k: v for k, v in weights.items() if k != name}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match=f"lacks 1 of the weights, such as .*{name}"):
        Encoder.from_pretrained(EncoderConfig(name=str(tmp_path)))


def test_the_encoder_of_a_saved_model_has_its_weights(tmp_path: Path) -> None:
    """The model that comes with the package, too, whose tensors are in pieces."""
    for directory in (ENCODER, tmp_path / "saved"):
        model = load_spanproto(ENCODER)
        if directory != ENCODER:
            save_model(model, directory)
        encoder = Encoder.from_pretrained(EncoderConfig(name=str(directory)))
        own, stored = encoder.transformer.state_dict(), model.encoder.transformer.state_dict()
        for name in own:
            if "pooler" not in name:
                torch.testing.assert_close(own[name], stored[name])


def test_an_encoder_that_does_not_fit_its_settings_is_refused(
    tiny_encoder: Path, tmp_path: Path
) -> None:
    for path in tiny_encoder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = json.loads((tmp_path / "config.json").read_text("utf-8"))
    wider = {**settings, "vocab_size": settings["vocab_size"] + 1}
    (tmp_path / "config.json").write_text(json.dumps(wider), "utf-8")
    with pytest.raises(CheckpointError, match="cannot be loaded"):
        Encoder.from_pretrained(EncoderConfig(name=str(tmp_path)))


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"max_length": 0}, {"overlap": -1}, {"dropout": 1.0}, {"layers": 0}):
        with pytest.raises(ConfigError, match=f"encoder.{next(iter(wrong))}"):
            EncoderConfig(**wrong)
