"""Work that is tried again where a GPU's memory was short, and only there."""

import pytest
import torch

from spanproto.errors import ConfigError
from spanproto.experiments import patience
from spanproto.experiments.patience import TRIES, with_patience

SHORT = torch.OutOfMemoryError("CUDA out of memory")


class Work:
    """Fails in the ways given, one try after the other, and is done in the next."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.tries = 0

    def __call__(self, item: int) -> int:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)
        return item * item


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    found: list[float] = []
    monkeypatch.setattr(patience.time, "sleep", found.append)
    return found


def test_what_memory_is_short_for_is_tried_again_after_ever_longer(pauses: list[float]) -> None:
    work = Work(SHORT, SHORT)
    assert with_patience(work, 3) == 9
    assert work.tries == 3
    assert 0 < pauses[0] < pauses[1]


def test_in_the_end_it_fails(pauses: list[float]) -> None:
    work = Work(*[SHORT] * TRIES)
    with pytest.raises(torch.OutOfMemoryError):
        with_patience(work, 3)
    assert work.tries == TRIES
    assert len(pauses) == TRIES - 1


def test_other_failures_are_final(pauses: list[float]) -> None:
    work = Work(ConfigError("three is too many"))
    with pytest.raises(ConfigError):
        with_patience(work, 3)
    assert (work.tries, pauses) == (1, [])
