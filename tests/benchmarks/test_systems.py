"""The page of all systems says what score files say."""

import math
from pathlib import Path

import pytest
from score_files import run, score, write
from scripts import ROOT, benchmark_script

from spanproto.paper.scores import Scores

SPREAD, ARROW, MINUS = "\N{PLUS-MINUS SIGN}", "\N{RIGHTWARDS ARROW}", "\N{MINUS SIGN}"
BENCHMARK_5 = ("news-5", "wiki-5", "social-5")
UNSEEN = ("news-1", "wiki-1", "social-1")


@pytest.fixture
def figures():
    return benchmark_script("system_figures")


@pytest.fixture
def distances():
    return benchmark_script("system_distances")


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
    run(scores, "nnshot-nearest", dict.fromkeys(UNSEEN, 30.0))
    assert [title for title, _ in figures.summary_table(scores).rows] == [
        "ProtoBERT",
        "L-TapNet+CDT",
    ]
    titles = [title for title, _ in figures.benchmark_table(scores, UNSEEN).rows]
    assert titles[0] == "NNShot, trained by the nearest words"
    assert titles[1] == "ProtoBERT, trained as SpanProto is"


def test_what_is_trained_broadly_comes_first_and_has_no_one_shot_column(
    figures, scores: Scores
) -> None:
    run(scores, "broad-adapted", dict.fromkeys(BENCHMARK_5, 50.0))
    (title, cells), *_ = figures.summary_table(scores).rows
    assert title == "SpanProto with words, trained broadly, adapted, decision fitted"
    assert cells == ["", "50.0", "not run yet"]
    run(scores, "broad-adapted", {"inter-5w1": 60.0, "inter-5w5": 70.0})
    (_, cells), *_ = figures.summary_table(Scores(scores.results)).rows
    assert cells == ["", "50.0", "65.0 ‡"]


def test_settings_of_spanproto_are_counted_once_wherever_they_were_tried(tmp_path: Path) -> None:
    for place in (
        "choices/news-1-valid/first.12",
        "choices/wiki-1-ai/first.12",
        "choices/wiki-1-ai/dense.12",
        "trainings/inter-5w1-valid/longer.12",
        "trainings/inter-5w1-valid/longer.21",
    ):
        write(tmp_path / f"{place}.json", score(1.0))
    assert benchmark_script("systems").settings_tried(tmp_path) == 3


def test_a_page_can_be_written_as_soon_as_anything_is_measured(scores: Scores) -> None:
    page = benchmark_script("systems").page(scores.results)
    assert "| L-TapNet+CDT | **41.00** (44.30) |" in page
    assert "encoder some-encoder" in page


def test_the_page_is_made_from_the_measured_files() -> None:
    written = (ROOT / "results" / "systems.md").read_text("utf-8")
    assert written == benchmark_script("systems").page()
