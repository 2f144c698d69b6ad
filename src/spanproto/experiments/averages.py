"""What trainings change whose weights are averaged.

All begin with the weights of one seed, as the mean asks (see `spanproto.averaging`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spanproto.experiments.columns import COLUMNS

Changes = Mapping[str, Mapping[str, Any]]
"""What a training changes, by the section of its run: `data` or `training`."""


def on_episodes_of(columns: Iterable[str], seed: int) -> tuple[Changes, ...]:
    """Trainings on the episodes of each of some columns: the same ones serve all of these."""
    order = {"training": {"order_seed": seed}}
    return tuple({"data": COLUMNS[column].data, **order} for column in columns)
