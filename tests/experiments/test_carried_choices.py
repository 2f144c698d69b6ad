"""Cuts on domains that decisions are not fitted on: lower or higher than what is fitted."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spanproto.errors import ConfigError
from spanproto.experiments.carried_choices import CARRIED_TITLES, CUT_TITLES, carried_cells
from spanproto.experiments.cells import Grid
from spanproto.experiments.filling import require_for_own_cells, run_own_cells
from spanproto.experiments.foreign_choices import foreign_cells, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import together
from spanproto.experiments.systems import words_cell

MUSIC = foreign_column("wiki-1", "music")
LENIENCES = {
    "carried-higher-0.5": -0.5,
    "carried-as-fitted": 0.0,
    "carried-lower-0.25": 0.25,
    "carried-lower-0.5": 0.5,
    "carried-lower-0.75": 0.75,
    "carried-lower-1": 1.0,
}


@pytest.fixture
def own() -> OwnCell:
    """The cell of one shot on one of its columns, trained and tuned for a moment."""
    cell = carried_cells(12)[0].cell.lasting(2)
    tuned = tuple(
        replace(scoring, adaptation={**(scoring.adaptation or {}), "steps": 1})
        for scoring in cell.scorings
    )
    return OwnCell.serving([MUSIC], replace(cell, scorings=tuned))


@pytest.fixture
def grid(foreign_data: Path, tmp_path: Path, tiny_encoder: Path) -> Grid:
    return Grid(
        foreign_data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu"
    )


def of(own: OwnCell, lenience: float, name: str) -> OwnCell:
    """The scoring of that name alone, with a lenience."""
    scoring = replace(own.cell.scoring(name), lenience=lenience)
    return own._replace(cell=replace(own.cell, scorings=(scoring,)))


def log_odds(content: dict[str, Any]) -> float:
    threshold = content["model"]["config"]["decision"]["threshold"]
    return math.log(threshold / (1 - threshold))


def test_every_cut_is_of_spanproto_with_words_and_of_the_same_copies() -> None:
    for own, foreign, like in zip(
        carried_cells(12)[:2], foreign_cells(12), ("wiki-1", "wiki-5"), strict=True
    ):
        words = words_cell(like, 12)
        adapted = words.scoring("words-adapted")
        assert own.cell.run == words.run
        cuts = own.cell.scorings[: len(LENIENCES)]
        assert list(cuts) == [
            replace(adapted, name=name, lenience=lenience) for name, lenience in LENIENCES.items()
        ]
        assert together(cuts) == [list(cuts)]
        assert own.columns == foreign.columns
        assert own.cell.by_column()[2].column == f"{like}-music"


def test_with_five_shots_a_shorter_fine_tuning_is_tried_too() -> None:
    one_shot, five_shots, *_ = carried_cells(12)
    assert len(one_shot.cell.scorings) == len(LENIENCES)
    *cuts, shorter = five_shots.cell.scorings
    fitted = five_shots.cell.scoring("carried-as-fitted")
    tuned = {**fitted.adaptation, "steps": 60}
    assert fitted.adaptation["steps"] == 100
    assert shorter == replace(fitted, name="carried-shorter", adaptation=tuned)
    assert together(five_shots.cell.scorings) == [cuts, [shorter]]


def test_what_is_trained_on_more_has_the_episodes_of_one_shot_and_of_five() -> None:
    train = ["1-shot/ner_train_2.json", "5-shot/ner-train-2-shot-5.json"]
    _, alone, more, both = carried_cells(12)
    assert more.columns == both.columns == alone.columns
    assert more.cell.run["data"] == {"train": [f"crossdomain/{name}" for name in train]}
    assert {**more.cell.run, "data": {}} == {**alone.cell.run, "data": {}}
    as_fitted = alone.cell.scoring("carried-as-fitted")
    assert more.cell.scorings == (replace(as_fitted, name="carried-merged"),)
    assert both.cell.scorings == (replace(as_fitted, name="carried-averaged"),)
    assert both.cell.run == alone.cell.run
    assert [name for one in both.cell.averaged for name in one["data"]["train"]] == [
        f"crossdomain/{name}" for name in train
    ]


def test_cuts_are_called_by_how_far_they_lie_from_the_fitted_one() -> None:
    assert list(CUT_TITLES) == list(LENIENCES)
    titles = ["higher 0.5", "as fitted", "lower 0.25", "lower 0.5", "lower 0.75", "lower 1"]
    assert list(CUT_TITLES.values()) == titles
    scored = {scoring.name for own in carried_cells(12) for scoring in own.cell.scorings}
    assert scored == CARRIED_TITLES.keys()


def test_a_lenience_lowers_the_threshold_that_is_fitted_and_nothing_else(
    grid: Grid, own: OwnCell, fine_tuned: list[int]
) -> None:
    run_own_cells(grid, [own], workers=1)
    assert fine_tuned == [1, 1]  # a validation episode and a test episode, for all cuts
    found = {
        name: json.loads((grid.output / MUSIC.name / f"{name}.12.json").read_text("utf-8"))
        for name in LENIENCES
    }
    fitted = found["carried-as-fitted"]
    for name, lenience in LENIENCES.items():
        assert log_odds(found[name]) == pytest.approx(log_odds(fitted) - lenience)
        decision = found[name]["model"]["config"]["decision"]
        there = fitted["model"]["config"]["decision"]
        assert {**decision, "threshold": 0} == {**there, "threshold": 0}
    predicted = [content["micro"]["predicted"] for content in found.values()]
    assert predicted == sorted(predicted)
    assert predicted[0] < predicted[-1]
    assert require_for_own_cells(grid, [own]) == []


def test_scores_of_another_cut_are_refused(grid: Grid, own: OwnCell) -> None:
    lower, as_fitted = of(own, 0.5, "carried-lower-0.5"), of(own, 0.0, "carried-as-fitted")
    run_own_cells(grid, [lower, as_fitted], workers=1)
    assert require_for_own_cells(grid, [lower, as_fitted]) == []
    for other, words in (
        (of(own, 0.25, "carried-lower-0.5"), "a lenience of 0.5, and now it is 0.25"),
        (of(own, 0.0, "carried-lower-0.5"), "a lenience of 0.5, and now it is 0.0"),
        (of(own, 0.5, "carried-as-fitted"), "a lenience of 0.0, and now it is 0.5"),
    ):
        with pytest.raises(ConfigError, match=words):
            require_for_own_cells(grid, [other])
