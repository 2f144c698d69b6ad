"""Methods that tag the query words of an episode by comparing them with its support words."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import TensorBatch
from spanproto.data.types import Episode
from spanproto.extractor import NEVER
from spanproto.methods.base import FoundSpans, Method
from spanproto.methods.parts.tagged import TaggedBatch, found_spans, tagged
from spanproto.methods.parts.tagging import Scheme
from spanproto.tokenization import WordBatch


class WordTagger(Method):
    """Embeds words, scores every tag for every query word, and decodes the scores."""

    scheme: ClassVar[Scheme] = "io"

    @abstractmethod
    def embed(self, words: WordBatch) -> Tensor:
        """The embeddings (S, L, d) of words."""

    @abstractmethod
    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Scores (E, Q, T) of all tags for query words, as `parts/neighbours.py` defines them."""

    def training_scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """The scores that the training loss is taken of."""
        return self.scores(support, tag, query, tags)

    def decode(self, scores: Tensor, batch: TaggedBatch) -> Tensor:
        """The tags (S, L) of the batch from the scores (E, Q, T) of its query words."""
        return batch.query.rows(scores.argmax(-1))

    def prepare(self, items: Sequence[Any], step: int) -> TensorBatch:
        """The words of a step's episodes."""
        return self.batch(items, "all")

    def support_batch(self, episodes: Sequence[Episode]) -> TaggedBatch:
        """The support sets, each its own query set."""
        return self.batch(episodes, "support")

    def batch(
        self, episodes: Sequence[Episode], part: Literal["all", "support", "query"]
    ) -> TaggedBatch:
        """The words of some episodes, or of a part of them."""
        return tagged(episodes, self.encoder.words, self.scheme, part, even=self.stacked)

    def loss(self, batch: TaggedBatch) -> Tensor:
        """Cross-entropy of the query words."""
        words = self.embed(batch.sentences.words)
        support, query = batch.support.of(words), batch.query.of(words)
        scores = self.training_scores(support, batch.support.tag, query, batch.tag_count)
        return word_loss(scores, batch.query.tag)

    @torch.inference_mode()
    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        """The tags of query words, as spans."""
        self.eval()
        episodes = [episode.without_query_spans() for episode in episodes]
        known = self.batch(episodes, "support").to(self.device)
        batch = self.batch(episodes, "query").to(self.device)
        support = known.support.of(self.embed(known.sentences.words))
        query = batch.query.of(self.embed(batch.sentences.words))
        scores = self.scores(support, known.support.tag, query, known.tag_count)
        tags = self.decode(scores, batch).masked_fill(~batch.sentences.words.word_mask, 0)
        return found_spans(tags, batch.sentences, episodes, self.scheme)


def word_loss(scores: Tensor, tag: Tensor) -> Tensor:
    """Cross-entropy of words (E, Q) under scores (E, Q, T): a mean in each episode, then over them.

    Words with a tag that no support word has (a score of -inf), and padding, have no part in it.
    """
    own = scores.gather(2, tag.clamp(min=0)[:, :, None])[:, :, 0]
    learned = (tag >= 0) & own.isfinite()
    terms = F.cross_entropy(
        scores.clamp(min=NEVER).flatten(0, 1),
        tag.clamp(min=0).flatten(),
        reduction="none",
    ).view_as(tag)
    sums = torch.where(learned, terms, 0.0).sum(1)
    return (sums / learned.sum(1).clamp(min=1)).mean()
