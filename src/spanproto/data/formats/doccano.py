"""`doccano`: the JSONL export of doccano's sequence labelling projects.

`{"id", "text", "label": [[start, end, type], ...]}`; older versions call the text `data` or the
list `labels`. Projects with relations, or with intents, have it under `entities`, the first as
`{"label", "start_offset", "end_offset"}`. Relations, comments and metadata are ignored.

doccano counts as JavaScript does, in UTF-16 units, and keeps labels that were imported as they were
counted before. The two differ after characters beyond U+FFFF, such as emoji. There the units
are taken unless only a count of characters puts every entity at words.
"""

from functools import partial

from spanproto.data.boundaries import characters_of_utf16, meet_words
from spanproto.data.formats.base import Format, ReadOptions, Warn
from spanproto.data.formats.json_values import EntityKeys, entities_in, require_list, require_text
from spanproto.data.formats.text_records import (
    Record,
    fitting_sentence,
    looks_like,
    read_lines,
)
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of

_KEYS = EntityKeys("start_offset", "end_offset", "label")
_TEXTS = ("text", "data")
_LISTS = ("label", "labels", "annotations", "entities")
_LISTS_OF_DOCCANO = (*_LISTS[:-1], "cats")
_MARKS = frozenset({"relations", "Comments", "annotation_approver"})


def is_record(record: Record) -> bool:
    """Whether a record is as doccano writes them; plain `entities` are those of `char-jsonl`."""
    if not any(isinstance(record.get(key), str) for key in _TEXTS):
        return False
    entities = record.get("entities")
    if isinstance(entities, list) and entities and isinstance(entities[0], dict):
        return _KEYS.start in entities[0]
    return not _MARKS.isdisjoint(record) or any(
        isinstance(record.get(key), list) for key in _LISTS_OF_DOCCANO
    )


def parse(record: Record, options: ReadOptions, warn: Warn) -> Sentence:
    """The sentence that a record holds."""
    key = next((key for key in _TEXTS if key in record), _TEXTS[0])
    sentence = sentence_of(require_text(record.get(key), repr(key)))
    key = next((key for key in _LISTS if key in record), _LISTS[0])
    entities = entities_in(require_list(record, key), _KEYS)
    return fitting_sentence(sentence, _in_characters(sentence, entities, warn), options, warn)


def _in_characters(sentence: Sentence, entities: list[Span], warn: Warn) -> list[Span]:
    """The entities in characters, whichever way they were counted."""
    units = characters_of_utf16(sentence.text or "", entities)
    if units is None or units == entities:
        return entities
    if meet_words(sentence, entities):
        if not meet_words(sentence, units):
            return entities
        warn(
            "its entities after an emoji or the like meet words whether UTF-16 units or characters "
            "are counted; they were read as UTF-16 units, as doccano counts"
        )
    return units


FORMAT = Format(
    name="doccano",
    description="doccano's JSONL export of sequence labelling; may nest",
    holds="sentences",
    sniff=looks_like("{", is_record),
    read=partial(read_lines, parse),
)
