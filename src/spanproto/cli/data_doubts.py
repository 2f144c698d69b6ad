"""`spanproto data doubts`: what training sentences may leave unlabelled."""

from pathlib import Path
from typing import Annotated

import typer


def doubts(
    config: Annotated[Path, typer.Argument(help="The YAML file of a run of spanproto.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="A file for data.doubtful, such as doubts.json.")
    ],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change.")
    ] = None,
    least: Annotated[
        float, typer.Option(help="The least probability of what may be an entity.")
    ] = 0.05,
    to: Annotated[
        str | None, typer.Option(help="The format to write.", show_default="from the file's name")
    ] = None,
) -> None:
    """Train on either half of the training sentences; write what each finds in the other half."""
    from spanproto.config import apply_overrides, read_yaml
    from spanproto.data.formats import format_for_name, write_sentences
    from spanproto.training.cross_fitting import doubts_of_run
    from spanproto.training.settings import RunConfig

    form = to or format_for_name(output, "sentences")
    run = RunConfig.of(apply_overrides(read_yaml(config), settings or []))
    found = doubts_of_run(run, least)
    write_sentences(output, found, form)
    number = sum(len(sentence.spans) for sentence in found)
    typer.echo(f"{output}: {number} doubtful spans in {len(found)} sentences")
