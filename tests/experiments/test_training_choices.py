"""Trainings told which sentences are complete: what each changes, and on what all are judged."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import synthetic
from scripts import benchmark_script

from spanproto.config import to_dict
from spanproto.data.formats import write_sentences
from spanproto.data.splits import read_types
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError
from spanproto.experiments.cells import Grid
from spanproto.experiments.choices import validation_column
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.filling import require_for_own_cells, run_own_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.setups import read_score_file
from spanproto.experiments.systems import INTER, INTER_PARTLY, words_cell
from spanproto.experiments.training_choices import TRAININGS, training_cells
from spanproto.training.settings import RunConfig

COLUMN = validation_column(COLUMNS["inter-5w1"])
ALL = {"model.objective.negatives": 1.0}
LONGER = {"training.steps": 1000}
CHANGED: dict[str, dict[str, Any]] = {
    "few": {},
    "all": ALL,
    "few-longer": LONGER,
    "all-longer": {**ALL, **LONGER},
    "all-wider": {**ALL, "training.episodes_per_step": 8},
    "all-dropout": {**ALL, **LONGER, "model.encoder.dropout": 0.2},
    "complete": {**ALL, "model.objective.doubtful": "skip"},
    "ways": {**ALL, "model.objective.doubtful": "skip"},
    "all-settings": {**ALL, "model.objective.doubtful": "skip"},
    "rivals": {**ALL, "model.objective.rivals": "step"},
}


def flat(name: str, content: Any) -> dict[str, Any]:
    """The settings of a section, each by its whole name."""
    if not isinstance(content, Mapping):
        return {name: content}
    return {
        key: value
        for inner, part in content.items()
        for key, value in flat(f"{name}.{inner}", part).items()
    }


def settings(own: OwnCell) -> dict[str, Any]:
    data = {**own.column.data, **own.cell.run["data"]}
    run = RunConfig.of({**own.cell.run, "data": data})
    sections = {"model": run.model, "training": run.training, "data": run.data}
    return {k: v for name, one in sections.items() for k, v in flat(name, to_dict(one)).items()}


def corpus(seed: int, size: int, types: str) -> list[Sentence]:
    """Sentences, each with entities of one of these types, which come in turn."""
    return [
        sentence.with_spans(span._replace(label=label) for span in sentence.spans)
        for sentence, label in zip(synthetic.corpus(seed, size), cycle(read_types(types)))
    ]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Training sentences, of which every other one is partly labelled, and ones to validate on."""
    train = corpus(1, 1080, "inter/train")  # enough for ten ways and five shots
    partly = [s.with_spans([Span(0, len(s.words), "doubtful")]) for s in train[::2]]
    valid = corpus(2, 120, "inter/dev")
    (tmp_path / "fewnerd" / "inter").mkdir(parents=True)
    write_sentences(tmp_path / COLUMN.data["train"][0], train, "fewnerd", merge=True)
    write_sentences(tmp_path / COLUMN.test_file, valid, "fewnerd", merge=True)
    write_sentences(tmp_path / INTER_PARTLY, partly, "token-json")
    return tmp_path


def test_a_training_is_the_one_of_before_and_what_is_changed_in_it() -> None:
    assert list(CHANGED) == list(TRAININGS)
    cells = {(own.cell.system, own.cell.seed): own for own in training_cells()}
    assert len(cells) == len(training_cells())
    assert cells.keys() == {(name, seed) for name in CHANGED for seed in (12, 21)}
    first = settings(cells["few", 12])
    assert first["model.objective.negatives"] == 0.3
    assert first["model.objective.doubtful"] == "spare"
    assert first["data.doubtful"] == [INTER_PARTLY]
    for (name, _), own in cells.items():
        assert settings(own) == {**first, **CHANGED[name]}
        assert bool(own.cell.averaged) == (name in ("ways", "all-settings"))
    for name, columns in (("ways", INTER[:2]), ("all-settings", INTER)):
        assert list(cells[name, 21].cell.averaged) == [
            {"data": COLUMNS[column].data, "training": {"order_seed": 21}} for column in columns
        ]


