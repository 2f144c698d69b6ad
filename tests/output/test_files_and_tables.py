"""Lines, tables and displaCy's dicts, each read back by what they are for."""

import json
import sys
from pathlib import Path

import pytest
from output.test_document import PARIS, TEXT, UNIVERSITY

from spanproto import Sentence, Span
from spanproto.data.formats import read_sentences
from spanproto.entity import Entity
from spanproto.errors import MissingExtraError
from spanproto.examples import read_examples
from spanproto.output import (
    Document,
    to_arrow,
    to_conll,
    to_dicts,
    to_displacy,
    to_jsonl,
    to_pandas,
)

WORDS = Document(
    Sentence(("Ada", "Lovelace", "wrote")), [Entity("Ada Lovelace", "person", 0, 2, 0.9)]
)
NESTED = Document(TEXT, [UNIVERSITY, PARIS])


def test_jsonl_is_read_back(tmp_path: Path) -> None:
    lines = list(to_jsonl([NESTED, WORDS]))
    path = tmp_path / "found.jsonl"
    path.write_text(lines[0], "utf-8", newline="")
    (read,) = read_examples(path)
    assert read.text == TEXT
    assert read.spans == NESTED.tagged().spans
    assert read_examples([json.loads(line) for line in lines])[1].spans == (Span(0, 2, "person"),)
    assert json.loads(lines[0])["entities"][0]["score"] == 0.8


def test_conll_is_read_back_without_what_tags_cannot_hold(tmp_path: Path) -> None:
    path = tmp_path / "found.conll"
    path.write_text("".join(to_conll([NESTED, Document("  "), WORDS])), "utf-8")
    nested, words = read_sentences(path)
    assert [nested.words[span.start : span.end] for span in nested.spans] == [
        ("University", "of", "Paris")
    ]
    assert words.spans == (Span(0, 2, "person"),)


def test_rows_know_their_document() -> None:
    rows = to_dicts([Document(""), WORDS])
    assert rows == [
        {
            "document": 1,
            "start": 0,
            "end": 2,
            "text": "Ada Lovelace",
            "label": "person",
            "score": 0.9,
        }
    ]


@pytest.mark.parametrize("documents", [[], [NESTED, WORDS]])
def test_tables_have_the_same_columns_whatever_was_found(documents: list[Document]) -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame, table = to_pandas(documents), to_arrow(documents)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == table.column_names
    assert str(frame.dtypes["score"]) == "float64"
    assert table.schema.field("text").type == pyarrow.string()
    assert frame.to_dict("records") == table.to_pylist() == to_dicts(documents)


@pytest.mark.parametrize("make", [to_pandas, to_arrow])
def test_a_missing_library_is_named(make: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'spanproto\[tables\]'"):
        make([WORDS])  # type: ignore[operator]


def test_displacy_draws_both_styles() -> None:
    displacy = pytest.importorskip("spacy.displacy")
    flat = displacy.render(to_displacy(NESTED), manual=True, style="ent", jupyter=False)
    spans = displacy.render(to_displacy(NESTED), manual=True, style="span", jupyter=False)
    assert "University of Paris" in flat
    assert "city" not in flat
    assert "city" in spans
    assert to_displacy(WORDS)["ents"] == [{"start": 0, "end": 12, "label": "person"}]
