# ruff: noqa: RUF001 (a minus sign is what is printed)
"""Score files, found by column and scoring wherever they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from spanproto.paper.ablation import FEWNERD as ABLATION
from spanproto.paper.ablation import SHORT
from spanproto.paper.comparison import Row, averages, comparison, comparison_table, remarks
from spanproto.paper.errors import Errors
from spanproto.paper.margin import Margin
from spanproto.paper.page import Entry
from spanproto.paper.scores import Scores
from spanproto.paper.sweeps import Best, Series, best_setting, columns_with, sweep_table


def put(results: Path, place: str, f1: float, seed: int = 12, **more: Any) -> Path:
    """A score file with as much as is needed."""
    path = results / f"{place}.{seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "micro": {"f1": f1},
        "extraction": None,
        "provenance": {"seed": seed, "hardware": {"gpu": None, "cpu": "a CPU"}},
        "model": {"config": {"encoder": {"name": "models/tiny"}}},
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
    assert scores.described() == "Measured with encoder tiny, seeds 12, 21, on a CPU."
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
        "ESD: on average over 3 figures 11.3 points below the published figure (−30.0 to +6.0); "
        "of another encoder."
    ]


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
    assert table.texts()[1][-1] == "32.00 ± 2.83"


def test_leaving_a_part_out_costs_something_there_and_here(tmp_path: Path) -> None:
    put(tmp_path, "fewnerd/inter-5w1/spanproto", 60.0)
    put(tmp_path, "paper/cells/inter-5w1/margin-3", 58.0)
    put(tmp_path, "paper/cells/inter-5w1/no-margin", 59.0)
    put(tmp_path, "paper/cells/inter-5w1/no-classifier", 50.0)
    (full, _, classifier, margin) = ABLATION.page(Scores(tmp_path)).remarks
    assert full.startswith("SpanProto: 13.4 points below the published figure; ")
    assert classifier.startswith(
        "w/o mention classifier (K-means): costs 48.0 points in the paper and costs 10.0 points "
    )
    assert margin.startswith(
        "w/o margin-based learning: costs 5.3 points in the paper and gains 1.0 points here, "
        "beside the model that rejects beyond r; "
    )


def test_the_margins_stand_beside_the_paper_s_averages(tmp_path: Path) -> None:
    for column in ("news-1", "wiki-1", "social-1", "ontonotes-1"):
        put(tmp_path, f"paper/cells/{column}/margin-1", 20.0)
    put(tmp_path, "paper/cells/news-1/margin-2", 10.0)
    whole, news, *_ = (page := Margin().page(Scores(tmp_path))).tables
    assert whole.texts()[1][3] == "26.82 → 20.00 (−6.82)"
    assert whole.texts()[2][3] == "33.53 → not run yet (1 of 4 columns)"
    assert news.texts()[1][1] == "20.00"
    assert "the best r is 1 (of 2 of 6 run so far) here" in page.remarks[0]


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
    (esd, _) = page.remarks
    assert esd.startswith("ESD: false positives are wrong in their types")
    nnshot = next(cells for name, cells in page.tables[0].rows if name == "NNShot")
    assert [str(cell) for cell in nnshot][1:] == ["84.70 → none", "15.30 → none"]
    assert "DecomMeta (123.01) and SpanProto (72.30)" in page.remarks[-1]


@pytest.mark.parametrize("run", [(), ("1", "3")])
def test_a_sweep_has_a_best_setting(tmp_path: Path, run: tuple[str, ...]) -> None:
    for setting in run:
        put(tmp_path, f"paper/cells/news-1/margin-{setting}", float(setting))
    scores, names = Scores(tmp_path), {setting: f"margin-{setting}" for setting in "123"}
    table = sweep_table(scores, "news-1", "r", names, [Series("F1", "", ("micro", "f1"))])
    assert [cells[0] for _, cells in table.rows] == [
        Entry(None, (float(setting),) if setting in run else ()) for setting in "123"
    ]
    assert best_setting(table, "F1") == (Best("3", 3.0, 2, 3) if run else None)
    assert columns_with(scores, names.values()) == (["news-1"] if run else [])
