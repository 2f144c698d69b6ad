"""`spanproto average`: one model of several trainings."""

from pathlib import Path
from typing import Annotated

import typer


def average(
    models: Annotated[
        list[Path],
        typer.Argument(
            help="Model directories of trainings that differ in their data or order_seed."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
) -> None:
    """Write the model whose weights are the means of those of several trainings."""
    from spanproto.averaging import averaged
    from spanproto.checkpoint import save_model

    save_model(averaged(models), output)
    typer.echo(f"{output}: the mean of {len(models)} trainings")
