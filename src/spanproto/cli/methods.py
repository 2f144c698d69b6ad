"""`spanproto methods`: every few-shot NER system that can be trained and evaluated."""

import json
from typing import Annotated

import typer


def methods(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the methods by name, with who proposed each and its idea in one line."""
    from spanproto.display import table
    from spanproto.methods import METHODS

    if as_json:
        entries = [
            {"name": name, "title": title, "citation": citation, "idea": idea}
            for name, (_, title, citation, idea) in METHODS.items()
        ]
        typer.echo(json.dumps(entries, indent=2))
        return
    rows = [(name, citation, idea) for name, (_, _, citation, idea) in METHODS.items()]
    typer.echo("\n".join(table([("name", "citation", "idea"), *rows])))
