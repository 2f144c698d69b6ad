"""The trainings of cells: each in a folder of its own, and one model where there are several."""

import hashlib
import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproto.experiments.averages import Changes

if TYPE_CHECKING:
    from spanproto.experiments.cells import Cell, Grid

Run = dict[str, Any]  # the settings of a training, as `RunConfig.of` takes them


def runs_of(grid: "Grid", cell: "Cell") -> list[Run]:
    """The training of a cell, or those whose weights are averaged.

    Each has a folder that no other one goes on with: a cell that was stopped goes on with its own
    training, and with settings, an encoder or an output folder that differ, another one begins.
    Of several, other cells may have the same: these are in one folder for all.
    """
    return [_run(grid, cell, changes) for changes in cell.averaged or ({},)]


def _run(grid: "Grid", cell: "Cell", changes: Changes) -> Run:
    model = dict(cell.run.get("model", {}))
    model["encoder"] = {"name": grid.encoder, **model.get("encoder", {})}
    training = {
        "checkpoint_every": 1_000_000,
        **({} if grid.precision == "auto" else {"precision": grid.precision}),
        **cell.run.get("training", {}),
        **changes.get("training", {}),
        "seed": cell.seed,
    }
    data = {"root": str(grid.data), **cell.data, **changes.get("data", {})}
    content = {**cell.run, "model": model, "data": data, "training": training}
    key = _key([content, str(grid.output.resolve())])
    place = "averaged" if cell.averaged else f"{cell.system}.{cell.column}"
    training |= {"output": str(_folder(grid) / f"{place}.{cell.seed}.{key}"), "device": grid.device}
    return content


def _key(content: Any) -> str:
    """What tells a folder from those of the same name that are for something else."""
    known = json.dumps(content, sort_keys=True, default=list)
    return hashlib.sha256(known.encode()).hexdigest()[:8]


def _folder(grid: "Grid") -> Path:
    """Where the trainings of a table are."""
    return grid.runs / grid.output.name


def shared_runs(grid: "Grid", cell: "Cell") -> dict[str, Run]:
    """The trainings of a cell that averages several, by their folders: others may have the same."""
    runs = runs_of(grid, cell) if cell.averaged else []
    return {run["training"]["output"]: run for run in runs}


def train_run(run: Run) -> Path:
    """Train, or go on, unless that is done; the folder of the model."""
    from spanproto.training.loop import train
    from spanproto.training.settings import RunConfig

    model = Path(run["training"]["output"]) / "model"
    if any(model.glob("*.safetensors")):  # written whole, after the last step
        return model
    return train(RunConfig.of(run))


def train_cell(grid: "Grid", cell: "Cell") -> Path:
    """The folder of the model that is trained, or that is the mean of several."""
    from spanproto.averaging import averaged
    from spanproto.checkpoint import save_model

    folders = [train_run(run) for run in runs_of(grid, cell)]
    if not cell.averaged:
        return folders[0]
    mean = _mean_folder(grid, cell)
    save_model(averaged(folders), mean)
    return mean


def _mean_folder(grid: "Grid", cell: "Cell") -> Path:
    """Where the mean of a cell's trainings is: another place than that of any others' mean."""
    key = _key([run["training"]["output"] for run in runs_of(grid, cell)])
    return _folder(grid) / f"{cell.system}.{cell.column}.{cell.seed}.{key}.averaged"


def forget(grid: "Grid", cell: "Cell") -> None:
    """Remove what was trained for a cell that is scored, but for what other cells may need."""
    own = [_mean_folder(grid, cell)]
    if not cell.averaged:
        own = [Path(run["training"]["output"]) for run in runs_of(grid, cell)]
    for folder in own:
        shutil.rmtree(folder, ignore_errors=True)


def forget_shared(folders: Iterable[str]) -> None:
    """Remove trainings of which the cells that need them are all scored."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
