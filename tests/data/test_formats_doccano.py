import json
from pathlib import Path
from typing import Any

import pytest
from covered import covered

from spanproto.data.formats import Problem, detect_format, open_sentences, read_sentences
from spanproto.data.types import Sentence
from spanproto.errors import DataError

TEXT = "EU rejects German call to boycott British lamb."
COVERED = [("EU", "ORG"), ("German", "MISC")]
TRIPLES = [[0, 2, "ORG"], [11, 17, "MISC"]]
OBJECTS = [
    {"id": 40, "label": "ORG", "start_offset": 0, "end_offset": 2},
    {"id": 41, "label": "MISC", "start_offset": 11, "end_offset": 17},
]


def put(path: Path, *records: dict[str, Any], end: str = "\n") -> Path:
    lines = [json.dumps(record, ensure_ascii=False) + end for record in records]
    path.write_bytes("".join(lines).encode())
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export"


@pytest.mark.parametrize(
    "record",
    [
        {"id": 1, "text": TEXT, "label": TRIPLES, "Comments": []},
        {"id": 1, "text": TEXT, "label": TRIPLES, "Comments": ["odd"], "source": "reuters"},
        {"id": 1, "text": TEXT, "meta": {}, "annotation_approver": None, "labels": TRIPLES},
        {"id": 1, "data": TEXT, "label": TRIPLES},
        {"id": 1, "text": TEXT, "cats": ["news"], "entities": TRIPLES, "Comments": []},
        {
            "id": 1,
            "text": TEXT,
            "Comments": [],
            "entities": OBJECTS,
            "relations": [{"id": 5, "from_id": 40, "to_id": 41, "type": "of"}],
        },
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_export(file: Path, record: dict[str, Any], end: str) -> None:
    put(file, record, record, end=end)
    assert detect_format(file) == "doccano"
    assert [covered(sentence) for sentence in read_sentences(file)] == [COVERED, COVERED]


def test_the_first_lines_may_say_nothing(file: Path) -> None:
    put(
        file,
        {"id": 1, "text": "Nothing here.", "entities": []},
        {"id": 2, "text": TEXT, "entities": OBJECTS},
    )
    assert detect_format(file) == "doccano"
    assert [covered(sentence) for sentence in read_sentences(file)] == [[], COVERED]


def test_plain_entities_are_of_char_jsonl(file: Path) -> None:
    entities = [{"start": 0, "end": 2, "label": "ORG"}]
    put(file, {"text": TEXT, "entities": entities, "relations": [], "label": ["news"]})
    assert detect_format(file) == "char-jsonl"


def test_nested_and_repeated_entities(file: Path) -> None:
    put(file, {"text": "Bank of Spain", "label": [[0, 13, "ORG"], [8, 13, "LOC"], [8, 13, "LOC"]]})
    problems: list[Problem] = []
    (located,) = open_sentences(file, on_problem=problems.append).items
    assert covered(located.item) == [("Bank of Spain", "ORG"), ("Spain", "LOC")]
    assert [problem.is_error for problem in problems] == [False]


class TestAstralCharacters:
    @staticmethod
    def read(file: Path, text: str, *entities: list[Any]) -> tuple[Sentence, list[Problem]]:
        put(file, {"text": text, "label": entities})
        problems: list[Problem] = []
        (located,) = open_sentences(file, "doccano", on_problem=problems.append).items
        return located.item, problems

    def test_utf16_units_as_doccano_counts(self, file: Path) -> None:
        text = "\U0001f468\U0001f3fb\u200d\U0001f692 firemen drive firetrucks"
        sentence, problems = self.read(file, text, [22, 32, "THING"])
        assert covered(sentence) == [("firetrucks", "THING")]
        assert problems == []

    def test_characters_as_they_may_have_been_imported(self, file: Path) -> None:
        sentence, problems = self.read(file, "😀😀 Ada saw Rome", [3, 6, "PER"], [11, 15, "LOC"])
        assert covered(sentence) == [("Ada", "PER"), ("Rome", "LOC")]
        assert problems == []

    def test_units_that_would_cut_a_character(self, file: Path) -> None:
        sentence, problems = self.read(file, "😀a b", [1, 2, "X"])
        assert covered(sentence) == [("a", "X")]
        assert problems == []

    def test_where_both_meet_words_there_is_a_warning(self, file: Path) -> None:
        sentence, (problem,) = self.read(file, "😀😀 1 2 3", [5, 6, "X"], [7, 8, "X"])
        assert [word for word, _ in covered(sentence)] == ["1", "2"]
        assert "read as UTF-16 units" in problem.message
        assert not problem.is_error


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"text": TEXT, "label": ["news"]}, "entity 0 is not a JSON object"),
        ({"text": TEXT, "label": [[0, 2]]}, "entity 0 is not a JSON object"),
        ({"text": TEXT, "label": [["0", 2, "X"]]}, "entity 0 needs whole numbers 'start_offset'"),
        (
            {"text": TEXT, "annotations": [{"label": 3, "start_offset": 0, "end_offset": 2}]},
            "'label' of entity 0 is 3",
        ),
        ({"text": TEXT, "label": [[0, 99, "X"]]}, "entity 0, [0, 99) 'X', does not lie within"),
        ({"text": TEXT, "label": [[0, 1, "X"]]}, "entity [0, 1) 'E' of type 'X' does not begin"),
        ({"text": TEXT, "Comments": []}, "'label' is not a list"),
        ({"id": 3, "label": []}, "'text' is None"),
    ],
)
def test_bad_records(file: Path, record: dict[str, Any], message: str) -> None:
    put(file, {"text": TEXT, "label": TRIPLES}, record)
    with pytest.raises(DataError) as caught:
        read_sentences(file)
    assert str(caught.value).startswith(f"{file}:2: {message}")


def test_snapping(file: Path) -> None:
    put(file, {"text": TEXT, "label": [[0, 1, "ORG"], [10, 18, "MISC"], [10, 11, "NONE"]]})
    problems: list[Problem] = []
    (located,) = open_sentences(file, boundaries="snap", on_problem=problems.append).items
    assert covered(located.item) == COVERED
    assert [(problem.line, problem.is_error) for problem in problems] == [(1, False)]
