"""What the support sets of episodes say, as the verdict on query spans needs it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor

from spanproto.data.types import Episode
from spanproto.meaning import meaning_prototypes
from spanproto.model import SpanProto
from spanproto.word_evidence import WordPrototypes, WordTotals, word_prototypes, word_totals

SENTENCES_AT_ONCE = 128
_OF_WORDS = "words_"  # how the names of the tensors of word prototypes begin


class Prototypes(NamedTuple):
    """What the support sets of some episodes say: where types are, and what has none."""

    centres: Tensor  # (slots, d), the prototypes of all types of all episodes
    others: Tensor  # (P, d), entities of none of their episode's types
    episode: Tensor  # (P,), the number of the episode of each of them
    words: WordPrototypes | None = None  # where a decision asks for them
    meanings: Tensor | None = None  # (slots, 2, h), where the pretrained encoder is asked
    shots: Tensor | None = None  # (slots,), how many support spans there are of each type

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, Tensor]) -> "Prototypes":
        """The prototypes of which `to_tensors` made the tensors."""
        words = {
            name.removeprefix(_OF_WORDS): tensor
            for name, tensor in tensors.items()
            if name.startswith(_OF_WORDS)
        }
        rest = {name: t for name, t in tensors.items() if not name.startswith(_OF_WORDS)}
        return cls(**rest, words=WordPrototypes(**words) if words else None)

    def to_tensors(self) -> dict[str, Tensor]:
        """All of them by name, such as can be saved."""
        spans = {"centres": self.centres, "others": self.others, "episode": self.episode}
        words = {} if self.words is None else self.words._asdict()
        asked = {"meanings": self.meanings, "shots": self.shots}
        known = {name: tensor for name, tensor in asked.items() if tensor is not None}
        of_words = {f"{_OF_WORDS}{name}": tensor for name, tensor in words.items()}
        return spans | of_words | known

    def to(self, device: torch.device) -> "Prototypes":
        """The same on another device."""
        moved = {name: tensor.to(device) for name, tensor in self.to_tensors().items()}
        return Prototypes.of_tensors(moved)


@torch.inference_mode()
def support_prototypes(
    model: SpanProto, episodes: Sequence[Episode], words: bool = False, *, meanings: bool = True
) -> Prototypes:
    """The prototypes of all types of all episodes.

    The support set of an episode that comes alone may be of any size: it is encoded in parts.
    Those of words are there if the model's decision counts them, or if `words` asks for them, and
    those of meanings if the model asks the pretrained encoder, unless they are not wanted.
    """
    model.eval()
    words = words or model.config.decision.words
    alone = len(episodes) == 1 and len(episodes[0].support) > SENTENCES_AT_ONCE
    totals, shots, others = [], [], []
    of_words: list[WordTotals] = []
    names = model.config.classifier.names
    for part in _support_parts(episodes[0], names) if alone else [episodes]:
        support = model.batch(part, "support").to(model.device)
        encoded = model.encode(support)
        states = model.mention_states(encoded)
        others.append(model.represent_others(states))
        means = model.support_means(states)
        shots.append(torch.bincount(support.support_spans.slot, minlength=len(means)))
        totals.append(means * shots[-1][:, None])
        if words:
            of_words.append(word_totals(support, encoded.start, len(episodes)))
    if words and alone:
        of_words += _totals_without_entities(model, episodes[0])
    number = torch.stack(shots).sum(0)
    means = torch.stack(totals).sum(0) / number.clamp(min=1)[:, None]
    centres = model.classifier.settle(means)
    vectors, numbers = zip(*others, strict=True)
    asked = None
    if meanings and model.meaning is not None:
        with model.mixed_precision():
            weight = model.config.decision.names_in_meaning
            asked = meaning_prototypes(model.meaning, episodes, weight)
    return Prototypes(
        centres,
        torch.cat(vectors),
        torch.cat(numbers),
        word_prototypes(of_words, len(centres)) if words else None,
        asked,
        number,
    )


def _support_parts(episode: Episode, names: bool) -> list[list[Episode]]:
    """The episode with a part of its support sentences each; those without entities are no use.

    A description goes with the first sentences that hold its type; as a name, with all of them.
    """
    labelled = sorted((s for s in episode.support if s.spans), key=lambda s: len(s.words))
    left = list(episode.descriptions)
    parts = []
    for at in range(0, len(labelled), SENTENCES_AT_ONCE):
        part = replace(episode, support=tuple(labelled[at : at + SENTENCES_AT_ONCE]))
        supported = part.supported_types()
        described = tuple(pair for pair in left if pair[0] in supported)
        if not names:
            left = [pair for pair in left if pair not in described]
        parts.append([replace(part, descriptions=described)])
    return parts


def _totals_without_entities(model: SpanProto, episode: Episode) -> Iterator[WordTotals]:
    """The totals over the support sentences that `_support_parts` has no use for: none's words."""
    rest = sorted((s for s in episode.support if not s.spans), key=lambda s: len(s.words))
    for at in range(0, len(rest), SENTENCES_AT_ONCE):
        part = replace(episode, query=tuple(rest[at : at + SENTENCES_AT_ONCE]))
        batch = model.batch([part], "query").to(model.device)  # as if they were to be searched
        yield word_totals(batch, model.encode(batch).start, 1)
