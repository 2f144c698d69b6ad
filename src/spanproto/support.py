"""What the support sets of episodes say, as the verdict on query spans needs it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from spanproto.data.types import Episode
from spanproto.meaning import Examples, Meaning, meaning_examples, meaning_prototypes
from spanproto.model import SpanProto
from spanproto.word_evidence import WordPrototypes, WordTotals, word_prototypes, word_totals

SENTENCES_AT_ONCE = 128


class Prototypes(NamedTuple):
    """What the support sets of some episodes say: where types are, and what has none."""

    centres: Tensor  # (slots, d), the prototypes of all types of all episodes
    others: Tensor  # (P, d), entities of none of their episode's types
    episode: Tensor  # (P,), the number of the episode of each of them
    words: WordPrototypes | None = None  # where a decision asks for them
    meanings: Tensor | None = None  # (slots, V, h), where the pretrained encoder is asked

    @classmethod
    def of_tensors(cls, tensors: Mapping[str, Tensor]) -> "Prototypes":
        """The prototypes of which `to_tensors` made the tensors, now or when there were others."""
        known: dict[str, Any] = {name: tensors[name] for name in cls._fields if name in tensors}
        own = {name: f"words_{name}" for name in WordPrototypes._fields}
        if tensors.keys() >= set(own.values()):
            known["words"] = WordPrototypes(**{name: tensors[at] for name, at in own.items()})
        return cls(**known)

    def to_tensors(self) -> dict[str, Tensor]:
        """All of them by name, such as can be saved; of words, the names begin with `words_`."""
        of_words = {} if self.words is None else self.words._asdict()
        whole = self._replace(words=None)._asdict()
        return {
            **{name: tensor for name, tensor in whole.items() if tensor is not None},
            **{f"words_{name}": tensor for name, tensor in of_words.items()},
        }

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
    found = Prototypes(
        centres,
        torch.cat(vectors),
        torch.cat(numbers),
        word_prototypes(of_words, len(centres)) if words else None,
    )
    if not meanings or model.meaning is None:
        return found
    return with_meanings(found, model, episodes, support_examples(model, model.meaning, episodes))


def support_examples(model: SpanProto, meaning: Meaning, episodes: Sequence[Episode]) -> Examples:
    """What the support spans mean to the pretrained encoder."""
    with model.mixed_precision():
        return meaning_examples(meaning, episodes)


def with_meanings(
    prototypes: Prototypes, model: SpanProto, episodes: Sequence[Episode], examples: Examples
) -> Prototypes:
    """The prototypes, and what the examples of each type mean, as the model's decision asks it."""
    assert model.meaning is not None
    weight = model.config.decision.names_in_meaning
    with model.mixed_precision():
        asked = meaning_prototypes(model.meaning, episodes, weight, examples)
    return prototypes._replace(meanings=asked)


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
