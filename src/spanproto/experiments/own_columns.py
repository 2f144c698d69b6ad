"""Cells and their columns, which need be no benchmark's: a recipe makes some up, or a user does."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

from spanproto.experiments.cells import Cell, Grid, run_cell
from spanproto.experiments.columns import COLUMNS, Column, column_named


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

    @classmethod
    def of_benchmark(cls, cell: Cell) -> "OwnCell":
        """The cell on the columns that it names."""
        return cls(column_named(cell.column), cell, tuple(map(column_named, cell.also)))

    @property
    def columns(self) -> tuple[Column, ...]:
        """All columns that the training serves."""
        return (self.column, *self.also)

    @contextmanager
    def known(self) -> Iterator[None]:
        """Within it the columns are known by their names."""
        before = {column.name: COLUMNS.get(column.name) for column in self.columns}
        COLUMNS.update({column.name: column for column in self.columns})
        try:
            yield
        finally:
            for name, column in before.items():
                if column is None:
                    del COLUMNS[name]
                else:
                    COLUMNS[name] = column

    def __str__(self) -> str:
        """As the cell is called."""
        return str(self.cell)


def run_own_cell(grid: Grid, own: OwnCell) -> None:
    """Train and write each missing score."""
    with own.known():
        run_cell(grid, own.cell)
