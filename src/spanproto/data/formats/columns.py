"""One word a line in columns, a blank line between sentences: what CoNLL and Few-NERD share."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from spanproto.data.formats.base import LineError, Located, OnProblem, Unit, Warn, parsed
from spanproto.data.formats.tagged import tagged_sentence
from spanproto.data.tags import Scheme, TagError, tags_from_spans
from spanproto.data.types import Sentence
from spanproto.errors import DataError

_BLANKS = " \t"  # of ASCII alone: a word may hold any other white space, such as U+00A0
_RUN_OF_BLANKS = re.compile(f"[{_BLANKS}]+")
_UNWRITABLE = re.compile(r"[\t\r\n]|^[ \ufeff]| $|^$")


class Row(NamedTuple):
    """The fields of a line; none between sentences."""

    line: int
    fields: list[str]


@dataclass(frozen=True)
class Layout:
    """How many columns a file has and which of them hold the words and the tags."""

    width: int
    word: int
    label: int


def rows_of(lines: Iterable[tuple[int, str]], tabbed: bool) -> Iterator[Row]:
    """The lines cut at every tab or, if not `tabbed`, at runs of blanks."""
    for number, line in lines:
        text = line.strip(_BLANKS)
        if not text:
            yield Row(number, [])
        elif tabbed:
            yield Row(number, [field.strip(_BLANKS) for field in text.split("\t")])
        else:
            yield Row(number, _RUN_OF_BLANKS.split(text))


def blocks_of(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each sentence."""
    block: list[Row] = []
    for row in rows:
        if row.fields:
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block


def sentences_in(
    rows: Iterable[Row], layout: Layout, scheme: Scheme, on_problem: OnProblem
) -> Iterator[Located[Sentence]]:
    """The sentences of the rows."""
    units = (Unit(block[0].line, "", block) for block in blocks_of(rows))
    return parsed(units, partial(_parse, layout, scheme), on_problem)


def _parse(layout: Layout, scheme: Scheme, block: list[Row], warn: Warn) -> Sentence:
    for row in block:
        if len(row.fields) != layout.width:
            raise LineError(
                f"the line has {len(row.fields)} column(s) where others have {layout.width}; "
                "give every word the same columns",
                row.line,
            )
        if not row.fields[layout.word]:
            raise LineError("the word is empty; leave the line out", row.line)
    words = [row.fields[layout.word] for row in block]
    tags = [row.fields[layout.label] for row in block]
    try:
        return tagged_sentence(
            words, tags, scheme, lambda at, message: warn(message, block[at].line)
        )
    except TagError as error:
        raise LineError(str(error), block[error.position].line) from None


def encode_sentence(sentence: Sentence, scheme: Scheme, merge: bool) -> str:
    """The sentence as lines of a word, a tab and a tag, each with its line end."""
    if not sentence.words:
        raise DataError("the sentence has no words; leave it out")
    tags = tags_from_spans(sentence.spans, len(sentence.words), scheme, merge=merge)
    for field in (*sentence.words, *tags):
        if _UNWRITABLE.search(field):
            raise DataError(
                f"{field!r} is empty, or holds a tab or line end, or has a blank or byte-order "
                "mark at an end, which columns cannot keep; choose a JSON format"
            )
    return "".join(f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True))
