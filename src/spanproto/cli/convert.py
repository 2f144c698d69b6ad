"""`spanproto convert`: a data file in another format."""

from pathlib import Path
from typing import Annotated

import typer

from spanproto.data.formats import (
    FORMATS,
    detect_format,
    format_for_name,
    open_episodes,
    read_sentences,
    refuse_idle_options,
    write_episodes,
    write_sentences,
)

_NAMES = ", ".join(FORMATS)


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.")],
    from_format: Annotated[
        str | None,
        typer.Option("--from", help=f"Format of IN: {_NAMES}.", show_default="from the content"),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", help="Format of OUT, likewise.", show_default="from the file name"),
    ] = None,
    label_column: Annotated[
        int | None,
        typer.Option(
            help="Column of IN with the tags: from 0, or negative from the end.",
            show_default="found",
        ),
    ] = None,
    from_scheme: Annotated[
        str | None, typer.Option(help="Tag scheme of IN.", show_default="found")
    ] = None,
    boundaries: Annotated[
        str,
        typer.Option(
            help="Entities of IN in characters that cut a word: refuse them or snap to words."
        ),
    ] = "refuse",
    scheme: Annotated[
        str | None,
        typer.Option(help="Tag scheme of OUT: bio, iob1, iobes, bilou or io.", show_default="bio"),
    ] = None,
    merge: Annotated[
        bool,
        typer.Option(
            "--merge", help="Let touching entities of one type become one if OUT has IO tags."
        ),
    ] = False,
) -> None:
    """Write sentences, or episodes, in another format; what OUT cannot hold is an error.

    The first thing that was read with leniency, or left out, is said on standard error.
    """
    from_format = from_format or detect_format(source)
    form = FORMATS.get(from_format)
    if form is not None and form.holds == "episodes":
        refuse_idle_options(source, form, label_column=label_column, scheme=from_scheme or scheme)
        episodes = (located.item for located in open_episodes(source, from_format).items)
        write_episodes(
            target, episodes, to_format or format_for_name(target, "episodes"), merge=merge
        )
    else:
        warnings: list[str] = []
        sentences = read_sentences(
            source,
            from_format,
            label_column=label_column,
            scheme=from_scheme,
            boundaries=boundaries,
            on_warning=warnings.append,
        )
        write_sentences(
            target,
            sentences,
            to_format or format_for_name(target, "sentences"),
            scheme=scheme,
            merge=merge,
        )
        if warnings:
            more = f" (and {len(warnings) - 1} more: spanproto data check)" if warnings[1:] else ""
            typer.echo(f"warning: {warnings[0]}{more}", err=True)
