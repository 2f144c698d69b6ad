"""What trainings change whose weights are averaged: the order of their episodes, or the kind.

All begin with the weights of one seed, as the mean asks (see `spanproto.averaging`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spanproto.experiments.columns import COLUMNS

Changes = Mapping[str, Mapping[str, Any]]
"""What a training changes, by the section of its run: `data` or `training`."""


def in_orders(seed: int, orders: int) -> tuple[Changes, ...]:
    """Trainings that see their episodes in so many orders, the first in that of the seed."""
    return tuple({"training": {"order_seed": 1000 * order + seed}} for order in range(orders))


def on_episodes_of(columns: Iterable[str], seed: int, orders: int) -> tuple[Changes, ...]:
    """Trainings on the episodes of each of some columns, in so many orders.

    The same ones serve all of these columns.
    """
    return tuple(
        {"data": COLUMNS[column].data, **order}
        for column in columns
        for order in in_orders(seed, orders)
    )
