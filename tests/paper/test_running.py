"""Recipes share trainings, and the quick form is a short one of the same cells."""

from dataclasses import replace
from pathlib import Path

import pytest

from spanproto.data.episodes import read_supported_episodes
from spanproto.data.splits import type_split
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.columns import COLUMNS, column_named
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import baseline_cells, spanproto_cell
from spanproto.paper import RECIPES, ablation
from spanproto.paper.hyper_parameters import FIRST_STEPS, THRESHOLDS
from spanproto.paper.margin import MARGINS
from spanproto.paper.quick import shortened, write_sample
from spanproto.paper.recipe import Bench
from spanproto.paper.running import merged, missing
from spanproto.paper.scores import Scores
from spanproto.training.settings import RunConfig

BENCH = Bench(Path("data"), "encoder", columns=("inter-5w1",))


def cells(*names: str, bench: Bench = BENCH) -> list[Cell]:
    return [cell for name in names for cell in RECIPES[name].cells(bench)]


def test_a_training_is_done_once_for_all_recipes() -> None:
    names = ("fewnerd", "ablation", "ablation-fewnerd", "margin", "hyper-parameters")
    together = merged(cells(*names, "boundary-matrix", "span-extraction", "errors"))
    trainings = {cell.system: cell for cell in together}
    assert len(trainings) == len(together)
    full = trainings["spanproto"]
    scored = [scoring.name for scoring in full.scorings]
    assert len(scored) == len(set(scored))
    assert {"spanproto", "spanproto-adapted", "spanproto-released", "margin-3"} <= set(scored)
    assert {*THRESHOLDS.values(), "boundary-matrix"} <= set(scored)
    variants = {"no-extractor", "no-classifier", "no-margin", "all-spans"}
    sweeps = {*MARGINS.values(), *FIRST_STEPS.values()} - {"margin-3"}
    baselines = {"protobert", "container", "esd", "decommeta"}
    assert trainings.keys() == {"spanproto"} | variants | sweeps | baselines


def test_what_a_table_has_is_not_missing(tmp_path: Path) -> None:
    cell = spanproto_cell("news-1", 12)
    grid = Grid(tmp_path / "data", "encoder", tmp_path / "paper" / "cells")

    def left_of(cell: Cell) -> list[Cell]:
        return missing([cell], grid, Scores(tmp_path))

    assert left_of(cell) == [cell]
    folder = tmp_path / "crossdomain" / "news-1"
    folder.mkdir(parents=True)
    (folder / "spanproto.12.json").write_text("{}")
    (left,) = left_of(cell)
    assert "spanproto" in {scoring.name for scoring in cell.scorings}
    assert left.scorings == tuple(s for s in cell.scorings if s.name != "spanproto")
    assert left_of(replace(cell, scorings=cell.scorings[:1])) == []
    assert left_of(replace(cell, seed=21)) == [replace(cell, seed=21)]


@pytest.mark.parametrize("name", ["ablation", "margin", "hyper-parameters", "fewnerd", "span-map"])
def test_cells_are_ones_that_can_run(name: str) -> None:
    bench = Bench(Path("data"), "encoder")
    found = cells(name, bench=bench)
    assert {cell.seed for cell in found} == {12}
    for cell in found:
        for run in (cell.run, shortened(cell).run):
            RunConfig.of({**run, "data": COLUMNS[cell.column].data})
    if name in ("ablation", "margin", "hyper-parameters"):
        assert {cell.column for cell in found} == {"inter-5w1", "news-1"}
    sweep = cells("margin", bench=replace(bench, columns=("wiki-1",), seeds=(21, 42)))
    assert {(cell.column, cell.seed) for cell in sweep} == {("wiki-1", 21), ("wiki-1", 42)}


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_of_cells_has_one_in_the_quick_form(name: str) -> None:
    full, quick = (
        cells(name, bench=Bench(Path("data"), "encoder", quick=q)) for q in (False, True)
    )
    assert bool(full) == bool(quick)
    assert {cell.column for cell in quick} <= {"inter-5w1", "news-1"}


def test_ablations_leave_out_what_they_say() -> None:
    runs = {
        cell.system: RunConfig.of({**cell.run, "data": {}}).model
        for cell in ablation.ablation_cells("inter-5w1", 12)
    }
    assert runs["no-classifier"].classifier.centres == "k-means"
    assert runs["no-classifier"].objective.joint_weight == 0
    assert not runs["no-margin"].classifier.margin_loss
    assert runs["all-spans"].extractor.head == "none"
    assert runs["no-extractor"].layers == 1
    settings = runs["all-spans"]
    assert settings.decision.bias == settings.classifier.margin


def test_the_quick_form_keeps_the_shape_of_a_run() -> None:
    quick = {cell.system: shortened(cell) for cell in cells("hyper-parameters")}
    firsts = [
        quick[name].run["model"]["objective"]["extractor_steps"] for name in FIRST_STEPS.values()
    ]
    assert firsts == [0, 1, 2, 5, 10]
    assert {quick[name].run["training"]["steps"] for name in FIRST_STEPS.values()} == {15}
    adapted = [s for s in quick["spanproto"].scorings if s.adaptation is not None]
    assert {scoring.adaptation["steps"] for scoring in adapted} == {2}
    other = shortened(baseline_cells("news-1", 12)[0])
    assert other.run["training"]["steps"] == 2
    bare = Cell("spanproto", "news-1", 12, {}, (Scoring("plain"),))
    assert shortened(bare).run["training"]["steps"] == 20


def test_the_sample_is_laid_out_as_the_benchmarks_are(tmp_path: Path) -> None:
    write_sample(tmp_path)
    news = column_named("news-1")
    assert read_supported_episodes(tmp_path / news.test_file)
    inter = column_named("inter-5w1")
    (one, other) = inter.test_episodes(tmp_path, 2)
    assert {*one.types, *other.types} <= set(type_split("inter", "test"))
    assert len(one.types) == 5
