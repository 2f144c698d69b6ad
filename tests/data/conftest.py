"""Where the tests of formats write."""

from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A path whose name says nothing of the format."""
    return tmp_path / "file"
