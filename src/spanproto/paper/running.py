"""Running recipes: each training once for all that need it, then whatever is no cell."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from spanproto.errors import ConfigError, nearest_name
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.progress import fill
from spanproto.experiments.setups import refuse_other_setup
from spanproto.extras import optional
from spanproto.paper.quick import shortened
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import Scores


def run_recipes(recipes: Sequence[Recipe], bench: Bench) -> list[Exception]:
    """Measure what is missing, with a progress bar; what is there is not measured again.

    Returns what went wrong on the way: one recipe or cell that fails lets the others go on.
    """
    for recipe in recipes:
        for module, extra in recipe.needs.items():
            optional(module, extra)
    cells = _wanted(recipes, bench)
    grid = Grid(bench.data, bench.encoder, bench.folder / "cells", device=bench.device)
    if bench.quick:
        cells = [shortened(cell) for cell in cells]
        grid = replace(grid, runs=bench.folder / "runs", limit=2, quick=True)
    todo = missing(merged(cells), grid, bench.scores)
    failures: list[Exception] = []
    measures: list[Callable[[], None]] = [partial(fill, grid, todo, bench.workers)]
    measures += [partial(recipe.run, bench) for recipe in recipes]
    for measure in measures:
        try:
            measure()
        except Exception as error:
            failures.append(error)
    return failures


def _wanted(recipes: Sequence[Recipe], bench: Bench) -> list[Cell]:
    """The recipes' cells of the columns and systems asked for, each of which must be there."""
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
    return [
        cell
        for cell in cells
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
