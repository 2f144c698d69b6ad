"""`token-json`: a JSON array of `{"tokens": [...], "entities": [{"start", "end", "type"}]}`.

Ends are exclusive word positions, and entities may nest. Other keys are ignored.
"""

import re
from pathlib import Path
from typing import Any

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
    EntityKeys,
    dump,
    entities_in,
    json_elements,
    require_fit,
    require_list,
    require_object,
    require_words,
)
from spanproto.data.types import Sentence

_KEYS = EntityKeys(label="type")


def parse_sentence(value: Any, warn: Warn) -> Sentence:
    """The sentence that a JSON value describes."""
    record = require_object(value, "the sentence")
    words = require_words(require_list(record, "tokens"))
    entities = entities_in(require_list(record, "entities"), _KEYS)
    return Sentence(words, tuple(require_fit(entities, len(words), "words", warn)))


def sentence_record(sentence: Sentence) -> dict[str, Any]:
    """What `parse_sentence` reads."""
    return {
        "tokens": require_words(sentence.words),
        "entities": [
            {"start": span.start, "end": span.end, "type": span.label} for span in sentence.spans
        ],
    }


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    return Reading(parsed(json_elements(path, "sentence"), parse_sentence, on_problem))


def _encode(sentence: Sentence, options: WriteOptions) -> str:
    return dump(sentence_record(sentence))


FORMAT = Format(
    name="token-json",
    description="JSON array of sentences with tokens and entities as word positions; may nest",
    patterns=("*.json",),
    holds="sentences",
    sniff=lambda text: re.match(r"\s*\[\s*[{\]]", text) is not None,
    read=_read,
    writer=text_writer(_encode, opening="[\n", separator=",\n", closing="\n]\n"),
)
