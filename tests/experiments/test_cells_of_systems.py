"""The systems of the tables: what each is, beside the others."""

from dataclasses import replace

import pytest

from spanproto.decision import DEFAULT_EVIDENCE
from spanproto.errors import ConfigError
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.scoring import together
from spanproto.experiments.systems import (
    BROAD,
    CROSSDOMAIN_1,
    INTER,
    alike_cell,
    baseline_cells,
    broad_cell,
    nearest_cell,
    spanproto_cell,
    words_cell,
)
from spanproto.methods import METHODS, method_named
from spanproto.training.settings import RunConfig


def test_the_systems_of_the_tables_are_ones_that_can_run() -> None:
    for column in (CROSSDOMAIN_1[0], INTER[0]):
        own = (spanproto_cell(column, 12), words_cell(column, 12))
        for cell in (*own, *baseline_cells(column, 12)):
            RunConfig.of({**cell.run, "data": COLUMNS[column].data})
            for scoring in cell.scorings:
                method = method_named(scoring.method or cell.run["method"])
                assert method.name == cell.run["method"] or cell.run["method"] in method.weights_of
    assert {"protobert", "nnshot", "structshot"} <= METHODS.keys()


@pytest.mark.parametrize("column", [CROSSDOMAIN_1[0], INTER[0]])
def test_words_are_learned_beside_what_the_tables_have_and_weighed_on_fewnerd(column: str) -> None:
    table, words = spanproto_cell(column, 12), words_cell(column, 12)
    fitted = [scoring for scoring in table.scorings if scoring.fit_decision]
    on_fewnerd = COLUMNS[column].protocol == "fewnerd"
    names = [scoring.name for scoring in words.scorings]
    told = ["words-named", "words-even"] if on_fewnerd else []
    assert names == ["words-fitted", "words-adapted", *told]
    for scoring, like in zip(words.scorings[:2], fitted, strict=True):
        usual = like.evidence or DEFAULT_EVIDENCE
        expected = (*usual, "words", "meaning") if on_fewnerd else (*usual, "meaning")
        assert scoring.evidence == expected
        assert scoring.meaning
        assert not like.meaning
        assert (scoring.adaptation is None) == (like.adaptation is None)
    if on_fewnerd:
        adapted, named, even = words.scorings[1:]
        assert named.deciding == (*adapted.deciding, "decision.names_in_meaning=1")
        assert even.deciding == (*adapted.deciding, "decision.even_types=true")
        assert together([adapted, named, even]) == [[adapted, named, even]]  # of the same copies
    run = RunConfig.of({**words.run, "data": COLUMNS[column].data})
    assert run.model.objective.word_weight == 1
    assert run.model.extractor.neighbours
    assert run.model.encoder.case == on_fewnerd
    assert words.run["training"] == table.run["training"]


def test_across_domains_lower_layers_alone_are_trained_and_all_of_them_tuned() -> None:
    one, five, fewnerd = (words_cell(column, 12) for column in ("wiki-1", "wiki-5", "inter-5w1"))
    assert [cell.run["model"]["encoder"].get("layers") for cell in (one, five, fewnerd)] == [
        8,
        8,
        None,
    ]
    tuned = [cell.scorings[-1].adaptation or {} for cell in (one, five, fewnerd)]
    assert [settings["tuning"]["tune"] for settings in tuned] == ["all", "all", "top"]
    assert tuned[0]["steps"] < tuned[1]["steps"]


def test_trained_broadly_it_is_the_same_on_other_episodes_too() -> None:
    for column in BROAD:
        words, broad = words_cell(column, 21), broad_cell(column, 21)
        renamed = [
            replace(scoring, name=scoring.name.replace("words", "broad"), learned=column in INTER)
            for scoring in words.scorings
        ]
        assert list(broad.scorings) == renamed
        assert all(scoring.name.startswith("broad-") for scoring in broad.scorings)
        assert {**broad.run, "data": {}} == {**words.run, "data": {}}
        assert broad.doubtful == words.doubtful
        run = RunConfig.of({**broad.run, "data": broad.data})
        seen = {(one["data"]["ways"], one["data"]["shots"]) for one in broad.averaged}
        if column in INTER:
            assert seen == {(5, 1), (10, 1), (5, 5), (10, 5)}
            assert all(one["training"] == {"order_seed": 21} for one in broad.averaged)
            assert run.data.train == words.data["train"]
        else:
            assert not seen
            one_shot, five_shots = run.data.train
            assert one_shot.startswith("crossdomain/1-shot/ner_train_")
            assert [five_shots] == COLUMNS[column].data["train"]


def test_what_has_no_other_episodes_is_not_trained_broadly() -> None:
    with pytest.raises(ConfigError, match="intra-5w1: there are no other episodes"):
        broad_cell("intra-5w1", 12)


def test_a_quick_look_may_be_shorter_than_the_extractors_first_steps() -> None:
    for cell in (spanproto_cell("news-1", 12, "ontonotes-1"), *baseline_cells("news-1", 12)):
        short = cell.lasting(4)
        run = RunConfig.of({**short.run, "data": COLUMNS["news-1"].data})
        assert run.training.steps == 4
        assert (short.system, short.scorings, short.also) == (cell.system, cell.scorings, cell.also)
        if cell.system == "spanproto":
            assert run.model.objective.extractor_steps == 4
            assert run.model.objective.negatives == 0.3


def test_protobert_can_be_trained_as_spanproto_is() -> None:
    cell, own = alike_cell("inter-5w5", 12), spanproto_cell("inter-5w5", 12)
    assert cell.run["training"] == own.run["training"]
    assert [(scoring.name, scoring.method) for scoring in cell.scorings] == [
        ("protobert-alike", "protobert"),
        ("nnshot-alike", "nnshot"),
        ("structshot-alike", "structshot"),
    ]
    assert cell.scorings[-1].configure == ("temperature=0.318",)  # as in the other row
    short = RunConfig.of({**cell.lasting(2).run, "data": COLUMNS["inter-5w5"].data})
    assert (short.training.steps, short.model.layers, short.model.dropout) == (2, 1, 0)


def test_nnshot_may_be_trained_by_what_it_predicts_by() -> None:
    for column in ("news-1", "inter-5w5"):
        protobert = next(c for c in baseline_cells(column, 12) if c.system == "protobert")
        cell = nearest_cell(column, 12)
        assert [(s.name, s.method) for s in cell.scorings] == [
            ("nnshot-nearest", "nnshot"),
            ("structshot-nearest", "structshot"),
        ]
        usual = {scoring.name: scoring.configure for scoring in protobert.scorings}
        assert [s.configure for s in cell.scorings] == [usual["nnshot"], usual["structshot"]]
        run = RunConfig.of({**cell.run, "data": COLUMNS[column].data})
        assert run.model.loss == "nearest"
        assert run.training.steps == protobert.run["training"]["steps"]
