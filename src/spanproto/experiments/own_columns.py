"""Cells on columns that are no benchmark's own: a recipe makes them up, or a user's data does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from spanproto.experiments.cells import Cell, Grid, run_cell
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.progress import run_with_bar
from spanproto.experiments.setups import require_inputs


class OwnCell(NamedTuple):
    """A cell and the column that it is of."""

    column: Column
    cell: Cell

    def __str__(self) -> str:
        """As the cell is called."""
        return str(self.cell)


def run_own_cells(grid: Grid, cells: Sequence[OwnCell], workers: int) -> None:
    """Run what is missing of each cell, with a progress bar."""
    todo = require_for_own_cells(grid, cells)
    run_with_bar(grid, partial(run_own_cell, grid), todo, workers, lambda own: own.cell)


def require_for_own_cells(grid: Grid, cells: Sequence[OwnCell]) -> list[OwnCell]:
    """The cells of which something is missing; complains if they cannot be run."""
    todo = [own for own in cells if _is_missing(grid, own)]
    require_inputs(grid, todo)
    return todo


def run_own_cell(grid: Grid, own: OwnCell) -> None:
    """Train and write each missing score, with the column known by its name for as long."""
    with _known(own.column):
        run_cell(grid, own.cell)


def _is_missing(grid: Grid, own: OwnCell) -> bool:
    with _known(own.column):
        return bool(grid.missing(own.cell))


@contextmanager
def _known(column: Column) -> Iterator[None]:
    COLUMNS[column.name] = column
    try:
        yield
    finally:
        del COLUMNS[column.name]
