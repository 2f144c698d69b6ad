"""The page of what is in no table: what it says where there is nothing to say."""

import shutil
from pathlib import Path

import pytest
from scripts import benchmark_script

from spanproto.errors import DataError


@pytest.fixture
def tables():
    return benchmark_script("tables")


def test_a_share_of_nothing_is_a_dash(tables) -> None:
    shares = {"precision": 50.0, "recall": 50.0, "f1": 50.0, "others_rejected": None}
    measured = {"nothing_rejected": shares, "fitted": shares}
    rows = tables.rejection_table(measured, measured)
    assert "| as trained, nothing rejected | 50.0 | 50.0 | 50.0 | \N{EN DASH} |" in rows


def test_a_folder_without_results_is_refused(tables, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no result that the page tells of"):
        tables.main(tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_is_not_measured_in_a_folder_is_said_and_the_rest_told(tables, tmp_path: Path) -> None:
    shutil.copy(tables.RESULTS / "doubts.json", tmp_path)
    score = Path("crossdomain", "news-1", "spanproto.12.json")  # by the first of both rules alone
    (tmp_path / score).parent.mkdir(parents=True)
    shutil.copy(tables.RESULTS / score, tmp_path / score)
    tables.main(tmp_path)
    page = (tmp_path / "README.md").read_text("utf-8")
    assert "Not measured here yet (transfer.json)." in page
    assert "entities of INTER's training sentences" in page
    assert "Not measured here yet (some columns by one of the two rules)." in page
    whole = (tables.RESULTS / "README.md").read_text("utf-8")
    assert page.split("## ")[-1] == whole.split("## ")[-1]


def test_a_result_that_was_cut_off_is_refused(tables, tmp_path: Path) -> None:
    (tmp_path / "doubts.json").write_text('{"labelled": 3', "utf-8")
    with pytest.raises(DataError, match=r"doubts\.json: not valid JSON"):
        tables.main(tmp_path)
