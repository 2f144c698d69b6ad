"""`spanproto fit`: learn the types that a few examples show."""

import time
from pathlib import Path
from typing import Annotated

import typer

from spanproto.cli.options import Boundaries, Device, Format, Labelled, pairs


def fit(
    examples: Labelled,
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
    model: Annotated[
        str | None,
        typer.Option(
            help="A model directory or a name on the model hub.", show_default="the built-in one"
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="A type to look for, as often as needed.", show_default="all"),
    ] = None,
    description: Annotated[
        list[str] | None,
        typer.Option(help="What a type is, in words: LABEL=TEXT, as often as needed."),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Steps of fine-tuning.", min=1, show_default="as fits most")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Stop fine-tuning after so long.", min=0)
    ] = None,
    adapt: Annotated[
        bool, typer.Option("--adapt/--no-adapt", help="Fine-tune a copy of the model.")
    ] = True,
    format: Format = None,
    boundaries: Boundaries = "refuse",
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 42,
    device: Device = "auto",
) -> None:
    """Learn the entity types that labelled examples show, and write what finds them to DIR."""
    from spanproto.examples import read_examples
    from spanproto.ner import FewShotNER

    began = time.monotonic()
    shown = read_examples(examples, format=format, boundaries=boundaries)
    ner = FewShotNER.from_pretrained(model, device)
    ner.fit(
        shown,
        labels=label,
        descriptions=pairs(description, "--description"),
        steps=steps,
        seconds=seconds,
        adapt=adapt,
        seed=seed,
    )
    ner.save(output)
    typer.echo(
        f"{output}: finds {', '.join(ner.labels)}; learnt from {len(shown)} examples in "
        f"{time.monotonic() - began:.0f} s"
    )
