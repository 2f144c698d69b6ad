"""The figures of the paper, from what was noted of a model: their pages, widths and marks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from matplotlib.text import Text

from spanproto.paper import RECIPES
from spanproto.paper.hyper_parameters import FIRST_STEPS, THRESHOLDS
from spanproto.paper.scores import Scores
from spanproto.paper.writing import draw_recipe, write_recipe
from spanproto.plots import style

MADE = {"seed": 12, "hardware": {"gpu": None, "cpu": "CPU"}}
MODEL = {
    "config": {"encoder": {"name": "tiny"}},
    "origin": {"training_config": {"steps": 500}},
}
MATRIX = {
    "episodes": 7,
    "words": ["The", "Bank", "of", "England", "in", "London", "closed", "."],
    "probabilities": [[0.1] * 8] * 8,
    "labelled": [[1, 4, "organization-company"]],
    "found": [[1, 4, "organization-company"], [3, 4, "location-GPE"]],
}
SPANS = {
    "radius": 3.0,
    "types": ["product-car", "person-actor"],
    "labels": ["product-car", "person-actor", "product-car", "person-actor", "product-car"],
    "kinds": ["example", "example", "query mention", "query mention", "false positive"],
    "places": [[0, 0], [9, 0], [1, 1], [9, 5], [4, 0], [0, 0], [9, 0]],  # two prototypes last
}


def put(
    results: Path, column: str, scoring: str, content: Mapping[str, Any], seed: int = 12
) -> None:
    path = results / "paper" / "cells" / column / f"{scoring}.{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {"provenance": MADE | {"seed": seed}, "model": MODEL, "column": column}
    path.write_text(json.dumps({**made, **content}), "utf-8")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    put(tmp_path, "inter-5w1", "boundary-matrix", MATRIX)
    put(tmp_path, "inter-5w5", "span-map", SPANS)
    for seed in (12, 21):
        for number, name in enumerate((*FIRST_STEPS.values(), *THRESHOLDS.values())):
            for ending in ("", "-adapted"):
                f1 = {"f1": 50.0 + number + seed}
                content = {"micro": f1, "extraction": f1}
                put(tmp_path, "wiki-1", name + ending, content, seed)
    return tmp_path


@pytest.mark.parametrize("name", ["boundary-matrix", "span-map", "hyper-parameters"])
def test_figures_are_as_wide_as_a_column_or_a_page_with_text_of_one_size(
    results: Path, name: str
) -> None:
    (figure,) = RECIPES[name].figures(Scores(results)).values()
    assert figure.get_figwidth() in (style.COLUMN, style.PAGE)
    written = [text for text in figure.findobj(Text) if text.get_text()]
    assert {text.get_fontsize() for text in written} == {style.TEXT}
    figure.draw_without_rendering()
    taken = figure.get_tightbbox()  # nothing is cut off where the figure ends
    assert taken.x0 >= 0
    assert taken.y0 >= 0
    assert taken.x1 <= figure.get_figwidth()
    assert taken.y1 <= figure.get_figheight()


def test_curves_of_several_seeds_show_their_spread_in_any_column(results: Path) -> None:
    figures = RECIPES["hyper-parameters"].figures(Scores(results))
    assert list(figures) == ["hyper-parameters-wiki-1"]
    (figure,) = figures.values()
    for axes in figure.axes:
        assert len(axes.collections) == 4
        assert "$T$ = 500" in axes.get_xlabel()
    (legend,) = figure.legends
    assert legend.get_texts()[-1].get_text() == "± standard deviation"


def test_the_page_of_a_sentence_says_where_it_was_looked_for(results: Path) -> None:
    page = RECIPES["boundary-matrix"].page(Scores(results))
    assert "8 to 24 words" in page.setting
    (table,) = page.tables
    assert [name for name, _ in table.rows] == ["Bank of England", "England"]
    (remark,) = page.remarks
    assert "of the first 7 test episodes" in remark
    assert "found are 2, of which 1 as labelled; 1 of the spans found lie inside" in remark


def test_a_sentence_with_nested_mentions_has_a_picture_of_its_own(results: Path) -> None:
    put(results, "nested-GUM-5", "boundary-matrix", MATRIX)
    recipe = RECIPES["boundary-matrix"]
    assert [table.title for table in recipe.page(Scores(results)).tables] == [
        "Few-NERD",
        "GUM, a sentence with nested mentions",
    ]
    assert recipe.figures(Scores(results)).keys() == recipe.pictures.keys()


def test_the_page_of_the_map_counts_what_lies_within(results: Path) -> None:
    page = RECIPES["span-map"].page(Scores(results))
    assert page.setting.startswith("The first test episode of Few-NERD INTER 5-way 5~10-shot.")
    (table,) = page.tables
    assert table.texts()[1:] == [
        ["examples", "2", "2 (100%)"],
        ["query mentions", "2", "1 (50%)"],
        ["false positives", "1", "0 (0%)"],
    ]
    assert table.to_dict()["rows"][1] == {"spans": "query mentions", "number": 2, "within r": 1}
    (remark,) = page.remarks
    assert "1 of the 2 query mentions and 1 of the 1 false positives lie farther" in remark


@pytest.mark.parametrize(
    ("name", "column", "content"),
    [("boundary-matrix", "inter-5w1", MATRIX), ("span-map", "inter-5w1", SPANS)],
)
def test_the_quick_form_is_marked_on_picture_and_page(
    tmp_path: Path, name: str, column: str, content: Mapping[str, Any]
) -> None:
    put(tmp_path, column, name, {**content, "quick": True})
    (path,) = draw_recipe(RECIPES[name], tmp_path)
    picture = path.with_suffix(".svg").read_text("utf-8")
    assert 'id="draft"' in picture
    page, quick = write_recipe(RECIPES[name], tmp_path)
    assert quick
    assert "in the quick form" not in page.setting
    if name == "span-map":
        assert "5-way 1~2-shot" in page.setting


@pytest.mark.parametrize("name", ["boundary-matrix", "span-map", "hyper-parameters"])
def test_nothing_is_drawn_of_nothing(tmp_path: Path, name: str) -> None:
    assert RECIPES[name].figures(Scores(tmp_path)) == {}
    assert "Not run yet." in RECIPES[name].page(Scores(tmp_path)).setting
