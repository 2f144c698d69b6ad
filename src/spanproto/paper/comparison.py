"""Tables of systems by columns: each published figure beside the measured one, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spanproto.experiments.columns import COLUMNS
from spanproto.paper import published
from spanproto.paper.page import NO_DATA, NOT_RUN, Cell, Entry, Table, signed
from spanproto.paper.scores import F1, Scores

MEAN = "mean"
TITLES = {
    "news": "News (CoNLL-03)",
    "wiki": "Wiki (GUM)",
    "social": "Social (WNUT-17)",
    "ontonotes": "OntoNotes",
    "intra": "INTRA",
    "inter": "INTER",
    "5w1": "5-way 1~2-shot",
    "10w1": "10-way 1~2-shot",
    "5w5": "5-way 5~10-shot",
    "10w5": "10-way 5~10-shot",
    "1": "1-shot",
    "5": "5-shot",
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "intra": published.FEWNERD[:4],
    "inter": published.FEWNERD[4:],
    "1-shot": published.CROSSDOMAIN[:4],
    "5-shot": tuple(name for name in published.CROSSDOMAIN[4:] if name in COLUMNS),
}
"""The columns that the paper's averages are over; OntoNotes has no 5-shot episodes here."""
_PAPERS_COLUMNS = 4  # in each of its averages


@dataclass(frozen=True)
class Row:
    """A system: the name of its scoring, its title, published figures, and what differs here."""

    scoring: str
    title: str
    published: Mapping[str, float] = field(default_factory=dict)
    why: str = ""
    deviations: Mapping[str, float] = field(default_factory=dict)  # published too


def column_title(name: str) -> str:
    """A column as a reader knows it."""
    first, _, second = name.partition("-")
    return f"{TITLES[first]} {TITLES[second]}"


def group_of(column: str) -> str:
    """The group whose average has the column in it."""
    return next(group for group, columns in GROUPS.items() if column in columns)


def comparison(scores: Scores, rows: Sequence[Row], columns: Sequence[str]) -> list[Table]:
    """A table for each half of the columns, as the paper has two halves."""
    half = len(columns) // 2
    return [
        comparison_table(scores, rows, part, with_mean=True)
        for part in (columns[:half], columns[half:])
    ]


def comparison_table(
    scores: Scores, rows: Sequence[Row], columns: Sequence[str], *, with_mean: bool = False
) -> Table:
    """Systems by columns, and their mean if wanted, without rows of which nothing is known.

    Both means are over the columns that there are data for, and the heading says if not all are.
    """
    known = []
    for row in rows:
        cells = [_entry(scores, row, column) for column in columns]
        if any(cells):
            known.append((row.title, [*cells, *([_mean(cells)] if with_mean else [])]))
    given = sum(column in COLUMNS for column in columns)
    mean = MEAN if given == len(columns) else f"{MEAN} of {given} columns"
    return Table(
        ("", *map(column_title, columns), *([mean] if with_mean else [])),
        known,
        keys=("system", *columns, *([MEAN] if with_mean else [])),
    )


def averages(
    scores: Scores, rows: Sequence[Row], groups: Iterable[str], keys: Sequence[str] = F1
) -> Table:
    """The mean over the columns of each group, where all of them have been run.

    Where the paper has one column more, its average is taken anew from the figures of the others;
    without these it compares with nothing.
    """
    groups = list(groups)
    return Table(
        ("", *map(group_title, groups)),
        [
            (row.title, [_average(scores, row, group, keys) for group in groups])
            for row in rows
            if row.published
        ],
        keys=("system", *groups),
    )


def remarks(rows: Sequence[Row], tables: Sequence[Table]) -> list[str]:
    """A sentence on each system with something to say: how far from the paper, and measured how."""
    found = []
    for row in rows:
        gaps = differences(row.title, tables)
        if gaps:
            found.append(f"{row.title}: {distance(gaps)}{f'; {row.why}' if row.why else ''}.")
    return found


def differences(title: str, tables: Iterable[Table]) -> dict[str, float]:
    """How far the figures of a row are from the published ones, by column; means are left out."""
    return {
        name: cell.difference
        for table in tables
        for row, cells in table.rows
        if row == title
        for name, cell in zip(table.heading[1:], cells, strict=True)
        if isinstance(cell, Entry) and cell.difference is not None and not name.startswith(MEAN)
    }


def distance(gaps: Mapping[str, float]) -> str:
    """How far figures are from the published ones: on average, and the least and the most."""
    mean = fmean(gaps.values())
    points, side = f"{abs(mean):.1f}", "above" if mean > 0 else "below"
    size = f"{points} points {side} the published figure" if float(points) else "as published"
    if len(gaps) == 1:
        return size
    low, high = (pick(gaps, key=gaps.__getitem__) for pick in (min, max))
    spread = f"{signed(gaps[low], 1)} on {low} to {signed(gaps[high], 1)} on {high}"
    return f"on average over {len(gaps)} figures {size} ({spread})"


def _entry(scores: Scores, row: Row, column: str) -> Cell:
    figure, deviation = row.published.get(column), row.deviations.get(column)
    if column not in COLUMNS:
        return "" if figure is None else Entry(figure, absent=NO_DATA, deviation=deviation)
    measured = scores.values(column, row.scoring, *F1)
    return Entry(figure, measured, deviation=deviation, among_published=True)


def _mean(cells: Sequence[Cell]) -> Entry:
    """Of the columns that there are data for; measured, if all of them are."""
    entries = [cell for cell in cells if isinstance(cell, Entry) and cell.absent != NO_DATA]
    figures = [entry.published for entry in entries if entry.published is not None]
    return Entry(
        _rounded_up(figures) if figures else None,
        seed_means([entry.measured for entry in entries]),
        among_published=True,
    )


def _average(scores: Scores, row: Row, group: str, keys: Sequence[str]) -> Cell:
    found = [scores.values(column, row.scoring, *keys) for column in GROUPS[group]]
    run = sum(1 for values in found if values)
    figure, same = row.published.get(group), len(found) == _PAPERS_COLUMNS
    if not same and all(column in row.published for column in GROUPS[group]):
        figure, same = _rounded_up([row.published[column] for column in GROUPS[group]]), True
    absent = f"{NOT_RUN} ({run} of {len(found)} columns)" if run else NOT_RUN
    return Entry(figure, seed_means(found), same, absent, among_published=True)


def group_title(group: str) -> str:
    """A group as a reader knows it, with the number of its columns where the paper has more."""
    title, number = TITLES.get(group, group), len(GROUPS[group])
    return title if number == _PAPERS_COLUMNS else f"{title} ({number} columns)"


def _rounded_up(figures: Sequence[float]) -> float:
    """The mean, a half rounded up, as in the paper."""
    return fmean(figures) + 1e-9


def seed_means(columns: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """The mean over the columns with each seed, or one over all where the seeds are not as many.

    None where any column has not been run.
    """
    if not all(columns):
        return ()
    if len(set(map(len, columns))) > 1:
        return (fmean(map(fmean, columns)),)
    return tuple(map(fmean, zip(*columns, strict=True)))
