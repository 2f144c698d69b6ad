"""`char-jsonl`: one text a line, with entities as characters of it.

`{"text": "...", "entities": [{"start", "end", "label"}]}`: positions count Unicode characters and
ends are exclusive. Entities may nest, and must begin and end where words do (see `data.words`)
unless they are to be snapped. Other keys are ignored. A JSON array of the same objects is read too.
Words that come from no text are written with a blank between them.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from spanproto.data.boundaries import labelled
from spanproto.data.files import read_text
from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Warn,
    WriteOptions,
    parsed,
    text_writer,
)
from spanproto.data.formats.json_values import (
    dump,
    entities_in,
    json_elements,
    require_list,
    require_object,
    require_text,
    require_words,
)
from spanproto.data.formats.text_records import (
    Record,
    fitting_sentence,
    looks_like,
    read_lines,
)
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of, word_offsets

_LINE = re.compile(r'\s*\{.*"text"\s*:')
_in_array = looks_like("[", lambda record: "text" in record and "tokens" not in record)


def parse(record: Record, options: ReadOptions, warn: Warn) -> Sentence:
    """The sentence that a record holds."""
    text = require_text(record.get("text"), "'text'")
    entities = entities_in(require_list(record, "entities"))
    return fitting_sentence(sentence_of(text), entities, options, warn)


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    if not read_text(path).lstrip().startswith("["):
        return read_lines(parse, path, options, on_problem)

    def parse_element(value: object, warn: Warn) -> Sentence:
        return parse(require_object(value, "the sentence"), options, warn)

    return Reading(parsed(json_elements(path, "sentence"), parse_element, on_problem))


def _encode(sentence: Sentence, options: WriteOptions) -> str:
    text, offsets = _running_text(sentence)
    entities = [
        Span(offsets[span.start][0], offsets[span.end - 1][1], span.label)
        for span in sentence.spans
    ]
    # refuses what could not be read back
    labelled(sentence_of(text), entities, "refuse", lambda message: None)
    return dump(
        {
            "text": text,
            "entities": [
                {"start": entity.start, "end": entity.end, "label": entity.label}
                for entity in entities
            ],
        }
    )


def _running_text(sentence: Sentence) -> tuple[str, Sequence[tuple[int, int]]]:
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
    sniff=lambda text: _LINE.match(text) is not None or _in_array(text),
    read=_read,
    writer=text_writer(_encode),
)
