"""Any pretrained transformer encoder, read at word level.

Every word has two states: that of its first sub-token, where spans may begin, and that of its
last, where they may end. Spans therefore never begin or end inside a word.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from spanproto.config import require
from spanproto.errors import CheckpointError, ConfigError
from spanproto.letter_case import CASE_VECTORS, CasedEmbedding
from spanproto.tokenization import WordBatch, WordTokenizer

SETTINGS = "spanproto.json"  # in a directory that this library has saved a model to
# Encoders that take a ready mask of who sees whom, so that short sentences can share a row; for
# the others transformers inspects the 2-d mask on the host, and the device waits once a step.
TAKES_READY_MASK = frozenset({"bert", "mpnet", "roberta", "xlm-roberta", "distilbert", "electra"})
_VOCABULARIES = (  # one of these makes a tokenizer; without any, transformers makes an empty one
    "tokenizer.json",
    "tokenizer.model",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
)
_DROPOUTS = (
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "dropout",
    "attention_dropout",
    "mlp_dropout",
    "embedding_dropout",
)


@dataclass(frozen=True)
class EncoderConfig:
    """Which transformer, and how sentences are laid out for it."""

    name: str = "bert-base-uncased"  # a directory, or a name on the model hub
    max_length: int = 128  # sub-tokens in a window, special tokens included
    overlap: int = 32  # sub-tokens shared by neighbouring windows of a long sentence
    dropout: float | None = None  # None keeps the encoder's own
    layers: int | None = None  # at most so many, the first ones; None: all
    case: bool = False  # whether the letter case of words is read, where the tokenizer drops it

    def __post_init__(self) -> None:
        require(self.max_length > 0, "encoder.max_length must be positive")
        require(self.overlap >= 0, "encoder.overlap must not be negative")
        require(self.dropout is None or 0 <= self.dropout < 1, "encoder.dropout must lie in [0, 1)")
        require(self.layers is None or self.layers > 0, "encoder.layers must be positive")


class Encoder(nn.Module):
    """A transformer and its tokenizer: words in, one start and one end state per word out."""

    def __init__(self, transformer: Any, tokenizer: Any, config: EncoderConfig) -> None:
        super().__init__()
        if getattr(transformer, "pooler", None) is not None:
            transformer.pooler = None  # sentence pooling plays no part here
        self.transformer = transformer
        self.config = config
        limit = _position_limit(transformer.config, tokenizer)
        shares_rows = transformer.config.model_type in TAKES_READY_MASK
        length = min(config.max_length, limit)
        self.words = WordTokenizer(tokenizer, length, config.overlap, shares_rows)
        if config.case:
            embedding = transformer.get_input_embeddings()
            if not isinstance(embedding, CasedEmbedding):
                embedding = CasedEmbedding(embedding)
                transformer.set_input_embeddings(embedding)
            self.words.tell_case(embedding.num_embeddings)
        self.hidden_size: int = transformer.config.hidden_size
        self.layer_count: int = transformer.config.num_hidden_layers
        # Some count positions from after that of padding.
        embeddings = getattr(transformer, "embeddings", None)
        self._first_position: int = 1 + getattr(embeddings, "padding_idx", -1)

    @classmethod
    def from_pretrained(cls, config: EncoderConfig) -> "Encoder":
        """The pretrained encoder that `config.name` points to, in single precision."""
        from transformers import AutoConfig, AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        # Heads of the checkpoint that are not used here are no news.
        logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        _check_source(config.name)
        if (Path(config.name) / SETTINGS).exists():
            return cls._of_model(Path(config.name), config)
        try:
            settings = AutoConfig.from_pretrained(config.name)
            _configure(settings, config)
            tokenizer = AutoTokenizer.from_pretrained(config.name)
            transformer, found = AutoModel.from_pretrained(
                config.name,
                config=settings,
                dtype=torch.float32,
                use_safetensors=True,
                output_loading_info=True,
            )
        except (OSError, ValueError, RuntimeError, SafetensorError) as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise CheckpointError(
                f"encoder {config.name!r} cannot be loaded ({reason}); give a directory with a "
                "transformers model, or a hub name while online"
            ) from None
        # transformers would give random ones in their place.
        _refuse_missing(config.name, found["missing_keys"])
        return cls(transformer, tokenizer, config)

    @classmethod
    def _of_model(cls, directory: Path, config: EncoderConfig) -> "Encoder":
        """The encoder of a model that this library has saved, tensors in pieces or not."""
        from spanproto.weights import load_weights

        encoder = cls.from_architecture(directory, config)
        stored = {
            name.removeprefix("encoder.transformer."): tensor
            for name, tensor in load_weights(directory).items()
        }
        own = encoder.transformer.state_dict()
        fresh = {name for name in own if name.endswith(CASE_VECTORS)}  # all 0, to be learned
        _refuse_missing(config.name, own.keys() - stored.keys() - fresh)
        known = {name: stored[name] for name in own.keys() & stored.keys()}
        encoder.transformer.load_state_dict(known, strict=False)
        return encoder

    @classmethod
    def from_architecture(cls, directory: Path, config: EncoderConfig) -> "Encoder":
        """The encoder described in `directory` with weights that a checkpoint has yet to fill."""
        from transformers import AutoConfig, AutoModel, AutoTokenizer
        from transformers.initialization import no_init_weights

        try:
            if not any((directory / name).exists() for name in _VOCABULARIES):
                raise OSError("no vocabulary")
            settings = AutoConfig.from_pretrained(directory)
            _configure(settings, config)
            tokenizer = AutoTokenizer.from_pretrained(directory)
        except (OSError, ValueError):
            raise CheckpointError(
                f"{directory}: the encoder's configuration or tokenizer is missing or damaged; "
                "save the model again"
            ) from None
        with no_init_weights():
            transformer = AutoModel.from_config(settings, dtype=torch.float32)  # type: ignore[no-untyped-call]
        return cls(transformer, tokenizer, config)

    def save_architecture(self, directory: Path) -> None:
        """Write the encoder's configuration and tokenizer, without weights."""
        self.transformer.config.save_pretrained(directory)
        self.words.tokenizer.save_pretrained(directory)

    def forward(self, batch: WordBatch) -> tuple[Tensor, Tensor]:
        """Start states and end states in single precision, each (S, L, h); padding is arbitrary."""
        hidden = self.run(batch)
        return _at(batch.first, hidden), _at(batch.last, hidden)

    def first_states(self, batch: WordBatch, layers: int = 1) -> Tensor:
        """Start states (S, L, h), summed over the encoder's last `layers` layers or all it has."""
        last = range(max(1, self.layer_count - layers + 1), self.layer_count + 1)
        return torch.stack([start for start, _ in self.states_of(batch, last)]).sum(0)

    def states_of(self, batch: WordBatch, layers: Iterable[int]) -> list[tuple[Tensor, Tensor]]:
        """Start and end states after each of some layers, counted from 1, the lowest first.

        Those of the last layer are what the encoder gives, a final norm included.
        """
        hidden: dict[int, Tensor] = {}

        def keep(number: int, _module: nn.Module, _arguments: Any, output: Any) -> None:
            hidden[number] = output if isinstance(output, Tensor) else output[0]

        wanted = sorted(layers)
        # The transformer's own record of its layers misses those that answer from memory.
        below = [number for number in wanted if number < self.layer_count]
        own = list(self.layers().values()) if below else []
        if below and not own:
            raise ConfigError("this encoder's layers cannot be told apart; use its last one alone")
        hooks = [own[number - 1].register_forward_hook(partial(keep, number)) for number in below]
        try:
            hidden[self.layer_count] = self.run(batch)
        finally:
            for hook in hooks:
                hook.remove()
        return [(_at(batch.first, hidden[n]), _at(batch.last, hidden[n])) for n in wanted]

    def opening_states(self, batch: WordBatch) -> Tensor:
        """The states (S, h) of what the tokenizer puts before each sentence, such as [CLS]."""
        opening = (batch.first[:, :1] - len(self.words.prefix)).clamp(min=0)
        return _at(opening, self.run(batch))[:, 0]

    def run(self, batch: WordBatch) -> Tensor:
        """The transformer's last hidden states of all rows, (R, T, h)."""
        if not self.words.share_rows:
            output = self.transformer(batch.input_ids, attention_mask=batch.attention_mask)
        else:
            output = self.transformer(
                batch.input_ids,
                attention_mask=self._ready_mask(batch.window),
                position_ids=batch.position + self._first_position,
            )
        hidden: Tensor = output.last_hidden_state
        return hidden

    def layers(self) -> dict[str, nn.Module]:
        """The transformer's layers by name, the first first; none if they cannot be told apart."""
        for name, module in self.named_modules():
            if isinstance(module, nn.ModuleList) and len(module) == self.layer_count:
                return {f"{name}.{number}": layer for number, layer in module.named_children()}
        return {}

    def _ready_mask(self, window: Tensor) -> Tensor:
        """Who sees whom in the rows: sub-tokens those of their own window."""
        visible = (window[:, :, None] == window[:, None, :])[:, None]  # (R, 1, T, T)
        if self.transformer.config._attn_implementation == "sdpa":
            return visible
        hidden = torch.zeros(visible.shape, device=visible.device)
        return hidden.masked_fill(~visible, torch.finfo(hidden.dtype).min)


