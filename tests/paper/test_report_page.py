"""The pages in results/ say what the measured files beside them say."""

from pathlib import Path

import pytest

from spanproto.paper import RECIPES
from spanproto.paper.writing import report, write_recipe

RESULTS = Path(__file__).parents[2] / "results"
WRITTEN = sorted(path.stem for path in (RESULTS / "paper").glob("*.json"))


def test_the_report_is_made_from_the_measured_files() -> None:
    assert (RESULTS / "paper.md").read_text("utf-8") == report(RECIPES.values(), RESULTS)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_made_from_the_measured_files(name: str, tmp_path: Path) -> None:
    for path in RESULTS.iterdir():
        if path.is_dir() and path.name != "paper":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "paper").mkdir()
    for path in (RESULTS / "paper").iterdir():
        if path.suffix not in (".md", ".json"):
            (tmp_path / "paper" / path.name).symlink_to(path)
    write_recipe(RECIPES[name], tmp_path)
    for suffix in (".md", ".json"):
        made = (tmp_path / "paper" / f"{name}{suffix}").read_text("utf-8")
        assert made == (RESULTS / "paper" / f"{name}{suffix}").read_text("utf-8")
