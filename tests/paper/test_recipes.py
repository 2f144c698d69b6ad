"""Every recipe in its quick form: it runs, goes on, writes, and says that it is quick."""

import json
from pathlib import Path

import pytest
from command import refused, spanproto

from spanproto.paper import RECIPES, main_results, recipe_named
from spanproto.paper.page import QUICK

BEYOND = {"nested", "slot-filling", "grid-search", "tpe-search"}  # have tests of their own
OWN = [name for name in RECIPES if name not in BEYOND]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """All recipes run at once, so that each training is done once."""
    folder = tmp_path_factory.mktemp("paper")
    done = spanproto("paper", *OWN, "--quick", "--encoder", tiny_encoder, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("name", OWN)
def test_a_recipe_writes_its_page(results: Path, name: str) -> None:
    page = (results / "paper" / f"{name}.md").read_text("utf-8")
    assert page.startswith(f"# {RECIPES[name].title}\n")
    assert RECIPES[name].place in page
    assert QUICK in page
    content = json.loads((results / "paper" / f"{name}.json").read_text("utf-8"))
    assert content["quick"]
    assert content["tables"]
    assert all((results / source).exists() for source in content["sources"])
    assert bool(content["sources"]) == (name != "drawings")
