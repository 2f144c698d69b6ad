"""`spanproto train`: train a model as a YAML file describes it."""

from pathlib import Path
from typing import Annotated

import typer


def train(
    config: Annotated[
        Path, typer.Argument(help="A YAML file with sections model, data, training.")
    ],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="Settings to change: section.key=value.")
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start again instead of resuming the run.")
    ] = False,
) -> None:
    """Train a model; a run that was stopped goes on from its last checkpoint."""
    from spanproto.config import apply_overrides, build, read_yaml
    from spanproto.training.loop import train as run_training
    from spanproto.training.settings import RunConfig

    run = build(RunConfig, apply_overrides(read_yaml(config), overrides or []))
    model = run_training(run, restart=restart)
    typer.echo(f"model: {model}")
