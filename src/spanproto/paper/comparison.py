"""Tables of systems by columns: each published figure beside the measured one, and why."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from spanproto.experiments.columns import COLUMNS
from spanproto.paper import published
from spanproto.paper.page import MINUS, Cell, Entry, Table
from spanproto.paper.scores import Scores

F1 = ("micro", "f1")
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


@dataclass(frozen=True)
class Row:
    """A system: the name of its scoring, its title, published figures, and why they differ."""

    scoring: str
    title: str
    published: Mapping[str, float] = field(default_factory=dict)
    why: str = ""


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
    """Systems by columns, and their mean if wanted, without rows of which nothing is known."""
    known = []
    for row in rows:
        cells = [_entry(scores, row, column) for column in columns]
        if any(cells):
            known.append((row.title, [*cells, *([_mean(cells)] if with_mean else [])]))
    mean = [MEAN] if with_mean else []
    return Table(("", *map(column_title, columns), *mean), known)


def averages(
    scores: Scores, rows: Sequence[Row], groups: Iterable[str], keys: Sequence[str] = F1
) -> Table:
    """The mean over the columns of each group, where all of them have been run."""
    groups = list(groups)
    return Table(
        ("", *(TITLES.get(group, group) for group in groups)),
        [
            (row.title, [_average(scores, row, group, keys) for group in groups])
            for row in rows
            if row.published
        ],
    )


def remarks(rows: Sequence[Row], tables: Sequence[Table]) -> list[str]:
    """A sentence on each system with a reason: how far from the published figures, and why."""
    found = []
    for row in (row for row in rows if row.why):
        gaps = [gap for gap in _gaps(row, tables) if gap is not None]
        if gaps:
            found.append(f"{row.title}: {_distance(gaps)}: {row.why}.")
    return found


def _entry(scores: Scores, row: Row, column: str) -> Cell:
    figure = row.published.get(column)
    if column not in COLUMNS:
        return "" if figure is None else f"{figure:.2f} → no data"
    return Entry(figure, scores.values(column, row.scoring, *F1))


def _mean(cells: Sequence[Cell]) -> Entry:
    """Of the columns that there are data for; measured, if all of them are."""
    entries = [cell for cell in cells if isinstance(cell, Entry)]
    figures = [entry.published for entry in entries if entry.published is not None]
    measured = [entry.mean for entry in entries if entry.mean is not None]
    return Entry(
        fmean(figures) + 1e-9 if figures else None,  # a half is rounded up, as in the paper
        (fmean(measured),) if len(measured) == len(entries) else (),
    )


def _average(scores: Scores, row: Row, group: str, keys: Sequence[str]) -> Cell:
    found = [scores.values(column, row.scoring, *keys) for column in GROUPS[group]]
    run = [fmean(values) for values in found if values]
    whole = Entry(row.published.get(group), (fmean(run),) if len(run) == len(found) else ())
    return whole if whole.measured or not run else f"{whole} ({len(run)} of {len(found)} columns)"


def _gaps(row: Row, tables: Sequence[Table]) -> Iterable[float | None]:
    for table in tables:
        for title, cells in table.rows:
            if title == row.title:
                named = zip(table.heading[1:], cells, strict=True)
                yield from (
                    cell.difference
                    for name, cell in named
                    if isinstance(cell, Entry) and name != MEAN
                )


def _distance(gaps: Sequence[float]) -> str:
    mean = fmean(gaps)
    size = f"{abs(mean):.1f} points {'above' if mean > 0 else 'below'} the published figure"
    if len(gaps) == 1:
        return size
    spread = f"{min(gaps):+.1f} to {max(gaps):+.1f}".replace("-", MINUS)
    return f"on average over {len(gaps)} figures {size} ({spread})"
