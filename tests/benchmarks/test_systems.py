"""The page of all systems says what score files say."""

import json
from pathlib import Path

import pytest
from scripts import benchmark_script

from spanproto.paper.scores import Scores


@pytest.fixture
def systems():
    return benchmark_script("systems")


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    measured = {("protobert", 12): 30.0, ("protobert", 21): 32.0, ("l-tapnet-cdt", 12): 41.0}
    for (system, seed), f1 in measured.items():
        path = tmp_path / "baselines" / "news-1" / f"{system}.{seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        training = {"steps": 300, "episodes_per_step": 4}
        content = {
            "micro": {"f1": f1},
            "model": {"origin": {"training_config": training}},
            "validation": {"150": 9.04, "300": 9.96},
        }
        path.write_text(json.dumps(content), "utf-8")
    return Scores(tmp_path)


def test_measured_figures_stand_beside_published_ones(systems, scores: Scores) -> None:
    assert (
        systems.entry(scores, "protobert", "news-1") == "**31.00** \N{PLUS-MINUS SIGN} 1.41 (32.49)"
    )
    assert systems.entry(scores, "esd", "news-1") == "not run yet"


def test_systems_are_ranked_and_set_against_protobert(systems, scores: Scores) -> None:
    table = systems.benchmark_table(scores, ["news-1"])
    assert [name for name, _ in table.rows][:2] == ["L-TapNet+CDT", "ProtoBERT"]
    assert (
        systems.gaps(scores, "l-tapnet-cdt", ["news-1", "wiki-1"])
        == "+11.8 \N{RIGHTWARDS ARROW} +10.0"
    )


def test_schedules_are_read_from_the_runs(systems, scores: Scores) -> None:
    rows = dict(systems.schedule_table(scores).rows)
    assert rows["ProtoBERT"] == ["300 steps of 4 episodes", "", "9.0, 10.0", ""]
    assert "token classifier" not in rows  # which is not trained
