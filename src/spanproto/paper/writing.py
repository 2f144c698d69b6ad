"""Writing what recipes show: Markdown, JSON and pictures, from the measured files alone."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from spanproto.data.files import atomic_writer
from spanproto.paper.page import QUICK, Page
from spanproto.paper.recipe import Recipe
from spanproto.paper.scores import Scores


class Written(NamedTuple):
    """A page, and whether it is marked as of the quick form: by request, or by what it is from."""

    page: Page
    quick: bool


def write_recipe(recipe: Recipe, results: Path, *, quick: bool = False) -> Written:
    """Write `results/paper/NAME.md` and `NAME.json`; returns what they say."""
    scores, folder = Scores(results), results / "paper"
    page = recipe.page(scores)
    quick = quick or scores.quick
    with atomic_writer(folder / f"{recipe.name}.json") as stream:
        stream.write(_as_json(recipe, page, scores, quick))
    with atomic_writer(folder / f"{recipe.name}.md") as stream:
        stream.write(f"# {section(recipe, page, folder, '', quick=quick)}")
    return Written(page, quick)


def draw_recipe(recipe: Recipe, results: Path, *, quick: bool = False) -> list[Path]:
    """Draw the pictures of a recipe as PNG and SVG beside its page; needs the extra `plots`.

    Those of other figures than the page will have are gone, whether new ones can be drawn or not.
    """
    from spanproto.plots.style import mark_as_draft, save_for_print

    _drop_old_pictures(recipe, results, quick)
    scores, drawn = Scores(results), []
    for name, figure in recipe.figures(scores).items():
        if quick or scores.quick:
            mark_as_draft(figure, "quick form: not a result")
        save_for_print(figure, path := results / "paper" / f"{name}.png")
        drawn.append(path)
    return drawn


def _drop_old_pictures(recipe: Recipe, results: Path, quick: bool) -> None:
    """Remove the pictures of a recipe whose figures are no longer those that were drawn."""
    path, scores = results / "paper" / f"{recipe.name}.json", Scores(results)
    page = recipe.page(scores)
    shown = path.read_text("utf-8") if path.exists() else ""
    if shown != _as_json(recipe, page, scores, quick or scores.quick):
        for name in recipe.pictures:
            for suffix in (".png", ".svg"):
                (path.parent / f"{name}{suffix}").unlink(missing_ok=True)


def write_report(recipes: Iterable[Recipe], results: Path, *, quick: bool = False) -> Path:
    """Write `results/paper.md`: every table and figure, as far as it has been measured."""
    path = results / "paper.md"
    with atomic_writer(path) as stream:
        stream.write(report(recipes, results, quick=quick))
    return path


def report(recipes: Iterable[Recipe], results: Path, *, quick: bool = False) -> str:
    """All pages one after the other, each marked where it is of the quick form."""
    folder, sections = results / "paper", []
    for recipe in recipes:
        page = recipe.page(scores := Scores(results))
        marked = quick or scores.quick
        sections.append(f"## {section(recipe, page, folder, 'paper/', quick=marked)}")
    return "\n".join([_INTRODUCTION, *sections])


def section(recipe: Recipe, page: Page, folder: Path, prefix: str, *, quick: bool = False) -> str:
    """A recipe's title, page and pictures as Markdown; `prefix` leads to the folder from there."""
    parts = [recipe.title, f"{recipe.place} of the paper; `spanproto paper {recipe.name}`."]
    if quick:
        parts.append(f"**{QUICK}**")
    parts.append(page.to_markdown())
    parts += [
        f"![{caption}]({prefix}{name}.png)"
        for name, caption in recipe.pictures.items()
        if (folder / f"{name}.png").exists()
    ]
    return "\n\n".join(parts) + "\n"


def _as_json(recipe: Recipe, page: Page, scores: Scores, quick: bool) -> str:
    content = {
        "recipe": recipe.name,
        "title": recipe.title,
        "reproduces": recipe.place,
        "quick": quick,
        **page.to_dict(),
        "sources": sorted(path.relative_to(scores.results).as_posix() for path in scores.sources),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


_INTRODUCTION = """# The paper's tables and figures, published and measured

`spanproto paper --report` writes this page from the JSON files in this folder, which name the
command, commit, seed, data and hardware of each run. Published figures are those of Wang et al.
(EMNLP 2022). A cell reads *published → measured (difference)*. A figure of one seed is
uncertain: trained again, with the same settings and seed, a model has been half a point different,
and other seeds change more, as the spreads say. Differences of less than a point are called none.
"""
