"""Slot filling, which the paper names as future work: the same model on slots for entities.

Each domain (the intent of a request) in turn is tested by a model trained on the others, as Hou et
al. (2020) do with SNIPS. The data are any BIO files in domains; see `read_domains`.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from spanproto.data.formats import write_episodes
from spanproto.data.types import Sentence
from spanproto.errors import ConfigError, DataError
from spanproto.experiments.cells import Grid
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.domains import domain_episode, read_domains
from spanproto.experiments.filling import run_own_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.setups import read_score_file, require_encoder
from spanproto.paper.comparison import seed_means
from spanproto.paper.own_grid import own_grid, own_runs
from spanproto.paper.page import NOT_RUN, Entry, Page, Table, signed
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import F1, OWN, Scores
from spanproto.paper.variants import PLAIN, adapted, both, own_cell
from spanproto.samples import SLOTS

SHOTS = (1, 5)
EPISODES, QUERIES = 200, 20  # of a domain, and in each of its episodes
_SCORINGS = {PLAIN: "as trained", adapted(PLAIN): "fine-tuned to the examples"}
_PREFIX = "slots"
_BENCHMARKS = {column.test_file.partition("/")[0] for column in COLUMNS.values()}  # their folders


class SlotFilling(Recipe):
    """F1 on slots of each domain, trained on the others."""

    name = "slot-filling"
    title = "Slot filling"
    place = "Future work in Section 5"

    def require_inputs(self, bench: Bench) -> None:
        """Data in domains, of which an episode can be drawn, and an encoder."""
        plan = _plan(bench)
        unmeasured = plan.unmeasured()
        for shots in unmeasured:
            for domain, sentences in plan.domains.items():
                domain_episode(sentences, shots, 1, 0, domain)
        if unmeasured:
            require_encoder(bench.encoder)

    def run(self, bench: Bench) -> None:
        """Draw the episodes of each domain; then for each train on the others and test on it."""
        plan = _plan(bench)
        for shots in plan.unmeasured():
            _write_episodes(plan.domains, plan.grid.data, shots, bench.quick)
        cells = [own for wanted in plan.cells.values() for own in wanted]
        run_own_cells(plan.grid, cells, bench.workers)

    def takes(self, column: str, bench: Bench) -> bool:
        """A column for each domain of the data and each number of examples."""
        if not column.startswith(f"{_PREFIX}-"):
            return False
        domains = sorted(_domains(bench))
        return any(column == own.name for shots in SHOTS for own in _columns(domains, shots))

    def page(self, scores: Scores) -> Page:
        """F1 of each domain that has been run, and their mean."""
        tables, remarks = [], []
        for shots in SHOTS:
            for domains in _collections(scores, shots):
                rows = [(name, _entries(scores, _column_name(name, shots))) for name in domains]
                heading = ("domain", *_SCORINGS.values())
                tables.append(Table(heading, _with_mean(rows), f"{shots}-shot"))
                remarks += _remarks(rows, shots)
        return Page(f"{_setting(scores.quick)} {scores.described()}", tables, remarks)


class _Plan(NamedTuple):
    """What is to be run on which data."""

    domains: dict[str, list[Sentence]]
    grid: Grid
    cells: dict[int, list[OwnCell]]  # by the number of examples

    def unmeasured(self) -> list[int]:
        """The numbers of examples for which something has not been measured yet."""
        return [
            shots
            for shots, wanted in self.cells.items()
            if any(self.grid.missing(own.cell) for own in wanted)
        ]


def _plan(bench: Bench) -> _Plan:
    """The cells that are asked for; complains of scores of other data."""
    domains = _domains(bench)
    digest = _digest(domains)
    grid = own_grid(bench, own_runs(bench) / _PREFIX / digest)
    cells = {
        shots: [
            _cell(column, shots, seed, bench.quick)
            for column in _columns(sorted(domains), shots)
            if not bench.columns or column.name in bench.columns
            for seed in bench.seeds
        ]
        for shots in (SHOTS[:1] if bench.quick else SHOTS)
    }
    for wanted in cells.values():
        for own in wanted:
            _refuse_other_data(grid, own, digest)
    return _Plan(domains, grid, cells)


def _setting(quick: bool) -> str:
    episodes, queries = _extent(quick)
    return (
        "Pooled micro F1 on the slots of a domain by a model trained on the other domains. An "
        "episode has all slots of its domain, so many examples of each (or more, where sentences "
        f"hold several), and {queries} other sentences to find slots in; a domain has {episodes} "
        "episodes. Both columns take the spans above the extractor's threshold of 0.50, and reject "
        "none for its distance."
    )


def _extent(quick: bool) -> tuple[int, int]:
    """Episodes of a domain, and sentences to find slots in in each of them."""
    return (3, 3) if quick else (EPISODES, QUERIES)


def _remarks(rows: Sequence[tuple[str, Sequence[Entry]]], shots: int) -> list[str]:
    """What fine-tuning adds; the paper has nothing beside it."""
    gains = {
        domain: tuned.mean - trained.mean
        for domain, (trained, tuned) in rows
        if trained.mean is not None and tuned.mean is not None
    }
    if not gains:
        return []
    low, high = min(gains.values()), max(gains.values())
    return [
        f"{shots}-shot: fine-tuning changes F1 by {signed(fmean(gains.values()))} on average over "
        f"{len(gains)} domain(s) ({signed(low)} to {signed(high)}); the paper names slot filling "
        "as future work and has no figure for it."
    ]


def _domains(bench: Bench) -> dict[str, list[Sentence]]:
    """The sentences of each domain; complains of two that would share a file and a column."""
    folder = _folder(bench)
    domains = read_domains(folder)
    named: dict[str, str] = {}
    for domain in domains:
        other = named.setdefault(_safe(domain), domain)
        if other != domain:
            raise DataError(
                f"{folder}: the domains {other!r} and {domain!r} would both be called "
                f"{_safe(domain)!r} in names of files; rename one of them"
            )
    return domains


def _folder(bench: Bench) -> Path:
    """The sample, `snips` among the corpora, or a folder of other data in domains.

    Beside the benchmarks' data lie other corpora, which are no domains of each other.
    """
    if bench.quick:
        return SLOTS
    own = bench.data / "snips"
    if own.is_dir():
        return own
    if any((bench.data / name).is_dir() for name in _BENCHMARKS):
        raise DataError(f"{own}: no such folder; put data in domains there, or name it by --data")
    return bench.data


def _columns(domains: Sequence[str], shots: int) -> Iterator[Column]:
    """Each domain as what is tested, the others as what trains."""
    for tested in domains:
        train = [_file(domain, shots) for domain in domains if domain != tested]
        data = {"train": train, "protocol": "crossdomain"}
        yield Column(_column_name(tested, shots), "crossdomain", data, _file(tested, shots))


def _cell(column: Column, shots: int, seed: int, quick: bool) -> OwnCell:
    return own_cell(column, shots, seed, partial(both, name=PLAIN), shortened=quick)


def _digest(domains: Mapping[str, Sequence[Sentence]]) -> str:
    """What tells data from any others, whatever files they come in."""
    return hashlib.sha256(repr(sorted(domains.items())).encode()).hexdigest()[:12]


def _refuse_other_data(grid: Grid, own: OwnCell, digest: str) -> None:
    """Complain of scores that were measured on other data; those of all domains train a model."""
    for scoring in own.cell.scorings:
        path = grid.file(own.cell, scoring)
        if path.exists():
            trained_on = read_score_file(path)["model"]["origin"]["data_config"]["root"]
            if Path(trained_on).name != digest:
                raise ConfigError(
                    f"{path}: measured on other data in domains than those given now; give "
                    "--output another folder to measure it anew"
                )


def _write_episodes(
    domains: Mapping[str, Sequence[Sentence]], folder: Path, shots: int, quick: bool
) -> None:
    """The episodes of every domain, the same each time."""
    episodes, queries = _extent(quick)
    for domain, sentences in domains.items():
        path = folder / _file(domain, shots)
        if not path.exists():
            drawn = [
                domain_episode(sentences, shots, queries, seed, domain) for seed in range(episodes)
            ]
            write_episodes(path, drawn, "token-episodes")


def _collections(scores: Scores, shots: int) -> list[list[str]]:
    """The domains that were run, those of one collection together: each trains for the others."""
    found = set()
    for path in (scores.results / OWN).glob(f"{_column_name('*', shots)}/{PLAIN}.*.json"):
        trained = scores.load(path)["model"]["origin"]["data_config"]["train"]
        tested = path.parent.name.removeprefix(_column_name("", shots))
        ending = _file("", shots)
        found.add(tuple(sorted({tested, *(name.removesuffix(ending) for name in trained)})))
    return [list(domains) for domains in sorted(found)]


def _column_name(domain: str, shots: int) -> str:
    return f"{_PREFIX}-{shots}-{domain if domain == '*' else _safe(domain)}"


def _file(domain: str, shots: int) -> str:
    return f"{_safe(domain)}-{shots}.jsonl"


def _safe(domain: str) -> str:
    """The name of a domain as part of a file's name."""
    return re.sub(r"\W+", "-", domain)


def _entries(scores: Scores, column: str) -> list[Entry]:
    return [Entry(measured=scores.values(column, scoring, *F1)) for scoring in _SCORINGS]


def _with_mean(rows: list[tuple[str, list[Entry]]]) -> list[tuple[str, list[Entry]]]:
    """The rows and the mean of each of their columns, where all of it has been run."""
    columns = zip(*(entries for _, entries in rows), strict=True)
    return [*rows, ("mean", [_mean(column) for column in columns])]


def _mean(entries: Sequence[Entry]) -> Entry:
    run = sum(1 for entry in entries if entry.measured)
    absent = f"{NOT_RUN} ({run} of {len(entries)} domains)" if run else NOT_RUN
    return Entry(measured=seed_means([entry.measured for entry in entries]), absent=absent)
