# ruff: noqa: RUF001, SIM905 (marks of all scripts, some of which look alike; words in a line)
"""Running text cut into passages of a size that a model reads at once.

A passage is about a sentence: it ends where a mark such as . ! ? 。 ؟ । ends one, and where a line
ends that was not merely wrapped. The rule is one for all scripts and prefers a passage too long to
one too short. Cuts lie between words and nothing is ever left out, so a wrong one costs context
and never shifts an offset. A passage of too many words is read in overlapping windows.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from spanproto.data.types import Sentence, Span

WORDS_AT_ONCE, OVERLAP = 200, 40
_WRAPPED_LINE = range(40, 121)  # characters of a line that goes on in the next one

_MARKS = r".!?…‥؟۔։።।॥"
_WIDE_MARKS = r"。．｡！？"  # no blank follows them
_CLOSERS = r"""["'”’»›)\]}」』】）》〉]"""
_SENTENCE_END = re.compile(
    rf"[{_WIDE_MARKS}]++{_CLOSERS}*+|(?<![{_MARKS}])[{_MARKS}]++{_CLOSERS}*+(?=\s)"
)
_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_LIST_ITEM = re.compile(r"[^\S\n]*(?:[-*+•‣◦▪–—]|\d{1,3}[.)])\s")
_VISIBLE = re.compile(r"\S")
_BEFORE_POINT = re.compile(r"[\w.]*\Z")
_LONGEST_ABBREVIATION = 12
_ABBREVIATIONS = frozenset(
    """
    adm al approx apr aug ave bzw ca capt cf co col corp dec dept dipl dr ed eds esp est etc evtl
    feb fig figs fr gen ggf gov hon hr inc jan jr jul jun lt ltd maj mar messrs mlle mme mr mrs ms
    mt nov nr oct op pp prof rep rev sen sep sept sgt sr sra st tel usw vgl vol vs
    г гг др им св стр тыс ул
    """.split()
)


class Window(NamedTuple):
    """Words `start` up to `end` of a document that are read at once.

    A span that several windows hold belongs to the one in which it is farther from an edge that
    cuts its passage: to this one if its middle, doubled, lies from `first` up to `last`.
    """

    start: int
    end: int
    first: int
    last: int

    def owns(self, start: int, end: int) -> bool:
        """Whether a span of the document is to be taken from this window."""
        return self.first <= start + end < self.last


def windows_of(
    sentence: Sentence, limit: int = WORDS_AT_ONCE, overlap: int = OVERLAP
) -> list[Window]:
    """The windows that together hold every word of a document, in order; none if it has no word."""
    places = [0, *passage_starts(sentence), len(sentence.words)]
    return [
        window
        for start, end in pairwise(places)
        if start < end
        for window in _windows(start, end, limit, overlap)
    ]


def _windows(start: int, end: int, limit: int, overlap: int) -> Iterator[Window]:
    """One window, or several full ones that overlap by at least `overlap` words."""
    beyond = end - start - limit
    steps = max(0, -(-beyond // (limit - overlap)))
    starts = [start + beyond * step // steps for step in range(steps + 1)] if steps else [start]
    borders = [2 * start, *(left + limit + right for left, right in pairwise(starts)), 2 * end]
    for at, (first, last) in zip(starts, pairwise(borders), strict=True):
        yield Window(at, min(at + limit, end), first, last)


def passage_starts(sentence: Sentence) -> list[int]:
    """The words, other than the first, with which a passage begins.

    Words that come from no text are one passage: whoever made them has drawn the line already.
    """
    if sentence.text is None or sentence.offsets is None:
        return []
    word_starts = [start for start, _ in sentence.offsets]
    places = {bisect_left(word_starts, place) for place in _ends(sentence.text)}
    return sorted(places - {0, len(word_starts)})


def examples_of(sentence: Sentence, limit: int = WORDS_AT_ONCE) -> list[Sentence]:
    """A labelled document as passages to learn from, none of which cuts an entity.

    What a model learns from then looks like what it will read. A passage of more than `limit`
    words is cut where it must be.
    """
    entities = [*((span.start, span.end) for span in sentence.spans), *sentence.others]
    inside = {place for start, end in entities for place in range(start + 1, end)}
    size = len(sentence.words)
    places = [0, *(place for place in passage_starts(sentence) if place not in inside), size]
    cuts = [0]
    for start, end in pairwise(places):
        while end - start > limit:
            fitting = (at for at in range(start + limit, start, -1) if at not in inside)
            later = (at for at in range(start + limit, end) if at not in inside)
            start = next(fitting, None) or next(later, end)
            cuts.append(start)
        if start < end:
            cuts.append(end)
    return [_part(sentence, start, end) for start, end in pairwise(cuts)]


def _part(sentence: Sentence, start: int, end: int) -> Sentence:
    """The words from `start` up to `end` and the entities among them."""
    return Sentence(
        sentence.words[start:end],
        tuple(
            Span(first - start, last - start, label)
            for first, last, label in sentence.spans
            if start <= first and last <= end
        ),
        others=tuple(
            (first - start, last - start)
            for first, last in sentence.others
            if start <= first and last <= end
        ),
    )


def _ends(text: str) -> Iterator[int]:
    """Characters after which a passage ends."""
    for match in _SENTENCE_END.finditer(text):
        if not _goes_on(text, match):
            yield match.end()
    line_start = 0
    for match in _LINE_END.finditer(text):
        length = len(text[line_start : match.start()].strip())
        if length not in _WRAPPED_LINE or _LIST_ITEM.match(text, match.end()):
            yield match.end()
        line_start = match.end()


def _goes_on(text: str, mark: re.Match[str]) -> bool:
    """Whether a sentence goes on after what might have ended it."""
    if mark[0][0] in _WIDE_MARKS:
        return False
    following = _VISIBLE.search(text, mark.end())
    if following is not None and following[0].islower():
        return True
    if mark[0] != ".":
        return False
    head = text[max(0, mark.start() - _LONGEST_ABBREVIATION) : mark.start()]
    before = _BEFORE_POINT.search(head)
    word = before[0] if before else ""
    return (
        len(word) == 1  # an initial, or the number of an item
        or (len(word) == 2 and word.isdecimal())
        or "." in word  # U.S., e.g.
        or word.lower() in _ABBREVIATIONS
    )
