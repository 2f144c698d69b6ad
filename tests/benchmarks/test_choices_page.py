"""The page of choices says what score files say."""

import json
from pathlib import Path

import pytest
from scripts import ROOT, benchmark_script

from spanproto.errors import ConfigError, DataError
from spanproto.experiments.systems import CROSSDOMAIN_5
from spanproto.experiments.training_choices import TRAININGS

DOMAINS = ("ai", "literature", "music", "politics", "science", "flat-genia")


@pytest.fixture
def choices():
    return benchmark_script("choices")


def measure(path: Path, f1: float, span: float = 0.0, std: float = 10.0) -> None:
    """Write what the page reads of a score."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "micro": {"f1": f1},
        "span": {"f1": span},
        "episode_f1": {"mean": f1, "std": std},
        "episodes": 100,
    }
    path.write_text(json.dumps(content), "utf-8")


def test_choices_are_set_against_the_first_setting(choices, tmp_path: Path) -> None:
    for name, f1 in (("chosen", 40.0), ("two-stage", 36.54)):
        measure(tmp_path / "choices" / "news-1-valid" / f"{name}.12.json", f1)
    rows = dict(choices.choices_table(tmp_path).rows)
    assert rows["the first setting"] == ["40.0", "not run yet"]
    assert rows["the paper's decision: two thresholds in a row"][0] == "36.5 (-3.5)"
    assert rows["no fine-tuning"] == ["not run yet", "not run yet"]


def test_choices_by_more_than_the_support_set_are_told_apart(choices, tmp_path: Path) -> None:
    alone, informed = (dict(choices.choices_table(tmp_path, more).rows) for more in (False, True))
    assert not alone.keys() & informed.keys()
    assert "the setting of the tables" in alone
    assert informed
    assert all("name" in title or "told" in title for title in informed)


def test_foreign_domains_have_a_mean_once_all_are_measured(choices, tmp_path: Path) -> None:
    for f1, domain in enumerate(DOMAINS):
        measure(tmp_path / "choices" / f"wiki-1-{domain}" / "foreign-fewer.12.json", 30 + f1)
    measure(tmp_path / "choices" / "wiki-5-music" / "foreign-all.12.json", 41.26)
    table = choices.foreign_table(tmp_path)
    assert list(table.heading[1:]) == [
        "1-shot, all",
        "1-shot, fewer",
        "1-shot, longer",
        "5-shot, all",
        "5-shot, fewer",
        "5-shot, longer",
    ]
    rows = dict(table.rows)
    assert len(rows) == len(DOMAINS) + 1
    assert rows["music (CrossNER, Liu et al.)"] == [
        "not run yet",
        "32.0",
        "not run yet",
        "41.3",
        "not run yet",
        "not run yet",
    ]
    assert list(rows)[-1] == "mean"
    assert rows["mean"] == ["", "32.5", *[""] * 4]


def test_cuts_stand_from_the_highest_to_the_lowest_beside_their_means(
    choices, tmp_path: Path
) -> None:
    for f1, domain in enumerate(DOMAINS):
        measure(tmp_path / "choices" / f"wiki-1-{domain}" / "carried-higher-0.5.12.json", 40 + f1)
    measure(tmp_path / "choices" / "wiki-1-ai" / "carried-as-fitted.12.json", 50.0, std=15.0)
    measure(tmp_path / "choices" / "wiki-5-ai" / "carried-lower-1.12.json", 61.24)
    measure(tmp_path / "choices" / "wiki-5-ai" / "carried-as-fitted.12.json", 62.0, std=36.0)
    table = choices.cuts_table(tmp_path)
    cuts = ["higher 0.5", "as fitted", "lower 0.25", "lower 0.5", "lower 0.75", "lower 1"]
    assert list(table.heading[1:]) == [f"{shots}-shot, {cut}" for shots in (1, 5) for cut in cuts]
    rows = dict(table.rows)
    assert len(rows) == len(DOMAINS) + 1
    missing = "not run yet"
    assert rows["AI (CrossNER, Liu et al.)"] == [
        *["40.0", "50.0", *4 * [missing]],
        *[missing, "62.0", *3 * [missing], "61.2"],
    ]
    assert rows["music (CrossNER, Liu et al.)"] == ["42.0", *11 * [missing]]
    assert rows["mean"] == ["42.5", *11 * [""]]
    assert "of a domain is 1.5 to 3.6." in " ".join(choices.page(tmp_path).split())


def test_other_forms_stand_beside_the_fitted_one_with_five_shots(choices, tmp_path: Path) -> None:
    for f1, domain in enumerate(DOMAINS):
        folder = tmp_path / "choices" / f"wiki-5-{domain}"
        measure(folder / "carried-as-fitted.12.json", 50 + f1)
        measure(folder / "carried-merged.12.json", 51 + f1)
    table = choices.forms_table(tmp_path)
    assert list(table.heading[1:]) == [
        f"5-shot, {form}"
        for form in (
            "as fitted",
            "shorter",
            "trained on more",
            "two trainings averaged",
        )
    ]
    assert dict(table.rows)["mean"] == ["52.5", "", "53.5", ""]


def test_what_was_taken_out_is_set_against_the_same_without_it(choices, tmp_path: Path) -> None:
    for f1, domain in enumerate(DOMAINS[:2]):
        for name, more in (("carried-as-fitted", 0), ("carried-nearest", 3)):
            measure(tmp_path / "choices" / f"wiki-5-{domain}" / f"{name}.12.json", 50 + f1 + more)
    measure(tmp_path / "choices" / "wiki-5-music" / "carried-nearest.12.json", 90.0)
    measure(tmp_path / "choices" / "wiki-1-ai" / "foreign-fewer.12.json", 40.0)
    nearest = "half of what spans mean is how alike the nearest example of a type is"
    assert choices.taken_out_table(tmp_path).rows == [
        (nearest, ["2 domains, 5-shot", "50.5 → 53.5"]),
    ]
    for seed, f1 in ((12, 61.0), (21, 62.0)):
        for name, less in (("all-settings", 0.0), ("all-settings-pairs", 0.5)):
            folder = tmp_path / "trainings" / "inter-5w1-valid"
            measure(folder / f"{name}.{seed}.json", f1 - less)
    first, *_ = choices.taken_out_table(tmp_path).rows
    assert first == (choices.PRODUCTS, [choices.ON_INTER, "61.5 → 61.0"])


def test_trainings_have_a_mean_once_both_seeds_are_measured(choices, tmp_path: Path) -> None:
    folder = tmp_path / "trainings" / "inter-5w1-valid"
    for name, seed, f1, span in (
        ("few", 12, 60.04, 70.0),
        ("few", 21, 61.06, 73.0),
        ("all", 21, 59.0, 72.0),
    ):
        measure(folder / f"{name}.{seed}.json", f1, span)
    table = choices.trainings_table(tmp_path)
    assert table.heading[1:3] == ("F1, seed 12", "F1, seed 21")
    (_, few), (_, every), *others = table.rows
    assert few == ["60.0", "61.1", "60.5", "71.5"]
    assert every == ["not run yet", "59.0", "", ""]
    assert [title for title, _ in table.rows] == [training.title for training in TRAININGS.values()]
    assert all(row == ["not run yet", "not run yet", "", ""] for _, row in others)
    assert "over the episodes is 1.0; all" in " ".join(choices.page(tmp_path).split())


def test_a_map_is_set_against_the_same_training_without_it(choices, tmp_path: Path) -> None:
    folder = tmp_path / "maps" / "inter-5w1-valid"
    measure(folder / "complete.12.json", 60.0)
    measure(folder / "complete-learned.12.json", 61.04)
    measure(folder / "all-settings.21.json", 62.0)
    measure(tmp_path / "trainings" / "inter-5w1-valid" / "complete.21.json", 60.6)  # another
    table = choices.maps_table(tmp_path)
    assert table.heading == ("", "seed 12", "seed 21")
    assert [row for _, row in table.rows] == [
        ["60.0 → 61.0", "not run yet"],
        ["not run yet", "not run yet"],
    ]


def test_a_file_without_figures_is_refused(choices, tmp_path: Path) -> None:
    path = tmp_path / "choices" / "news-1-valid" / "chosen.12.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}", "utf-8")
    with pytest.raises(DataError, match=r"chosen\.12\.json: lacks figures of a score"):
        choices.page(tmp_path)


def test_the_page_is_written_as_soon_as_anything_is_measured(choices, tmp_path: Path) -> None:
    page = tmp_path / "choices.md"
    with pytest.raises(DataError, match="no scores of choices in it"):
        choices.main(tmp_path)
    assert not page.exists()
    measure(tmp_path / "trainings" / "inter-5w1-valid" / "rivals.21.json", 60.0)
    choices.main(tmp_path)
    assert page.read_text("utf-8") == choices.page(tmp_path)


def test_the_page_is_made_from_the_measured_files(choices) -> None:
    assert (ROOT / "results" / "choices.md").read_text("utf-8") == choices.page()
    content = {"episode_f1": {"mean": 40.0, "std": 12.0}, "episodes": 64}
    assert choices.standard_error(content) == 1.5


def test_a_choice_or_a_column_is_run_alone() -> None:
    cells_of = benchmark_script("results").chosen_cells
    assert {own.column.name for own in cells_of("news-1")} == {"news-1-valid"}
    names = ("news-1", "inter-5w1", "wiki-5-genia", "foreign", "carried", "mapped")
    by_column = [cells_of(name) for name in names]
    assert len(cells_of("")) == sum(map(len, by_column))
    assert [own.cell.system for own in cells_of("dense-longer")] == ["dense-layers"]
    alone = cells_of("centred")
    assert [[s.name for s in own.cell.scorings] for own in alone] == [["centred"], ["centred"]]
    with pytest.raises(ConfigError, match="there is no 'centring'; did you mean 'centred'"):
        cells_of("chosen,centring")


def test_choices_on_foreign_domains_are_run_together_or_alone() -> None:
    cells_of = benchmark_script("results").chosen_cells
    for name, systems in (
        ("foreign", ["foreign", "foreign"]),
        ("carried", ["carried", "carried", "carried-merged", "carried-averaged"]),
        ("mapped", ["mapped", "mapped"]),
    ):
        together = cells_of(name)
        assert [own.cell.system for own in together] == systems
        assert [len(own.columns) for own in together] == [6] * len(together)
    for own in cells_of("music"):
        assert own.cell.by_column() == [own.cell]  # the others are not run with it
    assert [(own.cell.system, own.cell.column) for own in cells_of("music")] == [
        ("foreign", "wiki-1-music"),
        ("foreign", "wiki-5-music"),
        ("carried", "wiki-1-music"),
        ("carried", "wiki-5-music"),
        ("carried-merged", "wiki-5-music"),
        ("carried-averaged", "wiki-5-music"),
        ("mapped", "wiki-1-music"),
        ("mapped", "wiki-5-music"),
    ]
    (own,) = cells_of("foreign-all,wiki-1-music,wiki-1-ai")
    assert [column.name for column in own.columns] == ["wiki-1-ai", "wiki-1-music"]
    assert own.cell.also == ("wiki-1-music",)
    assert [scoring.name for scoring in own.cell.scorings] == ["foreign-all"]
    assert {own.cell.system for own in cells_of("wiki-5-genia")} > {"dense"}
    assert not {"foreign", "carried"} & {own.cell.system for own in cells_of("wiki-5-genia")}
    cuts = cells_of("carried-as-fitted,carried-lower-0.5,wiki-5-music")
    assert [[s.name for s in own.cell.scorings] for own in cuts] == [
        ["carried-as-fitted", "carried-lower-0.5"]
    ]


def test_with_further_seeds_the_papers_algorithm_is_scored_as_trained_alone() -> None:
    results = benchmark_script("results")
    cells = results.cells_of(results.Table.crossdomain)
    scored = {(c.system, c.column, c.seed): [s.name for s in c.scorings] for c in cells}
    assert "spanproto-adapted" in scored["spanproto", "news-1", 42]
    assert scored["spanproto", "news-1", 87] == scored["spanproto", "news-5", 21] == ["spanproto"]
    assert scored["words", "news-5", 100] == ["words-fitted", "words-adapted"]
    assert scored["broad", "news-5", 100] == ["broad-fitted", "broad-adapted"]
    assert {column for system, column, _ in scored if system == "broad"} == set(CROSSDOMAIN_5)


def test_cells_are_selected_by_column_and_seed() -> None:
    results = benchmark_script("results")
    select = results.selected_cells
    whole = select(results.Table.crossdomain, "")
    assert select(results.Table.crossdomain, ",") == whole
    two = select(results.Table.crossdomain, "ontonotes-1.12,")  # trained with News
    assert [(cell.system, cell.also) for cell in two] == [
        ("spanproto", ("ontonotes-1",)),
        ("words", ("ontonotes-1",)),
    ]
    with pytest.raises(ConfigError, match="there is no 'news-9'"):
        select(results.Table.baselines, "wiki-1.12,news-9")
    some = results.schedules_of("esd-125.news-1,spanproto")
    lengths = {"spanproto-250", "spanproto-500", "spanproto-1000"}
    assert {own.cell.system for own in some} == {"esd-125", *lengths}
