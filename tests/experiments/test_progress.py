"""The bar over cells: it moves with what they leave on disk, and names those that run."""

import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from tqdm import tqdm

from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.progress import Watch, parts, parts_done, run_with_bar
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.workers import Done

CELL = Cell("esd", "news-1", 12, {"training": {"steps": 40}}, (Scoring("esd"), Scoring("adapted")))
OTHER = replace(CELL, seed=21)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def grid(tmp_path: Path) -> Grid:
    return Grid(tmp_path / "data", "encoder", tmp_path / "cells", runs=tmp_path / "runs")


def log(grid: Grid, cell: Cell, text: str) -> None:
    path = grid.runs / "cells" / f"{cell.system}.{cell.column}.{cell.seed}.0a1b" / "log.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def score(grid: Grid, cell: Cell, number: int) -> None:
    path = grid.file(cell, cell.scorings[number])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}", "utf-8")


def test_a_training_counts_as_much_as_a_score(grid: Grid) -> None:
    assert parts(CELL) == 3
    assert parts(replace(CELL, also=("wiki-1",))) == 5
    assert parts_done(grid, CELL) == 0
    log(grid, CELL, '{"step": 1}\n{"step": 10}\n')
    assert parts_done(grid, CELL) == 0.25
    assert parts_done(grid, CELL.lasting(20)) == 0.5
    assert parts_done(grid, OTHER) == 0
    score(grid, CELL, 0)
    assert parts_done(grid, CELL) == 2


@pytest.mark.parametrize("text", ["", '{"step": 1}\n{"st', '{"loss": 1}\n'])
def test_a_log_that_is_being_written_does_no_harm(grid: Grid, text: str) -> None:
    log(grid, CELL, text)
    assert parts_done(grid, CELL) == 0


def test_a_log_that_is_removed_meanwhile_does_no_harm(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(grid, CELL, '{"step": 10}\n')
    (log_file,) = grid.runs.rglob("log.jsonl")
    log_file.unlink()
    monkeypatch.setattr(Path, "exists", lambda path: path.name == "log.jsonl")  # as it was
    assert parts_done(grid, CELL) == 0


def test_the_bar_says_what_runs_and_how_far_it_is(grid: Grid) -> None:
    with tqdm(file=StringIO()) as bar:
        watch = Watch(grid, {str(cell): cell for cell in (CELL, OTHER)}, bar)
        assert (bar.total, bar.n, bar.desc) == (6, 0, "0/2 cells")
        assert list(watch.begun([CELL, OTHER])) == [CELL, OTHER]
        log(grid, CELL, '{"step": 20}\n')
        watch.refresh()
        assert (bar.n, bar.postfix) == (0.5, "esd news-1 12, esd news-1 21")
        list(watch.ended([Done(CELL, None)]))
        watch.refresh()
        assert (bar.n, bar.desc, bar.postfix) == (3, "1/2 cells", "esd news-1 21")


def test_many_cells_are_not_all_named(grid: Grid) -> None:
    cells = [replace(CELL, seed=seed) for seed in range(5)]
    with tqdm(file=StringIO()) as bar:
        watch = Watch(grid, {str(cell): cell for cell in cells}, bar)
        list(watch.begun(cells))
        watch.refresh()
        assert bar.postfix == "esd news-1 0, esd news-1 1, esd news-1 2, ..."


def test_the_bar_moves_while_a_cell_runs(grid: Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    def work(cell: Cell) -> None:
        score(grid, cell, 0)
        time.sleep(1.3)

    run_with_bar(grid, work, [CELL], 1, lambda cell: cell)
    shown = terminal.getvalue()
    assert "67%" in shown
    assert "0/1 cells [00:01<00:00, esd news-1 12]" in shown
    assert "1/1 cells" in shown


def test_what_fails_is_raised_and_nothing_shown_off_a_terminal(
    grid: Grid, capsys: pytest.CaptureFixture[str]
) -> None:
    done = []

    def work(cell: Cell) -> None:
        if cell.seed == 12:
            raise ValueError("broken")
        done.append(cell)

    with pytest.raises(ValueError, match="broken"):
        run_with_bar(grid, work, [CELL, OTHER], 1, lambda cell: cell)
    assert done == [OTHER]
    assert capsys.readouterr().err == "esd news-1 12: broken; the others go on\n"
    run_with_bar(grid, work, [], 1, lambda cell: cell)
