"""`spanproto data check`: what a data file holds and what is wrong with it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spanproto.data.check import as_text
from spanproto.data.check import check as check_file
from spanproto.data.formats import FORMATS


def check(
    file: Annotated[Path, typer.Argument(help="A file of sentences or episodes.")],
    format: Annotated[
        str | None,
        typer.Option(help=f"One of {', '.join(FORMATS)}.", show_default="from the content"),
    ] = None,
    label_column: Annotated[
        int | None,
        typer.Option(
            help="Column with the tags: from 0, or negative from the end.", show_default="found"
        ),
    ] = None,
    scheme: Annotated[
        str | None,
        typer.Option(help="Tag scheme: bio, iob1, iobes, bilou or io.", show_default="found"),
    ] = None,
    boundaries: Annotated[
        str,
        typer.Option(help="Entities in characters that cut a word: refuse them or snap to words."),
    ] = "refuse",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Count sentences, words and entities and list every problem with its line.

    Exits with 0 if there is no problem, with 1 if there are some, and with 2 if the file cannot be
    used at all. Warnings are not problems.
    """
    report = check_file(
        file, format, label_column=label_column, scheme=scheme, boundaries=boundaries
    )
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        typer.echo(as_text(report))
    raise typer.Exit(1 if report.problems else 0)
