"""Nested NER: one model, decoded flat and nested, on corpora that it was not trained on."""

import json
from pathlib import Path

import pytest
import synthetic
from command import spanproto

from spanproto.data.formats import read_sentences
from spanproto.data.types import Episode
from spanproto.evaluation.by_nesting import nested_mentions
from spanproto.evaluation.counts import Counts
from spanproto.model import SpanProto
from spanproto.paper.nested import COLUMNS, ByNesting, NestedNER, _cell
from spanproto.paper.scores import Scores
from spanproto.samples import NESTED
from spanproto.training.settings import RunConfig


def counts(content: dict[str, int]) -> Counts:
    return Counts(content["correct"], content["predicted"], content["gold"])


def test_the_quick_form_scores_both_decodings(tmp_path: Path, tiny_encoder: Path) -> None:
    done = spanproto("paper", "nested", "--quick", "--encoder", tiny_encoder, "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "QUICK FORM" in done.stdout
    assert "3-way episodes; trained on the bundled general sample" in done.stdout
    assert not any(name in done.stdout for name in ("GUM", "GENIA", "5-way"))
    files = sorted((tmp_path / "paper" / "cells" / "nested-sample-1").iterdir())
    assert [path.name for path in files] == [
        "flat-adapted.12.json",
        "flat.12.json",
        "nested-adapted.12.json",
        "nested.12.json",
    ]
    for path in files:
        content = json.loads(path.read_text())
        nested, flat = (counts(content["nesting"][group]) for group in ("nested", "flat"))
        assert nested.gold > 0
        assert nested + flat == counts(content["micro"])
        assert (content["adaptation"] is not None) == ("adapted" in path.name)
    (table,) = NestedNER().page(Scores(tmp_path)).tables
    assert "not run" not in table.to_text()
    first = table.to_dict()["rows"][0]
    assert first["flat"].keys() == {"precision", "recall"}
    assert first["gain"] == first["nested_f1"]["measured"] - first["flat_f1"]["measured"]


def test_what_the_model_says_is_sorted_by_nesting(shared_model: SpanProto) -> None:
    episodes: list[Episode] = [synthetic.episode()]
    for adaptation in (None, {"steps": 1}):
        content = ByNesting(12, adaptation)(shared_model, episodes)
        assert content["nesting"]["flat"] == content["micro"]
        assert content["nesting"]["nested"]["gold"] == 0


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_the_cells_of_the_corpora_are_ones_that_can_run(column) -> None:
    own = _cell(column, 12, quick=False)
    run = RunConfig.of({**own.cell.run, "data": column.data})
    assert column.test_file.split("/")[0] not in run.data.train[0]
    decodings = [scoring.configure for scoring in own.cell.scorings]
    assert [name for (name,) in decodings] == ["extractor.decoding=flat"] * 2 + [
        "extractor.decoding=nested"
    ] * 2


def test_the_sample_nests_and_its_corpora_share_no_type() -> None:
    types = []
    for name in ("general", "biomedical"):
        sentences = read_sentences(NESTED / f"{name}.json")
        assert sum(bool(nested_mentions(sentence.spans)) for sentence in sentences) >= 10
        types.append({span.label for sentence in sentences for span in sentence.spans})
    assert not types[0] & types[1]


def test_what_is_not_measured_is_said(tmp_path: Path) -> None:
    page = NestedNER().page(Scores(tmp_path))
    assert len(page.tables) == len(COLUMNS)
    assert "5-way episodes; trained on one corpus, tested on the other" in page.setting
    assert page.to_markdown().count("not run yet") == 6 * 2 * len(COLUMNS)
