"""`label-studio`: the JSON and JSON-MIN exports of Label Studio's text labelling.

JSON is an array of tasks, `{"id", "data": {"text": ...}, "annotations": [{"result": [{"to_name",
"value": {"start", "end", "text", "labels": [...]}}], "was_cancelled"}]}`; before 1.0 annotations
were called `completions`. JSON-MIN is an array of the data's fields with the regions beside them,
one object for each annotation. Predictions, choices, relations and other results are ignored.

* Of several annotations of a task the one last changed is read. A task whose annotations were all
  cancelled is left out; one that has none is an unlabelled sentence.
* A region with several labels is an entity for each; one with none is left out.
* The text is the field of the data that the regions quote, or that is named as their `to_name` or
  `text`, or the only one.
* Positions count characters, and in older versions UTF-16 units; what the regions quote shows which
  (by all but its blanks, which a quotation may lack).
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spanproto.data.boundaries import characters_of_utf16
from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Unit,
    Warn,
    parsed,
)
from spanproto.data.formats.json_values import (
    json_elements,
    require_list,
    require_object,
    require_text,
)
from spanproto.data.formats.text_records import Record, fitting_sentence, looks_like
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError

_NO_FIELDS_OF_THE_DATA = frozenset(
    {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"}
)
_FIELDS_OF_A_PLACE = frozenset(
    {"start", "end", "text", "startOffset", "endOffset", "globalOffsets", "type"}
)
_BLANK = re.compile(r"\s|\\n")


class _Region(NamedTuple):
    """A labelled part of a text, however it counts, what it quotes, and the name of the text."""

    span: Span
    quoted: str | None
    of: Any


def is_record(record: Record) -> bool:
    """Whether a record is a task of either export."""
    return (
        isinstance(record.get("data"), dict)
        or "annotation_id" in record
        or any("labels" in value for value in _places(record))
    )


def parse(record: Record, options: ReadOptions, warn: Warn) -> Sentence | None:
    """The sentence that a task holds, or None if its annotations were all cancelled."""
    task = record if isinstance(record.get("data"), dict) else _task_of_fields(record)
    annotation = _latest(task, warn)
    if annotation is None:
        warn("its annotations were all cancelled; the task was left out")
        return None
    regions = list(_regions(annotation, warn))
    text = _text(require_object(task.get("data"), "'data'"), regions)
    return fitting_sentence(sentence_of(text), _in_characters(text, regions), options, warn)


def _task_of_fields(record: Record) -> Record:
    """A record of JSON-MIN as a task of one annotation."""
    return {
        "id": record.get("id"),
        "data": {key: value for key, value in record.items() if key not in _NO_FIELDS_OF_THE_DATA},
        "annotations": [
            {key: record.get(key) for key in ("created_at", "updated_at")}
            | {"result": [{"value": value} for value in _places(record)]}
        ],
    }


def _places(record: Record) -> list[Record]:
    """The objects with two ends in the lists of a record: the regions of JSON-MIN."""
    return [
        value
        for values in record.values()
        if isinstance(values, list)
        for value in values
        if isinstance(value, dict) and "start" in value and "end" in value
    ]


def _latest(task: Record, warn: Warn) -> Record | None:
    """The annotation to read: empty where there is none, None where all were cancelled."""
    key = "annotations" if "annotations" in task else "completions"
    if not task.get(key):
        return {}
    annotations = [
        require_object(value, f"annotation {at}")
        for at, value in enumerate(require_list(task, key))
    ]
    kept = [
        annotation
        for annotation in annotations
        if not (annotation.get("was_cancelled") or annotation.get("skipped"))
    ]
    if len(kept) > 1:
        warn(f"it has {len(kept)} annotations, of which the one last changed was read")
    changed = [str(it.get("updated_at") or it.get("created_at") or "") for it in kept]
    return max(zip(changed, range(len(kept)), kept, strict=True))[2] if kept else None


def _regions(annotation: Record, warn: Warn) -> Iterator[_Region]:
    for at, value in enumerate(require_list(annotation, "result") if annotation else []):
        result = require_object(value, f"result {at}")
        place = result.get("value")
        if not isinstance(place, dict) or not _is_region(place):
            continue
        start, end, labels = place.get("start"), place.get("end"), place.get("labels") or []
        if type(start) is not int or type(end) is not int or not isinstance(labels, list):
            raise DataError(
                f"region {at} is not a range of characters with a list of labels; "
                "only regions of plain text can be read"
            )
        if not labels:
            warn(f"region {at}, [{start}, {end}), has no label and was left out")
        for label in labels:
            span = Span(start, end, require_text(label, f"a label of region {at}"))
            quoted = place.get("text")
            yield _Region(span, quoted if isinstance(quoted, str) else None, result.get("to_name"))


def _is_region(place: Record) -> bool:
    """Whether a result marks a place with labels, and says nothing else of it."""
    if any(key in place for key in ("labels", "hypertextlabels", "paragraphlabels")):
        return True
    quoted = place.get("text")
    return {"start", "end"} <= place.keys() <= _FIELDS_OF_A_PLACE and not isinstance(quoted, list)


def _text(data: Record, regions: Sequence[_Region]) -> str:
    """The field of the data that the regions are of."""
    fields = {key: value for key, value in data.items() if isinstance(value, str)}
    named = [name for name in (*(region.of for region in regions), "text") if name in fields]
    quoting = [name for name in (*named, *fields) if _are_quoted(fields[name], regions)]
    chosen = [*quoting, *named, *(fields if len(fields) == 1 else ())]
    if not chosen:
        raise DataError(
            f"which field of the data holds the text cannot be told from {sorted(fields)}; "
            "keep one of them or call it 'text'"
        )
    return require_text(fields[chosen[0]], repr(chosen[0]))


def _are_quoted(text: str, regions: Sequence[_Region]) -> bool:
    if all(region.quoted is None for region in regions):
        return False
    try:
        _in_characters(text, regions)
    except DataError:
        return False
    return True


def _in_characters(text: str, regions: Sequence[_Region]) -> list[Span]:
    """The regions' spans in characters, whichever way they were counted."""
    spans = [region.span for region in regions]
    units = characters_of_utf16(text, spans)
    for counted in (spans, units):
        if counted is not None and _differing(text, counted, regions) is None:
            return counted
    at = _differing(text, spans, regions) or 0
    start, end, _ = spans[at]
    raise DataError(
        f"region [{start}, {end}) is {text[start:end]!r} in the text and {regions[at].quoted!r} in "
        "the export; export the task again"
    )


