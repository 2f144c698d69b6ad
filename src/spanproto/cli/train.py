"""`spanproto train`: train a method as a YAML file and the command line describe it."""

from pathlib import Path
from typing import Annotated

import typer


def train(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CONFIG] [KEY=VALUE]...",
            help="A YAML file with method, model, data and training, and settings to change: "
            "section.key=value.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The method to train: see `spanproto methods`.",
            show_default="that of CONFIG, or spanproto",
        ),
    ] = None,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start again instead of resuming the run.")
    ] = False,
) -> None:
    """Train a model; a run that was stopped goes on from its last checkpoint.

    A method that learns from support sets alone needs no data; its model is written at once.
    """
    from spanproto.config import apply_overrides, read_yaml, require
    from spanproto.methods import method_named
    from spanproto.training.loop import train as run_training
    from spanproto.training.settings import RunConfig

    given = list(arguments or [])
    has_file = bool(given) and (Path(given[0]).is_file() or "=" not in given[0])
    require(has_file or method is not None, "name a configuration file, or a method by --method")
    content = read_yaml(Path(given.pop(0))) if has_file else {}
    if method is not None:
        content["method"] = method
    run = RunConfig.of(apply_overrides(content, given))
    folder = run_training(run, restart=restart)
    trained = method_named(run.method)
    if trained.trains_on is None:
        unread = ", so data.train is not read" if run.data.train else ""
        typer.echo(f"{run.method}: nothing to train, it learns from each support set alone{unread}")
    typer.echo(f"model: {folder}")
