"""Cells of several trainings that are averaged: done once for all that share them, then removed."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from spanproto.data.formats import write_episodes
from spanproto.errors import ConfigError, DataError
from spanproto.experiments.averages import Changes, on_episodes_of
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.filling import fill
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.trained import forget, train_cell
from spanproto.training.settings import RunConfig

COLUMNS_OF_BOTH = ("news-1", "wiki-1")
BROKEN = Scoring("broken", configure=("no.such=1",))


def in_orders(*orders: int) -> tuple[Changes, ...]:
    return tuple({"training": {"order_seed": order}} for order in orders)


@pytest.fixture
def several(cell: Cell) -> Cell:
    return replace(cell, averaged=in_orders(12, 1012), scorings=cell.scorings[:1])


@pytest.fixture
def both(grid: Grid, cell: Cell) -> list[Cell]:
    """Cells of two columns that average the same trainings."""
    wiki = COLUMNS["wiki-1"]
    for number, part in enumerate((wiki.test_file, *wiki.data["train"])):
        write_episodes(grid.data / part, [synthetic.episode(30 + number)], "crossdomain")
    averaged = on_episodes_of(COLUMNS_OF_BOTH, 12)
    return [
        replace(cell, column=column, averaged=averaged, scorings=cell.scorings[:1])
        for column in COLUMNS_OF_BOTH
    ]


def trained_on(runs: Sequence[RunConfig]) -> list[list[str]]:
    return [run.data.train for run in runs]


def left_over(grid: Grid) -> list[Path]:
    return list(grid.runs.rglob("*.safetensors"))


def test_a_cell_may_be_of_several_trainings_averaged(grid: Grid, cell: Cell, several: Cell) -> None:
    fill(grid, [several], workers=1)
    (scoring,) = several.scorings
    found = json.loads(grid.file(several, scoring).read_text())
    assert found["averaged"] == [{"training": {"order_seed": order}} for order in (12, 1012)]
    assert found["model"]["origin"]["averaged"] == 2
    assert not left_over(grid)
    assert not grid.wants(several)
    for other in (cell.averaged, in_orders(12, 1012, 2012)):
        with pytest.raises(ConfigError, match="the mean of trainings that change"):
            grid.wants(replace(several, averaged=other))


def test_tables_whose_folders_are_called_alike_leave_each_other_their_means(
    grid: Grid, several: Cell
) -> None:
    twin = replace(grid, output=grid.output.parent / "other" / grid.output.name)
    model = train_cell(grid, several)
    forget(twin, several)
    assert model.exists()
    forget(grid, several)
    assert not model.exists()


def test_trainings_that_are_averaged_are_done_once_for_all_columns(
    grid: Grid, both: list[Cell], trained: list[RunConfig]
) -> None:
    fill(grid, both, workers=1)
    assert trained_on(trained) == [COLUMNS[column].data["train"] for column in COLUMNS_OF_BOTH]
    one, other = (json.loads(grid.file(c, c.scorings[0]).read_text()) for c in both)
    assert one["model"]["origin"] == other["model"]["origin"]
    assert one["micro"] != other["micro"]
    assert not left_over(grid)


def test_other_systems_share_what_they_train_alike(
    grid: Grid, several: Cell, trained: list[RunConfig]
) -> None:
    more = replace(several, system="more", averaged=in_orders(12, 1012, 2012))
    more = replace(more, scorings=(replace(several.scorings[0], name="more"),))
    fill(grid, [several, more], workers=1)
    assert [run.training.order for run in trained] == [12, 1012, 2012]
    assert not left_over(grid)


def test_a_training_to_be_averaged_that_fails_holds_back_none_but_those_that_need_it(
    grid: Grid, several: Cell, both: list[Cell], trained: list[RunConfig]
) -> None:
    cut_off = grid.data / COLUMNS["wiki-1"].data["train"][0]
    cut_off.write_text('{"Wiki": [{"support": {}}]}', "utf-8")
    alone = replace(several, scorings=(Scoring("alone"),))
    with pytest.raises(DataError, match="Wiki"):
        fill(grid, [*both, alone], workers=1)
    assert [grid.wants(cell) for cell in (*both, alone)] == [True, True, False]
    write_episodes(cut_off, [synthetic.episode(30)], "crossdomain")
    del trained[:]
    fill(grid, both, workers=1)
    assert trained_on(trained) == [COLUMNS["wiki-1"].data["train"]]  # the other was kept
    assert not any(map(grid.wants, both))
    assert not left_over(grid)


def test_what_is_shared_stays_until_no_cell_needs_it(
    grid: Grid, both: list[Cell], trained: list[RunConfig]
) -> None:
    one, other = both
    with pytest.raises(ConfigError, match="no"):
        fill(grid, [one, replace(other, scorings=(*other.scorings, BROKEN))], workers=1)
    assert not grid.wants(one)
    assert len(left_over(grid)) > 0
    mended = replace(other, scorings=(*other.scorings, replace(BROKEN, configure=())))
    fill(grid, [one, mended], workers=1)
    assert not grid.wants(mended)
    assert len(trained) == 2
    assert not left_over(grid)
