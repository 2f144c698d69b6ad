"""How SpanProto with words is best trained on INTER, told which sentences are complete.

What suits training sentences of which no entity is unlabelled need not suit others: every span
that is no entity may teach, and more steps do not teach to overlook entities. Judged on episodes of
the dev types, without fine-tuning, with several seeds, since a training differs from the next by
about as much as what is to be told apart.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spanproto.experiments.averages import Changes, on_episodes_of
from spanproto.experiments.choices import validation_column
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import INTER, OF_ALL, SEEDS, words_cell

TRIED_ON = "inter-5w1"
TRIED_WITH = SEEDS[:2]
TRIAL_EPISODES = 400


@dataclass(frozen=True)
class Training:
    """A training that differs from the first one."""

    title: str
    model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    averaged: Callable[[int], tuple[Changes, ...]] | None = None  # for a seed; None: there is one


def mapped(training: str) -> str:
    """What a score is called that asks a map of what spans mean, too."""
    return f"{training}-learned"


_ALL = {"objective": {"negatives": 1.0}}
_COMPLETE = {"objective": {"negatives": 1.0, "doubtful": "skip"}}
_LONGER = {"steps": 1000}
TRAININGS: Mapping[str, Training] = {
    "few": Training("500 steps, a third of the spans apart from entities"),
    "all": Training("all of these spans", _ALL),
    "few-longer": Training("a third of them, 1000 steps", training=_LONGER),
    "all-longer": Training("all of them, 1000 steps", _ALL, _LONGER),
    "all-wider": Training("all of them, 8 episodes a step", _ALL, {"episodes_per_step": 8}),
    "all-dropout": Training(
        "all of them, 1000 steps, dropout of 0.2",
        {**_ALL, "encoder": {"dropout": 0.2}},
        _LONGER,
    ),
    "complete": Training(
        "all of them, boundaries learned from complete sentences alone", _COMPLETE
    ),
    "ways": Training(
        "two such trainings averaged: on 5-way and on 10-way episodes",
        _COMPLETE,
        averaged=lambda seed: on_episodes_of(INTER[:2], seed),
    ),
    "all-settings": Training(
        "four averaged: one on the episodes of each setting of N and K",
        _COMPLETE,
        averaged=lambda seed: on_episodes_of(INTER, seed),
    ),
    "rivals": Training(
        "all of them, types told from those of all episodes of a step",
        {"objective": {"negatives": 1.0, "rivals": "step"}},
    ),
}
MAPPED = ("complete", "all-settings")  # trained again, to be asked with a map, too


def training_cells() -> list[OwnCell]:
    """A cell for each training and seed, those that train longest first."""
    column = validation_column(COLUMNS[TRIED_ON])
    cells = []
    for name, training in TRAININGS.items():
        for seed in TRIED_WITH:
            words = words_cell(TRIED_ON, seed)
            scoring = replace(words.scoring("words-fitted"), name=name)
            first = words.retrained(name, OF_ALL, {})
            cell = first.retrained(name, training.model, training.training, [scoring])
            averaged = training.averaged(seed) if training.averaged else ()
            cell = replace(cell, column=column.name, averaged=averaged)
            cells.append(OwnCell(column, cell))
    return sorted(cells, key=_episodes, reverse=True)


def map_cells() -> list[OwnCell]:
    """Some of them, each training scored without and with a map of what spans mean.

    A training differs from the same one on another day by more than the map may give.
    """
    cells = []
    for own in training_cells():
        if own.cell.system in MAPPED:
            (plain,) = own.cell.scorings
            learned = replace(plain, name=mapped(plain.name), learned=True)
            cells.append(OwnCell(own.column, replace(own.cell, scorings=(plain, learned))))
    return cells


def _episodes(own: OwnCell) -> int:
    """How many episodes its training sees: none where those that are averaged are done before."""
    training = own.cell.run["training"]
    return 0 if own.cell.averaged else int(training["steps"] * training["episodes_per_step"])
