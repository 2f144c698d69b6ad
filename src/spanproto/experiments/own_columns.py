"""Cells on columns that are no benchmark's own: a recipe makes them up, or a user's data does."""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from itertools import islice
from typing import NamedTuple, TypeVar

from tqdm import tqdm

from spanproto.experiments.cells import Cell, Grid, run_cell
from spanproto.experiments.columns import COLUMNS, Column

Item = TypeVar("Item")
Result = TypeVar("Result")


class OwnCell(NamedTuple):
    """A cell and the column that it is of."""

    column: Column
    cell: Cell


def run_own_cells(grid: Grid, cells: Sequence[OwnCell], workers: int) -> None:
    """Run what is missing of each cell, with a progress bar."""
    todo = [own for own in cells if grid.missing(own.cell)]
    with tqdm(total=len(todo), unit="cell", disable=None) as bar:
        for own, _ in side_by_side(partial(run_own_cell, grid), todo, workers):
            bar.set_postfix_str(f"{own.column.name} {own.cell.seed}")
            bar.update()


def run_own_cell(grid: Grid, own: OwnCell) -> None:
    """Train and write each missing score, with the column known by its name for as long."""
    COLUMNS[own.column.name] = own.column
    try:
        run_cell(grid, own.cell)
    finally:
        del COLUMNS[own.column.name]


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[Item, Result]]:
    """Each item and what came of it, as they are done, in so many processes.

    An item is taken only when a process is free for it, so it may depend on what came before.
    """
    coming = iter(items)
    if workers <= 1:
        yield from ((item, work(item)) for item in coming)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        running: dict[Future[Result], Item] = {}
        while True:
            for item in islice(coming, workers - len(running)):
                running[pool.submit(work, item)] = item
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
