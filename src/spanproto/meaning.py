"""What spans mean to the pretrained encoder, untouched by training.

Training teaches an encoder to tell the types of its episodes apart, and other things that it knew
of words may fade. So the encoder as it was is asked, too, how alike a span and the examples of a
type are: by themselves, and in their sentences. That takes no training, and no more than the
examples.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces, map_tensors
from spanproto.classifier import mean_representations, prototypes
from spanproto.data.names import type_names
from spanproto.data.types import Episode
from spanproto.encoder import Encoder
from spanproto.errors import DataError

TEXTS_AT_ONCE = 2048
Place = tuple[int, int, int]  # the number of a sentence, and a half-open span of it


class Meaning:
    """A pretrained encoder that is asked what spans mean, and learns nothing."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder.eval().requires_grad_(False)

    @torch.inference_mode()
    def vectors(self, sentences: Sequence[Sequence[str]], spans: Sequence[Place]) -> Tensor:
        """Two unit vectors for each of M spans, (M, 2, h): by itself, and in its sentence."""
        phrases: dict[tuple[str, ...], int] = {}
        alone = []
        for number, start, end in spans:
            phrase = tuple(sentences[number][start:end])
            alone.append((phrases.setdefault(phrase, len(phrases)), 0, end - start))
        both = (self._means(list(phrases), alone), self._means(sentences, spans))
        return F.normalize(torch.stack(both, 1), dim=-1)

    @torch.inference_mode()
    def phrases(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """A unit vector (N, h) for each of N phrases that stand by themselves."""
        whole = [(number, 0, len(text)) for number, text in enumerate(texts)]
        return F.normalize(self._means(texts, whole), dim=-1)

    def _means(self, texts: Sequence[Sequence[str]], spans: Sequence[Place]) -> Tensor:
        """The mean states (M, h) of the words of spans of the texts, which are read in parts."""
        device = next(self.encoder.parameters()).device
        found = torch.zeros(len(spans), self.encoder.hidden_size, device=device)
        # Texts of similar length together, so that little is padding.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        place = {number: at for at, number in enumerate(order)}
        at = torch.tensor([place[number] for number, _, _ in spans], dtype=torch.long)
        ends = torch.tensor([span[1:] for span in spans], dtype=torch.long).reshape(-1, 2)
        for first in range(0, len(order), TEXTS_AT_ONCE):
            part = [texts[number] for number in order[first : first + TEXTS_AT_ONCE]]
            batch = map_tensors(self.encoder.words.batch(part), lambda tensor: tensor.to(device))
            here = ((at >= first) & (at < first + len(part))).nonzero()[:, 0]
            row = (at[here] - first).to(device)
            start, end = ends[here].to(device).unbind(1)
            first_states, last_states = self.encoder(batch)
            found[here.to(device)] = mean_representations(
                first_states, last_states, row, start, end
            )
        return found


class Examples(NamedTuple):
    """What the support spans of some episodes mean."""

    vectors: Tensor  # (P, 2, h), two unit vectors of each
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
    """What the examples of each type of each episode have in common, unit vectors (slots, 2, h).

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
    """The vectors (M, 2, h) of M spans of the query sentences of the episodes."""
    asked = [sentence.words for episode in episodes for sentence in episode.query]
    number = {row: at for at, row in enumerate(query.query_rows)}
    columns = zip(spans.sentence.tolist(), spans.start.tolist(), spans.end.tolist(), strict=True)
    places = [(number[row], start, end) for row, start, end in columns]
    return meaning.vectors(asked, places)


def alikeness(
    vectors: Tensor, known: Tensor, examples: Examples | None = None, nearest: float = 0.0
) -> Tensor:
    """How alike M spans (M, 2, h) and the prototypes `known` (slots, 2, h) are, (M, slots).

    The mean of two cosines: that of the spans by themselves, and that of the spans as they stand.
    The share `nearest` of it is how alike the nearest example of a type is: where examples are of
    several kinds, their mean is like none of them. A type without examples has 0.
    """
    alike = torch.einsum("mvh,svh->ms", vectors, known) / 2
    if not nearest:
        return alike
    if examples is None:
        raise DataError(
            "decision.nearest_in_meaning asks for the nearest example of each type, and the "
            "examples are not at hand; fit the model to them again"
        )
    to_each = alikeness(vectors, examples.vectors)  # (M, P)
    best = torch.full_like(alike, -torch.inf)
    best = best.scatter_reduce(1, examples.slot.expand_as(to_each), to_each, "amax")
    return torch.lerp(alike, best.masked_fill(best == -torch.inf, 0.0), nearest)
