"""Running recipes: each training once for all that need it, then whatever is no cell."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from spanproto.errors import ConfigError, nearest_name
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.filling import fill, require_for_cells
from spanproto.experiments.setups import refuse_other_setup
from spanproto.extras import optional
from spanproto.paper.quick import shortened, write_sample
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores


class Outcome(NamedTuple):
    """The recipes that have something to show, and what went wrong: a recipe or a cell of one."""

    ran: list[Recipe]
    failures: list[Exception]


def run_recipes(recipes: Sequence[Recipe], bench: Bench) -> Outcome:
    """Measure what is missing, with a progress bar; what is there is not measured again.

    One recipe or cell that fails lets the others go on.
    """
    from spanproto.training.distributed import choose_device

    for recipe in recipes:
        for module, extra in recipe.needs.items():
            optional(module, extra)
    _refuse_unknown(recipes, bench)
    choose_device(bench.device)
    grid = Grid(bench.data, bench.encoder, bench.folder / "cells", device=bench.device)
    if bench.quick:
        grid = replace(grid, runs=bench.folder / "runs", limit=2, quick=True)
    ran: list[Recipe] = []
    todo: list[Cell] = []
    failures: dict[str, Exception] = {}  # by what they say, which is said once
    for recipe in recipes:
        try:
            left = missing(merged(_wanted(recipe, bench)), grid, bench.scores)
            require_for_cells(grid, left)
            recipe.require_inputs(bench)
        except Exception as error:
            failures.setdefault(str(error), error)
        else:
            ran.append(recipe)
            todo += left
    if bench.quick and any(recipe.reads_data for recipe in ran):
        write_sample(bench.data)
    measures: list[Callable[[], None]] = [partial(fill, grid, merged(todo), bench.workers)]
    if not bench.systems:  # of which all are cells
        measures += [partial(recipe.run, bench) for recipe in ran]
    for measure in measures:
        try:
            measure()
        except Exception as error:
            failures.setdefault(str(error), error)
    if failures:
        ran = [recipe for recipe in ran if not recipe.reads_data or _measured(recipe, bench)]
    return Outcome(ran, list(failures.values()))


def _measured(recipe: Recipe, bench: Bench) -> bool:
    """Whether the page of the recipe would have anything to show that was measured."""
    recipe.page(scores := bench.scores)
    return bool(scores.sources)


def _refuse_unknown(recipes: Sequence[Recipe], bench: Bench) -> None:
    """Complain of columns and systems asked for that no recipe has."""
    cells = [cell for recipe in recipes for cell in recipe.cells(bench)]
    names = ", ".join(recipe.name for recipe in recipes)
    for column in bench.columns:
        if not any(recipe.takes(column, bench) for recipe in recipes):
            raise ConfigError(f"--columns: {column!r} is no column that {names} can run on")
    systems = {cell.system for cell in cells}
    for system in bench.systems:
        if system not in systems:
            hint = nearest_name(system, systems) if systems else "leave --systems out"
            raise ConfigError(f"--systems: {names} trains no system {system!r}; {hint}")


def _wanted(recipe: Recipe, bench: Bench) -> list[Cell]:
    """The recipe's cells of the columns and systems asked for, short ones in the quick form."""
    return [
        shortened(cell) if bench.quick else cell
        for cell in recipe.cells(bench)
        if (not bench.systems or cell.system in bench.systems)
        and (not bench.columns or cell.column in bench.columns)
    ]


def merged(cells: Iterable[Cell]) -> list[Cell]:
    """Cells of the same training as one, with the scorings of all, each once."""
    trainings: dict[Any, Cell] = {}
    for cell in cells:
        key = _training(cell)
        known = trainings.get(key)
        if known is not None:
            named = {scoring.name: scoring for scoring in (*known.scorings, *cell.scorings)}
            cell = replace(known, scorings=tuple(named.values()))
        trainings[key] = cell
    return list(trainings.values())


def missing(cells: Iterable[Cell], grid: Grid, scores: Scores) -> list[Cell]:
    """The cells with those of their scorings that have not been measured yet, if any."""
    left = []
    for cell in cells:
        unknown = []
        for scoring in cell.scorings:
            path = scores.files(cell.column, scoring.name).get(cell.seed)
            if path is None:
                unknown.append(scoring)
            else:
                refuse_other_setup(path, grid, cell, scoring)
        if unknown:
            left.append(replace(cell, scorings=tuple(unknown)))
    return left


def _training(cell: Cell) -> str:
    """What makes a training what it is: all its settings, those left at their defaults too."""
    from spanproto.config import to_yaml
    from spanproto.training.settings import RunConfig

    run = RunConfig.of({**cell.run, "data": cell.data})
    return f"{cell.column}.{cell.seed}\n{to_yaml(run)}"
