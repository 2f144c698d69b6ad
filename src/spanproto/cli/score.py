"""`spanproto score`: how well a fitted recogniser does on labelled data."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spanproto.cli.options import (
    AsJson,
    Boundaries,
    Device,
    Format,
    Labelled,
    Nested,
    Recogniser,
    Thresholds,
    thresholds,
)


def score(
    directory: Recogniser,
    examples: Labelled,
    confusion: Annotated[
        Path | None, typer.Option(help="Draw which type was taken for which: FILE.png.")
    ] = None,
    threshold: Thresholds = None,
    nested: Nested = False,
    format: Format = None,
    boundaries: Boundaries = "refuse",
    as_json: AsJson = False,
    device: Device = "auto",
) -> None:
    """Precision, recall and F1 of each type on labelled data that was not fitted."""
    from spanproto.ner import FewShotNER

    least = thresholds(threshold)
    ner = FewShotNER.load(directory, device)
    report = ner.evaluate(
        examples, threshold=least, allow_nested=nested, format=format, boundaries=boundaries
    )
    if confusion is not None:
        report.save_confusion(confusion)
    if as_json:
        typer.echo(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
    else:
        typer.echo(report.to_table())