def test_the_tables_have_the_one_that_learns_boundaries_from_complete_sentences() -> None:
    chosen = [own.cell for own in training_cells() if own.cell.system == "complete"]
    assert len(chosen) == 2
    for cell in chosen:
        assert cell.run == words_cell("inter-5w1", cell.seed).run


def test_all_are_judged_alike_and_on_no_test_data() -> None:
    for column, cell, _ in training_cells():
        words = words_cell("inter-5w1", cell.seed).scoring("words-fitted")
        forms = [replace(words, name=cell.system)]
        assert list(cell.scorings) == forms
        assert all(scoring.adaptation is None for scoring in forms)
        assert cell.column == column.name == "inter-5w1-valid"
        assert column == COLUMN
        assert column.test_file in COLUMNS["inter-5w1"].validation["valid"]
        assert column.test_types == "inter/dev"


def test_what_takes_longest_is_run_first() -> None:
    cells = [own.cell for own in training_cells()]
    alone = [cell.run["training"] for cell in cells if not cell.averaged]
    assert [run["steps"] * run["episodes_per_step"] for run in alone] == [4000] * 8 + [2000] * 8
    assert all(cell.averaged for cell in cells[len(alone) :])  # whose trainings are done before


def test_trainings_are_run_together_or_alone() -> None:
    cells_of = benchmark_script("results").trainings_of
    assert cells_of("") == training_cells()
    assert [(own.cell.system, own.cell.seed) for own in cells_of("few.21,rivals.12")] == [
        ("few", 21),
        ("rivals", 12),
    ]


def test_a_training_is_told_which_sentences_are_partly_labelled(
    data: Path, tmp_path: Path, tiny_encoder: Path
) -> None:
    grid = Grid(data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu")
    (own,) = benchmark_script("results").trainings_of("complete.21")
    own = own._replace(cell=own.cell.lasting(2))
    run_own_cells(grid, [own], workers=1)
    found = read_score_file(grid.output / "inter-5w1-valid" / "complete.21.json")
    assert found["model"]["origin"]["data_config"]["doubtful"] == [INTER_PARTLY]
    assert found["model"]["config"]["objective"]["doubtful"] == "skip"
    assert found["adaptation"] is None
    assert len(found["types"]) == 5
    assert set(found["types"]) <= set(read_types("inter/dev"))
    assert require_for_own_cells(grid, [own]) == []
    (grid.output / "inter-5w1-valid" / "complete.21.json").unlink()
    (data / INTER_PARTLY).unlink()
    with pytest.raises(DataError, match="make partly-labelled"):
        require_for_own_cells(grid, [own])


def test_a_map_is_judged_beside_the_same_training_without_it(
    data: Path, tmp_path: Path, tiny_encoder: Path
) -> None:
    cells_of = benchmark_script("results").maps_of
    alike = {(own.cell.system, own.cell.seed): own for own in training_cells()}
    assert len(cells_of("")) == 4
    for own in cells_of(""):
        plain, learned = own.cell.scorings
        assert own == alike[own.cell.system, own.cell.seed]._replace(cell=own.cell)
        assert replace(own.cell, scorings=(plain,)) == alike[own.cell.system, own.cell.seed].cell
        assert learned == replace(plain, name=f"{plain.name}-learned", learned=True)
    grid = Grid(data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu")
    (own,) = cells_of("all-settings.21")
    run_own_cells(grid, [own._replace(cell=own.cell.lasting(2))], workers=1)
    folder = grid.output / "inter-5w1-valid"
    without, mapped = (
        read_score_file(folder / f"all-settings{form}.21.json") for form in ("", "-learned")
    )
    assert without["model"]["origin"] == mapped["model"]["origin"]
    assert without["model"]["origin"]["averaged"] == 4
    assert without["learned"] is None
    assert mapped["learned"]["seed"] == 21