def _differing(text: str, spans: Sequence[Span], regions: Sequence[_Region]) -> int | None:
    """The first region that quotes something else than stands in the text."""
    for at, (span, region) in enumerate(zip(spans, regions, strict=True)):
        if region.quoted is not None and _BLANK.sub("", region.quoted) != _BLANK.sub(
            "", text[span.start : span.end]
        ):
            return at
    return None


def _units(path: Path) -> list[Unit[Any]]:
    """The tasks of a file, called by their ids; records of JSON-MIN with one id are one task."""
    units: list[Unit[Any]] = []
    by_id: dict[object, Record] = {}
    for line, name, value in json_elements(path, "task"):
        if isinstance(value, dict) and isinstance(number := value.get("id"), int | str):
            name = f"task {number}"
            if not isinstance(value.get("data"), dict):
                value = _task_of_fields(value)
                earlier = by_id.setdefault(number, value)
                if earlier is not value:
                    earlier["annotations"] += value["annotations"]
                    continue
        units.append(Unit(line, name, value))
    return units


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    def parse_task(value: Any, warn: Warn) -> Sentence | None:
        return parse(require_object(value, "the task"), options, warn)

    return Reading(parsed(_units(path), parse_task, on_problem))


FORMAT = Format(
    name="label-studio",
    description="Label Studio's JSON and JSON-MIN exports of text labelling; may nest",
    holds="sentences",
    sniff=looks_like("[", is_record),
    read=_read,
)
