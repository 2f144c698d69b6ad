"""What spans mean to the pretrained encoder, untouched by training.

Training teaches an encoder to tell the types of its episodes apart, and other things that it knew
of words may fade. So the encoder as it was is asked, too, how alike a span and the examples of a
type are: by themselves, and in their sentences. That takes no training, and no more than the
examples. A map that is learned of what its layers say (see `learned_meaning`) may be asked beside
it.
"""

import random
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces, map_tensors
from spanproto.classifier import mean_representations, prototypes
from spanproto.data.names import type_names
from spanproto.data.types import Episode, Sentence
from spanproto.encoder import Encoder
from spanproto.errors import DataError
from spanproto.learned_meaning import (
    MapConfig,
    MeaningMap,
    label_groups,
    learn_map,
    read_layers,
)

TEXTS_AT_ONCE = 2048
Place = tuple[int, int, int]  # the number of a sentence, and a half-open span of it


class Meaning:
    """A pretrained encoder that is asked what spans mean, as it was before any training.

    With a map of what its layers say, that is asked, too.
    """

    def __init__(self, encoder: Encoder, learned: MeaningMap | None = None) -> None:
        self.encoder = encoder.eval().requires_grad_(False)
        self.learned = learned

    def learn(
        self,
        corpora: Iterable[Iterable[Sentence]],
        config: MapConfig | None = None,
        seed: int = 42,
    ) -> MeaningMap:
        """A map learned from the mentions of labelled sentences.

        Of a type that is asked later it knows more than the examples then say. The same seed gives
        the same map.
        """
        config, corpora = config or MapConfig(), [list(corpus) for corpus in corpora]
        sentences = chain.from_iterable(corpora)
        mentions = list(dict.fromkeys((one.words, span) for one in sentences for span in one.spans))
        if len(mentions) > config.mentions:
            mentions = random.Random(seed).sample(mentions, config.mentions)
        texts = dict.fromkeys(words for words, _ in mentions)
        place = {words: at for at, words in enumerate(texts)}
        spans = [(place[words], span.start, span.end) for words, span in mentions]
        apart = bool(self.encoder.layers())
        layers = read_layers(self._last, config.layers) if apart else (self._last,)
        views, labels = self.views(list(texts), spans, layers), [span.label for _, span in mentions]
        return learn_map(views, labels, label_groups(corpora), layers, config, seed)

    @torch.inference_mode()
    def vectors(self, sentences: Sequence[Sequence[str]], spans: Sequence[Place]) -> Tensor:
        """Unit vectors of each of M spans, (M, V, h): by itself, in its sentence, and as learned.

        Without a learned map there are the first two.
        """
        learned = self.learned
        views = self.views(sentences, spans, learned.layers if learned else (self._last,))
        both = F.normalize(views[:, -2:], dim=-1)
        return both if learned is None else torch.cat((both, learned(views)[:, None]), 1)

    @torch.inference_mode()
    def views(
        self, sentences: Sequence[Sequence[str]], spans: Sequence[Place], layers: Sequence[int]
    ) -> Tensor:
        """What layers say of M spans by themselves and in their sentences, (M, 2 * layers, h).

        The two of the lowest layer come first.
        """
        phrases: dict[tuple[str, ...], int] = {}
        alone = []
        for number, start, end in spans:
            phrase = tuple(sentences[number][start:end])
            alone.append((phrases.setdefault(phrase, len(phrases)), 0, end - start))
        both = [self._means(*read, layers) for read in ((list(phrases), alone), (sentences, spans))]
        return torch.stack(both, 2).flatten(1, 2)

    @torch.inference_mode()
    def phrases(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """A unit vector (N, h) for each of N phrases that stand by themselves."""
        whole = [(number, 0, len(text)) for number, text in enumerate(texts)]
        return F.normalize(self._means(texts, whole, (self._last,))[:, 0], dim=-1)

    @property
    def _last(self) -> int:
        return self.encoder.layer_count

    def _means(
        self, texts: Sequence[Sequence[str]], spans: Sequence[Place], layers: Sequence[int]
    ) -> Tensor:
        """The mean states (M, layers, h) of the words of spans; the texts are read in parts."""
        device = next(self.encoder.parameters()).device
        found = torch.zeros(len(spans), len(layers), self.encoder.hidden_size, device=device)
        # Texts of similar length together, so that little is padding.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        place = {number: at for at, number in enumerate(order)}
        at = torch.tensor([place[number] for number, _, _ in spans], dtype=torch.long)
        ends = torch.tensor([span[1:] for span in spans], dtype=torch.long).reshape(-1, 2)
        at_once = max(1, TEXTS_AT_ONCE // len(layers))
        for first in range(0, len(order), at_once):
            part = [texts[number] for number in order[first : first + at_once]]
            batch = map_tensors(self.encoder.words.batch(part), lambda tensor: tensor.to(device))
            here = ((at >= first) & (at < first + len(part))).nonzero()[:, 0]
            row = (at[here] - first).to(device)
            start, end = ends[here].to(device).unbind(1)
            for number, states in enumerate(self.encoder.states_of(batch, layers)):
                found[here.to(device), number] = mean_representations(*states, row, start, end)
        return found


class Examples(NamedTuple):
    """What the support spans of some episodes mean."""

    vectors: Tensor  # (P, V, h), the unit vectors of each
    slot: Tensor  # (P,), the type of each


def meaning_examples(meaning: Meaning, episodes: Sequence[Episode]) -> Examples:
    """The vectors of all support spans, and the types that they are examples of."""
    slots = _slots(episodes)
    sentences = [(n, s) for n, episode in enumerate(episodes) for s in episode.support]
    spans = [
        (at, span.start, span.end, slots[number, span.label])
        for at, (number, sentence) in enumerate(sentences)
        for span in sentence.spans
    ]
    vectors = meaning.vectors([s.words for _, s in sentences], [span[:3] for span in spans])
    slot = torch.tensor([span[3] for span in spans], dtype=torch.long, device=vectors.device)
    return Examples(vectors, slot)


def _slots(episodes: Sequence[Episode]) -> dict[tuple[int, str], int]:
    """The place of each type of each episode."""
    keys = [(number, label) for number, episode in enumerate(episodes) for label in episode.types]
    return {key: slot for slot, key in enumerate(keys)}


def meaning_prototypes(
    meaning: Meaning,
    episodes: Sequence[Episode],
    names_weight: float = 0.0,
    examples: Examples | None = None,
) -> Tensor:
    """What the examples of each type of each episode have in common, unit vectors (slots, V, h).

    A type without examples has none to speak of. With a weight of its name, the vector of spans by
    themselves has that of the name added: `alikeness` then is that of the examples, and so many
    times the cosine of span and name. `examples` are those of the episodes, if they are known.
    """
    slots = _slots(episodes)
    vectors, slot = meaning_examples(meaning, episodes) if examples is None else examples
    flat = vectors.flatten(1)
    total = prototypes(flat, torch.ones_like(flat[:, 0]), slot, len(slots))
    known = F.normalize(total.view(len(slots), *vectors.shape[1:]), dim=-1)
    if names_weight:
        called = {
            slots[number, label]: words
            for number, episode in enumerate(episodes)
            for label, words in type_names(episode)
        }
        named = meaning.phrases(list(called.values()))
        known[list(called), 0] += 2 * names_weight * named  # of two cosines the mean is taken
    return known


def query_vectors(
    meaning: Meaning, episodes: Sequence[Episode], query: EpisodeBatch, spans: SpanPlaces
) -> Tensor:
    """The vectors (M, V, h) of M spans of the query sentences of the episodes."""
    asked = [sentence.words for episode in episodes for sentence in episode.query]
    number = {row: at for at, row in enumerate(query.query_rows)}
    columns = zip(spans.sentence.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    places = [(number[row], start, end) for row, start, end in columns]
    return meaning.vectors(asked, places)


def alikeness(vectors: Tensor, known: Tensor, learned: float = 1.0) -> Tensor:
    """How alike M spans (M, V, h) and the prototypes `known` (slots, V, h) are, (M, slots).

    The mean of two cosines: that of the spans by themselves, and that of the spans as they stand; a
    third, of what was learned of them, is added at `learned` times their weight. A type without
    examples has 0.
    """
    if vectors.shape[1] != known.shape[1]:
        raise DataError(
            "what the examples mean was told with a learned map, and of the spans it is told "
            "without one, or the reverse; ask the same as in the fit, or fit the model again"
        )
    weights = vectors.new_tensor((1.0, 1.0, learned))[: vectors.shape[1]] / 2
    return torch.einsum("mvh,svh,v->ms", vectors, known, weights)
