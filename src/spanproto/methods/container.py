"""CONTaiNER: words as Gaussians that contrast, and then the nearest support word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.adaptation import AdaptationConfig, adapt
from spanproto.config import require
from spanproto.data.types import Episode, Sentence
from spanproto.encoder import Encoder
from spanproto.extractor import NEVER
from spanproto.methods.base import MethodConfig
from spanproto.methods.parts.decoding import best_sequences
from spanproto.methods.parts.first_rise import FirstRise
from spanproto.methods.parts.neighbours import nearest_scores
from spanproto.methods.parts.tagged import (
    EpisodeWords,
    TaggedBatch,
    TaggedSentences,
    tagged_sentences,
)
from spanproto.methods.parts.transitions import count_transitions
from spanproto.methods.parts.word_tagger import WordTagger
from spanproto.tokenization import WordBatch

LEAST_VARIANCE = 1e-6


@dataclass(frozen=True)
class ContainerConfig(MethodConfig):
    """The Gaussians that are trained, and how tags are decoded."""

    size: int = 128  # dimensions of a Gaussian
    dropout: float = 0.1  # on the states that it is made of, in training
    temperature: float = 0.01  # that transition probabilities are raised to

    def __post_init__(self) -> None:
        require(self.size > 0, "model.size must be positive")
        require(0 <= self.dropout < 1, "model.dropout must lie in [0, 1)")
        require(self.temperature > 0, "model.temperature must be positive")


class Container(WordTagger):
    """Contrastive learning of Gaussian embeddings (Das et al., 2022).

    In training, and again on each support set until its loss first rises, words of one label are
    drawn together and others apart, O being one more label; the training step is a batch of
    sentences, not an episode. Then the Gaussians are dropped: a query word is compared with the
    support words by the encoder's states on the unit sphere, and decoded as in StructShot.

    Learning rates, batch size and, in training, clipping are the authors', who train for one epoch:
    as many steps as there are sentences for each of `sentences_per_step`. Their rate is constant
    throughout; here that of training falls, as in all methods. In fine-tuning with one shot their
    paper has the squared Euclidean distance of the means in place of the divergence, their code
    for Few-NERD does not, and neither does this. There they also clip at 1 and tune the embeddings,
    which here are frozen; and theirs has no other end than the rise of the loss, at which they too
    make one more step, where here it also has a last step.
    """

    name = "container"
    Config = ContainerConfig
    trains_on = "sentences"
    training_defaults: ClassVar = {
        "sentences_per_step": 32,
        "learning_rate": 5e-5,
        "weight_decay": 0.0,
        "warmup": 0.0,
        "clip": 1.0,
    }
    always_adapts = True
    adaptation_defaults: ClassVar = {
        "steps": 200,
        "learning_rate": 5e-5,
        "decay": False,
        "weight_decay": 0.0,
    }

    config: ContainerConfig
    transitions: Tensor  # counted on the training data

    def __init__(self, encoder: Encoder, config: ContainerConfig) -> None:
        super().__init__(encoder, config)
        self.dropout = nn.Dropout(config.dropout)
        self.mean = nn.Linear(encoder.hidden_size, config.size)
        self.variance = nn.Linear(encoder.hidden_size, config.size)
        self.register_buffer("transitions", torch.zeros(3, 3, dtype=torch.long))
        self.support_losses = torch.zeros(0)  # (E,), of the last fine-tuning step

    # Training

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Count the transitions of the training data."""
        self.transitions.copy_(count_transitions(sentences))

    def prepare(self, items: Sequence[Any], step: int) -> TaggedSentences:
        """The words of a step's sentences."""
        return tagged_sentences(items, self.encoder.words, self.scheme)

    def loss(self, batch: Any) -> Tensor:
        """The contrastive loss of all words of tagged sentences."""
        return self.losses(batch.words, batch.table).mean()

    def losses(self, words: WordBatch, table: EpisodeWords) -> Tensor:
        """The contrastive losses (E,) of the words in each line of the table."""
        states = self.dropout(table.of(self.states(words))).relu()
        variance = F.elu(self.variance(states)) + 1 + LEAST_VARIANCE
        return contrastive_losses(gaussian_distances(self.mean(states), variance), table.tag)

    # Adaptation

    def adapted(self, episodes: Sequence[Episode], config: AdaptationConfig) -> Self:
        """Copies fine-tuned each until its own loss has risen."""
        end = FirstRise(len(episodes))
        copies = adapt(self, episodes, config, lambda _, now: end.goes_on(now, now.support_losses))
        end.restore(copies)
        return copies

    def support_loss(self, batch: TaggedBatch, config: AdaptationConfig) -> Tensor:
        """The training loss of the support words."""
        losses = self.losses(batch.sentences.words, batch.support)
        self.support_losses = losses.detach()
        return losses.mean()

    # Prediction

    def states(self, words: WordBatch) -> Tensor:
        """The encoder's states of words, by their first sub-tokens."""
        with self.mixed_precision():
            return self.encoder.first_states(words)

    def embed(self, words: WordBatch) -> Tensor:
        """The states on the unit sphere."""
        return F.normalize(self.states(words), dim=-1)

    def scores(self, support: Tensor, tag: Tensor, query: Tensor, tags: int) -> Tensor:
        """Minus the squared distances to the nearest words of each tag."""
        return nearest_scores(support, tag, query, tags)

    def decode(self, scores: Tensor, batch: TaggedBatch) -> Tensor:
        """The best sequence of tags for each sentence."""
        return best_sequences(scores, batch, self.transitions, self.config.temperature)


def gaussian_distances(mean: Tensor, variance: Tensor) -> Tensor:
    """Half the sum of both Kullback-Leibler divergences (E, M, M) between Gaussians (E, M, d).

    Their covariances are diagonal. The terms are sums of products, so no tensor is larger than the
    result. They nearly cancel between alike Gaussians, and single precision, whose products a GPU
    may round to TF32, would leave little but errors of rounding: hence double precision.
    """
    mean, variance = mean.double(), variance.double()
    precision = 1 / variance
    # The sum over dimensions of (v_i + (m_i - m_j)^2) / v_j; logarithms cancel between directions.
    one_way = (variance + mean.square()) @ precision.mT - 2 * mean @ (mean * precision).mT
    one_way = one_way + (mean.square() * precision).sum(-1)[:, None]
    return ((one_way + one_way.mT) / 4 - mean.shape[-1] / 2).float()


def contrastive_losses(distances: Tensor, tag: Tensor) -> Tensor:
    """The mean (E,) over the words of minus log of (mean of e^-d to its like / sum to all others).

    `distances` (E, M, M) are those between words with tags (E, M), negative on padding. A word that
    is alone with its tag has no term of its own.
    """
    is_word = tag >= 0
    itself = torch.eye(tag.shape[1], dtype=torch.bool, device=tag.device)
    other = is_word[:, None] & ~itself  # (E, M, M)
    like = other & (tag[:, :, None] == tag[:, None])
    count = like.sum(-1)
    to_others, to_like = (
        (-distances).masked_fill(~chosen, NEVER).logsumexp(-1) for chosen in (other, like)
    )
    learned = is_word & (count > 0)
    terms = torch.where(learned, to_others - to_like + count.clamp(min=1).log(), 0.0)
    return terms.sum(1) / learned.sum(1).clamp(min=1)
