"""JSON with line numbers, and its values checked for what a sentence needs."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from spanproto.data.files import numbered_lines, read_text
from spanproto.data.formats.base import Unit, Warn
from spanproto.data.types import Span
from spanproto.errors import DataError

_DECODER = json.JSONDecoder()


class JsonCursor:
    """A place in a JSON file, moved over one value at a time so that each has a line number."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = read_text(path)
        self.position = 0
        self._counted = (0, 1)

    def line(self) -> int:
        """The 1-based line of the next value."""
        self._skip_blanks()
        counted, line = self._counted
        line += self.text.count("\n", counted, self.position)
        self._counted = (self.position, line)
        return line

    def elements(self) -> Iterator[tuple[int, Any]]:
        """The line and value of each element of the array that comes next."""
        for _ in self._members("[", "]"):
            yield self.line(), self._value()

    def member_names(self) -> Iterator[str]:
        """Each key of the object that comes next; its value must be taken before the next key."""
        for _ in self._members("{", "}"):
            key = self._value()
            if not isinstance(key, str):
                self._fail("a key in double quotes")
            self._expect(":")
            yield key

    def finish(self) -> None:
        """Refuse anything after the last value."""
        self._skip_blanks()
        if self.position < len(self.text):
            self._fail("the end of the file")

    def _members(self, opening: str, closing: str) -> Iterator[None]:
        self._expect(opening)
        if self._take(closing):
            return
        yield
        while not self._take(closing):
            self._expect(",")
            yield

    def _value(self) -> Any:
        self._skip_blanks()
        try:
            value, self.position = _DECODER.raw_decode(self.text, self.position)
        except json.JSONDecodeError as error:
            self.position = error.pos
            self._fail("valid JSON")
        except (ValueError, RecursionError) as error:
            self._fail(f"JSON that can be read, found {type(error).__name__}")
        return value

    def _skip_blanks(self) -> None:
        while self.text[self.position : self.position + 1] in (" ", "\t", "\r", "\n"):
            self.position += 1

    def _take(self, char: str) -> bool:
        self._skip_blanks()
        found = self.text.startswith(char, self.position)
        self.position += found
        return found

    def _expect(self, char: str) -> None:
        if not self._take(char):
            self._fail(repr(char))

    def _fail(self, expected: str) -> NoReturn:
        raise DataError(
            f"{self.path}:{self.line()}: expected {expected} at character {self.position} of the "
            "file; mend or export the file again"
        )


def json_elements(path: Path, name: str) -> Iterator[Unit[Any]]:
    """The elements of a JSON file that is one array, called `name` and their place in it."""
    cursor = JsonCursor(path)
    for at, (line, value) in enumerate(cursor.elements()):
        yield Unit(line, f"{name} {at}", value)
    cursor.finish()


def json_lines(path: Path) -> Iterator[Unit[str]]:
    """The lines of a JSON Lines file that are not blank."""
    for number, line in numbered_lines(path):
        if line.strip():
            yield Unit(number, "", line)


def parse_object(line: str) -> dict[str, Any]:
    """The JSON object that a line holds."""
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        reason = f"{error.msg} at column {error.colno}"
    except RecursionError:
        reason = "brackets nested too deeply"
    except ValueError as error:  # a number of more digits than Python takes
        reason = str(error)
    else:
        return require_object(value, "the line")
    raise DataError(f"not valid JSON ({reason}); mend or export the line again")


def dump(value: Any) -> str:
    """The value as JSON on one line, with every character as it is."""
    return json.dumps(value, ensure_ascii=False)


def require_object(value: Any, what: str) -> dict[str, Any]:
    """`value`, which must be a JSON object."""
    if not isinstance(value, dict):
        raise DataError(f"{what} is not a JSON object; write {{...}}")
    return value


def require_list(record: dict[str, Any], key: str) -> list[Any]:
    """The list under `key`, which may be a tuple if it comes from Python."""
    value = record.get(key)
    if not isinstance(value, list | tuple):
        raise DataError(f"{key!r} is not a list; write {key!r}: [...]")
    return list(value)


def require_text(value: Any, what: str) -> str:
    """`value`, which must be a string that can be written as UTF-8 and is not empty."""
    if not isinstance(value, str) or not value:
        raise DataError(f"{what} is {value!r}; write a string that is not empty")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise DataError(f"{what} holds half of a surrogate pair; export the text again") from None
    return value


def require_words(values: Sequence[Any]) -> tuple[str, ...]:
    """The words of a sentence, of which there must be one at least."""
    if not values:
        raise DataError("the sentence has no words; leave it out")
    return tuple(require_text(value, f"word {at}") for at, value in enumerate(values))


class EntityKeys(NamedTuple):
    """What the two ends and the type of an entity are called."""

    start: str = "start"
    end: str = "end"
    label: str = "label"


_USUAL_KEYS = EntityKeys()


def entities_in(values: Iterable[Any], keys: EntityKeys = _USUAL_KEYS) -> list[Span]:
    """The entities that JSON values name, as objects or as [start, end, type]; ends as they are."""
    spans = []
    for at, value in enumerate(values):
        if isinstance(value, list | tuple) and len(value) == len(keys):
            entity = dict(zip(keys, value, strict=True))
        else:
            entity = require_object(value, f"entity {at}")
        start, end = entity.get(keys.start), entity.get(keys.end)
        if type(start) is not int or type(end) is not int:
            raise DataError(
                f"entity {at} needs whole numbers {keys.start!r} and {keys.end!r}; add them"
            )
        label = require_text(entity.get(keys.label), f"{keys.label!r} of entity {at}")
        spans.append(Span(start, end, label))
    return spans


def require_fit(entities: Iterable[Span], length: int, unit: str, warn: Warn) -> list[Span]:
    """The entities, each once; all must lie within `length` units (words or characters)."""
    spans: dict[Span, None] = {}
    for at, span in enumerate(entities):
        name = f"entity {at}, [{span.start}, {span.end}) {span.label!r},"
        if not 0 <= span.start < span.end <= length:
            raise DataError(
                f"{name} does not lie within the {length} {unit}; "
                "mend its ends ('end' is exclusive)"
            )
        if span in spans:
            warn(f"{name} is there twice and was read once")
        spans[span] = None
    return list(spans)
