"""`spanproto predict`: the entities of your own text."""

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from enum import StrEnum
from itertools import tee
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanproto.cli.options import Device, Nested, Recogniser, Thresholds, thresholds
from spanproto.errors import ConfigError, DataError

if TYPE_CHECKING:
    from spanproto.data.types import Sentence
    from spanproto.output import Document


class OutputFormat(StrEnum):
    """How entities are written."""

    table = "table"
    jsonl = "jsonl"
    conll = "conll"
    html = "html"


class Unit(StrEnum):
    """What of a text file is one document."""

    line = "line"
    paragraph = "paragraph"
    file = "file"


def predict(
    directory: Recogniser,
    file: Annotated[
        str | None, typer.Argument(help="A text file, or - for standard input.")
    ] = None,
    text: Annotated[str | None, typer.Option(help="A text instead of a file.")] = None,
    per: Annotated[
        Unit, typer.Option(help="What of FILE is one document; empty ones are left out.")
    ] = Unit.line,
    input_format: Annotated[
        str | None,
        typer.Option(help="Read FILE as data of this format.", show_default="plain text"),
    ] = None,
    format: Annotated[OutputFormat, typer.Option(help="How to write.")] = OutputFormat.table,
    threshold: Thresholds = None,
    nested: Nested = False,
    top_k: Annotated[
        int, typer.Option(help="Other types to give for each entity (jsonl, table).", min=0)
    ] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write.", show_default="-")
    ] = None,
    device: Device = "auto",
) -> None:
    """Find entities in a text, a file or standard input; positions are characters of a document."""
    from spanproto.data.files import atomic_writer
    from spanproto.ner import FewShotNER
    from spanproto.output import Document

    least = thresholds(threshold)
    given, ahead = tee(_documents(file, text, per, input_format))
    ner = FewShotNER.load(directory, device)
    found = ner.predict(ahead, threshold=least, top_k=top_k, allow_nested=nested)
    pieces = _written(map(Document, given, found), format)
    with ExitStack() as stack:
        stream = sys.stdout if output is None else stack.enter_context(atomic_writer(output))
        for piece in pieces:
            stream.write(piece)
            stream.flush()


def _documents(
    file: str | None, text: str | None, per: Unit, input_format: str | None
) -> "Iterator[str | Sentence]":
    """What was given, document by document."""
    from spanproto.examples import read_examples

    if (file is None) == (text is None):
        raise ConfigError("give either a file (- for standard input) or --text")
    if text is not None:
        return iter([text])
    assert file is not None
    if input_format is not None:
        read = read_examples(Path(file), format=input_format, allow_unlabelled=True)
        return (sentence if sentence.text is None else sentence.text for sentence in read)
    return _units(_lines(file), per)


def _lines(file: str) -> Iterator[str]:
    """The lines of a file, or those of standard input as they come, with their ends."""
    from spanproto.data.files import read_text

    if file != "-":
        path = Path(file)
        if not path.is_file() or path.stat().st_size:
            yield from io.StringIO(read_text(path), newline="\n")
        return
    try:
        yield from io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="\n")
    except UnicodeDecodeError:
        raise DataError("standard input: not valid UTF-8; give text in UTF-8") from None


def _units(lines: Iterable[str], per: Unit) -> Iterator[str]:
    block: list[str] = []
    for line in lines:
        if line.strip() or per is Unit.file:
            block.append(line)
        if block and (per is Unit.line or (per is Unit.paragraph and not line.strip())):
            yield "".join(block).rstrip("\r\n")
            block = []
    if block:
        yield "".join(block).rstrip("\r\n")


def _written(documents: "Iterable[Document]", format: OutputFormat) -> Iterator[str]:
    """The pieces of the output, as soon as they are known."""
    from spanproto.output import to_conll, to_html, to_jsonl

    match format:
        case OutputFormat.jsonl:
            return to_jsonl(documents)
        case OutputFormat.conll:
            return to_conll(documents)
        case OutputFormat.html:
            return iter([to_html(documents)])
    return iter([_table(documents)])


def _table(documents: "Iterable[Document]") -> str:
    from spanproto.display import table

    rows = [("document", "entity", "type", "start", "end", "score", "or")]
    for number, document in enumerate(documents):
        for entity in document.entities:
            others = ", ".join(f"{label} {score:.2f}" for label, score in entity.alternatives)
            place = (str(entity.start), str(entity.end))
            text = " ".join(entity.text.split())
            rows.append((str(number), text, entity.label, *place, f"{entity.score:.2f}", others))
    shown = len(rows[0]) if any(row[-1] for row in rows[1:]) else -1
    lines = table([row[:shown] for row in rows], numeric=(0, 3, 4, 5))
    return "".join(f"{line}\n" for line in lines)
