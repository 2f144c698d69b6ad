"""Matching Network: the largest mean dot product with the support words of a tag decides."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from spanproto.config import require
from spanproto.data.types import Sentence
from spanproto.encoder import Encoder
from spanproto.methods.base import MethodConfig
from spanproto.methods.parts.neighbours import matching_scores
from spanproto.methods.parts.scale import LearnedScale
from spanproto.methods.parts.word_tagger import WordTagger
from spanproto.tokenization import WordBatch


@dataclass(frozen=True)
class MatchingNetworkConfig(MethodConfig):
    """How words are compared."""

    spread: float = 5.0  # of the logits of words, where the learned scale of products begins

    def __post_init__(self) -> None:
        require(self.spread > 0, "model.spread must be positive")


class MatchingNetwork(WordTagger):
    """Matching networks (Vinyals et al., 2016) over words, as Hou et al. (2020) compare them.

    A query word's logit for a BIO tag is the mean of its dot products with the support words of
    that tag, times a learned scale; the tags of a sentence are chosen one by one.

    Rates, batch size and clipping are those of Hou et al.; the schedule is that of all methods,
    and each sentence is encoded by itself. The scale begins where the encoder at hand needs it,
    and is learned at ten times the rate.
    """

    name = "matching-network"
    Config = MatchingNetworkConfig
    scheme = "bio"
    training_defaults: ClassVar = {
        "learning_rate": 1e-5,
        "head_learning_rate": 1e-3,
        "episodes_per_step": 4,
        "clip": 5.0,
    }

    rate_factors: ClassVar = {"scale.": 10.0}

    config: MatchingNetworkConfig

    def __init__(self, encoder: Encoder, config: MatchingNetworkConfig) -> None:
        super().__init__(encoder, config)
        self.scale = LearnedScale()

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Begin with a scale that suits the encoder."""
        self.scale.begin(self.encoder, sentences, self.config.spread)

    def embed(self, words: WordBatch) -> Tensor:
        """The state of a word's first sub-token."""
        with self.mixed_precision():
            return self.encoder.first_states(words)

    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Scaled means of dot products."""
        return matching_scores(support, tag, self.scale(query), tags)
