"""Other settings of the compared systems: what each changes, and what it is judged on."""

import pytest

from spanproto.adaptation import AdaptationConfig
from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import VALIDATED, baseline_cells
from spanproto.experiments.variants import VARIANTS, VARIED_ON, scored_titles, variant_cells
from spanproto.methods import method_named
from spanproto.training.settings import RunConfig


def changed(name: str, cell: Cell) -> dict[str, object]:
    """What differs in the training of a variant from that of the tables."""
    tables = {cell.system: cell for cell in baseline_cells(name, 12)}
    own = tables[VARIANTS[cell.system].system].run
    settings = {
        key: value
        for part in ("model", "training", "data")
        for key, value in cell.run.get(part, {}).items()
        if own.get(part, {}).get(key) != value
    }
    method = {"method": cell.run["method"]} if cell.run["method"] != own["method"] else {}
    return {**method, **settings}


@pytest.mark.parametrize("name", VARIED_ON)
def test_each_can_run_and_is_judged_on_validation_episodes(name: str) -> None:
    cells = variant_cells(name, 12)
    assert cells
    for column, cell, _ in cells:
        assert column.name == cell.column == f"{name}-valid"
        assert column.test_file in COLUMNS[name].validation["valid"]
        RunConfig.of({**cell.run, "data": column.data})
        assert [scoring.name for scoring in cell.scorings] == list(scored_titles(cell.system))
        for scoring in cell.scorings:
            method = method_named(scoring.method or cell.run["method"])
            if scoring.adaptation is not None:
                assert isinstance(method.adaptation(scoring.adaptation), AdaptationConfig)


def test_one_thing_is_changed_at_a_time() -> None:
    cells = {cell.system: cell for _, cell, _ in variant_cells("news-1", 12)}
    cells |= {cell.system: cell for _, cell, _ in variant_cells("inter-5w1", 12)}
    assert cells.keys() == VARIANTS.keys()
    differences = {
        key: changed(cell.column.removesuffix("-valid"), cell) for key, cell in cells.items()
    }
    assert differences == {
        "protobert-tables": {},
        "nnshot-own-loss": {"method": "nnshot", "loss": "nearest"},
        "protobert-half-data": {"train_share": 0.5},
        "container-half-data": {"train_share": 0.5},
        "esd-half-data": {"train_share": 0.5},
        "container-2880": {"steps": 2880},
        "l-tapnet-cdt-tables": {},
        "l-tapnet-cdt-alone": {"pairwise": False},
        "l-tapnet-cdt-no-names": {"anchor_share": 1.0},
        "l-tapnet-cdt-prototypes": {"prototype_share": 0.7},
        "l-tapnet-cdt-batch": {"episodes_per_step": 4},
        "l-tapnet-cdt-as-they-stand": {"spelled_out": False},
        "token-classifier-tables": {},
        "token-classifier-defaults": {},
        "token-classifier-top": {},
    }
    again = {key for key, variant in VARIANTS.items() if variant.trained_as_in_tables}
    assert again == {key for key, found in differences.items() if not found}
    classifier = method_named("token-classifier")
    steps = [
        classifier.adaptation(cells[f"token-classifier-{key}"].scorings[0].adaptation or {}).steps
        for key in ("tables", "defaults", "top")
    ]
    assert steps == [60, 100, 60]


def test_those_of_l_tapnet_are_tried_on_news_too_where_it_lacks_the_most() -> None:
    tried = {cell.system for _, cell, _ in variant_cells("ontonotes-1", 12)}
    assert tried == {key for key in VARIANTS if key.startswith("l-tapnet-cdt")}
    assert COLUMNS["ontonotes-1"].data == COLUMNS["news-1"].data
    assert "ontonotes-1" not in VALIDATED
