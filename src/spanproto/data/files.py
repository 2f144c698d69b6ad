"""Reading and writing text files so that errors are clear and nothing is half-written."""

import codecs
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from spanproto.errors import DataError


def read_bytes(path: Path) -> bytes:
    """The file's bytes."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; check the path") from None
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); give a readable file"
        ) from None


def read_text(path: Path) -> str:
    """The file's text, decoded as UTF-8 (a byte-order mark is dropped), never empty."""
    return decoded(path, read_bytes(path))


def is_binary(raw: bytes) -> bool:
    """Whether the bytes of a file are no text in any encoding that people use."""
    try:
        raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return b"\0" in raw and not raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return False


def decoded(path: Path, raw: bytes) -> str:
    """The text that the bytes of the file are; see `read_text`."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if is_binary(raw):
            raise DataError(
                f"{path}: a binary file where text is needed; export it as text in UTF-8"
            ) from None
        # utf-8-sig counts positions after the byte-order mark it drops.
        offset = error.start + (3 if raw.startswith(codecs.BOM_UTF8) else 0)
        raise DataError(
            f"{path}: invalid UTF-8 at byte offset {offset}; save the file as UTF-8"
        ) from None
    if not text.strip():
        raise DataError(f"{path}: the file is empty; check that it is the right one")
    return text


def parse_json(text: str, where: str) -> Any:
    """The JSON value in `text`; `where` (a file and perhaps a line) opens the error message."""
    try:
        return json.loads(text)
    except ValueError as error:  # also a number of more digits than Python takes
        raise DataError(
            f"{where}: not valid JSON ({error}); mend the file or export it again"
        ) from None


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Lines of the file without their ends, with 1-based numbers; only \n and \r\n end a line."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        yield number, line.removesuffix("\r")


@contextmanager
def atomic_writer(path: Path) -> Iterator[TextIO]:
    """A text file that appears at `path` whole when the block ends, or not at all on an error."""
    with (
        replaced_when_done(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as stream,
    ):
        yield stream


class _UnusedError(Exception):
    """Ends a writing that was begun to see whether it can be."""


def require_place(path: Path) -> None:
    """Complain of a place where a file could not be written, before the work for it is done."""
    with suppress(_UnusedError), replaced_when_done(path):
        raise _UnusedError


@contextmanager
def replaced_when_done(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its name when the block ends without an error.

    A link is followed. What is there and is no plain file (a device, a pipe) is left alone.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: cannot be written (not a plain file); choose another place")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror}); choose another place"
        ) from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
