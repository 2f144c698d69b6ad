"""Every recipe in its quick form: it runs, goes on, writes, and says that it is quick."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from command import refused, spanproto

from spanproto.experiments import cells
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.columns import column_named
from spanproto.experiments.scoring import Scoring
from spanproto.paper import RECIPES
from spanproto.paper.page import QUICK
from spanproto.paper.recipe import Bench
from spanproto.paper.running import Outcome

BEYOND = {"nested", "slot-filling", "grid-search", "tpe-search"}  # have tests of their own
OWN = [name for name in RECIPES if name not in BEYOND]
PICTURES = ("boundary-matrix", "boundary-matrix-nested", "hyper-parameters-news-1", "span-map")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, tiny_encoder: Path) -> Path:
    """All recipes run at once, so that each training is done once."""
    folder = tmp_path_factory.mktemp("paper")
    done = spanproto("paper", *OWN, "--quick", "--encoder", tiny_encoder, "-o", folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(QUICK) == len(OWN)
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


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_says_that_it_is_quick(results: Path, name: str) -> None:
    assert (results / "paper" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    drawing = (results / "paper" / f"{name}.svg").read_text("utf-8")
    assert 'id="draft"' in drawing
    owner = next(recipe for recipe in RECIPES.values() if name in recipe.pictures)
    page = (results / "paper" / f"{owner.name}.md").read_text("utf-8")
    assert f"]({name}.png)" in page


def test_the_sentences_of_the_quick_form_are_those_of_bundled_samples(results: Path) -> None:
    page = (results / "paper" / "boundary-matrix.md").read_text("utf-8")
    assert "**the bundled sample**" in page
    assert "**the bundled biomedical sample, a sentence with nested mentions**" in page
    assert "trained on the bundled general sample and fine-tuned to the one-shot support" in page
    assert not any(name in page for name in ("GUM", "GENIA", "on Few-NERD", "five-shot"))


def test_what_was_measured_is_not_measured_again(results: Path, tiny_encoder: Path) -> None:
    def stamps() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (results / "paper/cells").rglob("*.json")}

    before = stamps()
    lost = results / "paper/cells/news-1/theta-0.95.12.json"
    lost.unlink()
    command = ("paper", "margin", "hyper-parameters", "--quick", "--encoder", tiny_encoder)
    assert spanproto(*command, "-o", results).returncode == 0
    after = stamps()
    assert after.keys() == before.keys()
    assert [path for path in after if after[path] != before[path]] == [lost]


def test_pages_and_pictures_are_made_from_the_files_alone(results: Path, tmp_path: Path) -> None:
    cells = tmp_path / "paper"
    cells.mkdir()
    (cells / "cells").symlink_to(results / "paper" / "cells")
    done = spanproto("paper", *OWN, "--draw-only", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    for name in OWN:
        for suffix in (".md", ".json"):
            written = (cells / f"{name}{suffix}").read_text("utf-8")
            assert written == (results / "paper" / f"{name}{suffix}").read_text("utf-8")
    assert all((cells / f"{name}.svg").exists() for name in PICTURES)


def test_pages_need_no_library_that_only_draws(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "cells").symlink_to(results / "paper" / "cells")
    done = spanproto("paper", "boundary-matrix", "errors", "--draw-only", "-o", tmp_path)
    assert done.returncode == 0
    assert "not drawn: matplotlib is not installed" in done.stderr
    assert (tmp_path / "paper" / "boundary-matrix.md").exists()
    assert not list((tmp_path / "paper").glob("*.png"))


def test_an_old_picture_does_not_stay_under_new_figures(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(results / "paper", tmp_path / "paper")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    command = ("paper", "boundary-matrix", "--draw-only", "-o", tmp_path)
    assert spanproto(*command).returncode == 0
    assert "](boundary-matrix.png)" in (tmp_path / "paper/boundary-matrix.md").read_text("utf-8")
    for path in (tmp_path / "paper" / "cells").rglob("boundary-matrix.*.json"):
        path.unlink()
    assert spanproto(*command).returncode == 0
    assert "](boundary-matrix.png)" not in (tmp_path / "paper/boundary-matrix.md").read_text()


def test_what_a_recipe_needs_is_asked_for_before_it_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    assert "spanproto[plots]" in refused(spanproto("paper", "ablation", "--quick", "-o", tmp_path))


def test_a_stopped_recipe_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("spanproto.paper.running.run_recipes", stop)
    done = spanproto("paper", "datasets", "--quick", "-o", tmp_path)
    assert done.returncode == 130
    assert done.stderr == "stopped; the same command goes on where it stood\n"


def test_a_recipe_that_was_stopped_goes_on_with_what_is_left(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[str] = []

    def score_some(
        grid: Grid, cell: Cell, column: object, source: str, scorings: list[Scoring], *rest: object
    ) -> object:
        if len(scored) == stop_after:
            raise KeyboardInterrupt
        scored.extend(scoring.name for scoring in scorings)
        return really_score(grid, cell, column, source, scorings, *rest)

    really_score = cells._score
    monkeypatch.setattr(cells, "_score", score_some)
    command = ("paper", "margin", "--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    stop_after = 4  # in the middle of a training's scores
    assert spanproto(*command).returncode == 130
    kept = {path.name for path in (tmp_path / "paper" / "cells" / "news-1").iterdir()}
    assert len(kept) == 4
    stop_after = -1
    assert spanproto(*command).returncode == 0
    assert len(scored) == len(set(scored)) == 18


def test_a_folder_without_corpora_is_no_count(tmp_path: Path) -> None:
    done = spanproto("paper", "datasets", "--data", tmp_path / "nowhere", "-o", tmp_path)
    assert done.returncode == 2
    assert "holds no file of any corpus" in done.stderr
    some = column_named("news-1").test_file
    assert spanproto("paper", "datasets", "--quick", "-o", tmp_path / "q").returncode == 0
    assert "13 %" not in (tmp_path / "q/paper/datasets.md").read_text("utf-8")
    (tmp_path / "data" / some).parent.mkdir(parents=True)
    shutil.copy(tmp_path / "q/sample" / some, tmp_path / "data" / some)
    done = spanproto("paper", "datasets", "--data", tmp_path / "data", "-o", tmp_path)
    assert "66 → no data" in done.stdout
    done = spanproto("paper", "datasets", "--data", tmp_path / "q/sample", "-o", tmp_path)
    assert "66 → no data" not in done.stdout


def test_the_report_has_every_recipe(results: Path) -> None:
    assert spanproto("paper", "--report", "-o", results).returncode == 0
    report = (results / "paper.md").read_text("utf-8")
    for recipe in RECIPES.values():
        assert f"\n## {recipe.title}\n\n{recipe.place}" in report
    assert "](paper/span-map.png)" in report


def test_quick_figures_are_marked_wherever_they_are_written(results: Path, tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "cells").symlink_to(results / "paper" / "cells")
    done = spanproto("paper", "boundary-matrix", "--draw-only", "--report", "-o", tmp_path)
    assert QUICK in done.stdout
    assert json.loads((tmp_path / "paper/boundary-matrix.json").read_text("utf-8"))["quick"]
    assert 'id="draft"' in (tmp_path / "paper/boundary-matrix.svg").read_text("utf-8")
    assert QUICK in (tmp_path / "paper.md").read_text("utf-8")


def test_quick_figures_are_not_taken_for_results(results: Path) -> None:
    sample = ("--data", results / "sample", "--encoder", "tiny", "-o", results)
    assert "the two do not mix" in refused(spanproto("paper", "boundary-matrix", *sample))
    before = (results / "paper" / "datasets.md").read_text("utf-8")
    assert "the two do not mix" in refused(spanproto("paper", "datasets", *sample))
    assert (results / "paper" / "datasets.md").read_text("utf-8") == before


@pytest.mark.parametrize(
    "name", ["crossdomain", "datasets", "nested", "slot-filling", "tpe-search"]
)
def test_the_quick_form_leaves_a_folder_of_results_alone(
    name: str, tmp_path: Path, tiny_encoder: Path
) -> None:
    score = tmp_path / "fewnerd" / "intra-5w5" / "spanproto.87.json"  # a cell of no quick recipe
    score.parent.mkdir(parents=True)
    model = {"config": {"encoder": {"name": "models/mpnet-base"}}}
    score.write_text(json.dumps({"micro": {"f1": 50.0}, "provenance": {}, "model": model}))
    quick = ("--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    assert "the two do not mix" in refused(spanproto("paper", name, *quick))
    assert "the two do not mix" in refused(spanproto("paper", name, "--draw-only", *quick))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [score]


def test_another_encoder_does_not_go_into_the_same_folder(tmp_path: Path) -> None:
    score = tmp_path / "fewnerd" / "intra-5w5" / "spanproto.87.json"
    score.parent.mkdir(parents=True)
    model = {"config": {"encoder": {"name": "models/mpnet-base"}}}
    score.write_text(json.dumps({"micro": {"f1": 50.0}, "model": model}))
    other = refused(spanproto("paper", "crossdomain", "--data", tmp_path, "-o", tmp_path))
    assert "with the encoder 'mpnet-base', and now it is 'bert-base-uncased'" in other
    assert "name that one by --encoder mpnet-base, or" in other


def test_a_score_file_that_was_cut_off_is_named(tmp_path: Path) -> None:
    score = tmp_path / "baselines" / "news-1" / "protobert.12.json"
    score.parent.mkdir(parents=True)
    for text in ('{"micro": {"f', "[1]", '{"micro": {"f1": 1.0}}'):
        score.write_text(text)
        shown = refused(spanproto("paper", "crossdomain", "--draw-only", "-o", tmp_path))
        assert "protobert.12.json: " in shown
    origin = {"seed": 12, "hardware": {"gpu": None, "cpu": "a CPU"}}
    score.write_text(json.dumps({"provenance": origin}))
    shown = refused(spanproto("paper", "crossdomain", "--draw-only", "-o", tmp_path))
    assert "has no figure micro.f1" in shown


def test_some_systems_alone_are_run(tmp_path: Path, tiny_encoder: Path) -> None:
    alone = ("--columns", "news-1", "--systems", "matching-network")
    quick = ("--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    done = spanproto("paper", "crossdomain", *alone, *quick)
    assert done.returncode == 0, done.stderr
    files = [path.name for path in (tmp_path / "paper" / "cells").rglob("*.json")]
    assert files == ["matching-network.12.json"]


def test_what_is_named_twice_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Bench] = []
    monkeypatch.setattr(
        "spanproto.paper.running.run_recipes",
        lambda recipes, bench: asked.append(bench) or Outcome([], []),
    )
    twice = ("--seeds", "21,12,21,012", "--columns", "news-1,news-1", "--systems", "esd,esd")
    done = spanproto("paper", "crossdomain", "--data", tmp_path, *twice, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    (bench,) = asked
    assert (bench.seeds, bench.columns, bench.systems) == ((21, 12), ("news-1",), ("esd",))


def test_without_a_name_the_recipes_are_listed() -> None:
    done = spanproto("paper")
    assert done.returncode == 0
    for name, recipe in RECIPES.items():
        (line,) = [line for line in done.stdout.splitlines() if line.split()[0] == name]
        assert recipe.place in line


def test_every_table_and_figure_of_the_paper_has_a_recipe() -> None:
    places = " ".join(recipe.place for recipe in RECIPES.values())
    for number in range(1, 11):
        assert f"Table {number} " in places
    for number in (3, 4, 5):
        assert f"Figure {number} " in places
    assert "Figures 1 and 2" in places


def test_what_measures_nothing_needs_no_data(tmp_path: Path) -> None:
    done = spanproto("paper", "drawings", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"wrote {tmp_path / 'paper/drawings.md'} and " in done.stdout


def test_all_may_stand_among_other_names(tmp_path: Path) -> None:
    done = spanproto("paper", "margin", "all", "--draw-only", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "paper").glob("*.md"))) == len(RECIPES)


def test_the_list_says_how_much_is_trained() -> None:
    listed = spanproto("paper").stdout
    rows = {line.split()[0]: line.rstrip() for line in listed.splitlines() if line.strip()}
    assert rows["margin"].endswith("12 on inter-5w1, news-1")
    assert rows["crossdomain"].endswith("on news-1 to social-5")
    assert rows["nested"].endswith("in a way of its own")
    assert rows["drawings"].endswith("Drawings")
