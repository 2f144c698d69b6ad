"""`char-jsonl`: one text a line, with entities as characters of it.

`{"text": "...", "entities": [{"start", "end", "label"}]}`: positions count Unicode characters and
ends are exclusive. Entities may nest, and must begin and end where words do (see `data.words`).
Other keys are ignored. Words that come from no text are written with a blank between them.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Warn,
    WriteOptions,
    parsed,
)
from spanproto.data.formats.json_values import (
    dump,
    json_lines,
    parse_object,
    require_entities,
    require_text,
    require_words,
)
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of, word_offsets
from spanproto.errors import DataError

Offsets = Sequence[tuple[int, int]]


def labelled(text: str, entities: Iterable[Span]) -> Sentence:
    """The text's words with the entities, given in characters; one that cuts a word is refused."""
    sentence = sentence_of(text)
    require_words(sentence.words)
    offsets = sentence.offsets or ()
    word_from = {start: at for at, (start, _) in enumerate(offsets)}
    word_to = {end: at + 1 for at, (_, end) in enumerate(offsets)}
    spans = []
    for start, end, label in entities:
        if start not in word_from or end not in word_to:
            raise DataError(
                f"entity [{start}, {end}) {text[start:end]!r} of type {label!r} does not begin "
                f"and end at a word; {_nearest_words(start, end, text, offsets)}"
            )
        spans.append(Span(word_from[start], word_to[end], label))
    return sentence.with_spans(spans)


def _nearest_words(start: int, end: int, text: str, offsets: Offsets) -> str:
    touched = [(first, last) for first, last in offsets if first < end and start < last]
    if not touched:
        return "it covers none, so leave it out"
    first, last = touched[0][0], touched[-1][1]
    return f"the words that it touches are [{first}, {last}) {text[first:last]!r}"


def _parse(line: str, warn: Warn) -> Sentence:
    record = parse_object(line)
    text = require_text(record.get("text"), "'text'")
    entities = require_entities(record, "label", len(text), "characters of the text", warn)
    return labelled(text, entities)


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    return Reading(parsed(json_lines(path), _parse, on_problem))


def _encode(sentence: Sentence, options: WriteOptions) -> str:
    text, offsets = _running_text(sentence)
    entities = [
        Span(offsets[span.start][0], offsets[span.end - 1][1], span.label)
        for span in sentence.spans
    ]
    labelled(text, entities)  # refuses what could not be read back
    return dump(
        {
            "text": text,
            "entities": [
                {"start": entity.start, "end": entity.end, "label": entity.label}
                for entity in entities
            ],
        }
    )


def _running_text(sentence: Sentence) -> tuple[str, Offsets]:
    """The sentence's text and its words' characters in it, less invisible ones at their ends."""
    words = require_words(sentence.words)
    if sentence.text is not None and sentence.offsets is not None:
        return sentence.text, sentence.offsets
    offsets, position = [], 0
    for word in words:
        visible = word_offsets(word) or ((0, len(word)),)
        offsets.append((position + visible[0][0], position + visible[-1][1]))
        position += len(word) + 1
    return " ".join(words), offsets


FORMAT = Format(
    name="char-jsonl",
    description="JSON Lines of texts with entities as character positions; may nest",
    patterns=("*.jsonl",),
    holds="sentences",
    sniff=lambda text: re.match(r'\s*\{.*"text"\s*:', text) is not None,
    read=_read,
    encode=_encode,
)
