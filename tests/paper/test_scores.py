# ruff: noqa: RUF001 (a minus sign is what is printed)
"""Score files, found by column and scoring wherever they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from spanproto.experiments.columns import COLUMNS
from spanproto.paper import RECIPES
from spanproto.paper.ablation import FEWNERD as ABLATION
from spanproto.paper.ablation import SHORT
from spanproto.paper.comparison import Row, averages, comparison, comparison_table, remarks
from spanproto.paper.errors import Errors
from spanproto.paper.hyper_parameters import THRESHOLDS, HyperParameters
from spanproto.paper.margin import Margin
from spanproto.paper.page import Entry
from spanproto.paper.recipe import Bench
from spanproto.paper.scores import Scores
from spanproto.paper.sweeps import Best, Series, best_settings, columns_with, sweep_table

CONFIG = {
    "encoder": {"name": "models/tiny"},
    "extractor": {"threshold": 0.5, "loss": "two-sided"},
    "classifier": {"reject": False, "projection": "linear"},
    "objective": {"extractor_steps": 100, "extractor_data": "support+query", "negatives": 0.3},
}


def put(results: Path, place: str, f1: float, seed: int = 12, **more: Any) -> Path:
    """A score file with as much as is needed."""
    path = results / f"{place}.{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "micro": {"f1": f1},
        "extraction": None,
        "provenance": {"seed": seed, "hardware": {"gpu": None, "cpu": "a CPU"}},
        "model": {"config": CONFIG},
        **more,
    }
    path.write_text(json.dumps(content), "utf-8")
    return path


def test_the_seeds_of_a_scoring_are_told_from_other_names(tmp_path: Path) -> None:
    for place, f1, seed in (
        ("theta-0.5", 1.0, 21),
        ("theta-0.5", 2.0, 12),
        ("theta-0.55", 3.0, 12),
        ("theta-0", 4.0, 12),
        ("theta-0.5-adapted", 5.0, 12),
    ):
        put(tmp_path, f"paper/cells/news-1/{place}", f1, seed)
    scores = Scores(tmp_path)
    assert scores.values("news-1", "theta-0.5", "micro", "f1") == (2.0, 1.0)
    assert scores.values("news-1", "theta-0", "micro", "f1") == (4.0,)
    assert scores.values("news-1", "theta-0", "extraction", "f1") == ()
    assert scores.values("wiki-1", "theta-0", "micro", "f1") == ()
    assert len(scores.sources) == 3
    assert scores.described() == (
        "Measured with encoder tiny, seeds 12, 21, on a CPU. A figure without a spread is of one "
        "seed."
    )
    assert Scores(tmp_path).described() == "Not run yet."


def test_runs_of_the_tables_count_before_those_of_recipes(tmp_path: Path) -> None:
    put(tmp_path, "paper/cells/news-1/spanproto", 1.0)
    put(tmp_path, "paper/cells/news-1/spanproto", 2.0, seed=21)
    put(tmp_path, "crossdomain/news-1/spanproto", 3.0)
    assert Scores(tmp_path).values("news-1", "spanproto", "micro", "f1") == (3.0, 2.0)


def test_systems_by_columns_with_a_sentence_on_each(tmp_path: Path) -> None:
    columns = ("news-1", "wiki-1", "news-5", "ontonotes-5")
    rows = [
        Row("esd", "ESD", dict.fromkeys(columns, 50.0), "of another encoder"),
        Row("spanproto", "SpanProto", {"news-1": 40.0}, "of nothing"),
        Row("unknown", "unknown"),
    ]
    for column, f1 in (("news-1", 40.0), ("wiki-1", 56.0), ("news-5", 20.0)):
        put(tmp_path, f"baselines/{column}/esd", f1)
    left, right = comparison(Scores(tmp_path), rows, columns)
    assert left.heading == ("", "News (CoNLL-03) 1-shot", "Wiki (GUM) 1-shot", "mean")
    assert left.texts()[1:] == [
        ["ESD", "50.00 → 40.00 (−10.00)", "50.00 → 56.00 (+6.00)", "50.00 → 48.00 (−2.00)"],
        ["SpanProto", "40.00 → not run yet", "not run yet", "40.00 → not run yet"],
    ]
    assert right.texts()[1] == [
        "ESD",
        "50.00 → 20.00 (−30.00)",
        "50.00 → no data",
        "50.00 → 20.00 (−30.00)",
    ]
    assert remarks(rows, [left, right]) == [
        "ESD: on average over 3 figures 11.3 points below the published figure (−30.0 on News "
        "(CoNLL-03) 5-shot to +6.0 on Wiki (GUM) 1-shot); of another encoder."
    ]
    assert left.to_dict()["rows"][0].keys() == {"system", "news-1", "wiki-1", "mean"}


def test_an_average_is_one_of_all_its_columns(tmp_path: Path) -> None:
    rows = [Row("esd", "ESD", {"5-shot": 30.0})]

    def shown() -> str:
        return averages(Scores(tmp_path), rows, ["5-shot"]).texts()[1][1]

    assert shown() == "30.00 → not run yet"
    put(tmp_path, "baselines/news-5/esd", 10.0)
    put(tmp_path, "baselines/wiki-5/esd", 20.0)
    assert shown() == "30.00 → not run yet (2 of 3 columns)"
    put(tmp_path, "baselines/social-5/esd", 60.0)
    assert shown() == "30.00 → 30.00"  # the paper's is over four columns


def test_an_average_of_fewer_columns_is_taken_anew_from_the_paper_s_figures(tmp_path: Path) -> None:
    (table, _) = SHORT.page(Scores(tmp_path)).tables
    assert table.heading[-1] == "5-shot (3 columns)"
    assert str(table.rows[0][1][-1]) == "43.65 → not run yet"  # 44.79 with OntoNotes
    assert str(table.rows[0][1][0]) == "56.29 → not run yet"


def test_a_mean_over_columns_keeps_the_spread_of_the_seeds(tmp_path: Path) -> None:
    for seed, f1 in ((12, 30.0), (21, 34.0)):
        for column in ("news-1", "wiki-1"):
            put(tmp_path, f"baselines/{column}/esd", f1, seed)
    table = comparison_table(
        Scores(tmp_path), [Row("esd", "ESD")], ("news-1", "wiki-1"), with_mean=True
    )
    assert table.texts()[1][-1] == "– → 32.00 ± 2.83"


def test_leaving_a_part_out_costs_something_there_and_here(tmp_path: Path) -> None:
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 60.0)
    put(tmp_path, "paper/cells/inter-5w1/margin-3", 58.0)
    put(tmp_path, "paper/cells/inter-5w1/no-margin", 59.0)
    put(tmp_path, "paper/cells/inter-5w1/no-classifier", 50.0)
    (full, _, classifier, margin) = ABLATION.page(Scores(tmp_path)).remarks
    assert full.startswith("SpanProto: 13.4 points below the published figure; ")
    assert classifier.startswith(
        "w/o mention classifier (K-means): on INTER 5-way 1~2-shot it costs 48.0 points in the "
        "paper and costs 10.0 points "
    )
    assert margin.startswith(
        "w/o margin-based learning: on INTER 5-way 1~2-shot it costs 5.3 points in the paper and "
        "gains 1.0 points here, "
        "beside the model that rejects beyond r, and costs 1.0 points beside the first row; F1 is "
        "9.1 points below the published figure; neither the loss nor the rejection is there"
    )


def test_what_a_part_is_worth_is_seen_with_the_same_seeds(tmp_path: Path) -> None:
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 60.0)
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 90.0, seed=21)
    put(tmp_path, "paper/cells/inter-5w1/no-classifier", 50.0)
    put(tmp_path, "paper/cells/inter-5w1/all-spans", 60.4)
    remarks = ABLATION.page(Scores(tmp_path)).remarks
    assert any("costs 48.0 points in the paper and costs 10.0 points here" in r for r in remarks)
    assert any("makes no difference to speak of (+0.4) here" in r for r in remarks)


def test_a_training_that_was_run_again_says_how_far_chance_goes(tmp_path: Path) -> None:
    for name, f1, time in (("spanproto", 57.74, "19:41"), ("margin-3-kept", 57.25, "19:57")):
        model = {"config": CONFIG, "origin": {"time": time}}
        put(tmp_path, f"paper/cells/inter-5w1/{name}", f1, model=model)
    pages = [recipe.page(Scores(tmp_path)) for recipe in (ABLATION, SHORT)]
    for page in pages:
        (said,) = (remark for remark in page.remarks if "trained twice" in remark)
        assert "57.74 and 57.25 on INTER 5-way 1~2-shot" in said
    model = {"config": CONFIG, "origin": {"time": "19:41"}}
    put(tmp_path, "paper/cells/inter-5w1/margin-3-kept", 57.25, model=model)
    assert not any("trained twice" in remark for remark in ABLATION.page(Scores(tmp_path)).remarks)


def test_the_row_of_spanproto_says_all_that_differs(tmp_path: Path) -> None:
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 60.0)
    put(tmp_path, "fewnerd/inter-5w1/spanproto-fitted", 63.0)
    plain, fitted = RECIPES["fewnerd"].page(Scores(tmp_path)).remarks
    assert "T = unknown (2000 in the paper), T' = 100 (200), theta = 0.50 (0.80)" in plain
    assert "nothing is rejected (beyond r = 3)" in plain
    assert "the span loss is two-sided (one sum), words are projected by a linear layer" in plain
    assert "a step sees 30% of the spans apart from entities (all)" in plain
    assert "the extractor learns from query sentences, too" in plain
    assert "+3.0 points on average beside SpanProto as trained" in fitted


def test_the_margins_stand_beside_the_paper_s_averages(tmp_path: Path) -> None:
    for column in ("news-1", "wiki-1", "social-1", "ontonotes-1"):
        put(tmp_path, f"paper/cells/{column}/margin-1", 20.0)
    put(tmp_path, "paper/cells/news-1/margin-2", 10.0)
    whole, news, *_ = (page := Margin().page(Scores(tmp_path))).tables
    assert whole.texts()[1][3] == "26.82 → 20.00 (−6.82)"
    assert whole.texts()[2][3] == "33.53 → not run yet (1 of 4 columns)"
    assert news.texts()[1][1] == "20.00"
    assert [table.title for table in page.tables] == ["averages", "News (CoNLL-03) 1-shot"]
    (average,) = page.remarks  # nothing is said of the best of some
    assert average.startswith("r = 1: 6.8 points below the published figure; ")


def test_the_best_of_a_whole_sweep_stands_beside_the_paper_s(tmp_path: Path) -> None:
    for margin, f1 in zip(range(1, 7), (10.0, 40.001, 37.7, 40.0, 20.0, 0.0), strict=True):
        put(tmp_path, f"paper/cells/news-1/margin-{margin}", f1)
    page = Margin().page(Scores(tmp_path))
    assert page.tables[1].texts()[3][1] == "47.70 → 37.70 (−10.00)"
    chosen, best = page.remarks
    assert chosen.startswith(
        "News (CoNLL-03) 1-shot, r = 3: 10.0 points below the published figure; "
    )
    assert "the best r is 2 and 4 alike (F1 40.00) here, and in the paper's average it is 2" in best


def test_what_rejection_does_is_seen_with_the_same_weights(tmp_path: Path) -> None:
    for margin in range(1, 7):
        put(tmp_path, f"paper/cells/news-1/margin-{margin}", 30.0 + margin)
        put(tmp_path, f"paper/cells/news-1/margin-{margin}-kept", 30.5 + 0.9 * margin)
    chosen, best = Margin().page(Scores(tmp_path)).remarks
    assert "with the same weights, rejection changes F1 by −0.20" in chosen
    assert "(F1 36.00) here, and in the paper's average it is 2; with the same weights" in best
    assert "changes F1 by +0.10 at best, r = 6, which may be chance" in best
    put(tmp_path, "paper/cells/news-1/margin-4-kept", 31.0)
    _, best = Margin().page(Scores(tmp_path)).remarks
    assert "changes F1 by +3.00 at best, r = 4; how far spans lie" in best


def test_all_points_of_a_curve_are_of_the_same_seeds(tmp_path: Path) -> None:
    for name, f1, seed in (("low", 10.0, 12), ("high", 20.0, 12), ("high", 90.0, 21)):
        put(tmp_path, f"paper/cells/news-1/{name}", f1, seed)
    settings, series = {"0": "low", "1": "high"}, [Series("F1", "", ("micro", "f1"))]
    scores = Scores(tmp_path)
    table = sweep_table(scores, "news-1", "theta", settings, series)
    assert table.texts()[1:] == [["0", "10.00"], ["1", "20.00"]]
    assert "seed 12," in scores.described()


def test_the_curve_over_first_steps_stands_beside_the_main_tables(tmp_path: Path) -> None:
    for name, f1, steps in (
        ("first-100", 52.05, 15),
        ("first-200", 54.0, 15),
        ("theta-0.50", 57.74, 5),
    ):
        model = {"config": CONFIG, "origin": {"training_config": {"steps": steps}}}
        put(tmp_path, f"paper/cells/inter-5w1/{name}", f1, extraction={"f1": 60.0}, model=model)
    (remark,) = HyperParameters().page(Scores(tmp_path)).remarks
    assert remark.startswith("With the main tables' T' of 100, ")
    assert "57.74 (T = 5) and 52.05 (T = 15) on INTER 5-way 1~2-shot" in remark


def test_a_setting_that_another_table_needs_is_no_sweep(tmp_path: Path) -> None:
    for column in ("news-1", "wiki-1", "inter-5w1"):
        put(tmp_path, f"paper/cells/{column}/theta-0.50", 50.0)
        put(tmp_path, f"paper/cells/{column}/margin-3", 50.0)
    page = HyperParameters().page(Scores(tmp_path))
    assert page.tables == page.remarks == []
    assert page.setting.endswith("Not run yet.")
    assert len(Margin().page(Scores(tmp_path)).tables) == 1
    assert Margin().page(Scores(tmp_path)).remarks == []


def test_curves_say_where_they_are_highest_once_they_are_whole(tmp_path: Path) -> None:
    figures = dict.fromkeys(THRESHOLDS, 13.33)
    for theta, name in THRESHOLDS.items():
        found = {"f1": 20.0}
        put(tmp_path, f"paper/cells/wiki-1/{name}", figures[theta], extraction=found)
        page = HyperParameters().page(Scores(tmp_path))
        assert bool(page.remarks) == (theta == "0.95")
    (table,) = page.tables
    assert table.title == "Wiki (GUM) 1-shot, theta (T = unknown)"
    extractor, whole = page.remarks
    assert "span extractor: every theta has the same F1 (20.00) here" in extractor
    assert "every theta has the same F1 (13.33) here" in whole
    put(tmp_path, "paper/cells/wiki-1/theta-0.50", 14.0, extraction=found)
    _, remark = HyperParameters().page(Scores(tmp_path)).remarks
    assert "the best theta is 0.50 (F1 14.00) here" in remark
    assert (
        "best at 0.80 to 0.85, which has at most 13.33 here; the paper's curve is a mean" in remark
    )
    put(tmp_path, "paper/cells/wiki-1/theta-0.85", 15.0, extraction=found)
    _, remark = HyperParameters().page(Scores(tmp_path)).remarks
    assert remark.endswith("0.85 (F1 15.00) here, and in the paper it is best at 0.80 to 0.85.")


def test_a_point_of_other_weights_than_the_rest_of_its_curve_is_told(tmp_path: Path) -> None:
    for theta, name in THRESHOLDS.items():
        model = {"config": CONFIG, "origin": {"time": "19:41" if theta == "0.50" else "19:51"}}
        place = f"paper/cells/wiki-1/{name}"
        put(tmp_path, place, 13.0, extraction={"f1": 20.0}, model=model)
    *_, told = HyperParameters().page(Scores(tmp_path)).remarks
    assert "the point(s) at 0.50 are of another training" in told


def test_shots_are_compared_with_the_same_seeds(tmp_path: Path) -> None:
    for column, f1, seed in (("news-1", 20.0, 12), ("news-1", 90.0, 21), ("news-5", 50.0, 12)):
        put(tmp_path, f"baselines/{column}/matching-network", f1, seed)
    (remark,) = RECIPES["crossdomain"].page(Scores(tmp_path)).remarks
    assert "by +0.4 on average in the paper and by +30.0 here, with the same seeds" in remark


def test_a_picture_is_drawn_of_any_column_that_was_run_with_the_spread_of_its_seeds(
    tmp_path: Path,
) -> None:
    for seed in (12, 21):
        for name in THRESHOLDS.values():
            for ending in ("", "-adapted"):
                place = f"paper/cells/wiki-1/{name}{ending}"
                put(tmp_path, place, float(seed), seed, extraction={"f1": 40.0})
    recipe = HyperParameters()
    ((name, figure),) = recipe.figures(Scores(tmp_path)).items()
    assert name == "hyper-parameters-wiki-1"
    assert name in recipe.pictures
    (axes,) = figure.axes
    assert "$T$" in axes.get_xlabel()
    assert axes.collections  # what lies a deviation around the curves


ABLATIONS = ("ablation", "ablation-fewnerd", "ablation-crossdomain")
COMPARING = ("fewnerd", "crossdomain", "errors", "margin", "span-extraction", *ABLATIONS)


@pytest.mark.parametrize("name", COMPARING)
@pytest.mark.parametrize("f1", [0.0, 30.0, 100.0])
def test_every_row_with_a_difference_has_a_sentence(tmp_path: Path, name: str, f1: float) -> None:
    wrong = {"count": 10, "fp_span": 70.0, "fp_type": 30.0}
    recipe = RECIPES[name]
    for cell in recipe.cells(Bench(tmp_path, "tiny", columns=tuple(COLUMNS))):
        for scoring in cell.scorings:
            place = f"paper/cells/{cell.column}/{scoring.name}"
            put(tmp_path, place, f1, false_positives=wrong, span={"f1": f1})
    page = recipe.page(Scores(tmp_path))
    differing = {
        (table.title, row)
        for table in page.tables
        for row, cells in table.rows
        for cell in cells
        if isinstance(cell, Entry) and cell.difference is not None
    }
    assert differing
    for title, row in differing:
        named = {f"{row}:", f"{title}, r = {row}:"}
        assert any(remark.startswith(tuple(named)) for remark in page.remarks), row


def test_shares_of_false_positives(tmp_path: Path) -> None:
    wrong = {"count": 10, "fp_span": 70.0, "fp_type": 30.0}
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 60.0, false_positives=wrong)
    put(tmp_path, "baselines/inter-5w1/esd", 60.0, false_positives=wrong)
    none = {"count": 0, "fp_span": 0.0, "fp_type": 0.0}
    put(tmp_path, "baselines/inter-5w1/nnshot", 60.0, false_positives=none)
    page = Errors().page(Scores(tmp_path))
    row = next(cells for name, cells in page.tables[0].rows if name == "SpanProto")
    assert [str(cell) for cell in row] == [
        "73.36 → 60.00 (−13.36)",
        "61.40 → 70.00",  # the published shares add up to 72.30
        "10.90 → 30.00",
    ]
    _, esd, spanproto, _ = page.remarks
    assert esd.startswith(
        "ESD: F1 is 6.5 points below the published figure, as in Table 2; its false positives are "
        "wrong in their types more often than published, by 2.8 points"
    )
    assert "70.0 % of its false positives are wrong in their boundaries" in spanproto
    nnshot = next(cells for name, cells in page.tables[0].rows if name == "NNShot")
    assert [str(cell) for cell in nnshot][1:] == ["84.70 → none", "15.30 → none"]
    assert "DecomMeta (123.01) and SpanProto (72.30)" in page.remarks[-1]


@pytest.mark.parametrize("run", [(), ("1",), ("1", "3"), ("1", "2", "3")])
def test_a_sweep_has_a_best_setting(tmp_path: Path, run: tuple[str, ...]) -> None:
    for setting in run:
        put(tmp_path, f"paper/cells/news-1/margin-{setting}", float(setting))
    scores, names = Scores(tmp_path), {setting: f"margin-{setting}" for setting in "123"}
    table = sweep_table(scores, "news-1", "r", names, [Series("F1", "", ("micro", "f1"))])
    assert [cells[0] for _, cells in table.rows] == [
        Entry(None, (float(setting),) if setting in run else ()) for setting in "123"
    ]
    best = Best(("3",), 3.0, 3) if len(run) == 3 else None  # of some there is no best
    assert best_settings(table, "F1") == best
    assert columns_with(scores, names.values()) == (["news-1"] if len(run) > 1 else [])
