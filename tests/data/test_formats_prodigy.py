import json
from pathlib import Path
from typing import Any

import pytest

from spanproto.data.formats import Problem, detect_format, open_sentences, read_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

TEXT = "Ada's 😀\nAlgol-60 notes"
TOKENS = ["Ada", "'s", "😀", "\n", "Algol-60", "notes"]


def tokens(text: str = TEXT, words: list[str] = TOKENS) -> list[dict[str, Any]]:
    found, position = [], 0
    for at, word in enumerate(words):
        start = text.index(word, position)
        position = start + len(word)
        found.append({"text": word, "start": start, "end": position, "id": at, "ws": False})
    return found


def span(first: int, last: int, label: str) -> dict[str, Any]:
    """A span as Prodigy writes it: its last token is in it."""
    places = tokens()
    start, end = places[first]["start"], places[last]["end"]
    return {
        "start": start,
        "end": end,
        "token_start": first,
        "token_end": last,
        "label": label,
        "source": "manual",
    }


def example(**changed: Any) -> dict[str, Any]:
    return {
        "text": TEXT,
        "_input_hash": -1551,
        "_task_hash": 4418,
        "tokens": tokens(),
        "_view_id": "ner_manual",
        "spans": [span(0, 0, "PER"), span(4, 4, "LANG"), span(4, 5, "WORK")],
        "answer": "accept",
        "_timestamp": 1700000000,
    } | changed


def put(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def read(path: Path, **options: Any) -> tuple[list[Sentence], list[Problem]]:
    problems: list[Problem] = []
    reading = open_sentences(path, on_problem=problems.append, **options)
    return [located.item for located in reading.items], problems


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export"


def test_tokens_are_the_words(file: Path) -> None:
    assert detect_format(put(file, example())) == "prodigy"
    (sentence,) = read_sentences(file)
    assert sentence.words == ("Ada", "'s", "😀", "Algol-60", "notes")
    assert sentence.offsets == ((0, 3), (3, 5), (6, 7), (8, 16), (17, 22))
    assert sentence.text == TEXT
    assert sentence.spans == (Span(0, 1, "PER"), Span(3, 4, "LANG"), Span(3, 5, "WORK"))


def test_without_tokens_words_are_found(file: Path) -> None:
    record = example(spans=[{"start": 8, "end": 16, "label": "LANG"}])
    del record["tokens"]
    (sentence,) = read_sentences(put(file, record))
    assert [sentence.words[s.start : s.end] for s in sentence.spans] == [("Algol", "-", "60")]


def test_spans_of_tokens_alone(file: Path) -> None:
    put(file, example(spans=[{"token_start": 4, "token_end": 5, "label": "WORK"}]))
    assert read_sentences(file)[0].spans == (Span(3, 5, "WORK"),)


@pytest.mark.parametrize(
    "record",
    [
        {"text": "Ada", "spans": []},
        {"text": "Ada", "answer": "ignore"},
        {"text": "Ada", "_task_hash": 4},
    ],
)
def test_what_shows_the_format(file: Path, record: dict[str, Any]) -> None:
    assert detect_format(put(file, record)) == "prodigy"


def test_spans_beside_entities_are_of_char_jsonl(file: Path) -> None:
    assert detect_format(put(file, {"text": "Ada", "entities": [], "spans": []})) == "char-jsonl"


def test_only_what_was_accepted_is_used(file: Path) -> None:
    bare = {"text": "Nothing", "answer": "accept", "_input_hash": 3}
    put(file, example(answer="reject"), example(), example(answer="ignore"), bare)
    sentences, problems = read(file)
    assert [len(sentence.spans) for sentence in sentences] == [3, 0]
    assert [(problem.line, problem.is_error) for problem in problems] == [(1, False), (3, False)]
    assert "the answer is 'reject'" in problems[0].message


def test_spans_with_answers_of_their_own(file: Path) -> None:
    spans = [span(0, 0, "PER") | {"answer": "accept"}, span(4, 4, "LANG") | {"answer": "reject"}]
    (sentence,), (problem,) = read(put(file, example(spans=spans)))
    assert sentence.spans == (Span(0, 1, "PER"),)
    assert "1 of its spans were not accepted" in problem.message


def test_nothing_accepted(file: Path) -> None:
    with pytest.raises(DataError, match="holds no sentences"):
        read_sentences(put(file, example(answer="reject")))


def test_highlighted_characters(file: Path) -> None:
    put(file, example(spans=[{"start": 8, "end": 13, "label": "LANG"}]))
    with pytest.raises(DataError, match=r":1: entity \[8, 13\) 'Algol' of type 'LANG' does not"):
        read_sentences(file)
    assert read_sentences(file, boundaries="snap")[0].spans == (Span(3, 4, "LANG"),)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tokens": [{"text": "Ada"}]}, "token 0 needs whole numbers"),
        ({"tokens": ["Ada"]}, "token 0 is not a JSON object"),
        ({"tokens": tokens()[::-1]}, "token 1, [8, 16), does not follow the one before it"),
        ({"tokens": [{"start": 0, "end": 99}]}, "token 0, [0, 99), does not follow"),
        ({"spans": [{"token_start": 5, "token_end": 6, "label": "X"}]}, "a span of tokens 5 to 6"),
        ({"spans": [{"token_start": 5, "label": "X"}]}, "a span of tokens 5 to None"),
        ({"spans": [{"points": [], "label": "X"}]}, "entity 0 needs whole numbers"),
        ({"spans": [span(0, 0, "")]}, "'label' of entity 0 is ''"),
        ({"text": ""}, "'text' is ''"),
    ],
)
def test_bad_records(file: Path, changed: dict[str, Any], message: str) -> None:
    put(file, example(), example(**changed))
    with pytest.raises(DataError) as caught:
        read_sentences(file)
    assert str(caught.value).startswith(f"{file}:2: {message}")
