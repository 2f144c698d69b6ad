"""ProtoBERT: prototypical networks over words."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from spanproto.config import require
from spanproto.data.types import Sentence
from spanproto.encoder import Encoder
from spanproto.methods.base import MethodConfig
from spanproto.methods.parts.neighbours import prototype_scores
from spanproto.methods.parts.transitions import count_transitions
from spanproto.methods.parts.word_tagger import WordTagger
from spanproto.tokenization import WordBatch


@dataclass(frozen=True)
class ProtoBertConfig(MethodConfig):
    """How words are embedded."""

    layers: int = 4  # a word's embedding is the sum over so many of the encoder's last layers
    dropout: float = 0.5  # on the embeddings, in training

    def __post_init__(self) -> None:
        require(self.layers > 0, "model.layers must be positive")
        require(0 <= self.dropout < 1, "model.dropout must lie in [0, 1)")


class ProtoBert(WordTagger):
    """Prototypical networks (Snell et al., 2017) over words, as Ding et al. (2021) compare them.

    The prototype of each type, and of O, is the mean of its support words, each represented by its
    first sub-token. A query word's logits are minus its squared distances to the prototypes.

    Layers, dropout, rate, weight decay and warm-up are those of Ding et al.; how many steps there
    are is not.
    """

    name = "protobert"
    Config = ProtoBertConfig
    training_defaults: ClassVar = {"learning_rate": 1e-4, "weight_decay": 0.01, "warmup": 0.1}
    weights_of = frozenset({"nnshot", "structshot"})

    config: ProtoBertConfig
    transitions: Tensor  # counted on the training data, for StructShot

    def __init__(self, encoder: Encoder, config: ProtoBertConfig) -> None:
        super().__init__(encoder, config)
        self.dropout = nn.Dropout(config.dropout)
        self.register_buffer("transitions", torch.zeros(3, 3, dtype=torch.long))

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Count the transitions of the training data."""
        self.transitions.copy_(count_transitions(sentences))

    def embed(self, words: WordBatch) -> Tensor:
        """The sum of a word's states in the last layers."""
        with self.mixed_precision():
            states = self.encoder.first_states(words, self.config.layers)
        embedded: Tensor = self.dropout(states)
        return embedded

    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Minus the squared distances to the prototypes."""
        return prototype_scores(support, tag, query, tags)

    def training_scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """The same, whatever scores a method that is trained alike predicts by."""
        return prototype_scores(support, tag, query, tags)
