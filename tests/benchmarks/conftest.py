"""What the tests of the systems' pages begin with."""

from pathlib import Path

import pytest
from score_files import score, write

from spanproto.paper.scores import Scores


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    measured = {("protobert", 12): 30.0, ("protobert", 21): 32.0, ("l-tapnet-cdt", 12): 41.0}
    for (system, seed), f1 in measured.items():
        write(tmp_path / "baselines" / "news-1" / f"{system}.{seed}.json", score(f1))
    return Scores(tmp_path)