def _at(place: Tensor, hidden: Tensor) -> Tensor:
    """The states (S, L, h) at the places (S, L) among all hidden states (R, T, h)."""
    states = hidden.float().flatten(0, 1)  # (R*T, h)
    return states.index_select(0, place.flatten()).view(*place.shape, hidden.shape[-1])


def _refuse_missing(source: str, names: Iterable[str]) -> None:
    """Complain if weights are not there; those of a pooler are not used."""
    missing = sorted(name for name in names if "pooler" not in name)
    if missing:
        raise CheckpointError(
            f"encoder {source!r}: its file lacks {len(missing)} of the weights, such as "
            f"{missing[0]}; get the whole model"
        )


def _check_source(name: str) -> None:
    """A name that looks like a path must be a directory; the hub is not asked about typos."""
    looks_local = name.startswith((".", "/", "~")) or name.count("/") > 1
    if looks_local and not Path(name).is_dir():
        raise CheckpointError(f"encoder {name!r}: no such directory; check encoder.name")


def _configure(settings: Any, config: EncoderConfig) -> None:
    """Set in the transformer's own settings what is asked to differ."""
    if config.dropout is not None:
        for name in _DROPOUTS:
            if isinstance(getattr(settings, name, None), float):
                setattr(settings, name, config.dropout)
    if config.layers is not None:
        settings.num_hidden_layers = min(config.layers, settings.num_hidden_layers)


def _position_limit(settings: Any, tokenizer: Any) -> int:
    """The longest input that the encoder has positions for."""
    limit = getattr(settings, "max_position_embeddings", None) or 1_000_000
    if settings.model_type in {"roberta", "xlm-roberta", "mpnet", "camembert"}:
        limit -= 2  # their positions are counted from after the padding index
    return int(min(limit, tokenizer.model_max_length))
