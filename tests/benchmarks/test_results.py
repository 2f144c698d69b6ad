"""The pages of figures say what the measured files say."""

import json
from pathlib import Path

import pytest
from scripts import ROOT, benchmark_script

from spanproto.paper.scores import Scores


def test_the_results_page_is_made_from_the_measured_files() -> None:
    assert (ROOT / "results" / "README.md").read_text("utf-8") == benchmark_script("tables").page()


def test_the_readme_shows_the_measured_figures() -> None:
    tables, figures = benchmark_script("tables"), benchmark_script("system_figures")
    readme, results = (ROOT / "README.md").read_text("utf-8"), ROOT / "results"
    assert tables.transfer_table(tables.load(results / "transfer.json")) in readme
    assert figures.summary_table(Scores(figures.RESULTS)).to_markdown() in readme
    assert tables.rules_table(results) in readme
    ratio = tables.load(results / "training-step.json")["ratio"]
    assert f"takes {ratio:.2f} times as long" in readme


MEASURED = sorted(
    path
    for path in (ROOT / "results").rglob("*.json")
    if path.parent.name != "paper"  # pages made of files that are measured
)


@pytest.mark.parametrize("path", MEASURED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_result_says_where_it_came_from(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    made = content["provenance"]
    for name in ("command", "commit", "data", "hardware"):
        assert made[name], name
    assert made["seed"] is not None or "seeds" in content
    assert len(made["commit"]) == 40
    assert not any(word.startswith("/") for word in made["command"].split())


def test_the_honest_score_and_the_oracle_differ() -> None:
    folder = ROOT / "results" / "fewnerd" / "inter-5w1"
    own, oracle = (
        json.loads((folder / f"{name}.12.json").read_text("utf-8"))["micro"]["f1"]
        for name in ("spanproto", "spanproto-released")
    )
    assert oracle - own >= 15
