"""`prodigy`: what Prodigy's `db-out` writes for named entities and spans, one example a line.

`{"text", "tokens": [{"text", "start", "end", "id"}], "spans": [{"start", "end", "label",
"token_start", "token_end"}], "answer"}`. Where there are tokens they are the words, less those of
white space alone. Ends are exclusive characters; a span without them is read by its tokens, of
which `token_end` is the last. Only what was accepted is used: an example with another answer is
left out, and so is a single span that has one of its own.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from spanproto.data.formats.base import Format, ReadOptions, Warn
from spanproto.data.formats.json_values import (
    entities_in,
    require_list,
    require_object,
    require_text,
)
from spanproto.data.formats.text_records import (
    Record,
    fitting_sentence,
    looks_like,
    read_lines,
)
from spanproto.data.types import Sentence
from spanproto.data.words import is_visible, sentence_of
from spanproto.errors import DataError

_ACCEPTED = "accept"
_ANSWERS = (_ACCEPTED, "reject", "ignore")
_MARKS = frozenset({"_input_hash", "_task_hash"})

Token = tuple[int, int]


def is_record(record: Record) -> bool:
    """Whether a record is a text that Prodigy, or a stream made for it, would hold."""
    return isinstance(record.get("text"), str) and (
        not _MARKS.isdisjoint(record)
        or record.get("answer") in _ANSWERS
        or ("spans" in record and "entities" not in record)
    )


def parse(record: Record, options: ReadOptions, warn: Warn) -> Sentence | None:
    """The sentence that a record holds, or None if it was not accepted."""
    if record.get("answer", _ACCEPTED) != _ACCEPTED:
        warn(f"the answer is {record['answer']!r} and not 'accept'; the example was left out")
        return None
    text = require_text(record.get("text"), "'text'")
    tokens = _tokens(text, require_list(record, "tokens")) if record.get("tokens") else []
    spans = require_list(record, "spans") if record.get("spans") else []
    accepted = [span for span in spans if _is_accepted(span)]
    if len(accepted) < len(spans):
        warn(f"{len(spans) - len(accepted)} of its spans were not accepted and were left out")
    entities = entities_in([_in_characters(span, tokens) for span in accepted])
    sentence = _sentence_of_tokens(text, tokens) if tokens else sentence_of(text)
    return fitting_sentence(sentence, entities, options, warn)


def _is_accepted(span: Any) -> bool:
    return not isinstance(span, dict) or span.get("answer", _ACCEPTED) == _ACCEPTED


def _tokens(text: str, values: Sequence[Any]) -> list[Token]:
    tokens: list[Token] = []
    for at, value in enumerate(values):
        token = require_object(value, f"token {at}")
        start, end = token.get("start"), token.get("end")
        if type(start) is not int or type(end) is not int:
            raise DataError(f"token {at} needs whole numbers 'start' and 'end'; add them")
        if not (tokens[-1][1] if tokens else 0) <= start < end <= len(text):
            raise DataError(
                f"token {at}, [{start}, {end}), does not follow the one before it within the "
                f"{len(text)} characters of the text; export the example again"
            )
        tokens.append((start, end))
    return tokens


def _sentence_of_tokens(text: str, tokens: Sequence[Token]) -> Sentence:
    offsets = tuple((start, end) for start, end in tokens if is_visible(text[start:end]))
    return Sentence(tuple(text[start:end] for start, end in offsets), (), text, offsets)


def _in_characters(span: Any, tokens: Sequence[Token]) -> Any:
    """The span with `start` and `end`, found from its tokens if it has none."""
    if not isinstance(span, dict) or "start" in span or "token_start" not in span:
        return span
    first, last = span["token_start"], span.get("token_end")
    if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(tokens):
        raise DataError(
            f"a span of tokens {first!r} to {last!r} does not fit the {len(tokens)} tokens; "
            "export the example again"
        )
    return span | {"start": tokens[first][0], "end": tokens[last][1]}


FORMAT = Format(
    name="prodigy",
    description="Prodigy's JSONL of texts, tokens and spans; what was accepted; may nest",
    holds="sentences",
    sniff=looks_like("{", is_record),
    read=partial(read_lines, parse),
)
