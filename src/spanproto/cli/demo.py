"""`spanproto demo`: train a small model on the bundled sample and try it on new types."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "runs/demo"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 42,
    steps: Annotated[int, typer.Option(help="Training steps.", min=5)] = 500,
) -> None:
    """Show the two stages at work, in about a minute and without any download."""
    from spanproto.demo import DemoConfig, run_demo
    from spanproto.display import wants_colour

    config = DemoConfig(output, seed, steps)
    run_demo(config, typer.echo, colour=wants_colour(sys.stdout), program=_program())


def _program() -> str:
    """How the user can call this command again."""
    if shutil.which("spanproto"):
        return "spanproto"
    if Path(sys.argv[0]).stem == "__main__":
        return "python -m spanproto"
    return sys.argv[0]
