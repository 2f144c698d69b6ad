"""`spanproto demo`: learn from a bundled example set and annotate a bundled page."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the fitted recogniser.")
    ] = Path("runs/demo"),
) -> None:
    """Learn five types from three examples each and annotate a page, without any download."""
    from spanproto.demo import run_demo
    from spanproto.display import wants_colour

    run_demo(output, typer.echo, colour=wants_colour(sys.stdout), program=_program())


def _program() -> str:
    """How the user can call this command again."""
    if shutil.which("spanproto"):
        return "spanproto"
    if Path(sys.argv[0]).stem == "__main__":
        return "python -m spanproto"
    return sys.argv[0]
