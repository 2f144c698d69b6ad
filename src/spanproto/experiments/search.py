"""A search for settings as an Optuna study in a file: stop it, go on with it, look at it.

The file is Optuna's journal, so its own tools can show it too. One process at a time searches.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.samplers import GridSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from spanproto.errors import ConfigError
from spanproto.experiments.workers import side_by_side

Space = Mapping[str, Sequence[float]]
Values = dict[str, float]
SamplerName = Literal["grid", "tpe"]

DIVERGED = "diverged"  # marks a trial that was run and has no score
ENOUGH_FOR_IMPORTANCE = 10  # trials; fewer say nothing of which setting matters


class Trial(NamedTuple):
    """One choice of settings under its number in the study."""

    number: int
    values: Values


class EveryChoice(GridSampler):
    """The grid: each choice once, in a random order."""

    def after_trial(self, *_: Any) -> None:
        """Nothing: Optuna would stop its own loop after the last choice, and here is none."""


def open_study(
    path: Path, space: Space, sampler: SamplerName, setup: Mapping[str, str] | None = None
) -> optuna.Study:
    """The study in a file, or a new one.

    `setup` is what all its trials have in common, by name: a study of another one is refused.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path.parent.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        storage=JournalStorage(JournalFileBackend(str(path))),
        study_name=path.stem,
        direction="maximize",
        load_if_exists=True,
    )
    for what, here in (setup or {}).items():
        there = study.user_attrs.get(what, here)
        if there != here:
            raise ConfigError(
                f"{path}: measured with {what} {there!r}, and now it is {here!r}; give --output "
                "another folder for another study"
            )
        if what not in study.user_attrs:
            study.set_user_attr(what, here)
    # A sampler with the seed of the last time would draw what it drew then.
    seed = len(study.trials)
    study.sampler = (
        EveryChoice(space) if sampler == "grid" else TPESampler(seed=seed, constant_liar=True)
    )
    return study


def search(
    study: optuna.Study,
    space: Space,
    score: Callable[[Values], float | None],
    trials: int,
    workers: int = 1,
) -> Iterator[Trial]:
    """Score so many more choices, first those that were under way when the last search stopped.

    Yields each once it is in the study's file. A choice without a score counts as diverged. Ends
    early when every choice of the space has been tried.
    """
    coming = islice(_coming(study, space), trials)
    for trial, value, error in side_by_side(partial(_scored, score), coming, workers):
        if error is not None:
            raise error
        if value is None:
            _mark_diverged(study, trial.number)
        state = TrialState.FAIL if value is None else None
        study.tell(trial.number, value, state, skip_if_finished=True)
        yield trial


def summary(study: optuna.Study) -> dict[str, Any]:
    """The trials so far, best first, and what share each setting has in a good score."""
    done = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    failed = study.get_trials(deepcopy=False, states=[TrialState.FAIL])
    return {
        "trials": [
            {"number": trial.number, "values": trial.params, "f1": trial.value}
            for trial in sorted(done, key=lambda trial: (-(trial.value or 0.0), trial.number))
        ],
        "diverged": sum(DIVERGED in trial.user_attrs for trial in failed),
        "importance": _importance(study) if len(done) >= ENOUGH_FOR_IMPORTANCE else None,
    }


def _importance(study: optuna.Study) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a setting that has had one value so far matters 0
        return get_param_importances(study, evaluator=PedAnovaImportanceEvaluator())


def _coming(study: optuna.Study, space: Space) -> Iterator[Trial]:
    """The trials to score: those stopped, then new ones, each asked for when it is its turn."""
    yield from _stopped(study, space)
    while not _is_exhausted(study, space):
        yield _ask(study, space)


def _stopped(study: optuna.Study, space: Space) -> list[Trial]:
    """The trials that were never told of a score; without all their settings they are given up."""
    found = []
    for trial in study.get_trials(states=[TrialState.RUNNING]):
        if trial.params.keys() == space.keys():
            found.append(Trial(trial.number, trial.params))
        else:
            study.tell(trial.number, state=TrialState.FAIL)
    return found


def _mark_diverged(study: optuna.Study, number: int) -> None:
    """Tell it from a trial that was given up, while it is not finished and may be marked."""
    trial = study.get_trials(deepcopy=False)[number]
    if not trial.state.is_finished():
        study._storage.set_trial_user_attr(trial._trial_id, DIVERGED, True)


def _ask(study: optuna.Study, space: Space) -> Trial:
    trial = study.ask()
    values = {name: trial.suggest_categorical(name, choices) for name, choices in space.items()}
    return Trial(trial.number, values)


def _is_exhausted(study: optuna.Study, space: Space) -> bool:
    tried = {frozenset(trial.params.items()) for trial in study.get_trials(deepcopy=False)}
    return len(tried) >= math.prod(map(len, space.values()))


def _scored(score: Callable[[Values], float | None], trial: Trial) -> float | None:
    return score(trial.values)
