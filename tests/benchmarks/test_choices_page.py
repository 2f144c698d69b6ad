"""The page of choices says what score files say."""

import json
from pathlib import Path

import pytest
from scripts import ROOT, benchmark_script

from spanproto.errors import ConfigError


@pytest.fixture
def choices():
    return benchmark_script("choices")


def test_choices_are_set_against_the_first_setting(choices, tmp_path: Path) -> None:
    for name, f1 in (("chosen", 40.0), ("two-stage", 36.54)):
        path = tmp_path / "choices" / "news-1-valid" / f"{name}.12.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"micro": {"f1": f1}}), "utf-8")
    rows = dict(choices.choices_table(tmp_path).rows)
    assert rows["the first setting"] == ["40.0", "not run yet"]
    assert rows["the paper's decision: two thresholds in a row"][0] == "36.5 (-3.5)"
    assert rows["no fine-tuning"] == ["not run yet", "not run yet"]


def test_choices_by_more_than_the_support_set_are_told_apart(choices, tmp_path: Path) -> None:
    alone, informed = (dict(choices.choices_table(tmp_path, more).rows) for more in (False, True))
    assert not alone.keys() & informed.keys()
    assert "the setting of the tables" in alone
    assert informed
    assert all("name" in title or "told" in title for title in informed)


def test_foreign_domains_have_a_mean_once_all_are_measured(choices, tmp_path: Path) -> None:
    def measure(folder: str, name: str, f1: float) -> None:
        path = tmp_path / "choices" / folder / f"{name}.12.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"micro": {"f1": f1}}), "utf-8")

    domains = ("ai", "literature", "music", "politics", "science", "flat-genia")
    for f1, domain in enumerate(domains):
        measure(f"wiki-1-{domain}", "foreign-fewer", 30 + f1)
    measure("wiki-5-music", "foreign-all", 41.26)
    table = choices.foreign_table(tmp_path)
    assert list(table.heading[1:]) == [
        "1-shot, all",
        "1-shot, fewer",
        "1-shot, by examples",
        "1-shot, longer",
        "5-shot, all",
        "5-shot, fewer",
        "5-shot, by examples",
        "5-shot, longer",
    ]
    rows = dict(table.rows)
    assert len(rows) == len(domains) + 1
    assert rows["music (CrossNER, Liu et al.)"] == [
        "not run yet",
        "32.0",
        "not run yet",
        "not run yet",
        "41.3",
        "not run yet",
        "not run yet",
        "not run yet",
    ]
    assert list(rows)[-1] == "mean"
    assert rows["mean"] == ["", "32.5", *[""] * 6]


def test_the_page_is_made_from_the_measured_files(choices) -> None:
    assert (ROOT / "results" / "choices.md").read_text("utf-8") == choices.page()
    content = {"episode_f1": {"mean": 40.0, "std": 12.0}, "episodes": 64}
    assert choices.standard_error(content) == 1.5


def test_a_choice_or_a_column_is_run_alone() -> None:
    cells_of = benchmark_script("results").chosen_cells
    assert {own.column.name for own in cells_of("news-1")} == {"news-1-valid"}
    by_column = [cells_of(column) for column in ("news-1", "inter-5w1", "wiki-5-genia", "foreign")]
    assert len(cells_of("")) == sum(map(len, by_column))
    assert [own.cell.system for own in cells_of("dense-longer")] == ["dense-layers"]
    alone = cells_of("centred")
    assert [[s.name for s in own.cell.scorings] for own in alone] == [["centred"], ["centred"]]
    with pytest.raises(ConfigError, match="there is no 'centring'; did you mean 'centred'"):
        cells_of("chosen,centring")


def test_choices_on_foreign_domains_are_run_together_or_alone() -> None:
    cells_of = benchmark_script("results").chosen_cells
    together = cells_of("foreign")
    assert [len(own.columns) for own in together] == [6, 6]
    for own in cells_of("music"):
        assert own.cell.by_column() == [own.cell]  # the others are not run with it
    assert [own.cell.column for own in cells_of("music")] == ["wiki-1-music", "wiki-5-music"]
    (own,) = cells_of("foreign-all,wiki-1-music,wiki-1-ai")
    assert [column.name for column in own.columns] == ["wiki-1-ai", "wiki-1-music"]
    assert own.cell.also == ("wiki-1-music",)
    assert [scoring.name for scoring in own.cell.scorings] == ["foreign-all"]
    assert {own.cell.system for own in cells_of("wiki-5-genia")} > {"dense"}
    assert "foreign" not in {own.cell.system for own in cells_of("wiki-5-genia")}


def test_with_further_seeds_the_papers_algorithm_is_scored_as_trained_alone() -> None:
    results = benchmark_script("results")
    cells = results.cells_of(results.Table.crossdomain)
    scored = {(c.system, c.column, c.seed): [s.name for s in c.scorings] for c in cells}
    assert "spanproto-adapted" in scored["spanproto", "news-1", 42]
    assert scored["spanproto", "news-1", 87] == scored["spanproto", "news-5", 21] == ["spanproto"]
    assert scored["words", "news-5", 100] == ["words-fitted", "words-adapted"]


def test_cells_are_selected_by_column_and_seed() -> None:
    results = benchmark_script("results")
    select = results.selected_cells
    whole = select(results.Table.crossdomain, "")
    assert select(results.Table.crossdomain, ",") == whole
    two = select(results.Table.crossdomain, "ontonotes-1.12,")  # trained with News
    assert [(cell.system, cell.also) for cell in two] == [
        ("spanproto", ("ontonotes-1",)),
        ("words", ("ontonotes-1",)),
    ]
    with pytest.raises(ConfigError, match="there is no 'news-9'"):
        select(results.Table.baselines, "wiki-1.12,news-9")
    some = results.schedules_of("esd-125.news-1,spanproto")
    lengths = {"spanproto-250", "spanproto-500", "spanproto-1000"}
    assert {own.cell.system for own in some} == {"esd-125", *lengths}
