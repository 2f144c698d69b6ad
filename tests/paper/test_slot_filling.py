"""Slot filling: each domain tested by a model that was trained on the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spanproto.paper.recipe import Bench
from spanproto.paper.scores import Scores
from spanproto.paper.slot_filling import SlotFilling, _columns


@pytest.fixture
def bench(tmp_path: Path, tiny_encoder: Path) -> Bench:
    return Bench(tmp_path, str(tiny_encoder), tmp_path, seeds=(12,), device="cpu", quick=True)


def test_the_quick_form_scores_every_domain(bench: Bench) -> None:
    SlotFilling().run(bench)
    (table,) = SlotFilling().page(Scores(bench.results)).tables
    assert [name for name, _ in table.rows] == [
        "book_table",
        "order_groceries",
        "plan_trip",
        "play_music",
        "mean",
    ]
    assert "not run" not in table.to_text()
    content = json.loads(
        (bench.folder / "cells" / "slots-1-play_music" / "spanproto.12.json").read_text()
    )
    trained_on = content["model"]["origin"]["data_config"]["train"]
    assert trained_on == ["book_table-1.jsonl", "order_groceries-1.jsonl", "plan_trip-1.jsonl"]
    assert set(content["types"]) <= {"track", "artist", "genre", "era", "playlist", "album"}


def test_a_user_s_data_are_used_where_given(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}
    monkeypatch.chdir(bench.results)
    monkeypatch.setattr(
        "spanproto.paper.slot_filling.run_own_cells",
        lambda grid, cells, workers: asked.update(grid=grid, cells=cells),
    )
    for name in ("weather", "music", "news"):
        rows = "".join(f"{name}{at}\tB-{name}\nplease\tO\n\n" for at in range(12))
        (bench.data / f"{name}.conll").write_text(rows)
    SlotFilling().run(replace(bench, quick=False, columns=("slots-1-music", "slots-5-music")))
    one, five = (own.column for own in asked["cells"])
    assert five.data["train"] == ["news-5.jsonl", "weather-5.jsonl"]
    episodes = one.test_episodes(asked["grid"].data, limit=3)
    assert [episode.types for episode in episodes] == [("music",)] * 3
    assert len(episodes[0].support) == 1
    assert len(episodes[0].query) == 11


def test_a_domain_never_trains_the_model_that_it_tests() -> None:
    for column in _columns(["a", "b/c", "d"], 5):
        assert column.test_file not in column.data["train"]
        assert len(column.data["train"]) == 2
    assert [column.name for column in _columns(["a", "b/c"], 5)] == ["slots-5-a", "slots-5-b-c"]


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    assert "Not run yet." in SlotFilling().page(Scores(tmp_path)).to_markdown()
