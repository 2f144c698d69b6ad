"""Slot filling: each domain tested by a model that was trained on the others."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from command import spanproto

from spanproto.errors import ConfigError, DataError
from spanproto.paper.page import QUICK
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
    assert content["model"]["config"]["decision"]["rule"] == "two-stage"
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


def test_the_command_marks_the_quick_form(tmp_path: Path, tiny_encoder: Path) -> None:
    one = ("--columns", "slots-1-play_music")
    quick = ("--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    done = spanproto("paper", "slot-filling", *one, *quick)
    assert done.returncode == 0, done.stderr
    assert QUICK in done.stdout
    assert QUICK in (tmp_path / "paper" / "slot-filling.md").read_text("utf-8")
    files = sorted(path.name for path in (tmp_path / "paper" / "cells").rglob("*.json"))
    assert files == ["spanproto-adapted.12.json", "spanproto.12.json"]
    (remark,) = SlotFilling().page(Scores(tmp_path)).remarks
    assert "on average over 1 domain(s)" in remark


def test_scores_of_other_data_are_not_taken(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bench.results)
    folders = []
    monkeypatch.setattr(
        "spanproto.paper.slot_filling.run_own_cells",
        lambda grid, cells, workers: folders.append(grid.data),
    )
    full = replace(bench, quick=False, columns=("slots-1-music",))
    for name in ("weather", "music"):
        rows = "".join(f"{name}{at}\tB-{name}\nplease\tO\n\n" for at in range(3))
        (bench.data / f"{name}.conll").write_text(rows)
    SlotFilling().run(full)  # though there are too few sentences for 5 shots
    origin = {"data_config": {"root": str(folders[0]), "train": []}}
    for scoring in ("spanproto", "spanproto-adapted"):
        path = bench.folder / "cells" / "slots-1-music" / f"{scoring}.12.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        name = {"config": {"encoder": {"name": bench.encoder}}}
        path.write_text(json.dumps({"model": {**name, "origin": origin}}))
    SlotFilling().run(full)
    (bench.data / "weather.conll").write_text("sun\tB-weather\nplease\tO\n\nrain\tB-weather\n\n")
    with pytest.raises(ConfigError, match="measured on other data in domains"):
        SlotFilling().run(full)
    with pytest.raises(DataError, match="domain 'music' leave none to ask about"):
        SlotFilling().run(replace(full, columns=("slots-5-music",)))


def test_a_domain_never_trains_the_model_that_it_tests() -> None:
    for column in _columns(["a", "b/c", "d"], 5):
        assert column.test_file not in column.data["train"]
        assert len(column.data["train"]) == 2
    assert [column.name for column in _columns(["a", "b/c"], 5)] == ["slots-5-a", "slots-5-b-c"]


def test_domains_that_would_share_a_file_are_refused(bench: Bench) -> None:
    for name in ("play music", "play-music"):
        (bench.data / f"{name}.conll").write_text("jazz\tB-genre\n\n")
    full = replace(bench, quick=False)
    said = "'play music' and 'play-music' would both be called 'play-music'"
    with pytest.raises(DataError, match=said):
        SlotFilling().run(full)
    with pytest.raises(DataError, match=said):
        SlotFilling().takes("slots-1-play-music", full)


def test_corpora_beside_the_benchmarks_are_no_domains(bench: Bench) -> None:
    (bench.data / "fewnerd").mkdir()
    (bench.data / "wnut17.conll").write_text("Rome\tB-place\n\n")
    with pytest.raises(DataError, match="snips: no such folder"):
        SlotFilling().run(replace(bench, quick=False))


def test_no_mean_is_of_some_domains_and_no_table_of_two_collections(tmp_path: Path) -> None:
    for tested, trained in (("a", "bc"), ("b", "ac"), ("d", "e")):
        folder = tmp_path / "paper" / "cells" / f"slots-1-{tested}"
        folder.mkdir(parents=True)
        content = {
            "micro": {"f1": 50.0},
            "provenance": {"seed": 12, "hardware": {"gpu": None, "cpu": "a CPU"}},
            "model": {
                "config": {"encoder": {"name": "tiny"}},
                "origin": {"data_config": {"train": [f"{name}-1.jsonl" for name in trained]}},
            },
        }
        (folder / "spanproto.12.json").write_text(json.dumps(content))
    first, second = SlotFilling().page(Scores(tmp_path)).tables
    assert [row[:2] for row in first.texts()[1:]] == [
        ["a", "50.00"],
        ["b", "50.00"],
        ["c", "not run yet"],
        ["mean", "not run yet (2 of 3 domains)"],
    ]
    assert [name for name, _ in second.rows] == ["d", "e", "mean"]


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    assert "Not run yet." in SlotFilling().page(Scores(tmp_path)).to_markdown()
