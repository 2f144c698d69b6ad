"""Tag schemes: word tags such as `B-PER` to spans and back.

| scheme | tags | what tells entities apart |
|--------|------|---------------------------|
| bio    | `B- I- O` (IOB2)             | every entity begins with `B-` |
| iob1   | `B- I- O`                    | `B-` only where an entity touches one of its own type |
| iobes  | `B- I- E- S- O` (BIOES)      | the last word has `E-`, a single word `S-` |
| bilou  | `B- I- L- U- O`              | the same with other letters |
| io     | the bare type (or `I-`), `O` | nothing: entities of one type that touch are one |

Reading is as lenient as conlleval, because no reading of these tags is in doubt: an `I-X` or `E-X`
with no open entity of type X opens one, and an entity ends where its type does, marked or not.
`irregular_positions` says where that was needed.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal, get_args

from spanproto.data.types import Span
from spanproto.errors import DataError, nearest_name

Scheme = Literal["bio", "iob1", "iobes", "bilou", "io"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

_ALIASES: dict[str, Scheme] = {"iob2": "bio", "bioes": "iobes", "iob": "iob1"}
_PREFIXED = re.compile(r"([BIESLU])-(.+)", re.DOTALL)
_LETTER = "[A-Z]|BEGIN|START|INSIDE|INNER|MIDDLE|END|LAST|SINGLE|UNIT"
_LOOKS_PREFIXED = re.compile(rf"({_LETTER})([-_].+)?|.+[-_]({_LETTER})", re.DOTALL)
_SAME_LETTER = {"L": "E", "U": "S"}
_LETTERS = {"bio": "BI", "iob1": "BI", "iobes": "BIESLU", "bilou": "BIESLU"}


class TagError(DataError):
    """A tag that is not of its scheme; `position` is its place in the sequence."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.position = position


class UnknownSchemeError(DataError):
    """Tags of no known scheme; `tag` is the first that does not fit."""

    def __init__(self, tag: str, reason: str) -> None:
        super().__init__(f"tag {tag!r} {reason}")
        self.tag = tag


def scheme_named(name: str) -> Scheme:
    """The scheme of that name, in any case; IOB2 is bio, BIOES is iobes and IOB is iob1."""
    lowered = name.lower()
    for scheme in SCHEMES:
        if lowered == scheme:
            return scheme
    if lowered in _ALIASES:
        return _ALIASES[lowered]
    raise DataError(f"there is no tag scheme {name!r}; {nearest_name(lowered, SCHEMES)}")


def is_prefixed(tag: str) -> bool:
    """Whether the tag is a scheme letter, a hyphen and a type."""
    return _PREFIXED.fullmatch(tag) is not None


def detect_scheme(sequences: Iterable[Sequence[str]]) -> Scheme:
    """The scheme that a corpus's tags are written in; bio when every tag is O.

    Most tags decide between prefixed and bare ones. Among the prefixed, the letters E, S, L and U
    show iobes or bilou; of the rest, a corpus whose every `B-X` follows a word of type X is iob1.
    A few bare tags among prefixed ones are left for `spans_from_tags` to refuse one by one.
    """
    tags: Counter[str] = Counter()
    begins_freely = False
    for sequence in sequences:
        tags.update(sequence)
        begins_freely = begins_freely or any(
            tag.startswith("B-") and previous[2:] != tag[2:]
            for previous, tag in pairwise(["O", *sequence])
        )
    del tags["O"]
    letters = {tag[0] for tag in tags if is_prefixed(tag)}
    bare = [tag for tag in tags if not is_prefixed(tag)]
    if sum(tags[tag] for tag in bare) * 2 > tags.total():
        return _bare_scheme(tags, bare)
    if letters & set("LU"):
        return "bilou"
    if letters & set("ES"):
        return "iobes"
    return "bio" if begins_freely or not letters else "iob1"


def _bare_scheme(tags: Iterable[str], bare: Iterable[str]) -> Scheme:
    """io, unless the bare tags hide prefixes or share the corpus with prefixed ones."""
    for tag in tags:
        if is_prefixed(tag) and not tag.startswith("I-"):
            raise UnknownSchemeError(
                tag,
                "has a prefix while most tags are bare types; give the scheme io if it is a type",
            )
    if all(_LOOKS_PREFIXED.fullmatch(tag) for tag in bare):
        raise UnknownSchemeError(
            next(iter(bare)),
            "is of no known scheme; write tags as B-TYPE, I-TYPE and O, "
            "or give the scheme io if it is a type",
        )
    return "io"


