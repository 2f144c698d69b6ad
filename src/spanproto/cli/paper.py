"""`spanproto paper`: the paper's tables and figures, run and set beside the published ones."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spanproto.cli.options import Device
from spanproto.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from spanproto.paper.recipe import Bench, Recipe


def paper(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME...", help="Recipes, or all.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the corpora.")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Directory or hub name.", show_default="bert-base-uncased")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", show_default="results, or runs/paper-quick"),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            help="Columns of the benchmarks, such as inter-5w1,news-1.",
            show_default="as the recipe has them",
        ),
    ] = "",
    seeds: Annotated[str, typer.Option(help="Seeds, such as 12,21.", show_default="12")] = "",
    systems: Annotated[
        str, typer.Option(help="Run these alone, such as spanproto,esd.", show_default="all")
    ] = "",
    workers: Annotated[int, typer.Option(help="Cells at a time.", min=1)] = 1,
    quick: Annotated[
        bool, typer.Option("--quick", help="A bundled sample and few steps, to see that it runs.")
    ] = False,
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="Run nothing: write from what was measured.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Write paper.md from all that was measured.")
    ] = False,
    device: Device = "auto",
) -> None:
    """List the paper's tables and figures, or run some: what is there is not run again."""
    from spanproto.display import table
    from spanproto.paper import RECIPES, recipe_named
    from spanproto.paper.writing import write_report

    if not names and not report:
        rows = [
            (name, recipe.place, recipe.title, _extent(recipe)) for name, recipe in RECIPES.items()
        ]
        heading = ("name", "in the paper", "what it is", "trainings on columns, one seed")
        typer.echo("\n".join(table([heading, *rows])))
        return
    results = output or Path("runs/paper-quick" if quick else "results")
    recipes = [recipe_named(name) for name in (RECIPES if "all" in (names or ()) else names or ())]
    failures: list[Exception] = []
    if results.exists() and not results.is_dir():
        raise ConfigError(f"--output: {results} is a file; name a folder")
    if draw_only and (columns or systems or seeds):
        raise ConfigError(
            "--draw-only writes from all that was measured; leave out --columns, --systems and "
            "--seeds"
        )
    if quick:
        _refuse_mixture(results, None, quick=True)
    if recipes and not draw_only:
        from spanproto.paper.running import run_recipes

        reads_data = any(recipe.reads_data for recipe in recipes)
        if reads_data and not quick:
            data = _required(data)
        bench = _quick_bench(results, encoder) if quick else _bench(data, results, encoder)
        bench = replace(
            bench,
            columns=_listed("--columns", columns),
            systems=_listed("--systems", systems),
            workers=workers,
            device=device,
        )
        if seeds:
            numbers = dict.fromkeys(map(_seed, _listed("--seeds", seeds)))  # 012 is 12
            bench = replace(bench, seeds=tuple(numbers))
        _refuse_unknown_columns(recipes, bench)
        trained_with = bench.encoder if any(recipe.trains for recipe in recipes) else None
        if reads_data:
            _refuse_mixture(results, trained_with, quick=quick)
        try:
            recipes, failures = run_recipes(recipes, bench)
        except KeyboardInterrupt:
            typer.echo("stopped; the same command goes on where it stood", err=True)
            raise typer.Exit(130) from None
    for recipe in recipes:
        _show(recipe, results, quick)
    if report and (recipes or not failures):
        typer.echo(f"wrote {write_report(RECIPES.values(), results, quick=quick)}")
    for failure in failures[1:]:
        typer.echo(f"error: {failure}", err=True)
    if failures:
        raise failures[0]


def _extent(recipe: "Recipe") -> str:
    """How much a recipe trains, and on which columns, where none are asked for."""
    from spanproto.paper.recipe import Bench, Recipe

    cells = recipe.cells(Bench(Path(), ""))
    columns = list(dict.fromkeys(cell.column for cell in cells))
    shown = ", ".join(columns) if len(columns) <= 2 else f"{columns[0]} to {columns[-1]}"
    if not cells:
        own = type(recipe).run is not Recipe.run
        return "in a way of its own" if own else ""
    return f"{len(cells)} on {shown}"


def _required(data: Path | None) -> Path:
    if data is None:
        raise ConfigError(
            "a recipe needs the corpora: give --data DIR, or --quick for a bundled sample, or "
            "--draw-only to write from what was measured before"
        )
    return data


def _bench(data: Path | None, results: Path, encoder: str | None) -> "Bench":
    from spanproto.paper.recipe import Bench

    return Bench(data or Path(), encoder or "bert-base-uncased", results)


def _quick_bench(results: Path, encoder: str | None) -> "Bench":
    from spanproto.paper import quick
    from spanproto.paper.recipe import Bench

    return Bench(results / "sample", encoder or quick.ENCODER, results, quick=True)


def _refuse_unknown_columns(recipes: "list[Recipe]", bench: "Bench") -> None:
    """Complain of columns that neither the benchmarks nor the recipes have, or the sample lacks."""
    from spanproto.experiments.columns import COLUMNS, column_named
    from spanproto.paper import quick

    for name in bench.columns:
        if bench.quick and name in COLUMNS and name not in quick.COLUMNS:
            raise ConfigError(
                f"--columns: the sample of the quick form has no {name}, but "
                f"{' and '.join(quick.COLUMNS)}; leave --columns or --quick out"
            )
        if name not in COLUMNS and not any(recipe.takes(name, bench) for recipe in recipes):
            column_named(name)


def _refuse_mixture(results: Path, encoder: str | None, *, quick: bool) -> None:
    """Complain before anything is written that would stand beside figures of another kind."""
    from spanproto.experiments.setups import refuse_mixture
    from spanproto.paper.scores import Scores

    refuse_mixture(Scores(results).all_files(), encoder=encoder, quick=quick)


def _listed(option: str, text: str) -> tuple[str, ...]:
    """What is named, each once: twice would be run twice."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if text and not found:
        raise ConfigError(f"{option}: {text!r} names none; write them one after the other, as a,b")
    return found


def _seed(text: str) -> int:
    if not text.isdigit():
        raise ConfigError(f"--seeds: {text!r} is not a whole number; write them as 12,21")
    return int(text)


def _show(recipe: "Recipe", results: Path, quick: bool) -> None:
    """Write a recipe's page and pictures, and print the page."""
    from spanproto.paper.page import QUICK
    from spanproto.paper.writing import draw_recipe, write_recipe

    try:
        pictures = draw_recipe(recipe, results, quick=quick)
    except MissingExtraError as error:
        pictures = []
        typer.echo(f"not drawn: {error}, or draw elsewhere with --draw-only", err=True)
    page, quick = write_recipe(recipe, results, quick=quick)
    parts = [f"{recipe.title.upper()}: {recipe.place}", *([QUICK] if quick else [])]
    typer.echo("\n\n".join([*parts, page.to_text()]) + "\n")
    page_path = results / "paper" / f"{recipe.name}.md"
    for path, other in ((page_path, ".json"), *((picture, ".svg") for picture in pictures)):
        typer.echo(f"wrote {path} and {path.with_suffix(other)}")
