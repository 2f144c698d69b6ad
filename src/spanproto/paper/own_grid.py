"""Where the cells of a recipe that brings its own columns run."""

from pathlib import Path

from spanproto.experiments.cells import Grid
from spanproto.paper.recipe import Bench


def own_grid(bench: Bench, data: Path, episodes: int | None = None) -> Grid:
    """The data, tested on so many episodes; the quick form takes two and keeps to its folder."""
    return Grid(
        data,
        bench.encoder,
        bench.folder / "cells",
        runs=own_runs(bench),
        limit=2 if bench.quick else episodes,
        device=bench.device,
        quick=bench.quick,
    )


def own_runs(bench: Bench) -> Path:
    """Where trainings are, and what is made for them."""
    return bench.folder / "runs" if bench.quick else Path("runs/paper")
