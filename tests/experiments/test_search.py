"""A search that can be stopped at any moment, and goes on where it stood."""

from collections.abc import Callable
from operator import itemgetter
from pathlib import Path

import pytest

from spanproto.experiments.search import open_study, search, summary

SPACE = {"x": (1, 2, 3), "y": (0.5, 1.0)}
CHOICES = 6


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "search" / "small.journal"


def tried(journal: Path) -> list[tuple[float, float]]:
    study = open_study(journal, SPACE, "grid")
    return [(trial.params["x"], trial.params["y"]) for trial in study.trials]


def test_the_grid_is_searched_in_parts_and_each_choice_once(journal: Path) -> None:
    for asked, done in ((2, 2), (3, 3), (4, 1), (5, 0)):
        study = open_study(journal, SPACE, "grid")
        assert len(list(search(study, SPACE, itemgetter("x"), asked))) == done
    assert len(tried(journal)) == len(set(tried(journal))) == CHOICES


def interrupted_at(call: int) -> Callable[[dict[str, float]], float]:
    calls = 0

    def score(values: dict[str, float]) -> float:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return values["x"]

    return score


@pytest.mark.parametrize("sampler", ["grid", "tpe"])
def test_a_trial_that_was_stopped_comes_first_the_next_time(journal: Path, sampler: str) -> None:
    study = open_study(journal, SPACE, sampler)
    with pytest.raises(KeyboardInterrupt):
        list(search(study, SPACE, interrupted_at(2), 4))
    stopped = study.trials[1]
    assert len(summary(study)["trials"]) == 1
    again = open_study(journal, SPACE, sampler)
    (first, *_) = search(again, SPACE, itemgetter("x"), 2)
    assert (first.number, first.values) == (1, stopped.params)
    assert len(summary(again)["trials"]) == 3


def test_what_diverges_is_counted_and_not_tried_again(journal: Path) -> None:
    study = open_study(journal, SPACE, "grid")
    list(search(study, SPACE, lambda values: None if values["x"] == 2 else values["x"], CHOICES))
    found = summary(study)
    assert found["diverged"] == 2
    assert [trial["f1"] for trial in found["trials"]] == [3, 3, 1, 1]
    assert found["importance"] is None
    assert list(search(study, SPACE, itemgetter("x"), 1)) == []


def test_a_trial_stopped_before_it_has_settings_is_given_up_and_has_not_diverged(
    journal: Path,
) -> None:
    open_study(journal, SPACE, "tpe").ask().suggest_categorical("x", SPACE["x"])
    study = open_study(journal, SPACE, "tpe")
    list(search(study, SPACE, lambda values: None, 1))
    assert [trial.state.name for trial in study.trials] == ["FAIL", "FAIL"]
    assert summary(study)["diverged"] == 1


def test_trials_run_side_by_side(journal: Path) -> None:
    study = open_study(journal, SPACE, "grid")
    assert len(list(search(study, SPACE, itemgetter("x"), CHOICES, workers=2))) == CHOICES
    assert len(set(tried(journal))) == CHOICES


def test_the_setting_that_matters_has_the_greater_importance(journal: Path) -> None:
    space = {"x": (1, 2, 3, 4), "y": (0.5, 1.0, 1.5)}
    study = open_study(journal, space, "grid")
    list(search(study, space, itemgetter("x"), 12))
    importance = summary(study)["importance"]
    assert importance["x"] > importance["y"]


def test_tpe_draws_anew_when_it_goes_on(journal: Path) -> None:
    space = {"x": tuple(range(1000))}
    for _ in range(2):
        list(search(open_study(journal, space, "tpe"), space, itemgetter("x"), 3))
    study = open_study(journal, space, "tpe")
    assert len({trial.params["x"] for trial in study.trials}) == 6
