"""How far every system is above or below ProtoBERT, published and measured, as tables."""

from collections.abc import Iterable, Sequence
from statistics import fmean

from system_figures import (
    BENCHMARKS,
    SYSTEMS,
    averaged,
    marked_title,
    measured_figure,
)

from spanproto.experiments.systems import alike
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.comparison import TITLES, column_title
from spanproto.paper.page import NOT_RUN, Table, signed
from spanproto.paper.scores import F1, Scores

REFERENCE = "protobert"
_COLUMNS = tuple(column for columns in BENCHMARKS.values() for column in columns)
# Whose published figures a system is set against: its own, and fully adapted SpanProto the paper's.
PRINTED_AS = {**{name: name for name in METHODS}, "spanproto-adapted": "spanproto"}


def gaps(scores: Scores, system: str, columns: Sequence[str]) -> str:
    """How far a system is above ProtoBERT: published, then measured, on the same columns.

    Nothing as long as one of these is not measured.
    """
    there, here = [], []
    for column in columns:
        published_gap = _gap(
            published.main_figure(PRINTED_AS[system], column),
            published.main_figure(REFERENCE, column),
        )
        if published_gap is not None:
            measured = (measured_figure(scores, name, column) for name in (system, REFERENCE))
            there.append(published_gap)
            here.append(_gap(*measured))
    known = [gap for gap in here if gap is not None]
    if not known or len(known) < len(here):
        return ""
    return f"{signed(fmean(there), 1)} → {signed(fmean(known), 1)}"


def _gap(figure: float | None, reference: float | None) -> float | None:
    return None if figure is None or reference is None else figure - reference


def distance_tables(scores: Scores) -> list[Table]:
    """For each benchmark every system's distance from ProtoBERT in each column, and the means."""
    tables = []
    for title, columns in BENCHMARKS.items():
        means = averaged(columns)
        shown = [[column] for column in columns] + [list(over) for over in means.values()]
        rows = [
            (SYSTEMS[name], [gaps(scores, name, part) for part in shown])
            for name in SYSTEMS
            if name in PRINTED_AS and name != REFERENCE
        ]
        heading = ("", *map(marked_title, columns), *means)
        tables.append(Table(heading, [row for row in rows if any(row[1])], title))
    return tables


def reference_gains(scores: Scores) -> str:
    """Sentences on what training as SpanProto does gives ProtoBERT, or costs, by shots."""
    changes = {
        column: changed - own
        for column, (own, changed) in _both_settings(scores, REFERENCE).items()
    }
    found = []
    for shots, last in (("one shot", "1"), ("five", "5")):
        of_these = {column: gain for column, gain in changes.items() if column.endswith(last)}
        parts = [
            f"{verb} {_points(some.values())} on {_listed(some)}"
            for verb, some in (
                ("gains", {column: gain for column, gain in of_these.items() if gain >= 0}),
                ("loses", {column: gain for column, gain in of_these.items() if gain < 0}),
            )
            if some
        ]
        if parts:
            found.append(f"with {shots} it {' and '.join(parts)}")
    if not found:
        return ""
    way = "[Trained as SpanProto is](#trained-as-spanproto-is)"
    differences = ";\n".join(found)
    return f"""
{way}, ProtoBERT scores otherwise, in points:
{differences}.
All distances from it would be smaller by what it gains, and larger by what it loses.
"""


def _points(changes: Iterable[float]) -> str:
    """How large the least and the largest are, once if they are printed alike."""
    sizes = sorted(abs(change) for change in changes)
    return " to ".join(dict.fromkeys(f"{size:.0f}" for size in (sizes[0], sizes[-1])))


def _listed(columns: Iterable[str]) -> str:
    """The domains of columns, of which the number of shots is said elsewhere."""
    *names, last = [TITLES[column.partition("-")[0]] for column in columns]
    return f"{', '.join(names)} and {last}" if names else last


def settings_table(scores: Scores) -> Table:
    """F1 of what is trained as ProtoBERT is → trained as SpanProto is, wherever it was run."""
    rows = {name: _both_settings(scores, name) for name in METHODS if alike(name) in SYSTEMS}
    columns = [column for column in _COLUMNS if any(column in row for row in rows.values())]
    shown = [
        (
            SYSTEMS[name],
            [
                f"{row[column][0]:.1f} → {row[column][1]:.1f}" if column in row else NOT_RUN
                for column in columns
            ],
        )
        for name, row in rows.items()
        if row
    ]
    return Table(("", *map(column_title, columns)), shown)


def _both_settings(scores: Scores, system: str) -> dict[str, tuple[float, float]]:
    """The mean F1 of a system and of the same trained as SpanProto is, by column: same seeds."""
    found: dict[str, tuple[float, float]] = {}
    for column in _COLUMNS:
        both = (system, alike(system))
        seeds = scores.common_seeds(column, both)
        own, changed = (scores.values(column, name, *F1, seeds=seeds) for name in both)
        if own and changed:
            found[column] = fmean(own), fmean(changed)
    return found
