"""What every format shares: units that are read one by one, and problems that have a place.

A reader cuts its file into units (a sentence, a line, an episode) and parses each by itself.
Parsing raises DataError; `parsed` turns that into a Problem with a line and goes on with the next
unit. Whether a problem ends the reading is decided by the `on_problem` it is handed, so strict
reading and `data check` run the same code.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from spanproto.data.boundaries import Boundaries
from spanproto.data.tags import Scheme
from spanproto.errors import DataError

Content = TypeVar("Content")
Item = TypeVar("Item")


class Problem(NamedTuple):
    """Something wrong at a line: an error drops its unit, a warning was read with leniency.

    The line is None where a file has none.
    """

    line: int | None
    message: str
    is_error: bool = True

    def within(self, path: Path) -> str:
        """The message with its place in a file."""
        return (
            f"{path}: {self.message}"
            if self.line is None
            else f"{path}:{self.line}: {self.message}"
        )


OnProblem = Callable[[Problem], None]


class Warn(Protocol):
    """How a parser reports what it could read but the user may want to mend."""

    def __call__(self, message: str, line: int | None = None) -> None:
        """Report `message` at `line`, or at the unit's own line."""


class LineError(DataError):
    """A problem on another line than the first of its unit."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class Unit(NamedTuple, Generic[Content]):
    """An unparsed piece of a file: its line, its name in messages (may be empty), its content."""

    line: int | None
    name: str
    content: Content


class Located(NamedTuple, Generic[Item]):
    """A sentence or episode and the line where it begins."""

    line: int | None
    item: Item


@dataclass(frozen=True)
class Reading(Generic[Item]):
    """The items of a file, yet to be read, and the tag scheme where the file has tags."""

    items: Iterator[Located[Item]]
    scheme: Scheme | None = None


@dataclass(frozen=True)
class ReadOptions:
    """What would be found in a column file, and what becomes of entities that cut words."""

    label_column: int | None = None
    scheme: Scheme | None = None
    boundaries: Boundaries = "refuse"


@dataclass(frozen=True)
class WriteOptions:
    """The tag scheme to write, and whether touching entities may be merged for want of tags."""

    scheme: Scheme | None = None
    merge: bool = False


@dataclass(frozen=True)
class Writer(Generic[Item]):
    """How a file is written: every item is encoded by itself, and the pieces make the file."""

    encode: Callable[[Item, WriteOptions], Any]
    assemble: Callable[[Iterable[Any]], Iterable[bytes]]


def text_writer(
    encode: Callable[[Item, WriteOptions], str],
    opening: str = "",
    separator: str = "\n",
    closing: str = "\n",
) -> Writer[Item]:
    """A text file: `opening`, the encoded items with `separator` between them, and `closing`."""

    def encode_text(item: Item, options: WriteOptions) -> bytes:
        try:
            return encode(item, options).encode()
        except UnicodeEncodeError:
            raise DataError("half of a surrogate pair; mend the words or types") from None

    def assemble(pieces: Iterable[bytes]) -> Iterator[bytes]:
        before = opening
        for piece in pieces:
            yield before.encode()
            yield piece
            before = separator
        yield closing.encode()

    return Writer(encode_text, assemble)


@dataclass(frozen=True)
class Format(Generic[Item]):
    """A file format: how to know, read and write it.

    A text format is known by `sniff` from its text, a binary one by `signature` from its first
    bytes. One without a `writer` is only read.
    """

    name: str
    description: str
    holds: Literal["sentences", "episodes"]
    read: Callable[[Path, ReadOptions, OnProblem], Reading[Item]]
    writer: Writer[Item] | None = None
    patterns: tuple[str, ...] = ()
    sniff: Callable[[str], bool] | None = None
    signature: Callable[[bytes], bool] | None = None
    has_label_column: bool = False
    has_schemes: bool = False


def parsed(
    units: Iterable[Unit[Content]],
    parse: Callable[[Content, Warn], Item | None],
    on_problem: OnProblem,
) -> Iterator[Located[Item]]:
    """Each unit that parses; None is left out, and what does not parse is reported."""
    for unit in units:
        try:
            item = parse(unit.content, partial(_warn, unit, on_problem))
        except DataError as error:
            line = error.line if isinstance(error, LineError) else unit.line
            on_problem(Problem(line, _named(unit, str(error))))
        else:
            if item is not None:
                yield Located(unit.line, item)


def _warn(
    unit: Unit[Content], on_problem: OnProblem, message: str, line: int | None = None
) -> None:
    on_problem(Problem(line or unit.line, _named(unit, message), is_error=False))


def _named(unit: Unit[Content], message: str) -> str:
    return f"{unit.name}: {message}" if unit.name else message
