"""L-TapNet+CDT: a CRF over tags that are told apart in a space made for each episode."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from spanproto.batch import TensorBatch
from spanproto.config import require
from spanproto.data.names import name_of
from spanproto.data.types import Episode, Sentence
from spanproto.data.words import in_words
from spanproto.encoder import Encoder
from spanproto.extractor import NEVER
from spanproto.methods.base import FoundSpans, Method, MethodConfig
from spanproto.methods.parts.collapsed import CollapsedTransitions
from spanproto.methods.parts.crf import sequence_log_likelihood
from spanproto.methods.parts.neighbours import tag_prototypes
from spanproto.methods.parts.pairs import PairedWords, one_query_each, paired_words
from spanproto.methods.parts.scale import LearnedScale
from spanproto.methods.parts.tagged import TaggedBatch, found_spans, tagged
from spanproto.methods.parts.viterbi import viterbi
from spanproto.tokenization import WordBatch, WordTokenizer


@dataclass(frozen=True)
class LTapNetCdtConfig(MethodConfig):
    """How words are encoded and what stands for a tag."""

    pairwise: bool = True  # encode each query sentence together with each support sentence
    anchors: int = 128  # learned vectors that tags are given by chance
    anchor_share: float = 0.5  # of the anchor in a tag's label vector, beside that of its name
    prototype_share: float = 0.3  # of the prototype in a tag's reference, beside the label vector
    spelled_out: bool = True  # types are called person where data have PER
    spread: float = 5.0  # of the products of words, where their learned scale begins

    def __post_init__(self) -> None:
        for name in ("anchors", "spread"):
            require(getattr(self, name) > 0, f"model.{name} must be positive")
        for name in ("anchor_share", "prototype_share"):
            require(0 <= getattr(self, name) <= 1, f"model.{name} must lie in [0, 1]")


@dataclass(frozen=True)
class NamedTags(TensorBatch):
    """Episodes with the words of their BIO tags' names."""

    tagged: TaggedBatch
    pairs: PairedWords | None
    names: WordBatch  # of every tag of every type of the batch, O first
    name: Tensor  # (E, T), the row there of each tag of an episode


