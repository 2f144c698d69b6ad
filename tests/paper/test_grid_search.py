"""The search of the appendix: on validation data alone, resumed, and shown as far as it got."""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command import spanproto

from spanproto.errors import ConfigError, DataError, MissingExtraError, SpanProtoError
from spanproto.experiments.cells import Grid
from spanproto.experiments.columns import COLUMNS, column_named
from spanproto.experiments.own_columns import OwnCell
from spanproto.paper import grid_search, quick
from spanproto.paper.grid_search import GRID_SEARCH, SPACE, TPE_SEARCH, trial_cell, validation_f1
from spanproto.paper.page import QUICK
from spanproto.paper.recipe import Bench
from spanproto.paper.running import run_recipes
from spanproto.paper.scores import Scores
from spanproto.training.settings import RunConfig

CHOICE = {
    "batch size": 8,
    "learning rate": 2e-5,
    "dropout": 0.3,
    "T'": 500,
    "theta": 0.85,
    "r": 4,
}


@pytest.fixture
def bench(tmp_path: Path, tiny_encoder: Path) -> Bench:
    quick.write_sample(tmp_path / "sample")
    return Bench(tmp_path / "sample", str(tiny_encoder), tmp_path, device="cpu", quick=True)


def test_the_quick_form_tries_two_choices_and_two_more_when_called_again(bench: Bench) -> None:
    for trials in (2, 4):
        GRID_SEARCH.run(bench)
        content = json.loads((bench.folder / "search" / "grid-search.news-1.12.json").read_text())
        assert len(content["trials"]) == trials
    table = GRID_SEARCH.page(Scores(bench.results)).tables[0]
    assert table.title == "news-1, seed 12: 4 trial(s), the best first"
    f1 = [cells[-1] for name, cells in table.rows if name.startswith("trial")]
    assert f1 == sorted(f1, reverse=True)
    assert [str(cell) for cell in table.rows[-1][1][3:6]] == ["200", "0.8", "3"]
    assert table.to_dict()["rows"][-1]["theta"] == 0.8
    assert (bench.folder / "search" / "grid-search.news-1.12.journal").exists()


def test_a_choice_is_not_measured_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(grid_search, "run_own_cell", lambda grid, own: seen.append(own))
    tested = column_named("news-1")
    own = trial_cell(tested, 12, CHOICE)
    grid = Grid(bench.data, bench.encoder, bench.folder / "cells")
    path = grid.file(own.cell, own.cell.scorings[0])
    path.parent.mkdir(parents=True)
    path.write_text('{"micro": {"f1": 12.5}}')
    assert validation_f1(grid, tested, 12, False, CHOICE) == 12.5
    assert seen == []


def raising(error: Exception) -> Callable[[Grid, OwnCell], None]:
    def run(grid: Grid, own: OwnCell) -> None:
        raise error

    return run


def test_a_training_that_diverges_has_no_score(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    diverges = raising(SpanProtoError("the loss is nan at step 3"))
    monkeypatch.setattr(grid_search, "run_own_cell", diverges)
    grid = Grid(bench.data, bench.encoder, bench.folder / "cells")
    assert validation_f1(grid, column_named("news-1"), 12, False, CHOICE) is None


def test_a_trial_without_a_score_is_told_of(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter((None, 50.0))
    monkeypatch.setattr(grid_search, "validation_f1", lambda *_: next(found))
    GRID_SEARCH.run(bench)
    table = GRID_SEARCH.page(Scores(bench.results)).tables[0]
    assert (
        table.title == "news-1, seed 12: 1 trial(s), the best first, and 1 whose training diverged"
    )


def test_bad_data_end_the_search(bench: Bench) -> None:
    with pytest.raises(DataError, match=r"[Nn]o such file"):
        GRID_SEARCH.run(replace(bench, quick=False, columns=("news-5",)))


def test_the_scope_is_the_paper_s() -> None:
    assert math.prod(map(len, SPACE.values())) == 12_600
    own = trial_cell(column_named("inter-5w1"), 12, CHOICE)
    run = RunConfig.of({**own.cell.run, "data": own.column.data})
    assert run.training.episodes_per_step == 8
    assert run.training.learning_rate == 2e-5
    assert run.training.steps == 1500  # 500 after the longest T'
    assert run.model.encoder.dropout == 0.3
    assert run.model.objective.extractor_steps == 500
    assert run.model.extractor.threshold == 0.85
    assert run.model.classifier.margin == 4
    assert run.model.classifier.reject  # or r would be nothing but a setting of the loss


@pytest.mark.parametrize("name", COLUMNS)
def test_no_choice_is_judged_by_test_data(name: str) -> None:
    tested = column_named(name)
    column = trial_cell(tested, 12, CHOICE).column
    assert (column.test_file, column.test_types) != (tested.test_file, tested.test_types)
    assert "test" not in f"{Path(column.test_file).name} {column.test_types}"
    assert column.data == tested.data


def test_tpe_keeps_a_study_of_its_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_search, "validation_f1", lambda *_: 50.0)
    TPE_SEARCH.run(bench)
    assert [path.name for path in sorted((bench.folder / "search").glob("*.json"))] == [
        "tpe-search.news-1.12.json"
    ]
    assert GRID_SEARCH.page(Scores(bench.results)).tables == []


def test_a_study_goes_on_with_its_own_encoder_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_search, "validation_f1", lambda *_: 50.0)
    TPE_SEARCH.run(bench)
    with pytest.raises(ConfigError, match="measured with the encoder"):
        TPE_SEARCH.run(replace(bench, encoder="another"))


def test_a_study_goes_on_with_its_own_data_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr(grid_search, "validation_f1", stop)
    with pytest.raises(KeyboardInterrupt):  # before the first trial ends
        TPE_SEARCH.run(bench)
    train = bench.data / column_named("news-1").data["train"][0]
    train.write_text(train.read_text("utf-8") + "\n", "utf-8")
    with pytest.raises(ConfigError, match="measured with data of SHA-256"):
        TPE_SEARCH.run(bench)


def test_every_seed_has_a_study(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(
        grid_search, "validation_f1", lambda grid, tested, seed, *_: asked.append(seed) or 50.0
    )
    TPE_SEARCH.run(replace(bench, seeds=(12, 21)))
    assert asked == [12, 12, 21, 21]
    page = TPE_SEARCH.page(Scores(bench.results))
    for table, seed in zip(page.tables, (12, 21), strict=True):
        assert table.title == f"news-1, seed {seed}: 2 trial(s), the best first"
    assert len(page.remarks) == 2
    assert "the best choice so far, one of 2 alike, has T' " in page.remarks[0]
    assert "2 of 12,600 choices have been tried" in page.remarks[0]


def test_the_command_searches_by_tpe(tmp_path: Path, tiny_encoder: Path) -> None:
    quick_form = ("--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    done = spanproto("paper", "tpe-search", *quick_form)
    assert done.returncode == 0, done.stderr
    assert QUICK in done.stdout
    content = json.loads((tmp_path / "paper" / "search" / "tpe-search.news-1.12.json").read_text())
    assert content["quick"]
    assert len(content["trials"]) == 2
    trials = list((tmp_path / "paper" / "cells" / "news-1-valid").glob("trial-*.12.json"))
    assert len(trials) == 2


def test_without_optuna_the_extra_is_named(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"spanproto\[search\]"):
        run_recipes([GRID_SEARCH], bench)
