"""Fills the tables of results/: python benchmarks/results.py TABLE --data FOLDER --encoder NAME

TABLE is `crossdomain` or `fewnerd` (SpanProto, as trained and fine-tuned), `baselines` (every
other system), or one of validation data: `choices` (what each setting is worth), `schedules`
(whether the systems train long enough), `trainings` (how SpanProto is best trained on INTER) or
`maps` (what a learned map of what spans mean gives it there).
What is there already is not run again. On a GPU several workers pay, most with MPS. Two commands
may fill one folder at the same time, but not with cells that average the same trainings.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from spanproto.cli.main import in_one_sentence
from spanproto.errors import ConfigError, nearest_name
from spanproto.experiments.carried_choices import CARRIED_TITLES, carried_cells
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.choices import CHOSEN_ON, TITLES, choice_cells
from spanproto.experiments.dense_choices import DENSE_TITLES, dense_cells
from spanproto.experiments.filling import fill, run_own_cells
from spanproto.experiments.foreign_choices import FOREIGN_TITLES, foreign_cells
from spanproto.experiments.foreign_systems import foreign_system_cells
from spanproto.experiments.mapped_choices import MAPPED_TITLES, mapped_cells
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.schedules import SCHEDULED_ON, schedule_cells
from spanproto.experiments.systems import (
    BROAD,
    CROSSDOMAIN_1,
    CROSSDOMAIN_5,
    INTER,
    INTER_COMPARED,
    INTRA,
    SEEDS,
    alike_cell,
    baseline_cells,
    broad_cell,
    compared_seeds,
    nearest_cell,
    spanproto_cell,
    trained_alike,
    words_cell,
)
from spanproto.experiments.training_choices import TRIAL_EPISODES, map_cells, training_cells
from spanproto.experiments.variants import VARIED_ON, variant_cells

VALIDATION_EPISODES = 128  # that choices and schedules are tried on, at most


class Table(StrEnum):
    """What to fill."""

    crossdomain = "crossdomain"
    fewnerd = "fewnerd"
    baselines = "baselines"
    choices = "choices"
    schedules = "schedules"
    trainings = "trainings"
    maps = "maps"


def own_cell(column: str, seed: int, *also: str) -> Cell:
    """SpanProto in every way that the others are compared with, or with a further seed as trained.

    Fine-tuned it has that many seeds in its form with words.
    """
    cell = spanproto_cell(column, seed, *also)
    compared = any(seed in compared_seeds(name) for name in (column, *also))
    return cell if compared else replace(cell, scorings=cell.scorings[:1])


def cells_of(table: Table) -> list[Cell]:
    """The cells of a table, those of the first seed first."""
    crossdomain = (*CROSSDOMAIN_1, *CROSSDOMAIN_5)
    if table in (Table.crossdomain, Table.fewnerd):
        few_nerd = table is Table.fewnerd
        columns, seeds = ((*INTER, *INTRA), SEEDS[:3]) if few_nerd else (crossdomain, SEEDS)
        return [
            make(first, seed, *others)
            for seed in seeds
            for first, *others in trained_alike(columns)
            for make in (own_cell, words_cell, *([broad_cell] if first in BROAD else []))
        ]
    more = [(CROSSDOMAIN_1, seed) for seed in SEEDS[1:3]]
    return [
        cell
        for columns, seed in [((*crossdomain, *INTER_COMPARED), SEEDS[0]), *more]
        for first, *others in trained_alike(columns)
        for cell in (
            *baseline_cells(first, seed, *others),
            alike_cell(first, seed, *others),
            nearest_cell(first, seed, *others),
        )
    ]


def named(only: str, known: Iterable[str]) -> list[str]:
    """The names in `only`, with commas between, each a part of a known one."""
    names, known = [name for name in only.split(",") if name], list(dict.fromkeys(known))
    for name in names:
        if not any(name in one for one in known):
            raise ConfigError(f"--only: there is no {name!r}; {nearest_name(name, known)}")
    return names


def selected_cells(table: Table, only: str) -> list[Cell]:
    """The cells of a table, or of some columns and seeds, as `news-1.12`."""
    cells = [
        (cell, [f"{one.column}.{one.seed}" for one in cell.by_column()]) for cell in cells_of(table)
    ]
    names = named(only, [place for _, places in cells for place in places])
    return [
        cell
        for cell, places in cells
        if not names or any(name in place for name in names for place in places)
    ]


def chosen_cells(only: str) -> list[OwnCell]:
    """The cells of all choices, or of some, or of some columns.

    A name that is no choice is a part of columns' names or, where there are none, of choices'.
    """
    choices = {**TITLES, **DENSE_TITLES, **FOREIGN_TITLES, **CARRIED_TITLES, **MAPPED_TITLES}
    cells = [own for column in CHOSEN_ON for own in choice_cells(column, SEEDS[0])]
    for more in (dense_cells, foreign_cells, carried_cells, mapped_cells):
        cells += more(SEEDS[0])
    columns = {column.name for own in cells for column in own.columns}
    chosen: set[str] = set()
    tested: set[str] = set()
    for name in named(only, [*choices, *sorted(columns)]):
        alike = {column for column in columns if name in column}
        if name in choices:
            chosen.add(name)
        elif alike:
            tested |= alike
        else:
            chosen |= {choice for choice in choices if name in choice}
    found = []
    for own in cells:
        scorings = tuple(s for s in own.cell.scorings if not chosen or s.name in chosen)
        serving = [column for column in own.columns if not tested or column.name in tested]
        if scorings and serving:
            found.append(OwnCell.serving(serving, replace(own.cell, scorings=scorings)))
    return found


def schedules_of(only: str) -> list[OwnCell]:
    """The cells of all schedules, or of some systems, columns and lengths, as `esd-125.news-1`."""
    schedules = [own for column in SCHEDULED_ON for own in schedule_cells(column, SEEDS[0])]
    variants = [own for column in VARIED_ON for own in variant_cells(column, SEEDS[0])]
    cells = (*schedules, *variants, *foreign_system_cells(SEEDS[0]))
    return among({f"{own.cell.system}.{own.column.name}": own for own in cells}, only)


def trainings_of(only: str) -> list[OwnCell]:
    """The cells of all trainings that are tried on INTER, or of some, as `all-longer.12`."""
    return _by_seed(training_cells(), only)


def maps_of(only: str) -> list[OwnCell]:
    """The cells of the trainings on INTER that are scored with a map, too, or of some."""
    return _by_seed(map_cells(), only)


def _by_seed(cells: Iterable[OwnCell], only: str) -> list[OwnCell]:
    return among({f"{own.cell.system}.{own.cell.seed}": own for own in cells}, only)


def among(cells: Mapping[str, OwnCell], only: str) -> list[OwnCell]:
    """The cells whose names have one of those in `only` as a part, or all of them."""
    names = named(only, cells)
    return [own for key, own in cells.items() if not names or any(name in key for name in names)]


VALIDATING = {
    Table.choices: (chosen_cells, VALIDATION_EPISODES),
    Table.schedules: (schedules_of, VALIDATION_EPISODES),
    Table.trainings: (trainings_of, TRIAL_EPISODES),
    Table.maps: (maps_of, TRIAL_EPISODES),
}
"""The tables of validation data: their cells, and on how many episodes at most."""


def main(
    table: Annotated[Table, typer.Argument(help="What to fill.")],
    data: Annotated[Path, typer.Option(help="Folder of the corpora.")],
    encoder: Annotated[str, typer.Option(help="Directory or hub name.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", show_default="results/TABLE")
    ] = None,
    workers: Annotated[int, typer.Option(help="Cells at a time.", min=1)] = 1,
    only: Annotated[
        str, typer.Option(help="Columns and seeds, as news-1.12,-5.21; choices, as centred.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(help="Test episodes, for a quick look.", min=1)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help="Training steps, for a quick look.", min=1)
    ] = None,
    device: str = "auto",
    bf16: Annotated[
        bool, typer.Option("--bf16", help="Even without a GPU: faster on some CPUs.")
    ] = False,
) -> None:
    """Run what is missing of a table."""
    if table is Table.schedules and steps is not None:
        raise ConfigError("--steps: schedules are lengths of training themselves; leave it out")
    grid = Grid(
        data,
        encoder,
        output or Path("results") / table.value,
        limit=limit,
        device=device,
        precision="bf16" if bf16 else "auto",
    )

    def wanted(cell: Cell) -> Cell:
        return cell if steps is None else cell.lasting(steps)

    if table in VALIDATING:
        cells, episodes = VALIDATING[table]
        own = [one._replace(cell=wanted(one.cell)) for one in cells(only)]
        run_own_cells(replace(grid, limit=limit or episodes), own, workers)
        return
    fill(grid, [wanted(cell) for cell in selected_cells(table, only)], workers)


if __name__ == "__main__":
    in_one_sentence(lambda: typer.run(main))
