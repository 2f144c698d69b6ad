"""Choices on domains that decisions are not fitted on: one training serves all of them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic

from spanproto.errors import DataError
from spanproto.experiments.cells import Grid
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.filling import require_for_own_cells, run_own_cells
from spanproto.experiments.foreign_choices import FOREIGN_DOMAINS, foreign_cells, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import together
from spanproto.experiments.systems import words_cell
from spanproto.provenance import sha256

MUSIC, GENIA = (foreign_column("wiki-1", domain) for domain in ("music", "flat-genia"))


@pytest.fixture
def own() -> OwnCell:
    """The cell of one shot on two of its columns, trained and tuned for a moment."""
    cell = foreign_cells(12)[0].cell.lasting(2)
    tuned = tuple(
        replace(scoring, adaptation={**(scoring.adaptation or {}), "steps": 1})
        for scoring in cell.scorings[:2]
    )
    return OwnCell.serving([MUSIC, GENIA], replace(cell, scorings=tuned))


def test_spanproto_with_words_weighs_all_evidence_or_fewer_by_the_same_copies() -> None:
    for own, like in zip(foreign_cells(12), ("wiki-1", "wiki-5"), strict=True):
        words = words_cell(like, 12)
        everything, fewer, longer = own.cell.scorings
        assert own.cell.run == words.run
        assert fewer == replace(words.scorings[-1], name="foreign-fewer")
        assert everything == replace(fewer, name="foreign-all", evidence=everything.evidence)
        assert set(everything.evidence or ()) - set(fewer.evidence or ()) == {"words", "before"}
        assert fewer.adaptation is not None
        steps = {"wiki-1": 96, "wiki-5": 160}[like]
        assert longer.adaptation == {**fewer.adaptation, "steps": steps}
        assert together(own.cell.scorings) == [[everything, fewer], [longer]]
        assert own.cell.by_column()[2].column == f"{like}-music" == own.columns[2].name
        assert [column.data for column in own.columns] == [COLUMNS[like].data] * 6


def test_domains_are_of_no_benchmarks_data() -> None:
    benchmarks = {column.test_file for column in COLUMNS.values()}
    benchmarks |= {name for column in COLUMNS.values() for name in column.data["train"]}
    benchmarks |= {name for column in COLUMNS.values() for name in column.validation["valid"]}
    assert not benchmarks & {domain.file for domain in FOREIGN_DOMAINS.values()}


def test_an_episode_has_all_types_of_a_domain_and_outermost_mentions(foreign_data: Path) -> None:
    episodes = GENIA.test_episodes(foreign_data)
    assert len(episodes) == 12
    assert episodes == GENIA.test_episodes(foreign_data)
    assert len({episode.query for episode in episodes}) == 12
    assert GENIA.test_episodes(foreign_data, limit=2) == episodes[:2]
    labelled = {sentence.words: sentence.spans for sentence in synthetic.corpus(2)}
    for episode in episodes:
        assert episode.types == episode.supported_types() == tuple(sorted(synthetic.TYPES))
        assert len(episode.query) == 20
        for sentence in (*episode.support, *episode.query):
            assert sentence.spans == labelled[sentence.words]


def test_more_shots_leave_fewer_sentences_to_ask_about(foreign_data: Path) -> None:
    (episode,) = foreign_column("wiki-5", "music").test_episodes(foreign_data, limit=1)
    assert len(episode.query) == 10
    for label in synthetic.TYPES:
        assert sum(sentence.type_counts()[label] for sentence in episode.support) >= 5


def test_one_training_serves_all_domains(
    foreign_data: Path,
    own: OwnCell,
    tmp_path: Path,
    tiny_encoder: Path,
    fine_tuned: list[int],
) -> None:
    grid = Grid(
        foreign_data, str(tiny_encoder), tmp_path / "out", tmp_path / "runs", 1, device="cpu"
    )
    known = dict(COLUMNS)
    run_own_cells(grid, [own], workers=1)
    assert fine_tuned == [1] * 4  # a validation episode and a test episode of each column
    assert known == COLUMNS
    found = {
        (column, name): json.loads((grid.output / column / f"{name}.12.json").read_text("utf-8"))
        for column in ("wiki-1-music", "wiki-1-flat-genia")
        for name in ("foreign-all", "foreign-fewer")
    }
    assert len({json.dumps(content["model"]["origin"]) for content in found.values()}) == 1
    for (column, name), content in found.items():
        weights = content["model"]["config"]["decision"]
        assert (content["column"], content["scoring"]) == (column, name)
        assert (weights["words_weight"] != 0) == (name == "foreign-all")
    tested = [
        found[column.name, "foreign-all"]["provenance"]["data"][0]["sha256"]
        for column in own.columns
    ]
    assert tested == [sha256(foreign_data / column.test_file) for column in own.columns]
    assert require_for_own_cells(grid, [own]) == []
    (grid.output / "wiki-1-flat-genia" / "foreign-all.12.json").unlink()
    assert require_for_own_cells(grid, [own]) == [own]
    (foreign_data / GENIA.test_file).unlink()
    with pytest.raises(DataError, match="which the column wiki-1-flat-genia needs"):
        require_for_own_cells(grid, [own])
