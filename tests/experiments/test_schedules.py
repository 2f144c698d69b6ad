"""Schedules judged on validation data: every trained system, and for half and twice as long."""

import pytest
from scripts import benchmark_script

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.schedules import SCHEDULED_ON, TOO_LONG, schedule_cells
from spanproto.experiments.systems import VALIDATED, baseline_cells, spanproto_cell
from spanproto.methods import METHODS, method_named
from spanproto.paper.scores import Scores
from spanproto.training.settings import RunConfig


@pytest.mark.parametrize("name", SCHEDULED_ON)
def test_every_training_is_halved_and_doubled_and_none_sees_test_data(name: str) -> None:
    def steps_of(cell: Cell) -> int:
        return RunConfig.of({**cell.run, "data": COLUMNS[name].data}).training.steps

    cells = schedule_cells(name, 12)
    steps = {own.cell.system: steps_of(own.cell) for own in cells}
    assert len(steps) == len(cells)
    for cell in (spanproto_cell(name, 12), *baseline_cells(name, 12)):
        if method_named(cell.system).trains_on is not None:
            table = steps_of(cell)
            tried = {number for system, number in steps.items() if system.startswith(cell.system)}
            too_long = {2 * table} if (cell.system, name) in TOO_LONG else set()
            assert tried == {table // 2, table, 2 * table} - too_long
            assert all(steps[f"{cell.system}-{number}"] == number for number in tried)
    longer = {
        scoring.name: scoring.adaptation
        for own in cells
        for scoring in own.cell.scorings
        if scoring.adaptation
    }
    table = next(cell for cell in baseline_cells(name, 12) if cell.system == "decommeta")
    tuned = {f"decommeta-{table.run['training']['steps']}-tuned-40": {"steps": 40}}
    assert longer == (tuned if name in VALIDATED else {})  # of five shots it would cost too much
    for column, cell, _ in cells:
        assert column.test_file in COLUMNS[name].validation["valid"]
        assert column.test_types == COLUMNS[name].validation.get("valid_types")
        assert column.setting == COLUMNS[name].setting  # as many shots as in the tests
        RunConfig.of({**cell.run, "data": column.data})


def test_what_takes_too_long_is_a_doubling_and_no_other() -> None:
    assert TOO_LONG == {
        ("decommeta", "inter-5w1"): "double",
        ("decommeta", "inter-5w5"): "double",
    }


def test_five_shots_are_run_after_what_was_scheduled_before() -> None:
    def names_of(column: str) -> list[str]:
        return [own.cell.system for own in schedule_cells(column, 12)]

    cells = benchmark_script("results").schedules_of("")
    first = [(own.column.name, own.cell.system) for own in cells]
    columns = ("news-1", "inter-5w1", "inter-5w5")
    expected = [(f"{column}-valid", name) for column in columns for name in names_of(column)]
    assert first[: len(expected)] == expected
    five = benchmark_script("results").schedules_of("inter-5w5")
    assert [own.cell.system for own in five] == names_of("inter-5w5")
    assert {own.column.name for own in five} == {"inter-5w5-valid"}


def test_a_new_method_is_in_the_tables_by_its_line_alone(monkeypatch) -> None:
    for column in VALIDATED:
        scored = {s.name for cell in baseline_cells(column, 12) for s in cell.scorings}
        assert scored == METHODS.keys() - {"spanproto"}
    monkeypatch.setitem(METHODS, "another", METHODS["protobert"])
    assert "another" in {cell.system for cell in baseline_cells("news-1", 12)}
    names = {own.cell.system for own in schedule_cells("news-1", 12)}
    assert {"another-1000", "another-2000", "another-4000"} <= names  # of the usual 2000 steps
    figures, trainings = benchmark_script("system_figures"), benchmark_script("system_trainings")
    scores = Scores(figures.RESULTS)
    assert "another" in figures.SYSTEMS
    assert "another" in trainings.TRAINED
    assert "another" not in figures.ranked(scores, ["news-1"])  # never run
    titles = [title for title, _ in trainings.schedule_table(scores).rows]
    assert titles.count(METHODS["another"].title) == 1  # that of the one it is a copy of
