"""The page of SpanProto beside what is published says what score files say."""

import json
from pathlib import Path

import pytest
from scripts import ROOT, benchmark_script

from spanproto.paper.scores import Scores


@pytest.fixture
def tables():
    return benchmark_script("spanproto_tables")


def test_means_and_spreads_are_of_all_seeds_that_were_run(tables, tmp_path: Path) -> None:
    folder = tmp_path / "crossdomain" / "news-1"
    folder.mkdir(parents=True)
    for seed, f1 in ((12, 50.0), (87, 54.0)):
        content = {"micro": {"f1": f1}, "span": {"f1": f1 + 20}, "provenance": {}}
        (folder / f"words-adapted.{seed}.json").write_text(json.dumps(content), "utf-8")
    rows = dict(tables.benchmark_table(Scores(tmp_path), ["news-1", "wiki-1"]).rows)
    assert rows["SpanProto, published"] == ["47.70", "19.92"]
    adapted = "with words, adapted, decision fitted"
    assert rows[adapted] == ["52.00 \N{PLUS-MINUS SIGN} 2.83", "not run yet"]
    assert rows[f"{adapted}, boundaries alone"][0] == "72.00 \N{PLUS-MINUS SIGN} 2.83"
    assert rows["seeds of the adapted one"] == ["2", "0"]


def test_the_page_is_made_from_the_measured_files(tables) -> None:
    assert (ROOT / "results" / "spanproto.md").read_text("utf-8") == tables.page()
