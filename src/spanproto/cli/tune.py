"""`spanproto tune`: thresholds from labelled data."""

import json

import typer

from spanproto.cli.options import AsJson, Boundaries, Device, Format, Labelled, Nested, Recogniser


def tune(
    directory: Recogniser,
    examples: Labelled,
    nested: Nested = False,
    format: Format = None,
    boundaries: Boundaries = "refuse",
    as_json: AsJson = False,
    device: Device = "auto",
) -> None:
    """Choose the thresholds of the best F1 on labelled data that was not fitted; DIR keeps them."""
    from spanproto.display import table
    from spanproto.ner import FewShotNER

    ner = FewShotNER.load(directory, device)
    tuning = ner.tune(examples, allow_nested=nested, format=format, boundaries=boundaries)
    ner.save(directory)
    if as_json:
        typer.echo(json.dumps(tuning.to_dict(), ensure_ascii=False, indent=2))
        return
    rows = [(label, f"{least:.3f}") for label, least in tuning.thresholds.items()]
    for line in table([("type", "threshold"), *rows], numeric=(1,)):
        typer.echo(line)
    typer.echo(f"F1: {tuning.f1_before:.1f} before, {tuning.f1_after:.1f} now")
