"""The page of what is in no table: what it says where there is nothing to say."""

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
    with pytest.raises(DataError, match=r"transfer.json: not there, and the page tells of it"):
        tables.main(tmp_path)
    assert not list(tmp_path.iterdir())
