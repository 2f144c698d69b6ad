"""What cannot be run is refused in one sentence, before anything is written."""

import json
from pathlib import Path

import pytest
from command import refused, spanproto

from spanproto.experiments import cells, trained
from spanproto.experiments.columns import column_named
from spanproto.paper import RECIPES, running
from spanproto.paper.quick import ENCODER, write_sample
from spanproto.paper.recipe import Bench

MEASURING = [name for name, recipe in RECIPES.items() if recipe.reads_data]
TRAINING = [name for name in MEASURING if RECIPES[name].trains]
SEEN = {
    "episodes": 1,
    "words": ["London", "calls"],
    "probabilities": [[0.9, 0.1], [None, 0.1]],
    "labelled": [[0, 1, "location-GPE"]],
    "found": [],
    "column": "inter-5w1",
    "provenance": {"seed": 12, "hardware": {"gpu": None, "cpu": "CPU"}},
}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))  # trainings go to runs/


def left_in(folder: Path) -> list[Path]:
    return [*folder.rglob("*"), *Path().rglob("*")]


def test_bad_input_is_one_sentence(tmp_path: Path) -> None:
    def said(*arguments: object) -> str:
        return refused(spanproto("paper", *arguments, "-o", tmp_path))

    assert "there is no recipe 'margins'; did you mean 'margin'" in said("margins", "--quick")
    assert "give --data DIR, or --quick" in said("margin")
    there = ("margin", "--data", tmp_path)
    assert "there is no column 'news-2'" in said(*there, "--columns", "news-2")
    assert "'x' is not a whole number" in said(*there, "--seeds", "12,x")
    news = ("--columns", "news-1")
    assert "'news-1' is no column that fewnerd can" in said("fewnerd", *there[1:], *news)
    assert "'news-1' is no column that errors can" in said("errors", *there[1:], *news)
    assert "'inter-5w1' is no column that nested" in said(
        "nested", "--quick", "--columns", "inter-5w1"
    )
    wrong = said("crossdomain", "--quick", "--systems", "spanprto")
    assert "trains no system 'spanprto'; did you mean 'spanproto'?" in wrong
    assert "no system 'nnshot'" in said("crossdomain", "--quick", "--systems", "nnshot")
    assert "--seeds: ',' names none" in said(*there, "--seeds", ",")
    assert "has no inter-5w5, but" in said("margin", "--quick", "--columns", "inter-5w5")
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("quick", [["--quick"], []])
def test_a_recipe_that_runs_nothing_has_no_columns_and_systems(
    quick: list[str], tmp_path: Path
) -> None:
    def said(*arguments: str) -> str:
        return refused(spanproto("paper", "drawings", *quick, *arguments, "-o", tmp_path))

    assert "drawings trains no system 'foo'; leave --systems out" in said("--systems", "foo")
    assert "there is no column 'foo'" in said("--columns", "foo")
    assert "'news-1' is no column that drawings can" in said("--columns", "news-1")
    assert left_in(tmp_path) == []
    assert spanproto("paper", "drawings", *quick, "-o", tmp_path).returncode == 0
    assert {path.suffix for path in left_in(tmp_path) if path.is_file()} == {".md", ".json"}


