"""A token classifier fine-tuned on the support set: what one would try first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import torch
from torch import Tensor, nn

from spanproto.adaptation import AdaptationConfig
from spanproto.config import require
from spanproto.data.types import Episode
from spanproto.encoder import Encoder
from spanproto.errors import ConfigError
from spanproto.methods.base import FoundSpans, Method, MethodConfig
from spanproto.methods.parts.tagged import TaggedBatch, found_spans, tagged
from spanproto.methods.parts.tagging import Scheme, tag_count
from spanproto.methods.parts.word_tagger import word_loss


@dataclass(frozen=True)
class TokenClassifierConfig(MethodConfig):
    """How words are tagged."""

    scheme: Scheme = "io"  # with "bio" two touching entities of one type can be told apart


class TokenClassifier(Method):
    """A linear layer over word tags on a pretrained encoder (Devlin et al., 2019).

    It learns from nothing but the support set: for every episode a fresh layer and a copy of the
    encoder are fine-tuned to it. Words are represented by their first sub-tokens.
    """

    name = "token-classifier"
    Config = TokenClassifierConfig
    trains_on = None
    always_adapts = True
    adaptation_defaults: ClassVar = {
        "steps": 100,
        "learning_rate": 5e-5,
        "head_learning_rate": 1e-3,
    }

    config: TokenClassifierConfig

    def __init__(self, encoder: Encoder, config: TokenClassifierConfig) -> None:
        super().__init__(encoder, config)
        self.head: nn.Module | None = None  # made for the types of an episode

    def for_episodes(self, episodes: Sequence[Episode]) -> Self:
        """The encoder with a layer for the episode with most types.

        Its weights begin at 0, so that they depend neither on chance nor on the other episodes.
        """
        most = max(len(episode.types) for episode in episodes)
        head = nn.Linear(self.encoder.hidden_size, tag_count(most, self.config.scheme))
        nn.init.zeros_(head.weight)
        nn.init.zeros_(head.bias)
        fresh = type(self)(self.encoder, self.config)
        fresh.bf16, fresh.origin = self.bf16, self.origin
        fresh.head = head.to(self.device)
        fresh.head_types = episodes[0].types if len(episodes) == 1 else ()
        return fresh

    def support_batch(self, episodes: Sequence[Episode]) -> TaggedBatch:
        """The words of the support sets."""
        return tagged(
            episodes, self.encoder.words, self.config.scheme, "support", even=self.stacked
        )

    def support_loss(self, batch: TaggedBatch, config: AdaptationConfig) -> Tensor:
        """Cross-entropy of the support words."""
        return word_loss(batch.support.of(self.scores(batch)), batch.support.tag)

    def scores(self, batch: TaggedBatch) -> Tensor:
        """The logits (S, L, T) of all tags for all words; -inf for those of other episodes."""
        if self.head is None:
            raise ConfigError(
                "a token classifier knows no types before it is fine-tuned to a support set; "
                "adapt it first"
            )
        with self.mixed_precision():
            states = self.encoder.first_states(batch.sentences.words)
        logits: Tensor = self.head(states)
        allowed = batch.allowed.index_select(0, batch.sentences.episode)  # (S, T)
        return logits.masked_fill(~allowed[:, None], -torch.inf)

    @torch.inference_mode()
    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        """The most probable tag of each query word, as spans."""
        self.eval()
        for asked in (episode.types for episode in episodes):
            require(
                not self.head_types or asked == self.head_types,
                f"a token classifier fine-tuned to {list(self.head_types)} is asked for "
                f"{list(asked)}; adapt it to these types",
            )
        episodes = [episode.without_query_spans() for episode in episodes]
        scheme, words = self.config.scheme, self.encoder.words
        batch = tagged(episodes, words, scheme, "query", even=self.stacked).to(self.device)
        tags = self.scores(batch).argmax(-1).masked_fill(~batch.sentences.words.word_mask, 0)
        return found_spans(tags, batch.sentences, episodes, scheme)
