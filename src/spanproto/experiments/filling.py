"""Many cells filled side by side: what several share comes first, what fails holds back little.

Cells that average trainings may share these. Each is done once before any cell begins, and stays on
disk for as long as a cell that is asked for needs it.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm

from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.own_columns import OwnCell, run_own_cell
from spanproto.experiments.patience import with_patience
from spanproto.experiments.progress import run_with_bar
from spanproto.experiments.setups import require_inputs
from spanproto.experiments.trained import Run, forget_shared, shared_runs, train_run
from spanproto.experiments.workers import finished, side_by_side


def fill(grid: Grid, cells: Iterable[Cell], workers: int) -> None:
    """Train and score what is missing of the cells, once data and encoder are seen to be there.

    A cell that fails lets the others go on, and is complained of when they are done.
    """
    run_own_cells(grid, [OwnCell.of_benchmark(cell) for cell in cells], workers)


def run_own_cells(grid: Grid, cells: Sequence[OwnCell], workers: int) -> None:
    """The same for cells on whatever columns."""
    todo = require_for_own_cells(grid, cells)
    try:
        _run(grid, todo, workers)
    finally:
        needed = _shared(grid, [own for own in cells if _is_missing(grid, own)])
        forget_shared(_shared(grid, cells).keys() - needed)


def require_for_cells(grid: Grid, cells: Iterable[Cell]) -> None:
    """Complain if data or the encoder of some cell are not there."""
    require_for_own_cells(grid, [OwnCell.of_benchmark(cell) for cell in cells])


def require_for_own_cells(grid: Grid, cells: Iterable[OwnCell]) -> list[OwnCell]:
    """The cells of which something is missing; complains if they cannot be run."""
    todo = [own for own in cells if _is_missing(grid, own)]
    require_inputs(grid, todo)
    return todo


def _run(grid: Grid, todo: Sequence[OwnCell], workers: int) -> None:
    """Do the shared trainings, then the cells, but for those whose trainings failed."""
    runs = _shared(grid, todo)
    done: set[str] = set()
    failure: Exception | None = None
    train = partial(with_patience, partial(_train_one_of, runs))
    with tqdm(total=len(runs), desc="trainings", disable=None if runs else True) as bar:
        try:
            for folder in finished(side_by_side(train, runs, workers)):
                done.add(folder)
                bar.update()
        except Exception as error:  # of those that failed the first, which was said already
            failure = error
    ready = [own for own in todo if _shared(grid, [own]).keys() <= done]
    run_with_bar(grid, partial(run_own_cell, grid), ready, workers, lambda own: own.cell)
    if failure is not None:
        raise failure


def _train_one_of(runs: dict[str, Run], folder: str) -> Path:
    """Train what has this folder, by which it is called if it fails."""
    return train_run(runs[folder])


def _shared(grid: Grid, cells: Iterable[OwnCell]) -> dict[str, Run]:
    """Every training of those cells that average several, by its folder."""
    found: dict[str, Run] = {}
    for own in cells:
        with own.known():
            found |= shared_runs(grid, own.cell)
    return found


def _is_missing(grid: Grid, own: OwnCell) -> bool:
    with own.known():
        return grid.wants(own.cell)
