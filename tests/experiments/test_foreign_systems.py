"""DecomMeta with more fine-tuning, and ProtoBERT, on domains that no table tests on."""

import json
from pathlib import Path

from scripts import benchmark_script

from spanproto.experiments.cells import Grid
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.filling import run_own_cells
from spanproto.experiments.foreign_choices import foreign_column
from spanproto.experiments.foreign_systems import foreign_system_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import baseline_cells


def test_the_trainings_are_those_of_the_tables_and_no_domain_is_tested_on() -> None:
    tables = {cell.system: cell.run for cell in baseline_cells("wiki-5", 12)}
    cells = {own.cell.run["method"]: own for own in foreign_system_cells(12)}
    assert list(cells) == ["protobert", "decommeta"]
    for system, own in cells.items():
        assert own.cell.run == tables[system]
        assert {column.test_file for column in own.columns}.isdisjoint(
            column.test_file for column in COLUMNS.values()
        )
        assert all(column.data == COLUMNS["wiki-5"].data for column in own.columns)
        assert all(column.shots == 5 for column in own.columns)
    adaptations = {s.name: s.adaptation for own in cells.values() for s in own.cell.scorings}
    assert adaptations == {
        "protobert": None,
        "decommeta": None,  # its own
        "decommeta-tuned-40": {"steps": 40},
    }
    selected = benchmark_script("results").schedules_of("-foreign")
    assert [own.cell.system for own in selected] == ["protobert-foreign", "decommeta-foreign"]


def test_both_fine_tunings_are_of_one_training(
    foreign_data: Path, tmp_path: Path, tiny_encoder: Path, trained: list
) -> None:
    grid = Grid(
        foreign_data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu"
    )
    (own,) = [own for own in foreign_system_cells(12) if own.cell.run["method"] == "decommeta"]
    music = foreign_column("wiki-1", "music")  # of whose training there is data
    run_own_cells(grid, [OwnCell.serving([music], own.cell.lasting(2))], workers=1)
    few, many = (
        json.loads((grid.output / music.name / f"{name}.12.json").read_text("utf-8"))
        for name in ("decommeta", "decommeta-tuned-40")
    )
    assert len(trained) == 1
    assert (few["adaptation"]["steps"], many["adaptation"]["steps"]) == (3, 40)
    assert few["model"]["origin"] == many["model"]["origin"]
