"""What reading and writing may be asked for, and what is said of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from covered import covered

from spanproto.data.formats import detect_format, read_sentences, write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

TEXT = "Anna sleeps"
ANNA = Sentence(("Anna", "sleeps"), (Span(0, 1, "PER"),))


def put(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize("format", ["doccano", "label-studio", "prodigy"])
def test_formats_that_are_only_read(file: Path, format: str) -> None:
    with pytest.raises(
        DataError, match=f"the format {format} is only read; write one of"
    ) as caught:
        write_sentences(file, [ANNA], format)
    assert not file.exists()
    offered = str(caught.value).rpartition("one of ")[2].split(", ")
    assert offered == ["spacy", "char-jsonl", "token-json", "fewnerd", "conll"]


def test_what_was_read_with_leniency_is_heard(file: Path) -> None:
    put(file, "a\tB-X\n\nb\tI-X\n")
    heard: list[str] = []
    assert len(read_sentences(file, on_warning=heard.append)) == 2
    (warning,) = heard
    assert warning.startswith(f"{file}:3: tag 'I-X' breaks the rules")


def test_entities_may_be_snapped(file: Path) -> None:
    put(file, {"text": "Anna sleeps", "entities": [{"start": 1, "end": 3, "label": "PER"}]})
    assert read_sentences(file, boundaries="snap")[0].spans == (Span(0, 1, "PER"),)
    with pytest.raises(DataError, match="does not begin and end at a word"):
        read_sentences(file, boundaries="refuse")
    with pytest.raises(DataError, match="no rule 'widen'"):
        read_sentences(file, boundaries="widen")


def test_entities_may_be_triples(file: Path) -> None:
    put(file, {"text": "😀 Anna sleeps", "entities": [[2, 6, "PER"]]})
    assert detect_format(file) == "char-jsonl"
    assert read_sentences(file)[0].spans == (Span(1, 2, "PER"),)


def test_an_array_of_texts_is_of_char_jsonl(file: Path) -> None:
    entities = [{"start": 0, "end": 4, "label": "PER"}]
    put(file, [{"text": TEXT, "entities": entities}, {"text": TEXT, "entities": []}])
    assert detect_format(file) == "char-jsonl"
    assert [covered(sentence) for sentence in read_sentences(file)] == [[("Anna", "PER")], []]
    put(file, [{"text": TEXT, "entities": []}, {"text": TEXT}])
    with pytest.raises(DataError, match=":1: sentence 1: 'entities' is not a list"):
        read_sentences(file)
