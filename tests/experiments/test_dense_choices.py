"""Choices on a dense domain: one part more at a time, up to the setting of the tables."""

from dataclasses import replace

from spanproto.experiments.dense_choices import DENSE, DENSE_TITLES, dense_cells
from spanproto.experiments.systems import spanproto_cell, words_cell
from spanproto.training.settings import RunConfig


def test_one_part_more_at_a_time_from_the_table_to_spanproto_with_words() -> None:
    cells = dense_cells(12)
    scorings = {scoring.name: scoring for own in cells for scoring in own.cell.scorings}
    assert list(scorings) == list(DENSE_TITLES)
    runs = {own.cell.system: RunConfig.of({**own.cell.run, "data": DENSE.data}) for own in cells}
    weights = {name: run.model.objective.word_weight for name, run in runs.items()}
    assert weights == {"dense": 0, "dense-words": 1, "dense-layers": 1, "dense-neighbours": 1}
    layers = {name: run.model.encoder.layers for name, run in runs.items()}
    assert layers == {
        "dense": None,
        "dense-words": None,
        "dense-layers": 8,
        "dense-neighbours": 8,
    }
    corrected = [name for name, run in runs.items() if run.model.extractor.neighbours]
    assert corrected == ["dense-neighbours"]
    first, last = spanproto_cell("wiki-5", 12).scorings[-1], words_cell("wiki-5", 12).scorings[-1]
    assert scorings["dense"].adaptation == first.adaptation
    assert scorings["dense-longer"].adaptation == last.adaptation
    assert scorings["dense-fewer"] == replace(last, name="dense-fewer")
    asking = [name for name, scoring in scorings.items() if scoring.meaning]
    assert asking == ["dense-meaning", "dense-fewer"]
    weighed = {name: set(scoring.evidence or ()) for name, scoring in scorings.items()}
    assert weighed["dense-meaning"] - weighed["dense-longer"] == {"meaning"}
    assert weighed["dense-meaning"] - weighed["dense-fewer"] == {"words", "before"}
    assert scorings["dense-neighbours"] == replace(
        scorings["dense-longer"], name="dense-neighbours"
    )
    steps = [(scorings[name].adaptation or {})["steps"] for name in DENSE_TITLES]
    assert steps == [40, 40, 40, 60, 100, 100, 100, 100]


def test_they_are_judged_on_no_test_data() -> None:
    assert DENSE.test_file == "genia-nested/genia.dev.json"
    assert DENSE.validation == {"valid": ["crossdomain/1-shot/ner_valid_2.json"]}
