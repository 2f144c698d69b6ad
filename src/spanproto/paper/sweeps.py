"""Sweeps over one setting: for which columns they were run, and where they are best."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from spanproto.experiments.columns import COLUMNS
from spanproto.paper.page import Entry, Table
from spanproto.paper.scores import Scores

_FEWEST = 2  # settings that make a sweep; one may be there for another table's sake


class Series(NamedTuple):
    """A curve or a column of a table: what is shown of the scoring with this ending."""

    title: str
    ending: str  # of the scorings' names
    keys: tuple[str, ...]


class Best(NamedTuple):
    """The highest figure, as it is printed, and the settings that have it, of how many."""

    settings: tuple[str, ...]
    figure: float
    number: int

    def said_of(self, parameter: str) -> str:
        """Where the figure is highest; settings with the same figure are all named."""
        if len(self.settings) == self.number:
            return f"every {parameter} has the same F1 ({self.figure:.2f})"
        *others, last = self.settings
        named = f"{', '.join(others)} and {last} alike" if others else last
        return f"the best {parameter} is {named} (F1 {self.figure:.2f})"


def columns_with(scores: Scores, scorings: Iterable[str]) -> list[str]:
    """The columns for which several of the scorings have been run."""
    names = list(scorings)
    return [
        column
        for column in COLUMNS
        if sum(bool(scores.files(column, scoring)) for scoring in names) >= _FEWEST
    ]


def sweep_table(
    scores: Scores, column: str, heading: str, scorings: Mapping[str, str], series: Iterable[Series]
) -> Table:
    """A row for each setting, by the names of its scorings, and what was measured.

    All figures are of the same seeds, those that every setting has been run with.
    """
    shown = list(series)
    seeds = scores.common_seeds(
        column, [name + one.ending for name in scorings.values() for one in shown]
    )
    return Table(
        (heading, *(one.title for one in shown)),
        [
            (
                setting,
                [
                    Entry(None, scores.values(column, name + one.ending, *one.keys, seeds=seeds))
                    for one in shown
                ],
            )
            for setting, name in scorings.items()
        ],
    )


def best_settings(table: Table, title: str) -> Best | None:
    """Where the figures under the title are highest, if all of them have been measured."""
    figures = measured_settings(table, title)
    if len(figures) < len(table.rows):
        return None
    highest = max(figures.values())
    best = tuple(setting for setting, figure in figures.items() if figure == highest)
    return Best(best, highest, len(figures))


def measured_settings(table: Table, title: str) -> dict[str, float]:
    """The figure under the title of each setting that has been measured, as it is printed."""
    at = list(table.heading).index(title) - 1
    return {
        setting: round(entry.mean, 2)
        for setting, cells in table.rows
        if isinstance(entry := cells[at], Entry) and entry.mean is not None
    }
