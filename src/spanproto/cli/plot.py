"""`spanproto plot`: figures of what a fitted recogniser sees."""

from pathlib import Path
from typing import Annotated

import typer

from spanproto.cli.options import Device, Nested, Recogniser, Thresholds, thresholds
from spanproto.errors import ConfigError


def plot(
    directory: Recogniser,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The picture to write: FILE.png or FILE.svg.")
    ],
    text: Annotated[str | None, typer.Option(help="Draw the boundary matrix of this text.")] = None,
    prototypes: Annotated[
        bool, typer.Option("--prototypes", help="Draw the examples and the prototypes.")
    ] = False,
    threshold: Thresholds = None,
    nested: Nested = False,
    device: Device = "auto",
) -> None:
    """Draw the boundary matrix of a text, or where the examples lie among the prototypes."""
    from spanproto.ner import FewShotNER
    from spanproto.plots.boundary_matrix import draw_boundary_matrix
    from spanproto.plots.prototypes import draw_prototypes
    from spanproto.plots.style import save

    if (text is None) != prototypes:
        raise ConfigError("give either --text or --prototypes")
    least = thresholds(threshold)
    ner = FewShotNER.load(directory, device)
    if text is None:
        figure = draw_prototypes(ner.model, ner.task)
    else:
        figure = draw_boundary_matrix(ner, text, threshold=least, allow_nested=nested)
    save(figure, output)
