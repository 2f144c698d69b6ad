"""A table filled cell by cell: trained, scored, kept, and not done twice."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from spanproto.centring import RADIUS
from spanproto.config import to_dict
from spanproto.data.episodes import read_supported_episodes
from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Sentence
from spanproto.errors import ConfigError, DataError
from spanproto.experiments.cells import Cell, Grid
from spanproto.experiments.columns import COLUMNS, column_named
from spanproto.experiments.filling import fill
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.setups import require_inputs
from spanproto.experiments.systems import CROSSDOMAIN_1, trained_alike, words_cell
from spanproto.learned_meaning import MapConfig, MeaningMap
from spanproto.meaning import Meaning
from spanproto.methods import method_named
from spanproto.training.settings import RunConfig


def test_a_cell_leaves_its_scores_and_nothing_else(grid: Grid, cell: Cell) -> None:
    fill(grid, [cell], workers=1)
    assert not grid.wants(cell)
    found = {
        scoring.name: json.loads(grid.file(cell, scoring).read_text()) for scoring in cell.scorings
    }
    assert all(content["episodes"] == 2 for content in found.values())
    assert found["plain"]["adaptation"] is None
    assert found["plain"]["model"]["config"]["extractor"]["threshold"] == 0
    assert found["adapted"]["adaptation"]["seed"] == 12
    assert found["oracle"]["candidates"] == "released"
    assert found["plain"]["provenance"]["seed"] == 12
    assert len(found["plain"]["provenance"]["data"]) == 1
    assert found["plain"]["model"]["origin"]["training_config"]["steps"] == 3
    assert not any(grid.runs.rglob("*.safetensors"))


def test_a_cell_is_trained_and_scored_in_the_precision_that_is_asked_for(
    grid: Grid, cell: Cell, trained: list[RunConfig]
) -> None:
    plain = replace(cell, scorings=cell.scorings[:1])
    for precision, on_a_cpu in (("auto", "fp32"), ("bf16", "bf16")):
        other = replace(grid, precision=precision, output=grid.output / precision)
        fill(other, [plain], workers=1)
        content = json.loads(other.file(plain, plain.scorings[0]).read_text())
        assert content["precision"] == on_a_cpu
        assert trained[-1].training.precision == precision


def test_decisions_share_fine_tuned_copies(grid: Grid, cell: Cell, fine_tuned: list[int]) -> None:
    adaptation = {"steps": 2, "learning_rate": 1e-2}
    tuned = Scoring("", adaptation=adaptation, configure=("classifier.reject=false",))
    thetas = {"low": 0.0, "half": 0.5}
    scorings = [
        replace(tuned, name=name, deciding=(f"extractor.threshold={theta}",))
        for name, theta in thetas.items()
    ]
    fill(grid, [replace(cell, scorings=tuple(scorings))], workers=1)
    assert fine_tuned == [2]
    found = {s.name: json.loads(grid.file(cell, s).read_text()) for s in scorings}
    for name, theta in thetas.items():
        assert found[name]["model"]["config"]["extractor"]["threshold"] == theta
        assert found[name]["deciding"] == [f"extractor.threshold={theta}"]
    assert found["low"]["micro"] != found["half"]["micro"]
    own = Scoring("own", adaptation=adaptation, configure=tuned.configure)
    fill(grid, [replace(cell, scorings=(own,))], workers=1)
    assert json.loads(grid.file(cell, own).read_text())["micro"] == found["half"]["micro"]


def test_a_decision_is_fitted_before_a_model_is_scored(grid: Grid, cell: Cell) -> None:
    column = COLUMNS["news-1"]
    (name,) = column.validation["valid"]
    path = grid.data / name
    path.parent.mkdir(parents=True, exist_ok=True)
    write_episodes(path, [synthetic.episode(seed) for seed in range(20, 24)], "crossdomain")
    weighing = ("decision.type_weight=0.5", "decision.floor=0.001")
    scale = Scoring("scale", deciding=weighing, fit_decision=2, evidence=())
    scorings = (
        scale,
        replace(scale, name="boundary", evidence=("boundary",)),
        replace(scale, name="all", evidence=None),
        replace(scale, name="centred", centred=True),
    )
    fill(grid, [replace(cell, scorings=scorings)], workers=1)
    configs = {
        s.name: json.loads(grid.file(cell, s).read_text())["model"]["config"] for s in scorings
    }
    found = {name: config["decision"] for name, config in configs.items()}
    assert {decision["rule"] for decision in found.values()} == {"joint"}
    assert {decision["floor"] for decision in found.values()} == {0.001}
    assert found["scale"]["boundary_weight"] not in (0.0, 1.0)
    assert found["scale"]["type_weight"] == pytest.approx(found["scale"]["boundary_weight"] / 2)
    assert found["boundary"]["type_weight"] == 0 != found["boundary"]["boundary_weight"]
    assert found["all"]["length_weight"] != 0
    spheres = {name: config["classifier"]["sphere"] for name, config in configs.items()}
    assert spheres == {"scale": None, "boundary": None, "all": None, "centred": RADIUS}


def test_what_is_there_is_not_done_again(grid: Grid, cell: Cell, trained: list[RunConfig]) -> None:
    fill(grid, [cell], workers=1)
    grid.file(cell, cell.scorings[1]).unlink()
    before = grid.file(cell, cell.scorings[0]).stat().st_mtime_ns
    assert grid.missing(cell) == [cell.scorings[1]]
    fill(grid, [cell], workers=1)
    assert grid.missing(cell) == []
    assert grid.file(cell, cell.scorings[0]).stat().st_mtime_ns == before
    fill(grid, [cell], workers=1)
    assert len(trained) == 2


def test_scores_of_another_setup_are_refused(grid: Grid, cell: Cell) -> None:
    cell = replace(cell, scorings=cell.scorings[:1])
    fill(grid, [cell], workers=1)
    column, elsewhere = COLUMNS["news-1"], grid.data.parent / "other"
    (elsewhere / column.test_file).parent.mkdir(parents=True)
    write_episodes(elsewhere / column.test_file, [synthetic.episode(9)], "crossdomain")
    with pytest.raises(ConfigError, match=r"training\.steps 3, and now it is 5"):
        fill(grid, [cell.lasting(5)], workers=1)
    for other, words in (
        (replace(grid, encoder="another"), "measured with the encoder"),
        (replace(grid, limit=3), "the episode limit 2"),
        (replace(grid, precision="bf16"), "with precision 'fp32', and now it is 'bf16'"),
        (replace(grid, data=elsewhere), "test data"),
        (replace(grid, quick=True), "measured in full, and now it is to be in the quick form"),
    ):
        with pytest.raises(ConfigError, match=words):
            fill(other, [cell], workers=1)


def test_scores_of_other_settings_are_refused(grid: Grid, cell: Cell) -> None:
    tuned = Scoring("tuned", adaptation={"steps": 2, "tuning": {"tune": "heads"}})
    plain = Scoring("plain", configure=("extractor.threshold=0.4",))
    cell = replace(cell, scorings=(plain, tuned))
    fill(grid, [cell], workers=1)
    assert not grid.wants(replace(cell, scorings=(plain, replace(tuned, evidence=()))))
    memory = {**(tuned.adaptation or {}), "episodes_at_once": 3}
    assert not grid.wants(replace(cell, scorings=(replace(tuned, adaptation=memory),)))
    model = {"classifier": {"representation": "mean"}}
    for other, words in (
        (cell.retrained(cell.system, model, {}, (plain,)), "classifier.representation 'boundary'"),
        (cell.retrained(cell.system, {}, {}, (plain,), {"train_share": 0.5}), "data.train_share"),
        (replace(cell, scorings=(replace(tuned, adaptation=None),)), "fine-tuning True"),
        (
            replace(cell, scorings=(replace(plain, configure=("extractor.threshold=0.6",)),)),
            r"model\.extractor\.threshold 0\.4, and now it is 0\.6",
        ),
        (
            replace(cell, scorings=(replace(tuned, adaptation={"steps": 3}),)),
            "adaptation.steps 2, and now it is 3",
        ),
        (
            replace(cell, scorings=(replace(tuned, adaptation={"steps": 2}),)),
            "adaptation.tuning.tune 'heads', and now it is 'all'",
        ),
    ):
        with pytest.raises(ConfigError, match=words):
            grid.wants(other)


def test_scores_of_a_method_whose_own_settings_were_others_are_refused(
    grid: Grid, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = Cell(
        "container",
        "news-1",
        12,
        {"method": "container", "training": {"steps": 2, "sentences_per_step": 4}},
        (Scoring("container", adaptation={"steps": 1}),),
    )
    fill(grid, [cell], workers=1)
    assert not grid.wants(cell)
    own = method_named("container").training_defaults
    monkeypatch.setattr(method_named("container"), "training_defaults", {**own, "warmup": 0.5})
    with pytest.raises(ConfigError, match=r"training\.warmup .* and now it is 0\.5"):
        grid.wants(cell)


def test_scores_of_another_decision_are_refused(grid: Grid, cell: Cell) -> None:
    (name,) = COLUMNS["news-1"].validation["valid"]
    (grid.data / name).parent.mkdir(parents=True, exist_ok=True)
    episodes = [synthetic.episode(seed) for seed in range(20, 24)]
    write_episodes(grid.data / name, episodes, "crossdomain")
    asking = Scoring("asking", meaning=True, fit_decision=2, evidence=("boundary", "meaning"))
    plain = Scoring("plain", fit_decision=2)
    cell = replace(cell, scorings=(asking, plain))
    fill(grid, [cell], workers=1)
    found = {s.name: json.loads(grid.file(cell, s).read_text()) for s in cell.scorings}
    assert [found[name]["meaning"] for name in ("asking", "plain")] == [True, False]
    assert [found[name]["fitted_on"] for name in ("asking", "plain")] == [2, 2]
    files = [file["name"] for file in found["plain"]["provenance"]["data"]]
    assert files == [Path(file).name for file in (COLUMNS["news-1"].test_file, name)]
    weights = [each["model"]["config"]["decision"]["meaning_weight"] for each in found.values()]
    assert weights[0] != 0 == weights[1]
    assert not grid.wants(cell)
    asked = "the pretrained encoder asked:"
    for other, words in (
        (replace(asking, meaning=False), f"{asked} True, and now it is False"),
        (replace(plain, meaning=True), f"{asked} False, and now it is True"),
        (replace(plain, fit_decision=3), "fitted on so many episodes: 2, and now it is 3"),
        (replace(asking, fit_decision=0), "fitted on so many episodes: 2, and now it is 0"),
        (replace(asking, evidence=("boundary", "type")), "fitted to .'boundary', 'meaning'., and"),
    ):
        with pytest.raises(ConfigError, match=words):
            grid.wants(replace(cell, scorings=(other,)))
    learned = replace(asking, learned=True)
    with pytest.raises(ConfigError, match="a map learned of what it says: None, and now it is"):
        grid.wants(replace(cell, scorings=(learned,)))
    earlier = {key: value for key, value in found["plain"].items() if key != "fitted_on"}
    grid.file(cell, plain).write_text(json.dumps(earlier))  # which did not say
    assert not grid.wants(replace(cell, scorings=(replace(plain, fit_decision=3),)))


def test_what_meanings_tell_types_by_is_learned_once_from_the_cells_training_sentences(
    grid: Grid, cell: Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[set[tuple[str, ...]], int]] = []
    learn = Meaning.learn

    def noting(asked: Meaning, corpora: list[list[Sentence]], seed: int) -> MeaningMap:
        seen.append(({sentence.words for corpus in corpora for sentence in corpus}, seed))
        return learn(asked, corpora, MapConfig(steps=2), seed)

    monkeypatch.setattr(Meaning, "learn", noting)
    learned = Scoring("learned", meaning=True, learned=True)
    tuned = replace(learned, name="tuned", adaptation={"steps": 1})
    cell = replace(cell, scorings=(learned, tuned, replace(learned, name="asked", learned=False)))
    fill(grid, [cell], workers=1)
    (train,) = COLUMNS["news-1"].data["train"]
    episodes = read_supported_episodes(grid.data / train)
    words = {s.words for episode in episodes for s in (*episode.support, *episode.query)}
    assert seen == [(words, 12)]
    found = [json.loads(grid.file(cell, s).read_text())["learned"] for s in cell.scorings]
    assert found == [{**to_dict(MapConfig()), "seed": 12}] * 2 + [None]
    assert not grid.wants(cell)
    path = grid.file(cell, learned)
    other = {**json.loads(path.read_text()), "learned": {**found[0], "mentions": 20}}
    path.write_text(json.dumps(other))
    with pytest.raises(ConfigError, match=r"a map learned of what it says: .*'mentions': 20"):
        grid.wants(cell)


def test_another_training_does_not_go_on_with_one_that_was_stopped(grid: Grid, cell: Cell) -> None:
    stopped = replace(cell, scorings=(Scoring("plain", configure=("no.such=1",)),))
    with pytest.raises(ConfigError, match="no"):
        fill(grid, [stopped], workers=1)
    assert any(grid.runs.rglob("last.safetensors"))
    longer = cell.lasting(4)
    fill(grid, [longer], workers=1)
    assert not grid.wants(longer)


def test_one_training_serves_several_columns(grid: Grid, cell: Cell) -> None:
    tested = grid.data / COLUMNS["ontonotes-1"].test_file
    write_episodes(tested, [synthetic.episode(9)], "crossdomain")
    cell = replace(cell, also=("ontonotes-1",), scorings=cell.scorings[:1])
    assert trained_alike(CROSSDOMAIN_1)[0] == ("news-1", "ontonotes-1")
    fill(grid, [cell], workers=1)
    one, other = (json.loads(grid.file(c, c.scorings[0]).read_text()) for c in cell.by_column())
    assert (one["column"], other["column"]) == ("news-1", "ontonotes-1")
    assert one["model"]["origin"] == other["model"]["origin"]
    assert not grid.wants(cell)
    grid.file(cell.by_column()[1], cell.scorings[0]).unlink()
    assert grid.wants(cell)
    assert not grid.missing(cell)


def test_one_that_fails_lets_the_others_go_on(grid: Grid, cell: Cell) -> None:
    good = replace(cell, scorings=cell.scorings[:1])
    bad = replace(good, column="wiki-1")
    with pytest.raises(DataError, match="no such file, which the column wiki-1 needs"):
        fill(grid, [bad, good], workers=2)
    fitted = replace(good, scorings=(Scoring("fitted", fit_decision=2),))
    with pytest.raises(DataError, match=r"ner_valid_1\.json: no such file"):
        fill(grid, [fitted, good], workers=2)
    assert grid.wants(good)  # since nothing is begun before all is there
    for name in (*COLUMNS["wiki-1"].data["train"], COLUMNS["wiki-1"].test_file):
        (grid.data / name).write_text('{"Wiki": [{"support": {}}]}', "utf-8")
    with pytest.raises(DataError, match="Wiki"):
        fill(grid, [bad, good], workers=2)
    assert grid.wants(bad)
    assert not grid.wants(good)


def test_cells_run_side_by_side(grid: Grid, cell: Cell) -> None:
    cells = [replace(cell, seed=seed, scorings=cell.scorings[:1]) for seed in (12, 21)]
    fill(grid, cells, workers=2)
    assert not any(map(grid.wants, cells))


def test_a_failing_cell_says_why(grid: Grid, cell: Cell) -> None:
    with pytest.raises(DataError, match="no such file"):
        fill(replace(grid, data=grid.data / "elsewhere"), [cell], workers=1)


def test_few_nerd_columns_draw_the_same_episodes_every_time(tmp_path: Path) -> None:
    column = column_named("inter-5w1")
    types = ["art-music", "person-actor", "product-game", "event-election", "building-library"]
    corpus = [
        sentence.with_spans(
            span._replace(label=types[synthetic.TYPES.index(span.label)]) for span in sentence.spans
        )
        for sentence in synthetic.corpus(1, 200, synthetic.TYPES[:5])
    ]
    column = replace(column, test_types=",".join(types))
    (tmp_path / column.test_file).parent.mkdir(parents=True)
    write_sentences(tmp_path / column.test_file, corpus, "fewnerd", merge=True)
    one, other = (column.test_episodes(tmp_path, limit=3) for _ in range(2))
    assert one == other
    assert {len(episode.types) for episode in one} == {5}


def test_scores_of_other_training_episodes_are_refused(grid: Grid, cell: Cell) -> None:
    (plain, *_) = cell.scorings
    one = replace(cell, scorings=(plain,))
    fill(grid, [one], workers=1)
    train = ["crossdomain/1-shot/ner_train_9.json"]
    with pytest.raises(ConfigError, match=r"data\.train .*, and now it is .*ner_train_9"):
        grid.wants(one.retrained(one.system, {}, {}, (plain,), {"train": train}))


def test_doubts_that_are_not_there_are_missed_before_anything_is_trained(tmp_path: Path) -> None:
    cell = words_cell("inter-5w1", 12)
    column = COLUMNS["inter-5w1"]
    for name in (*column.data["train"], *column.validation["valid"], column.test_file):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    with pytest.raises(DataError, match="make partly-labelled"):
        require_inputs(Grid(tmp_path, "none", tmp_path / "out"), [OwnCell.of_benchmark(cell)])
