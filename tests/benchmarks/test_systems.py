"""The page of all systems says what score files say."""

import json
from pathlib import Path
from typing import Any

import pytest
from scripts import ROOT, benchmark_script

from spanproto.paper.scores import Scores


@pytest.fixture
def systems():
    return benchmark_script("systems")


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**content, "provenance": {}}), "utf-8")


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    measured = {("protobert", 12): 30.0, ("protobert", 21): 32.0, ("l-tapnet-cdt", 12): 41.0}
    for (system, seed), f1 in measured.items():
        path = tmp_path / "baselines" / "news-1" / f"{system}.{seed}.json"
        training = {"steps": 300, "episodes_per_step": 4, "learning_rate": 1.5e-4}
        content = {
            "micro": {"f1": f1},
            "model": {"origin": {"training_config": training}},
            "adaptation": None,
        }
        write(path, content)
    return Scores(tmp_path)


def test_measured_figures_stand_beside_published_ones(systems, scores: Scores) -> None:
    assert (
        systems.entry(scores, "protobert", "news-1") == "**31.00** \N{PLUS-MINUS SIGN} 1.41 (32.49)"
    )
    assert systems.entry(scores, "esd", "news-1") == "not run yet"


def test_systems_are_ranked_and_set_against_protobert(systems, scores: Scores) -> None:
    table = systems.benchmark_table(scores, ["news-1"])
    assert [name for name, _ in table.rows][:2] == ["L-TapNet+CDT", "ProtoBERT"]
    gap = "+11.8 \N{RIGHTWARDS ARROW} +10.0"
    assert systems.gaps(scores, "l-tapnet-cdt", ["news-1"]) == gap
    assert systems.gaps(scores, "l-tapnet-cdt", ["news-1", "inter-5w1"]) == gap  # not published
    assert systems.gaps(scores, "l-tapnet-cdt", ["news-1", "wiki-1"]) == ""  # not measured


def test_schedules_are_read_from_the_runs(systems, scores: Scores) -> None:
    for steps, f1 in ((150, 9.04), (300, 9.96)):
        path = scores.results / "schedules" / "news-1-valid" / f"protobert-{steps}.12.json"
        write(path, {"micro": {"f1": f1}})
    rows = dict(systems.schedule_table(scores).rows)
    assert rows["ProtoBERT"] == ["300 steps of 4 episodes, 1.5e-4", "", "", "", "1e-4"]
    assert rows.keys() == {"ProtoBERT", "L-TapNet+CDT"}
    judged = "9.0 \N{RIGHTWARDS ARROW} 10.0 \N{RIGHTWARDS ARROW} not run yet"
    lengths = dict(systems.length_table(scores).rows)
    assert lengths["ProtoBERT"] == [judged, ""]
    assert lengths["DecomMeta, 40 steps of fine-tuning, whole"] == ["", ""]


def test_what_is_fine_tuned_and_how_is_read_from_the_runs(systems, scores: Scores) -> None:
    assert systems.tuning_table(scores).rows == []
    path = scores.results / "baselines" / "news-1" / "token-classifier.12.json"
    tuning = {"tune": "top", "top_layers": 6}
    rates = {"learning_rate": 1e-4, "head_learning_rate": 5e-3}
    write(path, {"adaptation": {"steps": 60, "tuning": tuning, **rates}})
    all_layers = {"steps": 200, "tuning": {"tune": "all", "top_layers": 4}}
    content = {"adaptation": {**all_layers, "learning_rate": 5e-5, "head_learning_rate": None}}
    write(scores.results / "baselines" / "inter-5w5" / "container.12.json", content)
    rows = dict(systems.tuning_table(Scores(scores.results)).rows)
    assert rows == {
        "token classifier": ["60 steps, top 6 layers, 1e-4, heads 5e-3", "", "", ""],
        "CONTaiNER": ["", "", "", "until its loss rises, at most 200 steps, all layers, 5e-5"],
    }


def test_figures_are_of_the_seeds_that_all_systems_have(systems, scores: Scores) -> None:
    folder = scores.results / "crossdomain" / "news-1"
    for seed, f1 in ((12, 40.0), (42, 50.0), (87, 90.0)):
        write(folder / f"spanproto.{seed}.json", {"micro": {"f1": f1}})
    assert systems.measured_figures(scores, "spanproto", "news-1") == [40.0, 50.0]


def test_the_page_is_made_from_the_measured_files(systems) -> None:
    assert (ROOT / "results" / "systems.md").read_text("utf-8") == systems.page()
