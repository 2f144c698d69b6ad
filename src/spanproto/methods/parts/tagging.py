"""Word tags as tensors: spans to the tags of a scheme, and back.

Tag 0 is O. Then come the types in turn, each with one tag for every letter of the scheme: under
BIO, type 1 has the tags 1 (B) and 2 (I), type 2 has 3 and 4.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.batch import SpanPlaces
from spanproto.data.types import Sentence

Scheme = Literal["io", "bio", "bioes"]


class _Letters(NamedTuple):
    """The letters of a scheme by number."""

    inside: int
    first: int
    last: int
    single: int
    opens: tuple[bool, ...]  # of each letter, whether it begins an entity
    closes: tuple[bool, ...]  # and whether it ends one


_LETTERS: dict[Scheme, _Letters] = {
    "io": _Letters(0, 0, 0, 0, (False,), (False,)),
    "bio": _Letters(1, 0, 1, 0, (True, False), (False, False)),
    "bioes": _Letters(1, 0, 2, 3, (True, False, False, True), (False, False, True, True)),
}


def tag_count(types: int, scheme: Scheme) -> int:
    """The number of tags for so many types, O included."""
    return 1 + types * len(_LETTERS[scheme].opens)


def kinds_of_tags(tags: Tensor, scheme: Scheme) -> Tensor:
    """The type of each tag, counted from 1; 0 for O."""
    letters = len(_LETTERS[scheme].opens)
    return (tags + letters - 1) // letters


def tags_of_spans(spans: SpanPlaces, kind: Tensor, shape: torch.Size, scheme: Scheme) -> Tensor:
    """The tags, in the `shape` (S, L), of words under P spans of types `kind` (P,) from 1 on.

    A word that several spans share belongs to the first of them.
    """
    letters, place = _LETTERS[scheme], torch.arange(shape[1], device=kind.device)
    covered = (place >= spans.start[:, None]) & (place < spans.end[:, None])  # (P, L)
    number = torch.arange(len(kind), device=kind.device)[:, None]
    row = spans.sentence[:, None].expand_as(covered)
    owner = kind.new_full(shape, len(kind)).scatter_reduce(
        0, row, torch.where(covered, number, len(kind)), "amin"
    )  # the number of the word's span; P where it has none
    kinds, starts, ends = (
        torch.cat((values, values.new_zeros(1)))[owner] for values in (kind, spans.start, spans.end)
    )
    is_first, is_last = place == starts, place == ends - 1
    letter = torch.where(is_first, letters.first, letters.inside)
    letter = torch.where(is_last, letters.last, letter)
    letter = torch.where(is_first & is_last, letters.single, letter)
    tags = (kinds - 1) * len(letters.opens) + letter + 1
    return torch.where(kinds > 0, tags, 0)


def tags_of_sentences(sentences: Sequence[Sentence], shape: torch.Size, scheme: Scheme) -> Tensor:
    """The tags, in the `shape` (S, L), of sentences, for the types that these have."""
    labels = sorted({span.label for sentence in sentences for span in sentence.spans})
    kinds = {label: number for number, label in enumerate(labels, 1)}
    spans = [
        (row, span.start, span.end, kinds[span.label])
        for row, sentence in enumerate(sentences)
        for span in sentence.spans
    ]
    row, start, end, kind = torch.tensor(spans, dtype=torch.long).reshape(-1, 4).unbind(1)
    return tags_of_spans(SpanPlaces(row, start, end), kind, shape, scheme)


def spans_of_tags(tags: Tensor, scheme: Scheme) -> tuple[SpanPlaces, Tensor]:
    """The spans under tags (S, L) in reading order, and their types (P,), counted from 1.

    Any tags can be read, as conlleval reads them: an entity also begins where another type ends.
    """
    letters = _LETTERS[scheme]
    kinds = kinds_of_tags(tags, scheme)
    letter = (tags - 1).clamp(min=0) % len(letters.opens)
    entity = kinds > 0
    opens = torch.tensor(letters.opens, device=tags.device)[letter] & entity
    closes = torch.tensor(letters.closes, device=tags.device)[letter] & entity
    changes = kinds[:, 1:] != kinds[:, :-1]  # between a word and the next
    cuts = changes | closes[:, :-1] | opens[:, 1:]
    edge = torch.ones_like(entity[:, :1])
    sentence, start = (entity & torch.cat((edge, cuts), 1)).nonzero(as_tuple=True)
    _, last = (entity & torch.cat((cuts, edge), 1)).nonzero(as_tuple=True)
    return SpanPlaces(sentence, start, last + 1), kinds[sentence, start]
