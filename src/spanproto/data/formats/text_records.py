"""JSON objects of one text and its entities each: what the formats in characters share."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from spanproto.data.boundaries import labelled
from spanproto.data.formats.base import OnProblem, Reading, ReadOptions, Warn, parsed
from spanproto.data.formats.json_values import (
    json_lines,
    parse_object,
    require_fit,
)
from spanproto.data.types import Sentence, Span

Record = dict[str, Any]
Parse = Callable[[Record, ReadOptions, Warn], Sentence | None]

_SNIFFED_RECORDS = 20
_DECODER = json.JSONDecoder()
_OPENING = re.compile(r"\s*\[?\s*")
_BETWEEN = re.compile(r"[\s,]*")


def read_lines(
    parse: Parse, path: Path, options: ReadOptions, on_problem: OnProblem
) -> Reading[Sentence]:
    """The sentences of a JSON Lines file."""

    def parse_line(line: str, warn: Warn) -> Sentence | None:
        return parse(parse_object(line), options, warn)

    return Reading(parsed(json_lines(path), parse_line, on_problem))


def fitting_sentence(
    sentence: Sentence, entities: list[Span], options: ReadOptions, warn: Warn
) -> Sentence:
    """The sentence with entities in characters of its text, once they are known to lie within."""
    length = len(sentence.text or "")
    fitting = require_fit(entities, length, "characters of the text", warn)
    return labelled(sentence, fitting, options.boundaries, warn)


def looks_like(opening: str, is_record: Callable[[Record], bool]) -> Callable[[str], bool]:
    """Whether a text opens with a bracket and one of its first records is of a format."""

    def sniff(text: str) -> bool:
        return text.lstrip().startswith(opening) and any(
            map(is_record, islice(_records(text), _SNIFFED_RECORDS))
        )

    return sniff


def _records(text: str) -> Iterator[Record]:
    """The objects of a JSON array or of JSON Lines, up to the first thing that is not one."""
    start = _OPENING.match(text)
    position = start.end() if start else 0
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        if not isinstance(value, dict):
            return
        yield value
        between = _BETWEEN.match(text, position)
        position = between.end() if between else position