@pytest.mark.parametrize("name", MEASURING)
@pytest.mark.parametrize(
    ("device", "complaint"), [("foo", "device 'foo' is not"), ("cuda", "no usable GPU")]
)
def test_a_device_that_cannot_be_had_is_refused(
    name: str, device: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    data, output = tmp_path / "data", tmp_path / "results"
    write_sample(data)
    full = ("--data", data, "--encoder", ENCODER)
    for form in (("--quick",), full):
        command = ("paper", name, "drawings", "--report", *form, "--device", device, "-o", output)
        assert complaint in refused(spanproto(*command))
    assert left_in(output) == []


def test_columns_may_be_those_of_one_of_the_recipes(tmp_path: Path) -> None:
    nested = ("--columns", "nested-sample-1", "--systems", "none")
    said = refused(spanproto("paper", "fewnerd", "nested", "--quick", *nested, "-o", tmp_path))
    assert "trains no system 'none'" in said  # so the column is one
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("name", MEASURING)
def test_a_recipe_without_its_data_says_so_alone(name: str, there: bool, tmp_path: Path) -> None:
    data, output = tmp_path / "data", tmp_path / "results"
    if there:
        data.mkdir()
    command = ("paper", name, "--report", "--data", data, "--encoder", ENCODER, "-o", output)
    assert str(data) in refused(spanproto(*command))
    assert left_in(output) == []


@pytest.mark.parametrize("name", TRAINING)
def test_the_quick_form_without_its_encoder_says_so_alone(name: str, tmp_path: Path) -> None:
    encoder, output = tmp_path / "nowhere", tmp_path / "results"
    command = ("paper", name, "--quick", "--encoder", encoder, "-o", output)
    assert "nowhere': no such directory" in refused(spanproto(*command))
    assert left_in(output) == []


def test_data_in_domains_are_left_alone_without_an_encoder(tmp_path: Path) -> None:
    for name, requests in (("weather", 12), ("music", 12), ("news", 3)):
        rows = "".join(f"{name}{at}\tB-{name}\nplease\tO\n\n" for at in range(requests))
        (tmp_path / f"{name}.conll").write_text(rows)
    output = tmp_path / "results"
    command = ("paper", "slot-filling", "--data", tmp_path, "--encoder", tmp_path / "nowhere")
    few = refused(spanproto(*command, "-o", output))
    assert "of the domain 'news' leave none to ask about after 5 example(s)" in few
    one = ("--columns", "slots-1-music")
    assert "no such directory" in refused(spanproto(*command, *one, "-o", output))
    assert left_in(output) == []


def test_an_encoder_that_is_not_there_is_complained_of_once(tmp_path: Path) -> None:
    write_sample(tmp_path / "data")
    there = ("--data", tmp_path / "data", "--encoder", tmp_path / "nowhere", "-o", tmp_path / "out")
    both = spanproto("paper", "margin", "ablation", *there, "--columns", "news-1")
    assert "no such directory" in refused(both)
    other = refused(spanproto("paper", "margin", *there, "--columns", "news-5"))
    assert "no such file, which the column news-5 needs; check --data" in other


def test_the_recipes_that_have_their_data_are_run(tmp_path: Path, tiny_encoder: Path) -> None:
    data, output = tmp_path / "data", tmp_path / "results"
    write_sample(data)
    there = ("--data", data, "--encoder", tiny_encoder, "-o", output)
    done = spanproto("paper", "drawings", "nested", "datasets", "slot-filling", *there)
    assert done.returncode == 2
    without, corpora = done.stderr.strip().splitlines()
    assert "snips: no such folder" in without
    assert "no such file, which the column nested-GENIA-1 needs" in corpora
    written = {path.name for path in (output / "paper").glob("*.md")}
    assert written == {"drawings.md", "datasets.md"}
    assert "Nested NER".upper() not in done.stdout


def test_a_recipe_that_fails_with_nothing_measured_has_no_page(tmp_path: Path) -> None:
    data, output = tmp_path / "data", tmp_path / "results"
    corpus = data / column_named("news-1").test_file
    corpus.parent.mkdir(parents=True)
    corpus.write_text("{")
    there = ("--report", "--data", data, "-o", output)
    assert corpus.name in refused(spanproto("paper", "datasets", *there))
    assert left_in(output) == []
    done = spanproto("paper", "drawings", "datasets", *there)
    assert done.returncode == 2
    assert corpus.name in done.stderr
    assert {path.name for path in (output / "paper").iterdir()} == {"drawings.md", "drawings.json"}


def test_a_recipe_that_has_half_of_its_data_shows_that_half(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, output = tmp_path / "data", tmp_path / "results"
    write_sample(data)
    filled: list[str] = []

    def look(grid: cells.Grid, todo: list[cells.Cell], workers: int) -> None:
        for cell in todo:
            filled.append(cell.column)
            path = grid.file(cell, cell.scorings[0])
            path.parent.mkdir(parents=True)
            path.write_text(json.dumps(SEEN))

    monkeypatch.setattr(running, "fill", look)
    there = ("--data", data, "--encoder", tiny_encoder, "-o", output)
    done = spanproto("paper", "boundary-matrix", *there)
    assert done.returncode == 2
    assert "no such file, which the column nested-GUM-5 needs" in done.stderr
    assert filled == ["inter-5w1"]
    assert (output / "paper" / "boundary-matrix.md").exists()


def test_a_recipe_that_fails_in_the_middle_shows_what_was_measured(
    tmp_path: Path, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train_some(run: dict[str, dict[str, object]]) -> Path:
        if "margin-2" in str(run["training"]["output"]):
            raise RuntimeError("out of memory")
        return really_train(run)

    really_train = trained.train_run
    monkeypatch.setattr(trained, "train_run", train_some)
    command = ("paper", "margin", "--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    with pytest.raises(RuntimeError, match="out of memory"):
        spanproto(*command)
    content = json.loads((tmp_path / "paper" / "margin.json").read_text("utf-8"))
    assert len(content["sources"]) == 15  # all but three of 18


@pytest.mark.parametrize("arguments", [["--report"], ["drawings"], ["margin", "--draw-only"]])
def test_the_quick_form_does_not_stamp_what_was_measured_in_full(
    arguments: list[str], tmp_path: Path
) -> None:
    score = tmp_path / "fewnerd" / "intra-5w5" / "spanproto.87.json"
    score.parent.mkdir(parents=True)
    score.write_text(json.dumps({"micro": {"f1": 50.0}, "provenance": {}}))
    said = refused(spanproto("paper", *arguments, "--quick", "-o", tmp_path))
    assert "the two do not mix" in said
    assert [path for path in left_in(tmp_path) if path.is_file()] == [score]


def test_an_output_that_is_a_file_is_refused_before_any_training(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine", "utf-8")
    for form in (["--quick"], ["--data", str(tmp_path)], ["--draw-only"]):
        assert "taken is a file; name a folder" in refused(
            spanproto("paper", "margin", *form, "-o", taken)
        )
    assert taken.read_text("utf-8") == "mine"


@pytest.mark.parametrize("option", ["--columns=inter-5w1", "--systems=spanproto", "--seeds=12"])
def test_drawing_takes_all_that_was_measured(option: str, tmp_path: Path) -> None:
    said = refused(spanproto("paper", "margin", "--draw-only", option, "-o", tmp_path))
    assert "--draw-only writes from all that was measured; leave out" in said
    assert left_in(tmp_path) == []


def test_systems_asked_for_alone_are_run_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []
    monkeypatch.setattr(running, "fill", lambda *_: run.append("cells"))
    for recipe in ("nested", "boundary-matrix"):
        monkeypatch.setattr(
            type(RECIPES[recipe]), "run", lambda self, _: run.append(self.name), raising=True
        )
    names = ("fewnerd", "nested", "boundary-matrix")
    spanproto("paper", *names, "--quick", "--systems", "protobert", "-o", tmp_path)
    assert run == ["cells"]


def test_the_nested_sentence_is_a_column_of_its_own(tiny_encoder: Path, tmp_path: Path) -> None:
    recipe = RECIPES["boundary-matrix"]
    bench = Bench(tmp_path, str(tiny_encoder), tmp_path, columns=("inter-5w1",), quick=True)
    assert recipe.takes("nested-sample-1", bench)
    recipe.run(bench)  # of Few-NERD alone: nothing of its own
    assert left_in(tmp_path) == []
