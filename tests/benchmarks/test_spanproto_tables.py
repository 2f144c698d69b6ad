"""The page of SpanProto beside what is published says what score files say."""

from pathlib import Path

import pytest
from score_files import score, write
from scripts import ROOT, benchmark_script

from spanproto.errors import DataError
from spanproto.paper.scores import Scores


@pytest.fixture
def tables():
    return benchmark_script("spanproto_tables")


def measure(path: Path, f1: float) -> None:
    """Write what the page reads of a score."""
    write(path, {**score(f1), "span": {"f1": f1 + 20}})


def test_means_and_spreads_are_of_all_seeds_that_were_run(tables, tmp_path: Path) -> None:
    for seed, f1 in ((12, 50.0), (87, 54.0)):
        measure(tmp_path / "crossdomain" / "news-1" / f"words-adapted.{seed}.json", f1)
    rows = dict(tables.benchmark_table(Scores(tmp_path), ["news-1", "wiki-1"]).rows)
    assert rows["SpanProto, published"] == ["47.70", "19.92"]
    adapted = "with words, adapted, decision fitted"
    assert rows[adapted] == ["52.00 \N{PLUS-MINUS SIGN} 2.83", "not run yet"]
    assert rows[f"{adapted}, boundaries alone"][0] == "72.00 \N{PLUS-MINUS SIGN} 2.83"
    assert rows["seeds of the adapted one"] == ["2", "0"]


def test_what_knows_more_is_marked_beside_what_it_has_without(tables, tmp_path: Path) -> None:
    columns = ["inter-5w1", "inter-10w1"]
    measure(tmp_path / "fewnerd" / "inter-5w1" / "words-adapted.12.json", 66.0)
    measure(tmp_path / "fewnerd" / "inter-5w1" / "spanproto.12.json", 58.0)
    assert not any("doubts" in title for title, _ in _rows(tables, tmp_path, columns))
    for seed, f1 in ((12, 64.0), (21, 65.0)):
        place = tmp_path / "given-up" / "inter-5w1"
        measure(place / f"words-adapted.{seed}.{tables.OWN_DOUBTS}.json", f1)
        measure(place / f"words-adapted.{seed}.6843406.json", 1.0)
    rows = dict(_rows(tables, tmp_path, columns))
    assert rows["with words, adapted, decision fitted"] == ["66.00 ‡", "not run yet"]
    assert rows["the paper's algorithm"][0] == "58.00"
    without = "with words, adapted, decision fitted, with doubts of its own (seeds 12 and 21)"
    assert rows[without] == ["64.50 \N{PLUS-MINUS SIGN} 0.71", "not run yet"]


def test_what_is_trained_broadly_has_rows_once_it_is_run(tables, tmp_path: Path) -> None:
    title = "with words, trained broadly, adapted, decision fitted"
    columns = ["inter-5w1", "inter-10w1"]
    assert not any("broadly" in name for name, _ in _rows(tables, tmp_path, columns))
    assert "*Trained broadly*" not in tables.page(tmp_path)
    for name, f1 in (("broad-adapted", 67.0), ("broad-named", 69.0)):
        measure(tmp_path / "fewnerd" / "inter-5w1" / f"{name}.12.json", f1)
    rows = dict(_rows(tables, tmp_path, columns))
    assert rows[title] == ["67.00 ‡", "not run yet"]
    assert rows[f"{title}, boundaries alone"] == ["87.00 ‡", "not run yet"]
    assert rows[f"told the types' names, {title}"] == ["69.00 ‡", "not run yet"]
    assert rows["seeds of the adapted one"] == ["0", "0"]
    assert rows["seeds of the adapted one, trained broadly"] == ["1", "0"]
    said = " ".join(tables.page(tmp_path).split())
    assert (
        "*Trained broadly*, it learns from other episodes of the same types, too: on INTER" in said
    )
    assert "with five shots across domains, on the episodes" not in said


def test_the_column_that_settings_were_chosen_on_is_marked(tables, tmp_path: Path) -> None:
    table = tables.benchmark_table(Scores(tmp_path), ["news-1", "ontonotes-1"])
    assert list(table.heading[1:]) == ["News (CoNLL-03) 1-shot", "OntoNotes 1-shot †"]


def test_what_rests_on_scores_that_were_not_kept_is_said(tables, tmp_path: Path) -> None:
    assert "rests on trials whose scores were not\nkept" in tables.page(tmp_path)
    for name, f1 in (("final", 53.0), ("final-fewer", 51.0)):
        measure(tmp_path / "choices" / "news-1-valid" / f"{name}.12.json", f1)
    assert "costs 2.0 points of validation F1 (53.0 → 51.0" in tables.page(tmp_path)


def test_a_figure_that_is_no_number_is_refused(tables, tmp_path: Path) -> None:
    path = tmp_path / "crossdomain" / "news-1" / "words-adapted.12.json"
    write(path, {**score(50.0), "micro": {"f1": "fifty"}})
    with pytest.raises(DataError, match=r"words-adapted\.12\.json: micro\.f1 is no number"):
        tables.page(tmp_path)


def test_a_folder_without_scores_is_refused(tables, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: no scores of SpanProto in it; give the folder"):
        tables.main(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def _rows(tables, results: Path, columns: list[str]) -> list[tuple[str, list[str]]]:
    return tables.benchmark_table(Scores(results), columns).rows


def test_the_page_is_made_from_the_measured_files(tables) -> None:
    assert (ROOT / "results" / "spanproto.md").read_text("utf-8") == tables.page()
