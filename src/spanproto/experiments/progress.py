"""How far cells are that run in other processes, by what they leave on disk, and a bar of it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeVar

from tqdm import tqdm

from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.patience import with_patience
from spanproto.experiments.workers import Done, finished, side_by_side

Item = TypeVar("Item")
_LAYOUT = "{percentage:3.0f}%|{bar:20}| {desc} [{elapsed}<{remaining}{postfix}]"
_SHOWN = 3  # cells that are named


def run_with_bar(
    grid: Grid,
    work: Callable[[Item], None],
    items: Sequence[Item],
    workers: int,
    cell_of: Callable[[Item], Cell],
) -> None:
    """Work on all items, each of which runs a cell, with a bar that moves while they run."""
    patient = partial(with_patience, work)
    with tqdm(bar_format=_LAYOUT, dynamic_ncols=True, disable=None if items else True) as bar:
        watch = Watch(grid, {str(item): cell_of(item) for item in items}, bar)
        with _every_second(watch.refresh, unless=bool(bar.disable)):
            for _ in finished(watch.ended(side_by_side(patient, watch.begun(items), workers))):
                watch.refresh()


class Watch:
    """Which cells run and how much of all is done: a training and each score count the same."""

    def __init__(self, grid: Grid, cells: dict[str, Cell], bar: Any) -> None:
        self.grid, self.cells, self.bar = grid, cells, bar
        self.running: list[str] = []
        self.done: list[str] = []
        bar.total = sum(map(parts, cells.values()))
        self.refresh()

    def begun(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, known to run from when they are taken."""
        for item in items:
            self.running.append(str(item))
            yield item

    def ended(self, several: Iterable[Done[Item, Any]]) -> Iterator[Done[Item, Any]]:
        """What came of the items, which no longer run."""
        for one in several:
            self.running.remove(str(one.item))
            self.done.append(str(one.item))
            yield one

    def refresh(self) -> None:
        """Show how far they are now."""
        running = list(self.running)  # as it is, while the other thread goes on
        self.bar.n = sum(parts(self.cells[name]) for name in self.done)
        self.bar.n += sum(parts_done(self.grid, self.cells[name]) for name in running)
        self.bar.set_description_str(f"{len(self.done)}/{len(self.cells)} cells", refresh=False)
        names = [*running[:_SHOWN], *(["..."] if len(running) > _SHOWN else [])]
        self.bar.set_postfix_str(", ".join(names))


def parts(cell: Cell) -> int:
    """What there is to do for a cell: its training, and each score."""
    return 1 + len(cell.by_column()) * len(cell.scorings)


def parts_done(grid: Grid, cell: Cell) -> float:
    """What is done of it so far, by the scores and by the log of the training."""
    scores = sum(
        grid.file(one, scoring).exists() for one in cell.by_column() for scoring in cell.scorings
    )
    return scores + (1.0 if scores else _trained(grid, cell))


def _trained(grid: Grid, cell: Cell) -> float:
    """The share of the training's steps that its newest log knows of."""
    if cell.averaged:  # before any cell is begun
        return 1.0
    folders = (grid.runs / grid.output.name).glob(f"{cell.system}.{cell.column}.{cell.seed}.*")
    logs = [path for folder in folders if (path := folder / "log.jsonl").exists()]
    steps = int(cell.run.get("training", {}).get("steps", 0))
    if not logs or not steps:
        return 0.0
    return min(1.0, _last_step(max(logs, key=_written)) / steps)


def _written(path: Path) -> float:
    """When it was written last; a log that has just been removed is the oldest."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _last_step(log: Path) -> int:
    """The step of the last whole line; a log that is just being written or removed has none."""
    try:
        *_, last = log.read_text("utf-8").splitlines()
        return int(json.loads(last)["step"])
    except (OSError, ValueError, KeyError):
        return 0


@contextmanager
def _every_second(do: Callable[[], None], unless: bool) -> Iterator[None]:
    """Do it each second in the meantime, from another thread."""
    over = Event()

    def tick() -> None:
        while not over.wait(1.0):
            do()

    ticking = Thread(target=tick, daemon=True)
    if not unless:
        ticking.start()
    try:
        yield
    finally:
        over.set()
        if not unless:
            ticking.join()
