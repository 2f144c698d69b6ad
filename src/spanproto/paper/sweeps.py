"""Sweeps over one setting: for which columns they were run, and where they are best."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from spanproto.experiments.columns import COLUMNS
from spanproto.paper.page import Entry, Table
from spanproto.paper.scores import Scores

EXTRACTOR, CLASSIFIER = ("extraction", "f1"), ("micro", "f1")


class Series(NamedTuple):
    """A curve or a column of a table: what is shown of the scoring with this ending."""

    title: str
    ending: str  # of the scorings' names
    keys: tuple[str, ...]


class Best(NamedTuple):
    """The setting with the highest figure, and how many of all were measured."""

    setting: str
    figure: float
    measured: int
    settings: int

    def __str__(self) -> str:
        """The setting, and of how many it is the best where not all have been run."""
        some = f" (of {self.measured} of {self.settings} run so far)"
        return self.setting + (some if self.measured < self.settings else "")


def columns_with(scores: Scores, scorings: Iterable[str]) -> list[str]:
    """The columns for which any of the scorings has been run."""
    names = list(scorings)
    return [column for column in COLUMNS if any(scores.files(column, scoring) for scoring in names)]


def sweep_table(
    scores: Scores, column: str, heading: str, scorings: Mapping[str, str], series: Iterable[Series]
) -> Table:
    """A row for each setting, by the names of its scorings, and what was measured."""
    shown = list(series)
    return Table(
        (heading, *(one.title for one in shown)),
        [
            (
                setting,
                [Entry(None, scores.values(column, name + one.ending, *one.keys)) for one in shown],
            )
            for setting, name in scorings.items()
        ],
    )


def best_setting(table: Table, title: str) -> Best | None:
    """The setting with the highest figure under the title, if there is any."""
    at = list(table.heading).index(title) - 1
    measured = {
        setting: entry.mean
        for setting, cells in table.rows
        if isinstance(entry := cells[at], Entry) and entry.mean is not None
    }
    if not measured:
        return None
    setting = max(measured, key=measured.__getitem__)
    return Best(setting, measured[setting], len(measured), len(table.rows))
