"""Cells on columns that are no benchmark's own: a recipe makes them up, or a user's data does."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from tqdm import tqdm

from spanproto.experiments.cells import Cell, Grid, run_cell
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.workers import finished, side_by_side


class OwnCell(NamedTuple):
    """A cell and the column that it is of."""

    column: Column
    cell: Cell


def run_own_cells(grid: Grid, cells: Sequence[OwnCell], workers: int) -> None:
    """Run what is missing of each cell, with a progress bar."""
    todo = [own for own in cells if grid.missing(own.cell)]
    with tqdm(total=len(todo), unit="cell", disable=None) as bar:
        for own in finished(side_by_side(partial(run_own_cell, grid), todo, workers)):
            bar.set_postfix_str(f"{own.column.name} {own.cell.seed}")
            bar.update()


def run_own_cell(grid: Grid, own: OwnCell) -> None:
    """Train and write each missing score, with the column known by its name for as long."""
    COLUMNS[own.column.name] = own.column
    try:
        run_cell(grid, own.cell)
    finally:
        del COLUMNS[own.column.name]
