"""Work in several processes, of which some fail and some die."""

import os
import time
from io import StringIO

import pytest
from tqdm import tqdm

from spanproto import bars
from spanproto.errors import ConfigError, MissingExtraError
from spanproto.experiments.workers import Worker, WorkerDiedError, finished, side_by_side


def work(item: int) -> int:
    if item == 3:
        os._exit(7)
    if item == 4:
        raise ConfigError("four is too many")
    if item == 5:
        raise MissingExtraError("plots", "matplotlib")  # which pickle cannot make again
    return item * item


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def shows_bars(item: int) -> bool:
    return not tqdm([], file=Terminal(), disable=bars.hidden()).disable


def test_a_process_shows_no_bars_of_its_own() -> None:
    assert [one.result for one in side_by_side(shows_bars, [1], workers=1)] == [True]
    assert [one.result for one in side_by_side(shows_bars, [1], workers=2)] == [False]


def test_only_what_fails_is_lost() -> None:
    done = {one.item: one for one in side_by_side(work, range(9), workers=2)}
    assert {item: one.result for item, one in done.items() if one.error is None} == {
        item: item * item for item in (0, 1, 2, 6, 7, 8)
    }
    assert isinstance(done[3].error, WorkerDiedError)
    assert "code 7" in str(done[3].error)
    assert isinstance(done[4].error, ConfigError)
    assert "plots" in str(done[5].error)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_first_error_is_raised_when_all_are_done(
    workers: int, capsys: pytest.CaptureFixture[str]
) -> None:
    done = finished(side_by_side(work, [4, 1, 2], workers))
    assert {next(done), next(done)} == {1, 2}
    with pytest.raises(ConfigError, match="four"):
        next(done)
    assert "4: four is too many; the others go on" in capsys.readouterr().err


def test_items_are_taken_when_there_is_a_process_for_them() -> None:
    taken = []

    def items():
        for item in range(6):
            taken.append(item)
            yield item

    running = side_by_side(slow, items(), workers=2)
    next(running)
    assert len(taken) <= 3
    running.close()  # ends the processes too


def slow(item: int) -> int:
    time.sleep(0.05)
    return item


def test_an_idle_process_ends_by_itself() -> None:
    worker = Worker(work)
    worker.take(2)
    assert worker.answer().result == 4
    worker.dismiss()
    assert worker.process.exitcode == 0  # not by a signal, which would leave things behind
