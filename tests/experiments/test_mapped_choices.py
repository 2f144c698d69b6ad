"""A learned map in foreign domains: every weight from the same fine-tuned copies."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spanproto.decision import DecisionConfig
from spanproto.experiments.carried_choices import carried_cells
from spanproto.experiments.cells import Grid
from spanproto.experiments.filling import run_own_cells
from spanproto.experiments.foreign_choices import foreign_column
from spanproto.experiments.mapped_choices import MAPPED_TITLES, mapped_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import together
from spanproto.experiments.systems import words_cell

MUSIC = foreign_column("wiki-1", "music")


def test_every_weight_is_of_spanproto_with_words_and_of_the_same_copies() -> None:
    one, five = mapped_cells(12)
    *_, merged, _ = carried_cells(12)
    assert one.cell.run == words_cell("wiki-1", 12).run
    assert five.cell.run == merged.cell.run
    assert five.columns == merged.columns
    for own, like in ((one, "wiki-1"), (five, "wiki-5")):
        adapted = words_cell(like, 12).scoring("words-adapted")
        assert {scoring.name for scoring in own.cell.scorings} == MAPPED_TITLES.keys()
        assert together(own.cell.scorings) == [list(own.cell.scorings)]
        usual = DecisionConfig.meaning_in_type
        settings = {"0": ("0", usual), "0.5": ("0.5", usual), "1": ("1", usual)}
        settings["heavier"] = ("0", 1.5 * usual)
        for scoring, (name, (weight, in_type)) in zip(
            own.cell.scorings, settings.items(), strict=True
        ):
            deciding = (
                *adapted.deciding,
                f"decision.learned_in_meaning={weight}",
                f"decision.meaning_in_type={in_type:g}",
            )
            name = f"mapped-{name}"
            assert scoring == replace(adapted, name=name, learned=True, deciding=deciding)


def test_a_map_that_weighs_nothing_is_no_map(
    foreign_data: Path, tmp_path: Path, tiny_encoder: Path, fine_tuned: list[int]
) -> None:
    grid = Grid(
        foreign_data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu"
    )
    cell = mapped_cells(12)[0].cell.lasting(2)
    tuned = [
        replace(scoring, adaptation={**(scoring.adaptation or {}), "steps": 1})
        for scoring in cell.scorings
    ]
    plain = replace(tuned[0], name="plain", learned=False)
    own = OwnCell.serving([MUSIC], replace(cell, scorings=(*tuned, plain)))
    run_own_cells(grid, [own], workers=1)
    assert fine_tuned == [1, 1] * 2  # validation and test, once for all with the map
    nothing, _, whole, _, without = (
        json.loads((grid.output / MUSIC.name / f"{scoring.name}.12.json").read_text("utf-8"))
        for scoring in own.cell.scorings
    )
    weights = [
        content["model"]["config"]["decision"]["meaning_weight"]
        for content in (nothing, whole, without)
    ]
    assert weights[0] == pytest.approx(weights[2], rel=1e-3)
    assert weights[0] != pytest.approx(weights[1], rel=1e-3)
    assert nothing["micro"] == without["micro"]
