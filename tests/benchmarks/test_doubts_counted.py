"""The script that counts what doubts on training sentences meet."""

import json
from pathlib import Path

import pytest
from scripts import benchmark_script

from spanproto.data.formats import write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

WORDS = ("Ada", "Lovelace", "met", "Grace", "in", "London")
PERSON, OTHER, CITY = Span(0, 2, "person"), Span(3, 4, "actor"), Span(5, 6, "city")


@pytest.fixture
def doubts():
    return benchmark_script("doubts")


def test_doubts_are_counted_beside_what_has_no_label(doubts, tmp_path: Path) -> None:
    files = {
        "train": [PERSON],
        "doubts": [OTHER, Span(4, 6, "entity"), Span(2, 3, "entity")],
        "complete": [PERSON, OTHER, CITY],
    }
    paths = [tmp_path / f"{name}.json" for name in files]
    for path, spans in zip(paths, files.values(), strict=True):
        write_sentences(path, [Sentence(WORDS, tuple(sorted(spans)))], "token-json")
    output = tmp_path / "counts.json"
    doubts.main(*paths, output=output, seed=12)
    content = json.loads(output.read_text("utf-8"))
    made = content.pop("provenance")
    assert [file["name"] for file in made["data"]] == [path.name for path in paths]
    assert content == {"labelled": 1, "unlabelled": 2, "doubtful": 3, "exact": 1, "touched": 2}


def test_a_corpus_of_other_sentences_is_refused(doubts) -> None:
    with pytest.raises(DataError, match="completely labelled"):
        doubts.counted({("a",): {(0, 1)}}, {}, {("b",): set()})
