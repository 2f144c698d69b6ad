"""How systems were trained and what else was tried is said as score files have it."""

import json

import pytest
from score_files import judge, run, score, write
from scripts import benchmark_script

from spanproto.experiments.foreign_choices import FOREIGN_DOMAINS
from spanproto.paper.scores import Scores

SPREAD, ARROW, MINUS = "\N{PLUS-MINUS SIGN}", "\N{RIGHTWARDS ARROW}", "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"


@pytest.fixture
def trainings():
    return benchmark_script("system_trainings")


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


def test_of_averaged_trainings_it_is_said_how_many_there_are(trainings, scores: Scores) -> None:
    title = "SpanProto with words, trained broadly"
    content = {**score(60.0), "averaged": 4 * [{}]}
    write(scores.results / "fewnerd" / "inter-5w1" / "broad-fitted.12.json", content)
    rows = dict(trainings.schedule_table(scores).rows)
    mean = "mean of 4: 300 steps of 4 episodes, 1.5e-4"
    assert rows[title] == ["", "not run yet", mean, "not run yet", ""]


def test_what_was_run_on_a_cpu_is_said(trainings, scores: Scores) -> None:
    assert trainings.without_gpu(scores) == ""
    judge(scores, "news-1", "nnshot-own-loss", 30.0)
    assert trainings.without_gpu(scores) == ""
    path = scores.results / "schedules" / "news-1-valid" / "nnshot-own-loss-structshot.12.json"
    content = {**score(22.0), "provenance": {"seed": 12, "hardware": {"gpu": None, "cpu": "a CPU"}}}
    path.write_text(json.dumps(content), "utf-8")
    title = "StructShot, trained by the nearest words as NNShot"
    assert trainings.without_gpu(scores) == f"On a CPU, in bf16 too: {title}."


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


def test_of_a_training_too_long_to_be_doubled_the_gain_on_half_is_told(
    trainings, scores: Scores
) -> None:
    run(scores, "decommeta", {"inter-5w1": 59.0})
    assert trainings.gained_on_half(scores) == ""
    judge(scores, "inter-5w1", "decommeta-150", 52.0, std=20.0)
    assert trainings.gained_on_half(scores) == ""  # the whole is lacking
    judge(scores, "inter-5w1", "decommeta-300", 53.0, std=15.0)
    once = f"DecomMeta on INTER 5-way 1~2-shot +1.0 {SPREAD} 2.5"  # the root of 2.0^2 + 1.5^2
    assert f"all there is to go by: {once}. " in " ".join(trainings.gained_on_half(scores).split())
    lengths = dict(trainings.length_table(scores).rows)
    assert lengths["DecomMeta"] == ["", f"52.0 {ARROW} 53.0 {ARROW} {DASH}", ""]
    run(scores, "decommeta", {"inter-5w5": 59.0})
    judge(scores, "inter-5w5", "decommeta-150", 60.1)  # with an error of 1
    judge(scores, "inter-5w5", "decommeta-300", 58.0)
    now = Scores(scores.results)
    both = f"{once}, DecomMeta on INTER 5-way 5~10-shot {MINUS}2.1 {SPREAD} 1.4."
    assert both in " ".join(trainings.gained_on_half(now).split())
    lengths = dict(trainings.length_table(now).rows)
    assert lengths["DecomMeta"][2] == f"60.1 {ARROW} 58.0 {ARROW} {DASH}"


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
    assert dict(rows)["StructShot, trained by the nearest words as NNShot"] == [
        "not run yet",
        "43.6",
        "",
    ]
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
        ("protobert.21.1111111", 36.0, 300),  # as it was trained again
        ("words-even.12.1234567", 50.0, 100),  # which is none of the systems
    ):
        write(folder / f"{name}.json", {**score(f1, steps=steps), "scoring": name.split(".")[0]})
    table = benchmark_script("system_given_up").given_up_table(scores)
    assert {title: row[0] for title, row in table.rows} == {
        "ProtoBERT, 100 steps, 1.5e-4": f"32.0 {ARROW} 31.0",  # of both seeds
        "ProtoBERT, 200 steps, 1.5e-4": f"33.0 {ARROW} 30.0",  # of the first alone
        "ProtoBERT, 300 steps, 1.5e-4: the same, run before": f"36.0 {ARROW} 32.0",
        "ESD, 100 steps, 1.5e-4": f"20.0 {ARROW} not run yet",
        "L-TapNet+CDT, 100 steps, 1.5e-4, names as they stand": f"40.0 {ARROW} 41.0",
    }
    assert not any(cell for _, row in table.rows for cell in row[1:])


def test_variants_that_were_run_twice_have_both_scores(scores: Scores) -> None:
    for then, f1 in (
        ("tables.12.1234567", 31.0),  # with names as they stand, which has a name of its own now
        ("written.12.7654321", 34.0),
        ("alone.12.1234567", 28.0),
        ("batch.12.1234567", 29.0),  # of which there is no second score
        ("150.12.1234567", 30.0),  # a length, and no variant
    ):
        path = scores.results / "given-up" / "ontonotes-1-valid" / f"l-tapnet-cdt-{then}.json"
        write(path, score(f1))
    for now, f1 in (("as-they-stand", 32.0), ("tables", 38.0), ("alone", 31.0), ("150", 33.0)):
        judge(scores, "ontonotes-1", f"l-tapnet-cdt-{now}", f1)
    table = benchmark_script("system_given_up").repeated_table(scores)
    assert {title.partition(", ")[2]: row for title, row in table.rows} == {
        "as in the tables": ["", f"34.0 {ARROW} 38.0"],
        "sentences encoded by themselves": ["", f"28.0 {ARROW} 31.0"],
        "types' names as they stand in the data": ["", f"31.0 {ARROW} 32.0"],
    }


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
