"""Slot filling, which the paper names as future work: the same model on slots for entities.

Each domain (the intent of a request) in turn is tested by a model trained on the others, as Hou et
al. (2020) do with SNIPS. The data are any BIO files in domains; see `read_domains`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from spanproto.data.formats import write_episodes
from spanproto.data.types import Sentence
from spanproto.experiments.columns import Column
from spanproto.experiments.domains import domain_episode, read_domains
from spanproto.experiments.own_columns import OwnCell, run_own_cells
from spanproto.experiments.systems import spanproto_cell
from spanproto.paper.own_grid import own_grid, own_runs
from spanproto.paper.page import NOT_RUN, Entry, Page, Table
from spanproto.paper.quick import shortened
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import OWN, Scores
from spanproto.paper.variants import ADAPTED, PLAIN
from spanproto.samples import SLOTS

SHOTS = (1, 5)
EPISODES, QUERIES = 200, 20  # of a domain, and in each of its episodes
_SCORINGS = {PLAIN: "as trained", ADAPTED: "fine-tuned to the examples"}
_PREFIX = "slots"
_SETTING = (
    "Pooled micro F1 on the slots of a domain by a model trained on the other domains. An episode "
    "has all slots of its domain, so many examples of each (or more, where sentences hold "
    f"several), and {QUERIES} other sentences to find slots in; a domain has {EPISODES} episodes."
)


class SlotFilling(Recipe):
    """F1 on slots of each domain, trained on the others."""

    name = "slot-filling"
    title = "Slot filling"
    place = "Future work in Section 5"

    def run(self, bench: Bench) -> None:
        """Draw the episodes of each domain; then for each train on the others and test on it."""
        domains = read_domains(_folder(bench))
        grid = own_grid(bench, own_runs(bench) / _PREFIX)
        cells = [
            _cell(column, shots, seed, bench.quick)
            for shots in (SHOTS[:1] if bench.quick else SHOTS)
            for column in _columns(sorted(domains), shots)
            if not bench.columns or column.name in bench.columns
            for seed in bench.seeds
        ]
        if any(grid.missing(own.cell) for own in cells):
            _write_episodes(domains, grid.data, bench.quick)
        run_own_cells(grid, cells, bench.workers)

    def page(self, scores: Scores) -> Page:
        """F1 of each domain that has been run, and their mean."""
        tables = []
        for shots in SHOTS:
            prefix = f"{_PREFIX}-{shots}-"
            names = sorted(path.name for path in (scores.results / OWN).glob(f"{prefix}*"))
            if names:
                rows = [(name.removeprefix(prefix), _entries(scores, name)) for name in names]
                heading = ("domain", *_SCORINGS.values())
                tables.append(Table(heading, _with_mean(rows), f"{shots}-shot"))
        return Page(f"{_SETTING} {scores.described() or f'{NOT_RUN.capitalize()}.'}", tables)


def _folder(bench: Bench) -> Path:
    """The sample, `snips` among the corpora, or a folder of other data in domains."""
    if bench.quick:
        return SLOTS
    own = bench.data / "snips"
    return own if own.is_dir() else bench.data


def _columns(domains: Sequence[str], shots: int) -> Iterator[Column]:
    """Each domain as what is tested, the others as what trains."""
    for tested in domains:
        train = [_file(domain, shots) for domain in domains if domain != tested]
        data = {"train": train, "protocol": "crossdomain"}
        name = f"{_PREFIX}-{shots}-{_safe(tested)}"
        yield Column(name, "crossdomain", data, _file(tested, shots))


def _cell(column: Column, shots: int, seed: int, quick: bool) -> OwnCell:
    """The system of the cross-domain tables on the column."""
    cell = replace(spanproto_cell(f"wiki-{shots}", seed), column=column.name)
    cell = replace(cell, scorings=tuple(s for s in cell.scorings if s.name in _SCORINGS))
    return OwnCell(column, shortened(cell) if quick else cell)


def _write_episodes(domains: dict[str, list[Sentence]], folder: Path, quick: bool) -> None:
    """The episodes of every domain, the same each time."""
    episodes, queries = (3, 3) if quick else (EPISODES, QUERIES)
    for shots in SHOTS[:1] if quick else SHOTS:
        for domain, sentences in domains.items():
            drawn = (domain_episode(sentences, shots, queries, seed) for seed in range(episodes))
            write_episodes(folder / _file(domain, shots), drawn, "token-episodes")


def _file(domain: str, shots: int) -> str:
    return f"{_safe(domain)}-{shots}.jsonl"


def _safe(domain: str) -> str:
    """The name of a domain as part of a file's name."""
    return re.sub(r"\W+", "-", domain)


def _entries(scores: Scores, column: str) -> list[Entry]:
    return [Entry(measured=scores.values(column, scoring, "micro", "f1")) for scoring in _SCORINGS]


def _with_mean(rows: list[tuple[str, list[Entry]]]) -> list[tuple[str, list[Entry]]]:
    """The rows and the mean of each of their columns."""
    columns = zip(*(entries for _, entries in rows), strict=True)
    means = [[entry.mean for entry in column if entry.mean is not None] for column in columns]
    return [*rows, ("mean", [Entry(measured=(fmean(m),) if m else ()) for m in means])]
