"""Every system's F1, measured and published, and its means with their errors, as tables."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from textwrap import fill
from typing import NamedTuple

from spanproto.experiments.systems import (
    BROAD,
    CROSSDOMAIN_1,
    CROSSDOMAIN_5,
    INTER,
    PAPERS_DECISION,
    alike,
    by_nearest,
    compared_seeds,
)
from spanproto.methods import METHODS
from spanproto.paper import published
from spanproto.paper.comparison import column_title, seed_means
from spanproto.paper.page import NOT_RUN, Table
from spanproto.paper.scores import F1, Scores, standard_error

RESULTS = Path(__file__).parent.parent / "results"
BENCHMARKS = {
    "Cross-domain, 1-shot": CROSSDOMAIN_1,
    "Cross-domain, 5-shot": CROSSDOMAIN_5,
    "Few-NERD INTER": ("inter-5w1", "inter-5w5"),
}
ALIKE = {
    alike(name): f"{METHODS[name].title}, trained as SpanProto is"
    for name in ("protobert", "nnshot", "structshot")
}
BY_NEAREST = {
    by_nearest(name): f"{METHODS[name].title}, trained by the nearest words"
    for name in ("nnshot", "structshot")
}
TRAINED_BROADLY = {
    "broad-fitted": "with words, trained broadly, decision fitted",
    "broad-adapted": "with words, trained broadly, adapted, decision fitted",
}
BROAD_WAYS = {
    CROSSDOMAIN_5: "with five shots across domains, on the episodes of one shot and of five",
    INTER: "on INTER as the mean of the weights of four trainings as long, on the episodes of each "
    "number of types and of shots, and asked with a map of what spans mean that is learned from "
    "the training sentences",
}
SYSTEMS = {
    **{name: entry.title for name, entry in METHODS.items() if name != "spanproto"},
    **ALIKE,
    **BY_NEAREST,
    "spanproto": "SpanProto",
    "spanproto-fitted": "SpanProto, decision fitted",
    f"{PAPERS_DECISION}-adapted": "SpanProto, adapted",
    "spanproto-adapted": "SpanProto, adapted, decision fitted",
    "words-fitted": "SpanProto with words, decision fitted",
    "words-adapted": "SpanProto with words, adapted, decision fitted",
    **{name: f"SpanProto {form}" for name, form in TRAINED_BROADLY.items()},
}
TOLD_MARK = " ‡"
SEEN = "ontonotes-1"  # the other columns' validation episodes
WITHOUT_SEEN = "without OntoNotes"
LEVEL = 1.5  # means that differ by less than so many standard errors are level


def told_more(system: str, column: str) -> bool:
    """Whether a system knows which training sentences leave entities unlabelled."""
    return column in INTER and system.startswith(("words", "broad"))


def not_run(system: str, columns: Sequence[str]) -> str:
    """What stands for a score that is not there: nothing where the system has no form for it."""
    return "" if system.startswith("broad") and not set(columns) & set(BROAD) else NOT_RUN


def was_run(scores: Scores, system: str, columns: Sequence[str]) -> bool:
    """Whether any of the columns has a score of it."""
    return any(scores.files(column, system) for column in columns)


def broadly(scores: Scores) -> str:
    """How the form is trained that sees other episodes than the column's, where it was run."""
    ways = [
        way
        for columns, way in BROAD_WAYS.items()
        if any(was_run(scores, system, columns) for system in TRAINED_BROADLY)
    ]
    said = (
        "*Trained broadly*, it learns from other episodes of the same types, too: "
        f"{'; '.join(ways)}. So it has seen other training episodes than what stands beside it."
    )
    return "\n" + fill(said, 100, break_on_hyphens=False) if ways else ""


class Mean(NamedTuple):
    """The mean F1 of a system over columns, and its standard error."""

    f1: float
    error: float

    def __str__(self) -> str:
        """As it is printed."""
        return f"{self.f1:.1f} ± {self.error:.1f}"


def measured_figures(scores: Scores, system: str, column: str) -> tuple[float, ...]:
    """F1 with each of the seeds that are wanted of every system in the column, as far as run."""
    return scores.values(column, system, *F1, seeds=compared_seeds(column))


def measured_figure(scores: Scores, system: str, column: str) -> float | None:
    """The mean F1 over the seeds."""
    values = measured_figures(scores, system, column)
    return fmean(values) if values else None


