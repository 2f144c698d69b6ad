"""Cells on columns that are no benchmark's own: a recipe makes them up, or a user's data does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from spanproto.experiments.cells import Cell, Grid, run_cell
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.progress import run_with_bar, trained_together
from spanproto.experiments.setups import require_inputs
from spanproto.experiments.trained import Run, shared_runs


class OwnCell(NamedTuple):
    """A cell and the column that it is of, or several that its one training serves."""

    column: Column
    cell: Cell
    also: tuple[Column, ...] = ()  # the further ones, which the cell names too

    @classmethod
    def serving(cls, columns: Sequence[Column], cell: Cell) -> "OwnCell":
        """The cell on these columns, whichever it was on."""
        first, *others = columns
        names = tuple(column.name for column in others)
        return cls(first, replace(cell, column=first.name, also=names), tuple(others))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns that the training serves."""
        return (self.column, *self.also)

    def __str__(self) -> str:
        """As the cell is called."""
        return str(self.cell)


def run_own_cells(grid: Grid, cells: Sequence[OwnCell], workers: int) -> None:
    """Run what is missing of each cell, with a progress bar."""
    todo = require_for_own_cells(grid, cells)
    with trained_together(_shared_runs(grid, todo), workers):
        run_with_bar(grid, partial(run_own_cell, grid), todo, workers, lambda own: own.cell)


def _shared_runs(grid: Grid, cells: Sequence[OwnCell]) -> dict[str, Run]:
    """Every training of those that average several, to be done once."""
    found: dict[str, Run] = {}
    for own in cells:
        with _known(own.columns):
            found |= shared_runs(grid, [own.cell])
    return found


def require_for_own_cells(grid: Grid, cells: Sequence[OwnCell]) -> list[OwnCell]:
    """The cells of which something is missing; complains if they cannot be run."""
    todo = [own for own in cells if _is_missing(grid, own)]
    require_inputs(grid, [(column, own.cell) for own in todo for column in own.columns])
    return todo


def run_own_cell(grid: Grid, own: OwnCell) -> None:
    """Train and write each missing score, with the columns known by their names for as long."""
    with _known(own.columns):
        run_cell(grid, own.cell)


def _is_missing(grid: Grid, own: OwnCell) -> bool:
    with _known(own.columns):
        return grid.wants(own.cell)


@contextmanager
def _known(columns: Sequence[Column]) -> Iterator[None]:
    COLUMNS.update({column.name: column for column in columns})
    try:
        yield
    finally:
        for column in columns:
            del COLUMNS[column.name]