def spans_from_tags(tags: Sequence[str], scheme: Scheme) -> list[Span]:
    """The entities that the tags of one sentence mark, in order."""
    spans = []
    start, label = 0, ""
    for position, tag in enumerate(tags):
        letter, own = _split(tag, scheme, position)
        if label and (letter in "OBS" or own != label):
            spans.append(Span(start, position, label))
            label = ""
        if letter != "O" and not label:
            start, label = position, own
        if letter in "ES":
            spans.append(Span(start, position + 1, label))
            label = ""
    if label:
        spans.append(Span(start, len(tags), label))
    return spans


def irregular_positions(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """Where the tags break the scheme's rules though their meaning is plain."""
    if scheme == "io":
        return []
    regular = tags_from_spans(spans_from_tags(tags, scheme), len(tags), scheme)
    return [
        position
        for position, (tag, rule) in enumerate(zip(tags, regular, strict=True))
        if _split(tag, scheme, position) != _split(rule, scheme, position)
    ]


def tags_from_spans(
    spans: Iterable[Span], length: int, scheme: Scheme, *, merge: bool = False
) -> list[str]:
    """The tags of a sentence of `length` words.

    Tags hold one entity a word, so overlapping spans are refused. In io, touching entities of one
    type would be read back as one: that is refused too unless `merge` asks for it.
    """
    tags = ["O"] * length
    before = Span(0, 0, "")
    for span in sorted(spans):
        _require_taggable(before, span, length)
        touches = before.end == span.start and before.label == span.label
        if scheme == "io":
            if touches and not merge:
                raise DataError(
                    f"two entities of type {span.label!r} touch at word {span.start} and io tags "
                    "cannot tell them apart; choose another scheme or format, or ask to merge them"
                )
            letters = ["I"] * (span.end - span.start)
        else:
            letters = _letters(span.end - span.start, scheme, touches)
        tags[span.start : span.end] = [_join(letter, span.label, scheme) for letter in letters]
        before = span
    return tags


def _require_taggable(before: Span, span: Span, length: int) -> None:
    if not span.label:
        raise DataError(f"the span [{span.start}, {span.end}) has no type; name one")
    if not 0 <= span.start < span.end <= length:
        raise DataError(
            f"span [{span.start}, {span.end}) does not fit a sentence of {length} words"
        )
    if span.start < before.end:
        raise DataError(
            f"spans [{before.start}, {before.end}) {before.label!r} and "
            f"[{span.start}, {span.end}) {span.label!r} share a word, which tags cannot hold; "
            "choose a format that keeps nested spans"
        )


def _letters(length: int, scheme: Scheme, touches: bool) -> list[str]:
    """The letters of one entity of `length` words."""
    letters = ["I"] * length
    if scheme != "iob1" or touches:
        letters[0] = "B"
    if scheme in ("iobes", "bilou"):
        last, single = ("E", "S") if scheme == "iobes" else ("L", "U")
        letters[-1] = last if length > 1 else single
    return letters


def _split(tag: str, scheme: Scheme, position: int) -> tuple[str, str]:
    """A tag's letter, with L and U read as E and S, and its type."""
    if tag == "O":
        return "O", ""
    if scheme == "io" and tag:
        return "I", tag[2:] if tag.startswith("I-") and len(tag) > 2 else tag
    match = _PREFIXED.fullmatch(tag)
    if match is None or match[1] not in _LETTERS[scheme]:
        raise TagError(
            f"tag {tag!r} is not of the scheme {scheme}; mend it or give the scheme", position
        )
    return _SAME_LETTER.get(match[1], match[1]), match[2]


def _join(letter: str, label: str, scheme: Scheme) -> str:
    """The tag; in io the bare type unless that would look like O or like a prefixed tag."""
    if scheme == "io" and label != "O" and not is_prefixed(label):
        return label
    return f"{letter}-{label}"
