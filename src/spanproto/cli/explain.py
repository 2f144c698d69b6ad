"""`spanproto explain`: why spans of a text are entities, or are not."""

import json
from typing import Annotated

import typer

from spanproto.cli.options import AsJson, Device, Nested, Recogniser, Thresholds, thresholds


def explain(
    directory: Recogniser,
    text: Annotated[str, typer.Option(help="The text to explain.")],
    threshold: Thresholds = None,
    nested: Nested = False,
    as_json: AsJson = False,
    device: Device = "auto",
) -> None:
    """Show every span that was considered: scores, distances to every type, and the verdict."""
    from spanproto.display import table
    from spanproto.ner import FewShotNER

    least = thresholds(threshold)
    ner = FewShotNER.load(directory, device)
    found = ner.explain(text, threshold=least, allow_nested=nested)
    if as_json:
        content = [explanation.to_dict() for explanation in found]
        typer.echo(json.dumps(content, ensure_ascii=False, indent=2))
        return
    distances = [f"to {label}" for label in ner.labels]
    rows = [("span", "nearest", "score", "boundary", *distances, "verdict")]
    for one in found:
        numbers = (one.score, one.boundary_probability, *one.distances.values())
        cells = (f"{number:.2f}" for number in numbers)
        rows.append((" ".join(one.text.split()), one.label, *cells, one.reason))
    for line in table(rows, numeric=range(2, 4 + len(distances))):
        typer.echo(line)
