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
    from collections.abc import Iterator

    from spanproto.config import apply_overrides, read_yaml
    from spanproto.data.formats import format_for_name, write_sentences
    from spanproto.data.types import Sentence
    from spanproto.training.cross_fitting import doubts_of_run
    from spanproto.training.settings import RunConfig

    form = to or format_for_name(output, "sentences")
    run = RunConfig.of(apply_overrides(read_yaml(config), settings or []))
    numbers: list[int] = []

    def found() -> Iterator[Sentence]:
        """Trains once the output is open: what is wrong with that is to be known before."""
        for sentence in doubts_of_run(run, least):
            numbers.append(len(sentence.spans))
            yield sentence

    write_sentences(output, found(), form)
    typer.echo(f"{output}: {sum(numbers)} doubtful spans in {len(numbers)} sentences")
