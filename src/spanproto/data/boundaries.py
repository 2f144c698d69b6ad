"""Entities given in characters, as spans of words.

Annotation tools let a mark begin or end anywhere, and a span can only begin and end where words do.
An entity that does not is refused, so that nothing is changed unseen, or snapped to the words that
it touches where the user asks for that.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, get_args

from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

Boundaries = Literal["refuse", "snap"]
BOUNDARIES: tuple[Boundaries, ...] = get_args(Boundaries)


def boundaries_named(name: str) -> Boundaries:
    """The rule of that name for entities that do not meet word boundaries."""
    for boundaries in BOUNDARIES:
        if name == boundaries:
            return boundaries
    raise DataError(f"there is no rule {name!r} for boundaries; choose {' or '.join(BOUNDARIES)}")


def labelled(
    sentence: Sentence,
    entities: Iterable[Span],
    boundaries: Boundaries,
    warn: Callable[[str], None],
) -> Sentence:
    """The sentence, which has a text, with the entities, given in characters of it.

    `snap` widens an entity to the words that it touches; `warn` hears of one that touches none and
    is dropped, and of one that becomes the same as another and is kept once.
    """
    if sentence.text is None or not sentence.offsets:
        raise DataError("the sentence has no words; leave it out")
    word_from = {start: at for at, (start, _) in enumerate(sentence.offsets)}
    word_to = {end: at + 1 for at, (_, end) in enumerate(sentence.offsets)}
    spans: dict[Span, None] = {}
    for start, end, label in entities:
        name = f"entity [{start}, {end}) {sentence.text[start:end]!r} of type {label!r}"
        if start in word_from and end in word_to:
            span = Span(word_from[start], word_to[end], label)
        else:
            touched = _touched(start, end, sentence.offsets)
            if boundaries == "refuse":
                raise DataError(
                    f"{name} does not begin and end at a word; "
                    f"{_nearest_words(touched, sentence.text, sentence.offsets)}"
                )
            if not touched:
                warn(f"{name} touches no word and was left out")
                continue
            span = Span(touched[0], touched[-1] + 1, label)
        if span in spans:
            warn(f"{name} covers the same words as another of that type and was read once")
        spans[span] = None
    return sentence.with_spans(spans)


def _touched(start: int, end: int, offsets: Sequence[tuple[int, int]]) -> list[int]:
    return [at for at, (first, last) in enumerate(offsets) if first < end and start < last]


def _nearest_words(touched: Sequence[int], text: str, offsets: Sequence[tuple[int, int]]) -> str:
    if not touched:
        return "it covers none, so leave it out"
    first, last = offsets[touched[0]][0], offsets[touched[-1]][1]
    return f"the words that it touches are [{first}, {last}) {text[first:last]!r}"


def characters_of_utf16(text: str, entities: Iterable[Span]) -> list[Span] | None:
    """Entities counted in UTF-16 units, as JavaScript does, in characters; None if one cuts any.

    The two differ after each character beyond U+FFFF, such as most emoji.
    """
    character_at = {0: 0}
    units = 0
    for at, char in enumerate(text, start=1):
        units += 1 if char <= "\uffff" else 2
        character_at[units] = at
    spans = []
    for start, end, label in entities:
        if start not in character_at or end not in character_at:
            return None
        spans.append(Span(character_at[start], character_at[end], label))
    return spans


def meet_words(sentence: Sentence, entities: Iterable[Span]) -> bool:
    """Whether every entity, given in characters of the text, begins and ends at words."""
    offsets = sentence.offsets or ()
    starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
    return all(start in starts and end in ends for start, end, _ in entities)
