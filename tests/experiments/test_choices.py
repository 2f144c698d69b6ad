"""Choices judged on validation data: what is changed, and on which episodes."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from spanproto.data.formats import write_episodes, write_sentences
from spanproto.errors import DataError
from spanproto.experiments.choices import (
    CHOSEN_ON,
    FIRST,
    KNOWN,
    TITLES,
    choice_cells,
    validation_column,
)
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.systems import (
    INTER,
    OF_ALL,
    spanproto_cell,
    told_even,
    told_names,
    words_cell,
)
from spanproto.model import SpanProto
from spanproto.training.settings import RunConfig


@pytest.mark.parametrize("name", CHOSEN_ON)
def test_every_choice_can_run_and_none_sees_test_data(name: str) -> None:
    cells = choice_cells(name, 12)
    scored = [scoring.name for own in cells for scoring in own.cell.scorings]
    elsewhere = {
        key
        for key, choice in KNOWN.items()
        if choice.protocol not in (None, COLUMNS[name].protocol)
    }
    assert ("redrawn" in elsewhere) == (name == "inter-5w1")
    assert ("tables-words-rivals" in elsewhere) == (name == "news-1")
    assert sorted(scored) == sorted(TITLES.keys() - elsewhere)
    trainings = {own.cell.system for own in cells}
    changed = {key for key, choice in KNOWN.items() if choice.trains}
    assert trainings == {FIRST, "tables", "final", *changed} - elsewhere
    for column, cell, _ in cells:
        assert column.test_file in COLUMNS[name].validation["valid"]
        run = RunConfig.of({**cell.run, "data": {**column.data, **cell.run.get("data", {})}})
        assert run.data.mixed == ("redrawn" in cell.system)
        for scoring in cell.scorings:
            if scoring.adaptation is not None:
                SpanProto.adaptation(scoring.adaptation)


def test_all_choices_are_of_one_setting() -> None:
    scorings = {s.name: s for own in choice_cells("news-1", 12) for s in own.cell.scorings}
    first = scorings[FIRST]
    assert first.fit_decision == spanproto_cell("news-1", 12).scorings[-1].fit_decision
    rates = {name: (s.adaptation or {}).get("learning_rate", 0.0) for name, s in scorings.items()}
    assert rates["double-rate"] == 4 * rates["half-rate"] == 2 * rates[FIRST]
    assert scorings["no-adaptation"].adaptation is None
    assert scorings["two-stage"].fit_decision == 0
    assert scorings["two-stage"].adaptation == first.adaptation
    assert scorings["with-before"].evidence != first.evidence


@pytest.mark.parametrize(("name", "last"), [("news-1", "final-fewer"), ("inter-5w1", "final")])
def test_one_of_the_last_choices_is_spanproto_with_words(name: str, last: str) -> None:
    cell = next(own.cell for own in choice_cells(name, 12) if own.cell.system == "final")
    table = words_cell(name, 12)
    told_nothing = table.retrained("final", OF_ALL if name in INTER else {}, {})
    assert {**cell.run, "data": {}} == {**told_nothing.run, "data": {}}
    assert cell.run["model"]["objective"]["negatives"] == 0.3
    assert not cell.doubtful
    tuned = table.scoring("words-adapted")
    scorings = {scoring.name: scoring for scoring in cell.scorings}
    assert replace(tuned, name=last, fit_decision=32) == scorings[last]
    assert [key for key, scoring in scorings.items() if not scoring.meaning] == ["final-no-meaning"]
    with_meaning, without = scorings["final"], scorings["final-no-meaning"]
    assert with_meaning.evidence == (*(without.evidence or ()), "meaning")
    assert without.adaptation == with_meaning.adaptation == tuned.adaptation
    assert scorings["final-not-tuned"].adaptation is None
    assert scorings["final-not-tuned"].evidence == with_meaning.evidence
    assert {"words", "before"} <= set(with_meaning.evidence or ())
    assert told_names(scorings[last], "final-named") == scorings["final-named"]
    assert told_even(scorings[last], "final-even") == scorings["final-even"]


def test_what_doubts_are_worth_is_a_choice_where_sentences_leave_entities_unlabelled() -> None:
    cells = {own.cell.system: own.cell for own in choice_cells("inter-5w1", 12)}
    found, told, without = (cells[name] for name in ("final-doubts", "final-partly", "final"))
    assert told.doubtful == words_cell("inter-5w1", 12).doubtful
    assert len({*told.doubtful, *found.doubtful}) == 2
    assert without.doubtful == []
    across = [own.cell.system for own in choice_cells("news-1", 12)]
    for cell in (found, told):
        (scored,) = cell.scorings
        assert replace(scored, name="final") == without.scoring("final")
        assert cell.system not in across


def test_letter_case_is_a_choice_where_there_is_any() -> None:
    for name in CHOSEN_ON:
        reading = [
            own.cell.system
            for own in choice_cells(name, 12)
            if own.cell.run["model"].get("encoder", {}).get("case")
        ]
        final = ["final", "final-doubts", "final-partly"]
        final += ["final-names-quarter", "final-names-half"]
        assert reading == ([] if name == "news-1" else ["tables-words-case", *final])


def test_names_are_known_to_no_choice_that_is_not_told_apart() -> None:
    informed = {key for key, choice in KNOWN.items() if choice.informed}
    for name in CHOSEN_ON:
        for own in choice_cells(name, 12):
            weight = own.cell.run["model"]["classifier"].get("names_weight", 0.0)
            assert (weight > 0) == (own.cell.system in informed)


def test_what_decisions_are_fitted_on_is_not_scored(tmp_path: Path) -> None:
    column = choice_cells("news-1", 12)[0].column
    assert column.skip == spanproto_cell("news-1", 12).scorings[-1].fit_decision
    episodes = [synthetic.episode(seed) for seed in range(column.skip + 2)]
    write_episodes(tmp_path / column.test_file, episodes, "crossdomain")
    assert len(column.test_episodes(tmp_path)) == 2


def test_validation_episodes_of_five_shots_leave_rare_types_out(tmp_path: Path) -> None:
    column = validation_column(COLUMNS["inter-5w5"])
    assert (column.skip_rare, COLUMNS["inter-5w5"].skip_rare) == (True, False)
    assert not validation_column(COLUMNS["news-1"]).skip_rare
    rare = synthetic.TYPES[-1]
    corpus = [*synthetic.corpus(1, 200, synthetic.TYPES[:-1]), *synthetic.corpus(2, 2, [rare])]
    (tmp_path / column.test_file).parent.mkdir(parents=True)
    write_sentences(tmp_path / column.test_file, corpus, "fewnerd")
    column = replace(column, test_types=",".join(synthetic.TYPES))
    for episode in column.test_episodes(tmp_path, limit=3):
        assert set(episode.types) == set(synthetic.TYPES) - {rare}
    with pytest.raises(DataError, match=rare):
        replace(column, skip_rare=False).test_episodes(tmp_path)
