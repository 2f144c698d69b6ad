"""`seq-in-out`: the files of SNIPS and ATIS, `seq.in` with words and `seq.out` with BIO tags.

Both have a sentence a line, with blanks between words and between tags. Either file may be given;
the other lies beside it. The file `label`, which has the intent of each sentence, is not read here.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from spanproto.data.files import numbered_lines
from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Unit,
    Warn,
    parsed,
)
from spanproto.data.formats.columns import rows_of
from spanproto.data.formats.tagged import sentence_of_lists
from spanproto.data.tags import is_prefixed
from spanproto.data.types import Sentence
from spanproto.errors import DataError

_Pair = tuple[list[str], list[str]]


def _pairs(path: Path) -> Iterator[Unit[_Pair]]:
    """The words and the tags of each line."""
    words, tags = (
        [row.fields for row in rows_of(numbered_lines(path.with_suffix(suffix)), tabbed=False)]
        for suffix in (".in", ".out")
    )
    pairs: Iterator[_Pair] = zip_longest(words, tags, fillvalue=[])
    for line, pair in enumerate(pairs, start=1):
        yield Unit(line, "", pair)


def _parse(pair: _Pair, warn: Warn) -> Sentence | None:
    words, tags = pair
    if len(words) != len(tags):
        raise DataError(
            f"{len(words)} word(s) in the .in file and {len(tags)} tag(s) in the .out file; "
            "give every word a tag, on the same line"
        )
    return sentence_of_lists(words, tags, "bio", warn) if words else None


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    return Reading(parsed(_pairs(path), _parse, on_problem), "bio")


def _only_tags(head: bytes) -> bool:
    """Whether a file begins with tags between blanks, the last of them perhaps cut short."""
    tags = head.decode("utf-8", "replace").split()
    return (
        b"\t" not in head
        and bool(tags)
        and all(tag == "O" or is_prefixed(tag) for tag in tags[:-1] or tags)
    )


FORMAT = Format(
    name="seq-in-out",
    description="Words in seq.in and BIO tags in seq.out, a sentence a line, as in SNIPS",
    patterns=("*.in", "*.out"),
    holds="sentences",
    signature=_only_tags,
    read=_read,
)
