"""Tables of systems by columns: each published figure beside the measured one, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spanproto.experiments.columns import COLUMNS
from spanproto.paper import published
from spanproto.paper.page import MINUS, NOT_RUN, Cell, Entry, Table
from spanproto.paper.scores import Scores

F1 = ("micro", "f1")
MEAN = "mean"
NO_DATA = "no data"
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
    return Table(("", *map(column_title, columns), *([mean] if with_mean else [])), known)


def averages(
    scores: Scores, rows: Sequence[Row], groups: Iterable[str], keys: Sequence[str] = F1
) -> Table:
    """The mean over the columns of each group, where all of them have been run.

    Where the paper has one column more, its average is taken anew from the figures of the others;
    without these it compares with nothing.
    """
    groups = list(groups)
    return Table(
        ("", *map(_group_title, groups)),
        [
            (row.title, [_average(scores, row, group, keys) for group in groups])
            for row in rows
            if row.published
        ],
    )


def remarks(rows: Sequence[Row], tables: Sequence[Table]) -> list[str]:
    """A sentence on each system with something to say: how far from the paper, and measured how."""
    found = []
    for row in (row for row in rows if row.why):
        gaps = [gap for gap in _gaps(row, tables) if gap is not None]
        if gaps:
            found.append(f"{row.title}: {_distance(gaps)}; {row.why}.")
    return found


def _entry(scores: Scores, row: Row, column: str) -> Cell:
    figure, deviation = row.published.get(column), row.deviations.get(column)
    if column not in COLUMNS:
        return "" if figure is None else Entry(figure, absent=NO_DATA, deviation=deviation)
    return Entry(figure, scores.values(column, row.scoring, *F1), deviation=deviation)


def _mean(cells: Sequence[Cell]) -> Entry:
    """Of the columns that there are data for; measured, if all of them are."""
    entries = [cell for cell in cells if isinstance(cell, Entry) and cell.absent != NO_DATA]
    figures = [entry.published for entry in entries if entry.published is not None]
    return Entry(
        _rounded_up(figures) if figures else None,
        _seed_means([entry.measured for entry in entries]),
    )


def _average(scores: Scores, row: Row, group: str, keys: Sequence[str]) -> Cell:
    found = [scores.values(column, row.scoring, *keys) for column in GROUPS[group]]
    run = sum(1 for values in found if values)
    figure, same = row.published.get(group), len(found) == _PAPERS_COLUMNS
    if not same and all(column in row.published for column in GROUPS[group]):
        figure, same = _rounded_up([row.published[column] for column in GROUPS[group]]), True
    absent = f"{NOT_RUN} ({run} of {len(found)} columns)" if run else NOT_RUN
    return Entry(figure, _seed_means(found), same, absent)


def _group_title(group: str) -> str:
    title, number = TITLES.get(group, group), len(GROUPS[group])
    return title if number == _PAPERS_COLUMNS else f"{title} ({number} columns)"


def _rounded_up(figures: Sequence[float]) -> float:
    """The mean, a half rounded up, as in the paper."""
    return fmean(figures) + 1e-9


def _seed_means(columns: Sequence[tuple[float, ...]]) -> tuple[float, ...]:
    """The mean over the columns with each seed, or one over all where the seeds are not as many."""
    if not all(columns):
        return ()
    if len(set(map(len, columns))) > 1:
        return (fmean(map(fmean, columns)),)
    return tuple(map(fmean, zip(*columns, strict=True)))


def _gaps(row: Row, tables: Sequence[Table]) -> Iterable[float | None]:
    for table in tables:
        for title, cells in table.rows:
            if title == row.title:
                named = zip(table.heading[1:], cells, strict=True)
                yield from (
                    cell.difference
                    for name, cell in named
                    if isinstance(cell, Entry) and not name.startswith(MEAN)
                )


def _distance(gaps: Sequence[float]) -> str:
    mean = fmean(gaps)
    size = f"{abs(mean):.1f} points {'above' if mean > 0 else 'below'} the published figure"
    if len(gaps) == 1:
        return size
    spread = f"{min(gaps):+.1f} to {max(gaps):+.1f}".replace("-", MINUS)
    return f"on average over {len(gaps)} figures {size} ({spread})"
