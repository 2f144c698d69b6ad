"""The page of all systems says what score files say."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from scripts import ROOT, benchmark_script

from spanproto.experiments.foreign_choices import FOREIGN_DOMAINS
from spanproto.paper.scores import Scores

SPREAD, ARROW, MINUS = "\N{PLUS-MINUS SIGN}", "\N{RIGHTWARDS ARROW}", "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
UNSEEN = ("news-1", "wiki-1", "social-1")


@pytest.fixture
def figures():
    return benchmark_script("system_figures")


@pytest.fixture
def distances():
    return benchmark_script("system_distances")


@pytest.fixture
def trainings():
    return benchmark_script("system_trainings")


def write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    provenance = {"seed": 12, "hardware": {"gpu": "a GPU"}}
    path.write_text(json.dumps({**content, "provenance": provenance}), "utf-8")


def score(f1: float, std: float = 10.0, episodes: int = 100, steps: int = 300) -> dict[str, Any]:
    training = {"steps": steps, "episodes_per_step": 4, "learning_rate": 1.5e-4}
    config = {"encoder": {"name": "some-encoder"}}
    return {
        "micro": {"f1": f1},
        "episode_f1": {"mean": f1, "std": std},
        "episodes": episodes,
        "protocol": "crossdomain",
        "model": {"config": config, "origin": {"training_config": training}},
        "adaptation": None,
    }


@pytest.fixture
def scores(tmp_path: Path) -> Scores:
    measured = {("protobert", 12): 30.0, ("protobert", 21): 32.0, ("l-tapnet-cdt", 12): 41.0}
    for (system, seed), f1 in measured.items():
        write(tmp_path / "baselines" / "news-1" / f"{system}.{seed}.json", score(f1))
    return Scores(tmp_path)


def run(scores: Scores, system: str, by_column: dict[str, float], **rest: Any) -> None:
    for column, f1 in by_column.items():
        write(scores.results / "baselines" / column / f"{system}.12.json", score(f1, **rest))


def judge(scores: Scores, column: str, scoring: str, f1: float, std: float = 10.0) -> None:
    path = scores.results / "schedules" / f"{column}-valid" / f"{scoring}.12.json"
    write(path, score(f1, std))


def test_what_knows_more_of_the_training_sentences_is_marked(figures, scores: Scores) -> None:
    for column, f1 in {"inter-5w1": 60.0, "inter-5w5": 70.0, "news-1": 50.0}.items():
        write(scores.results / "fewnerd" / column / "words-adapted.12.json", score(f1))
    found = Scores(scores.results)
    assert figures.entry(found, "words-adapted", "inter-5w1") == "**60.00** ‡"
    assert figures.entry(found, "words-adapted", "news-1") == "**50.00**"
    shown = dict(figures.summary_table(found).rows)[figures.SYSTEMS["words-adapted"]]
    assert shown == ["not run yet", "not run yet", "65.0 ‡"]


def test_measured_figures_stand_beside_published_ones(figures, scores: Scores) -> None:
    assert figures.entry(scores, "protobert", "news-1") == f"**31.00** {SPREAD} 1.41 (32.49)"
    assert figures.entry(scores, "esd", "news-1") == "not run yet"


def test_the_papers_figure_stands_beside_the_papers_system_alone(figures, scores: Scores) -> None:
    for system in ("spanproto", "spanproto-adapted"):
        run(scores, system, {"news-1": 40.0})
    assert figures.entry(scores, "spanproto", "news-1") == "**40.00** (47.70)"
    assert figures.entry(scores, "spanproto-adapted", "news-1") == "**40.00**"


def test_figures_are_of_the_seeds_that_all_systems_have(figures, scores: Scores) -> None:
    folder = scores.results / "crossdomain" / "news-1"
    for seed, f1 in ((12, 40.0), (42, 50.0), (87, 90.0)):
        write(folder / f"spanproto.{seed}.json", score(f1))
    assert figures.measured_figures(scores, "spanproto", "news-1") == (40.0, 50.0)


def test_a_mean_has_the_errors_of_episodes_and_seeds(figures, scores: Scores) -> None:
    run(scores, "esd", {"news-1": 20.0, "wiki-1": 10.0}, std=8.0, episodes=64)
    mean = figures.benchmark_mean(scores, "esd", ["news-1", "wiki-1"])
    assert mean.f1 == 15.0
    assert mean.error == pytest.approx(math.sqrt(0.5))  # 1 in each of two columns, one seed
    mean = figures.benchmark_mean(scores, "protobert", ["news-1"])
    assert mean.error == pytest.approx(math.sqrt(2))  # 1 over episodes, and 1 over two seeds
    assert str(mean) == f"31.0 {SPREAD} 1.4"
    assert figures.benchmark_mean(scores, "protobert", ["news-1", "wiki-1"]) is None


def test_the_order_goes_by_what_settings_were_not_chosen_on(figures, scores: Scores) -> None:
    run(scores, "esd", {**dict.fromkeys(UNSEEN, 20.0), "ontonotes-1": 80.0})
    run(scores, "decommeta", {**dict.fromkeys(UNSEEN, 30.0), "ontonotes-1": 10.0})
    table = figures.benchmark_table(scores, (*UNSEEN, "ontonotes-1"))
    assert table.heading[-2:] == ("mean", "mean without OntoNotes †")
    rows = dict(table.rows)
    assert list(rows)[:2] == ["DecomMeta", "ESD"]
    assert rows["DecomMeta"][-2:] == [f"25.0 {SPREAD} 0.5", f"30.0 {SPREAD} 0.6"]
    assert rows["ESD"][-2:] == [f"35.0 {SPREAD} 0.5", f"20.0 {SPREAD} 0.6"]
    assert rows["ProtoBERT"][-2:] == ["", ""]
    summary = figures.summary_table(scores)
    assert summary.heading[:2] == ("mean F1", "Cross-domain, 1-shot, without OntoNotes")
    assert [(title, cells[0]) for title, cells in summary.rows[:2]] == [
        ("DecomMeta", "30.0"),
        ("ESD", "20.0"),
    ]


def test_neighbours_within_their_errors_are_level(figures, scores: Scores) -> None:
    columns = ["inter-5w1"]
    for system, f1 in (("esd", 40.0), ("decommeta", 38.6), ("container", 37.0)):
        run(scores, system, {"inter-5w1": f1})  # with an error of 1
    assert figures.level(scores, columns) == "Level with the row above: DecomMeta."
    run(scores, "container", {"inter-5w1": 37.0}, std=20.0)
    found = figures.level(Scores(scores.results), columns)
    assert found == "Level with the row above: DecomMeta; CONTaiNER."
    assert figures.level(scores, ["inter-5w5"]) == "Level with the row above: none."


def test_systems_are_ranked_and_set_against_protobert(figures, distances, scores: Scores) -> None:
    table = figures.benchmark_table(scores, ["news-1"])
    assert [name for name, _ in table.rows][:2] == ["L-TapNet+CDT", "ProtoBERT"]
    gap = f"+11.8 {ARROW} +10.0"
    assert distances.gaps(scores, "l-tapnet-cdt", ["news-1"]) == gap
    assert distances.gaps(scores, "l-tapnet-cdt", ["news-1", "inter-5w1"]) == gap  # not published
    assert distances.gaps(scores, "l-tapnet-cdt", ["news-1", "wiki-1"]) == ""  # not measured


def test_distances_are_shown_by_column_and_of_no_other_variant(distances, scores: Scores) -> None:
    run(scores, "protobert", {"wiki-1": 10.0})
    run(scores, "l-tapnet-cdt", {"wiki-1": 8.0})
    for system in ("spanproto", "spanproto-fitted", "spanproto-adapted", "words-adapted"):
        run(scores, system, {"wiki-1": 12.0})
    crossdomain, *_ = distances.distance_tables(scores)
    rows = dict(crossdomain.rows)
    beside = [f"+11.8 {ARROW} +10.0", f"+8.1 {ARROW} {MINUS}2.0", "", "", "", ""]
    assert rows["L-TapNet+CDT"] == beside
    assert rows["SpanProto, adapted, decision fitted"][1] == f"+16.0 {ARROW} +2.0"
    assert rows.keys() == {"L-TapNet+CDT", "SpanProto", "SpanProto, adapted, decision fitted"}


def test_what_other_settings_give_protobert_is_of_the_same_seeds(distances, scores: Scores) -> None:
    assert distances.reference_gains(scores) == ""
    run(scores, "protobert-alike", {"news-1": 39.0})  # 30 with the same seed, 31 on average
    run(scores, "protobert-alike", {"inter-5w1": 50.0})
    said = distances.reference_gains(scores)
    assert "with one shot it gains 9 on News (CoNLL-03)." in said
    run(scores, "protobert", {"inter-5w1": 37.0})
    run(scores, "nnshot-alike", {"inter-5w1": 20.0})
    run(scores, "nnshot", {"inter-5w1": 40.0})
    now = Scores(scores.results)
    said = distances.reference_gains(now)
    assert "with one shot it gains 9 to 13 on News (CoNLL-03) and INTER." in said
    table = distances.settings_table(now)
    assert table.heading == ("", "News (CoNLL-03) 1-shot", "INTER 5-way 1~2-shot")
    assert dict(table.rows) == {
        "ProtoBERT": [f"30.0 {ARROW} 39.0", f"37.0 {ARROW} 50.0"],
        "NNShot": ["not run yet", f"40.0 {ARROW} 20.0"],
    }


def test_what_protobert_gains_is_told_apart_from_what_it_loses(distances, scores: Scores) -> None:
    own = {"wiki-1": 10.0, "social-1": 20.0, "news-5": 40.0, "wiki-5": 20.0, "inter-5w5": 50.0}
    changed = {"wiki-1": 10.1, "social-1": 29.0, "news-5": 34.0, "wiki-5": 14.2, "inter-5w5": 53.0}
    run(scores, "protobert", own)
    run(scores, "protobert-alike", changed)
    said = " ".join(distances.reference_gains(scores).split())
    assert "with one shot it gains 0 to 9 on Wiki (GUM) and Social (WNUT-17); with five" in said
    assert "with five it gains 3 on INTER and loses 6 on News (CoNLL-03) and Wiki (GUM)." in said
    run(scores, "protobert-alike", {"wiki-1": 7.0, "social-1": 19.0})
    said = " ".join(distances.reference_gains(Scores(scores.results)).split())
    assert "with one shot it loses 1 to 3 on Wiki (GUM) and Social (WNUT-17); with five" in said


def test_the_summary_leaves_second_forms_of_others_out(figures, scores: Scores) -> None:
    run(scores, "protobert-alike", dict.fromkeys(UNSEEN, 20.0))
    assert [title for title, _ in figures.summary_table(scores).rows] == [
        "ProtoBERT",
        "L-TapNet+CDT",
    ]
    titles = [title for title, _ in figures.benchmark_table(scores, UNSEEN).rows]
    assert titles[0] == "ProtoBERT, trained as SpanProto is"


def test_schedules_are_read_from_the_runs(trainings, scores: Scores) -> None:
    for steps, f1 in ((150, 9.04), (300, 9.96)):
        judge(scores, "news-1", f"protobert-{steps}", f1)
    rows = dict(trainings.schedule_table(scores).rows)
    assert rows["ProtoBERT"] == [
        "300 steps of 4 episodes, 1.5e-4",
        *3 * ["not run yet"],
        "1e-4",
    ]
    assert rows.keys() == {"ProtoBERT", "L-TapNet+CDT"}
    lengths = dict(trainings.length_table(scores).rows)
    assert lengths["ProtoBERT"] == [f"9.0 {ARROW} 10.0 {ARROW} not run yet", "", ""]
    assert lengths["DecomMeta, 40 steps of fine-tuning, whole"] == ["", "", ""]


def test_five_shots_are_judged_without_a_longer_fine_tuning(trainings, scores: Scores) -> None:
    columns = ("news-1", "inter-5w1", "inter-5w5")
    for system in ("protobert", "decommeta"):
        run(scores, system, dict.fromkeys(columns, 50.0))
    table = trainings.length_table(scores)
    assert [head.split(", ")[1] for head in table.heading[1:]] == [
        "News (CoNLL-03) 1-shot",
        "INTER 5-way 1~2-shot",
        "INTER 5-way 5~10-shot",
    ]
    longer = "DecomMeta, 40 steps of fine-tuning, whole"
    assert dict(table.rows) == {longer: ["not run yet", "not run yet", ""]}
    for steps, f1 in ((150, 58.0), (300, 60.0), (600, 61.0)):
        judge(scores, "inter-5w5", f"protobert-{steps}", f1)
    judge(scores, "inter-5w5", "decommeta-300-tuned-40", 99.0)  # not among what is tried
    rows = dict(trainings.length_table(Scores(scores.results)).rows)
    assert rows["ProtoBERT"] == ["", "", f"58.0 {ARROW} 60.0 {ARROW} 61.0"]
    assert rows[longer] == ["not run yet", "not run yet", ""]


def test_of_a_training_too_long_to_be_doubled_half_and_whole_are_told(
    trainings, scores: Scores
) -> None:
    intro = f"A dash: not run; half {ARROW} whole is all there is to go by. "
    run(scores, "decommeta", {"inter-5w1": 59.0})
    assert trainings.flat_by_half(scores) == ""
    judge(scores, "inter-5w1", "decommeta-150", 52.0, std=20.0)
    assert trainings.flat_by_half(scores) == ""  # the whole is lacking
    judge(scores, "inter-5w1", "decommeta-300", 53.0, std=18.0)
    decommeta = (
        f"DecomMeta on INTER 5-way 1~2-shot: 52.0 {ARROW} 53.0, with standard errors of "
        "2.0 and 1.8, it does not rise by more than their sum"
    )
    assert " ".join(trainings.flat_by_half(scores).split()) == f"{intro}{decommeta}."
    lengths = dict(trainings.length_table(scores).rows)
    assert lengths["DecomMeta"] == ["", f"52.0 {ARROW} 53.0 {ARROW} {DASH}", ""]
    run(scores, "decommeta", {"inter-5w5": 59.0})
    judge(scores, "inter-5w5", "decommeta-150", 58.0)  # with an error of 1
    judge(scores, "inter-5w5", "decommeta-300", 60.1)
    now = Scores(scores.results)
    five = (
        f"DecomMeta on INTER 5-way 5~10-shot: 58.0 {ARROW} 60.1, with standard errors of "
        "1.0 and 1.0, it rises by more than their sum"
    )
    assert " ".join(trainings.flat_by_half(now).split()) == f"{intro}{decommeta}; {five}."
    lengths = dict(trainings.length_table(now).rows)
    assert lengths["DecomMeta"][2] == f"58.0 {ARROW} 60.1 {ARROW} {DASH}"


def test_other_settings_stand_below_those_of_the_tables(trainings, scores: Scores) -> None:
    judge(scores, "news-1", "l-tapnet-cdt-tables", 15.58)
    judge(scores, "news-1", "l-tapnet-cdt-alone", 13.4)
    judge(scores, "ontonotes-1", "l-tapnet-cdt-alone", 30.0)
    judge(scores, "inter-5w1", "l-tapnet-cdt-alone", 99.0)  # not among what is tried
    judge(scores, "inter-5w1", "nnshot-own-loss-structshot", 43.65)
    rows = trainings.variant_table(scores).rows
    titles = [title for title, _ in rows]
    own = titles.index("L-TapNet+CDT, as in the tables")
    assert rows[own][1] == ["15.6", "", "not run yet"]
    assert rows[own + 1] == ("L-TapNet+CDT, sentences encoded by themselves", ["13.4", "", "30.0"])
    assert rows[own + 2][1] == ["not run yet", "", "not run yet"]
    assert dict(rows)["StructShot, trained by the nearest words as NNShot"] == ["not run yet", "43.6", ""]
    assert len([title for title in titles if title.endswith("classifier, as in the tables")]) == 1


def test_more_fine_tuning_with_five_shots_is_shown_by_domain(trainings, scores: Scores) -> None:
    for f1, domain in enumerate(FOREIGN_DOMAINS):
        for name, base in (("protobert", 20.0), ("decommeta", 10.0)):
            write(
                scores.results / "schedules" / f"wiki-5-{domain}" / f"{name}.12.json",
                score(base + f1),
            )
    table = trainings.foreign_table(scores)
    assert table.heading[-1] == "mean"
    assert dict(table.rows) == {
        "ProtoBERT": ["20.0", "21.0", "22.0", "23.0", "24.0", "25.0", "22.5"],
        "DecomMeta": ["10.0", "11.0", "12.0", "13.0", "14.0", "15.0", "12.5"],
        "DecomMeta, 40 steps": [*6 * ["not run yet"], ""],
    }


def test_validation_episodes_are_counted_and_their_errors_shown(trainings, scores: Scores) -> None:
    assert trainings.validation_episodes(scores) == "not run yet"
    judge(scores, "news-1", "esd-250", 20.0, std=12.0)
    judge(scores, "news-1", "esd-125", 20.0, std=4.0)
    assert (
        trainings.validation_episodes(scores)
        == "100 of OntoNotes, with standard errors of 0.4 to 1.2"
    )
    judge(scores, "inter-5w5", "esd-300", 20.0, std=9.0)
    assert trainings.validation_episodes(Scores(scores.results)).split("; ")[1:] == [
        "100 of Few-NERD's dev types for five shots, with standard errors of 0.9 to 0.9"
    ]


def test_what_was_trained_twice_is_compared(trainings, scores: Scores) -> None:
    assert trainings.repeats(scores) == "not run yet"
    for system, first, again in (("protobert", 13.0, 13.5), ("l-tapnet-cdt", 17.0, 15.0)):
        run(scores, system, {"ontonotes-1": first})
        judge(scores, "news-1", f"{system}-300", again)
        judge(scores, "news-1", f"{system}-600", 50.0)  # another training
    assert trainings.repeats(scores) == "L-TapNet+CDT 2.0, ProtoBERT 0.5"
    judge(scores, "news-1", "l-tapnet-cdt-tables", 14.0)  # the same a third time
    judge(scores, "news-1", "l-tapnet-cdt-batch", 40.0)  # another
    assert trainings.repeats(scores) == "L-TapNet+CDT 3.0, ProtoBERT 0.5"


def test_what_was_given_up_stands_beside_what_took_its_place(scores: Scores) -> None:
    folder = scores.results / "given-up" / "news-1"
    for name, f1, steps in (
        ("protobert.12.1234567", 27.0, 100),
        ("protobert.21.7654321", 37.0, 100),
        ("protobert.12.7777777", 33.0, 200),
        ("esd.12.1234567", 20.0, 100),
        ("l-tapnet-cdt.12.1234567", 40.0, 100),
        ("words-even.12.1234567", 50.0, 100),  # which is none of the systems
    ):
        write(folder / f"{name}.json", {**score(f1, steps=steps), "scoring": name.split(".")[0]})
    table = benchmark_script("system_given_up").given_up_table(scores)
    assert {title: row[0] for title, row in table.rows} == {
        "ProtoBERT, 100 steps, 1.5e-4": f"32.0 {ARROW} 31.0",  # of both seeds
        "ProtoBERT, 200 steps, 1.5e-4": f"33.0 {ARROW} 30.0",  # of the first alone
        "ESD, 100 steps, 1.5e-4": f"20.0 {ARROW} not run yet",
        "L-TapNet+CDT, 100 steps, 1.5e-4, names as they stand": f"40.0 {ARROW} 41.0",
    }
    assert not any(cell for _, row in table.rows for cell in row[1:])


def test_what_is_fine_tuned_and_how_is_read_from_the_runs(trainings, scores: Scores) -> None:
    assert trainings.tuning_table(scores).rows == []
    path = scores.results / "baselines" / "news-1" / "token-classifier.12.json"
    tuning = {"tune": "top", "top_layers": 6}
    rates = {"learning_rate": 1e-4, "head_learning_rate": 5e-3}
    write(path, {"adaptation": {"steps": 60, "tuning": tuning, **rates}})
    all_layers = {"steps": 200, "tuning": {"tune": "all", "top_layers": 4}}
    content = {"adaptation": {**all_layers, "learning_rate": 5e-5, "head_learning_rate": None}}
    write(scores.results / "baselines" / "inter-5w5" / "container.12.json", content)
    rows = dict(trainings.tuning_table(Scores(scores.results)).rows)
    assert rows == {
        "token classifier": [
            "60 steps, top 6 layers, 1e-4, heads 5e-3",
            *3 * ["not run yet"],
        ],
        "CONTaiNER": [
            *3 * ["not run yet"],
            "until its loss rises, at most 200 steps, all layers, 5e-5",
        ],
    }


def test_a_page_can_be_written_as_soon_as_anything_is_measured(scores: Scores) -> None:
    page = benchmark_script("systems").page(scores.results)
    assert "| L-TapNet+CDT | **41.00** (44.30) |" in page
    assert "encoder some-encoder" in page


def test_the_page_is_made_from_the_measured_files() -> None:
    written = (ROOT / "results" / "systems.md").read_text("utf-8")
    assert written == benchmark_script("systems").page()