def entry(scores: Scores, system: str, column: str) -> str:
    """Measured F1, its spread over several seeds, and the published figure in brackets."""
    values = measured_figures(scores, system, column)
    shown = f"**{fmean(values):.2f}**" if values else NOT_RUN
    if len(values) > 1:
        shown += f" ± {stdev(values):.2f}"
    if told_more(system, column):
        shown += TOLD_MARK
    figure = published.main_figure(system, column)
    return shown if figure is None else f"{shown} ({figure:.2f})"


def benchmark_mean(scores: Scores, system: str, columns: Sequence[str]) -> Mean | None:
    """The mean over the columns, if all have been run.

    Its error has two parts: what other episodes would change, and, of several seeds, other seeds.
    """
    figures = [measured_figures(scores, system, column) for column in columns]
    if not all(figures):
        return None
    by_episodes = [_error_by_episodes(scores, system, column) for column in columns]
    by_seed = seed_means(figures)
    by_seeds = stdev(by_seed) / math.sqrt(len(by_seed)) if len(by_seed) > 1 else 0.0
    error = math.hypot(math.hypot(*by_episodes) / len(columns), by_seeds)
    return Mean(fmean(map(fmean, figures)), error)


def _error_by_episodes(scores: Scores, system: str, column: str) -> float:
    """In a column; more seeds do not lessen it, since all have the same episodes."""
    contents = scores.read(column, system, compared_seeds(column))
    return fmean(map(standard_error, contents))


def unseen(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns without the one on whose episodes settings were chosen."""
    return tuple(column for column in columns if column != SEEN)


def averaged(columns: Sequence[str]) -> dict[str, Sequence[str]]:
    """What the means of a benchmark are over, by their titles."""
    means: dict[str, Sequence[str]] = {"mean": columns}
    if SEEN in columns:
        means[f"mean {WITHOUT_SEEN} †"] = unseen(columns)
    return means


def ranked(scores: Scores, columns: Sequence[str]) -> list[str]:
    """All systems that have been run on them, the best first, by the mean over unseen columns.

    Those without one are last.
    """
    shown = [system for system in SYSTEMS if was_run(scores, system, columns)]
    means = {system: benchmark_mean(scores, system, unseen(columns)) for system in shown}
    return sorted(shown, key=lambda system: means[system] or Mean(0.0, 0.0), reverse=True)


def level(scores: Scores, columns: Sequence[str]) -> str:
    """The systems of a benchmark that are level with the one before them, in a sentence."""
    means = [
        (SYSTEMS[system], mean)
        for system in ranked(scores, columns)
        if (mean := benchmark_mean(scores, system, unseen(columns))) is not None
    ]
    found = [
        title
        for (_, better), (title, mean) in pairwise(means)
        if better.f1 - mean.f1 < LEVEL * max(better.error, mean.error)
    ]
    return f"Level with the row above: {'; '.join(found) or 'none'}."


def summary_table(scores: Scores) -> Table:
    """The mean of every system over each benchmark's unseen columns, in the order of the first.

    What is not run on that one comes before, in the order of the others. Second forms of other
    systems are left to the whole page.
    """
    rows = []
    first, *others = (ranked(scores, columns) for columns in BENCHMARKS.values())
    before = [system for order in others for system in order if system not in first]
    for system in (*dict.fromkeys(before), *first):
        if system in {**ALIKE, **BY_NEAREST}:
            continue
        rows.append((SYSTEMS[system], [_summary(scores, system, c) for c in BENCHMARKS.values()]))
    titles = [
        f"{title}, {WITHOUT_SEEN}" if SEEN in columns else title
        for title, columns in BENCHMARKS.items()
    ]
    return Table(("mean F1", *titles), rows)


def _summary(scores: Scores, system: str, columns: Sequence[str]) -> str:
    """The mean over the unseen columns, with the mark of what knows more in any of them."""
    mean = benchmark_mean(scores, system, unseen(columns))
    told = any(told_more(system, column) for column in columns)
    return not_run(system, columns) if mean is None else f"{mean.f1:.1f}{TOLD_MARK if told else ''}"


def benchmark_table(scores: Scores, columns: Sequence[str]) -> Table:
    """All systems on the columns of a benchmark, the best first."""

    def shown(system: str) -> list[str]:
        figures = [entry(scores, system, column) for column in columns]
        means = [benchmark_mean(scores, system, over) for over in averaged(columns).values()]
        return [*figures, *("" if mean is None else str(mean) for mean in means)]

    rows = [(SYSTEMS[system], shown(system)) for system in ranked(scores, columns)]
    return Table(("", *map(marked_title, columns), *averaged(columns)), rows)


def marked_title(column: str) -> str:
    """A column as a reader knows it, with a mark on the one that is seen."""
    return column_title(column) + (" †" if column == SEEN else "")
