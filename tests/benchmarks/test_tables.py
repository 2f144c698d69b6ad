"""The page of all other results says what the files beside it say."""

from pathlib import Path

import pytest
from scripts import ROOT, benchmark_script

from spanproto.errors import DataError


@pytest.fixture
def tables():
    return benchmark_script("tables")


def test_the_page_is_made_from_the_measured_files(tables) -> None:
    assert (ROOT / "results" / "README.md").read_text("utf-8") == tables.page()


def test_a_share_of_nothing_is_a_dash(tables) -> None:
    shares = {"precision": 50.0, "recall": 50.0, "f1": 50.0, "others_rejected": None}
    measured = {"nothing_rejected": shares, "fitted": shares}
    rows = tables.rejection_table(measured, measured)
    assert "| as trained, nothing rejected | 50.0 | 50.0 | 50.0 | \N{EN DASH} |" in rows


def test_a_folder_without_results_is_refused(tables, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"transfer.json: not there, and the page tells of it"):
        tables.main(tmp_path)
    assert not list(tmp_path.iterdir())