class LTapNetCdt(Method):
    """L-TapNet with collapsed dependency transfer (Hou et al., ACL 2020).

    A BIO tag has a label vector, half of it from its name ("begin person", "inner person",
    "ordinary") and half a learned anchor, and a prototype, the mean of its support words. Words
    and tags are compared by dot product in the space that is orthogonal to all differences between
    label vectors, each without the mean of the others, and prototypes. These are the emissions of
    a CRF with transitions that hold for all types.

    Rates, shares and batch size are those of the released scripts. There a first epoch trains all
    but the encoder, and rates are halved after each; here steps and rates follow the schedule of
    all methods. The scale of the emissions begins where the encoder at hand needs it; it and the
    transitions, a few numbers, are learned at ten times the rate. In prediction tags have the first
    anchors in turn, where the released code draws some. Dot products in the space are had without
    its basis, from a QR decomposition of the differences; a singular value decomposition, as in the
    released code, gives the same and would wait for the device.
    """

    name = "l-tapnet-cdt"
    Config = LTapNetCdtConfig
    training_defaults: ClassVar = {
        "episodes_per_step": 4,
        "learning_rate": 1e-5,
        "head_learning_rate": 1e-3,
        "weight_decay": 0.01,
        "clip": 5.0,
    }

    rate_factors: ClassVar = {"scale.": 10.0, "transitions.": 10.0}

    config: LTapNetCdtConfig

    def __init__(self, encoder: Encoder, config: LTapNetCdtConfig) -> None:
        super().__init__(encoder, config)
        anchors = torch.empty(config.anchors, encoder.hidden_size)
        self.anchors = nn.Parameter(nn.init.xavier_normal_(anchors))
        self.scale = LearnedScale()
        self.transitions = CollapsedTransitions()

    def begin_training(self, sentences: Iterable[Sentence], steps: int) -> None:
        """Begin with a scale that suits the encoder."""
        self.scale.begin(self.encoder, sentences, self.config.spread)

    def prepare(self, items: Sequence[Episode], step: int) -> NamedTags:
        """The episodes of a step; if words are encoded in pairs, one for each query sentence."""
        return self.batch(one_query_each(items) if self.config.pairwise else items)

    def batch(self, episodes: Sequence[Episode]) -> NamedTags:
        """Words and names of episodes, which have one query sentence each for pairs."""
        words = self.encoder.words
        return NamedTags(
            tagged(episodes, words, "bio"),
            paired_words(episodes, words) if self.config.pairwise else None,
            *tag_names(episodes, words, self.config.spelled_out),
        )

    def loss(self, batch: NamedTags) -> Tensor:
        """Minus the log-likelihood of the query sentences: a mean in each episode and over them.

        A sentence with an entity of a type without support has no part in it.
        """
        emissions, mask = self.emissions(batch)
        first = batch.tagged.sentences.query_start
        tags, episode = batch.tagged.tags[first:], batch.tagged.sentences.episode[first:]
        start, transitions, end = self.transitions(batch.tagged.tag_count)
        terms = -sequence_log_likelihood(emissions, start, transitions, end, tags, mask)
        known = batch.tagged.allowed.index_select(0, episode).gather(1, tags.clamp(min=0))
        learned = mask.any(1) & (known | ~mask).all(1)
        zeros = terms.new_zeros(len(batch.tagged.allowed))
        sums = zeros.index_add(0, episode, torch.where(learned, terms, 0.0))
        return (sums / zeros.index_add(0, episode, learned.float()).clamp(min=1)).mean()

    def emissions(self, batch: NamedTags) -> tuple[Tensor, Tensor]:
        """The scores (S, L, T) of tags for the words of query sentences, and where words are."""
        words, allowed = self.embed(batch), batch.tagged.allowed
        support, query = batch.tagged.support, batch.tagged.query
        centres, _ = tag_prototypes(support.of(words), support.tag, batch.tagged.tag_count)
        labels = self.label_vectors(batch)
        share = self.config.prototype_share
        references = share * centres + (1 - share) * labels
        avoided = task_directions(labels.detach(), centres.detach(), allowed)
        similarity = similarity_beside(query.of(words), references, avoided)
        scores = self.scale(similarity).masked_fill(~allowed[:, None], NEVER)  # (E, Q, T)
        first = batch.tagged.sentences.query_start
        return query.rows(scores)[first:], batch.tagged.sentences.words.word_mask[first:]

    def embed(self, batch: NamedTags) -> Tensor:
        """The states (S, L, h) of all words."""
        pairs = batch.pairs
        with self.mixed_precision():
            if pairs is None:
                return self.encoder.first_states(batch.tagged.sentences.words)
            states = self.encoder.first_states(pairs.words)
        return pairs.rows(states)

    def label_vectors(self, batch: NamedTags) -> Tensor:
        """The label vectors (E, T, h) of tags: their names' states mixed with anchors."""
        with self.mixed_precision():
            named = self.encoder.opening_states(batch.names)
        allowed, share = batch.tagged.allowed, self.config.anchor_share
        shape = (len(allowed), len(self.anchors))
        if self.training:
            order = torch.rand(shape, device=allowed.device).argsort(1)
        else:
            order = torch.arange(shape[1], device=allowed.device).expand(shape)
        rank = (allowed.cumsum(1) - 1) % shape[1]  # among the tags that there are
        return (1 - share) * named[batch.name] + share * self.anchors[order.gather(1, rank)]

    @torch.inference_mode()
    def predict(self, episodes: Sequence[Episode]) -> list[list[FoundSpans]]:
        """The best sequence of tags for each query sentence, as spans."""
        self.eval()
        asked = [episode.without_query_spans() for episode in episodes]
        parts = one_query_each(asked) if self.config.pairwise else asked
        if not any(sentence.words for episode in asked for sentence in episode.query):
            return [[FoundSpans([]) for _ in episode.query] for episode in asked]
        batch = self.batch(parts).to(self.device)
        emissions, mask = self.emissions(batch)
        start, transitions, end = self.transitions(batch.tagged.tag_count)
        tags = viterbi(emissions, start, transitions, mask, end)
        sentences = batch.tagged.sentences
        rows = F.pad(tags, (0, 0, sentences.query_start, 0))
        found = chain.from_iterable(found_spans(rows, sentences, parts, "bio"))
        return [list(islice(found, len(episode.query))) for episode in episodes]


def tag_names(
    episodes: Sequence[Episode], tokenizer: WordTokenizer, spelled_out: bool = True
) -> tuple[WordBatch, Tensor]:
    """The names of O and of all B and I tags, and which (E, T) each tag of an episode has."""
    types = sorted({label for episode in episodes for label in episode.types})
    first = {label: 1 + 2 * number for number, label in enumerate(types)}
    names: list[tuple[str, ...]] = [("ordinary",)]
    for label in types:
        words = (name_of(label) if spelled_out else in_words(label)).split()
        names += [("begin", *words), ("inner", *words)]
    most = max(len(episode.types) for episode in episodes)
    rows = [
        [0, *(row for label in e.types for row in (first[label], first[label] + 1))]
        for e in episodes
    ]
    padded = [row + [0] * (1 + 2 * most - len(row)) for row in rows]
    return tokenizer.batch(names), torch.tensor(padded)


def task_directions(labels: Tensor, centres: Tensor, allowed: Tensor) -> Tensor:
    """An orthonormal basis (E, h, k) of an episode's differences between labels and prototypes.

    Both (E, T, h) are normalised, the labels once the mean of the others is taken off. Tags that
    are not `allowed` (E, T) have no part in it: columns beyond the number of those that are, are 0.
    """
    count = allowed.sum(1)[:, None, None]
    labels = labels * allowed[:, :, None]
    others = (labels.sum(1, keepdim=True) - labels) / (count - 1).clamp(min=1)
    errors = F.normalize(labels - others, dim=-1) - F.normalize(centres, dim=-1)
    last = allowed.logical_not().long().argsort(dim=1, stable=True)[:, :, None]  # the others behind
    basis: Tensor = torch.linalg.qr(errors.gather(1, last.expand_as(errors)).mT).Q
    return basis * (torch.arange(basis.shape[-1], device=basis.device) < count)


def similarity_beside(words: Tensor, references: Tensor, basis: Tensor) -> Tensor:
    """Dot products (E, Q, T) of words and references in the space orthogonal to `basis`."""
    return words @ references.mT - (words @ basis) @ (references @ basis).mT
