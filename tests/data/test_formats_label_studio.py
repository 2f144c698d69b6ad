import json
from pathlib import Path
from typing import Any

import pytest
from covered import covered

from spanproto.data.formats import Problem, detect_format, open_sentences, read_sentences
from spanproto.errors import DataError

TEXT = "Ada  Lovelace met\r\nCharles Babbage."


def region(of: str, quoted: str, *labels: str, **changed: Any) -> dict[str, Any]:
    start = of.index(quoted)
    return {
        "start": start,
        "end": start + len(quoted),
        "text": quoted,
        "labels": list(labels),
    } | changed


ADA = region(TEXT, "Ada  Lovelace", "PER", text="Ada Lovelace")
CHARLES = region(TEXT, "Charles", "PER")


def annotation(*values: dict[str, Any], to_name: str = "text", **changed: Any) -> dict[str, Any]:
    result = [
        {
            "value": value,
            "id": f"r{at}",
            "from_name": "label",
            "to_name": to_name,
            "type": "labels",
            "origin": "manual",
        }
        for at, value in enumerate(values)
    ]
    return {
        "id": 9,
        "completed_by": 1,
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2024-05-01T10:00:00.000000Z",
        "updated_at": "2024-05-01T10:00:00.000000Z",
        "lead_time": 8.4,
    } | changed


def task(*annotations: dict[str, Any], text: str = TEXT, **changed: Any) -> dict[str, Any]:
    return {
        "id": 12,
        "annotations": list(annotations),
        "drafts": [],
        "predictions": [annotation(CHARLES)],
        "data": {"text": text},
        "meta": {},
        "created_at": "2024-04-01T10:00:00.000000Z",
        "project": 1,
    } | changed


def minimal(*values: dict[str, Any], text: str = TEXT, **changed: Any) -> dict[str, Any]:
    return {
        "text": text,
        "id": 12,
        "label": list(values),
        "annotator": 1,
        "annotation_id": 9,
        "created_at": "2024-05-01T10:00:00.000000Z",
        "updated_at": "2024-05-01T10:00:00.000000Z",
        "lead_time": 8.4,
    } | changed


def put(path: Path, *tasks: Any, indent: int | None = None) -> Path:
    path.write_text(json.dumps(tasks, indent=indent), "utf-8")
    return path


def read(path: Path, *tasks: Any, **options: Any) -> tuple[list[list[tuple[str, str]]], list[str]]:
    """What the sentences' spans cover, and the warnings."""
    problems: list[Problem] = []
    assert detect_format(put(path, *tasks)) == "label-studio"
    reading = open_sentences(path, on_problem=problems.append, **options)
    found = [covered(located.item) for located in reading.items]
    assert not any(problem.is_error for problem in problems), problems
    return found, [problem.message for problem in problems]


def refusal(path: Path, *tasks: Any, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        read_sentences(put(path, *tasks), "label-studio", **options)
    return str(caught.value).removeprefix(str(path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export"


BOTH = [("Ada  Lovelace", "PER"), ("Charles", "PER")]


class TestExports:
    def test_json(self, file: Path) -> None:
        assert read(file, task(annotation(ADA, CHARLES))) == ([BOTH], [])

    def test_json_min(self, file: Path) -> None:
        assert read(file, minimal(ADA, CHARLES)) == ([BOTH], [])

    def test_completions_of_old_versions(self, file: Path) -> None:
        old = {
            "completions": [
                {"created_at": 1609789589, "id": 2, "result": annotation(ADA)["result"]}
            ],
            "data": {"text": TEXT},
            "id": 0,
        }
        assert read(file, old) == ([BOTH[:1]], [])

    def test_the_text_is_kept_as_it_is(self, file: Path) -> None:
        (sentence,) = read_sentences(put(file, task(annotation(ADA))))
        assert sentence.text == TEXT

    def test_tasks_without_annotations_are_unlabelled(self, file: Path) -> None:
        bare = {"id": 3, "data": {"text": TEXT}}
        assert read(file, task(annotation(ADA)), task(), bare) == ([BOTH[:1], [], []], [])
        assert read(file, minimal()) == ([[]], [])

    def test_nested_regions(self, file: Path) -> None:
        whole = region(TEXT, "Charles Babbage", "PER")
        found, _ = read(file, task(annotation(whole, CHARLES)))
        assert found == [[("Charles Babbage", "PER"), ("Charles", "PER")]]

    def test_other_results_are_ignored(self, file: Path) -> None:
        place = {key: CHARLES[key] for key in ("start", "end", "text")}
        others = [
            {"value": place | {"choices": ["sure"]}, "to_name": "text", "type": "choices"},
            {"value": place | {"text": ["a note"]}, "to_name": "text", "type": "textarea"},
            {"value": {"choices": ["history"]}, "to_name": "text", "type": "choices"},
            {"from_id": "r0", "to_id": "r1", "type": "relation", "direction": "right"},
        ]
        made = annotation(ADA)
        assert read(file, task(made | {"result": made["result"] + others})) == ([BOTH[:1]], [])
        assert read(file, minimal(ADA, topic="history", note=[{"text": ["x", "y"]}])) == (
            [BOTH[:1]],
            [],
        )


class TestSeveralAnnotations:
    EARLY = annotation(ADA, updated_at="2024-05-02T10:00:00Z")
    LATE = annotation(CHARLES, updated_at="2024-05-03T10:00:00Z")
    CANCELLED = annotation(updated_at="2024-05-09T10:00:00Z", was_cancelled=True)

    def test_the_last_changed_is_read(self, file: Path) -> None:
        for order in ([self.EARLY, self.LATE], [self.LATE, self.EARLY]):
            found, (warning,) = read(file, task(*order))
            assert found == [BOTH[1:]]
            assert (
                warning == "task 12: it has 2 annotations, of which the one last changed was read"
            )

    def test_cancelled_ones_do_not_count(self, file: Path) -> None:
        assert read(file, task(self.EARLY, self.CANCELLED)) == ([BOTH[:1]], [])

    def test_a_task_of_cancelled_ones_is_left_out(self, file: Path) -> None:
        found, (warning,) = read(file, task(self.CANCELLED), task(self.LATE, id=13))
        assert found == [BOTH[1:]]
        assert warning.startswith("task 12: its annotations were all cancelled")

    def test_without_dates_it_is_the_last(self, file: Path) -> None:
        made = [annotation(it, created_at=None, updated_at=None) for it in (ADA, CHARLES)]
        assert read(file, task(*made))[0] == [BOTH[1:]]

    def test_json_min_has_a_record_for_each(self, file: Path) -> None:
        early = minimal(ADA, updated_at="2024-05-02T10:00:00Z")
        late = minimal(CHARLES, updated_at="2024-05-03T10:00:00Z")
        found, (warning,) = read(file, late, minimal(ADA, id=13), early)
        assert found == [BOTH[1:], BOTH[:1]]
        assert warning.startswith("task 12: it has 2 annotations")


class TestLabels:
    def test_several_are_an_entity_each(self, file: Path) -> None:
        several = region(TEXT, "Charles", "PER", "ENGINEER")
        found, warnings = read(file, task(annotation(several)))
        assert found == [[("Charles", "PER"), ("Charles", "ENGINEER")]]
        assert warnings == []

    @pytest.mark.parametrize("make", [lambda *it: task(annotation(*it)), minimal])
    def test_none_is_left_out(self, file: Path, make: Any) -> None:
        unnamed = {key: CHARLES[key] for key in ("start", "end", "text")}
        for empty in (unnamed, unnamed | {"labels": []}):
            found, (warning,) = read(file, make(ADA, empty))
            assert found == [BOTH[:1]]
            assert "region 1, [19, 26), has no label and was left out" in warning


class TestTextField:
    def test_to_name_names_it(self, file: Path) -> None:
        plain = {key: CHARLES[key] for key in ("start", "end", "labels")}
        data = {"title": TEXT[1:], "body": TEXT}
        assert read(file, task(annotation(plain, to_name="body"), data=data))[0] == [BOTH[1:]]

    def test_the_quoted_one_is_taken(self, file: Path) -> None:
        data = {"text": "no", "title": "On Charles", "article": TEXT}
        assert read(file, task(annotation(ADA, CHARLES), data=data))[0] == [BOTH]
        record = minimal(CHARLES, article=TEXT, sentiment="good")
        del record["text"]
        assert read(file, record)[0] == [BOTH[1:]]

    def test_the_only_one_is_taken(self, file: Path) -> None:
        assert read(file, task(data={"article": TEXT, "year": 1843}))[0] == [[]]

    def test_otherwise_it_is_asked_for(self, file: Path) -> None:
        assert refusal(file, task(data={"body": TEXT, "title": "x"})).startswith(
            ":1: task 12: which field of the data holds the text cannot be told from "
            "['body', 'title']"
        )


class TestAstralCharacters:
    TEXT = "💩This is an annotation. 😀 Ada"

    def found(self, file: Path, *values: dict[str, Any]) -> list[list[tuple[str, str]]]:
        found, warnings = read(file, task(annotation(*values), text=self.TEXT))
        assert warnings == []
        return found

    def test_characters_of_present_versions(self, file: Path) -> None:
        values = [region(self.TEXT, "annotation", "X"), region(self.TEXT, "😀 Ada", "Y")]
        assert self.found(file, *values) == [[("annotation", "X"), ("😀 Ada", "Y")]]

    def test_utf16_units_of_older_ones(self, file: Path) -> None:
        values = [
            {"start": 13, "end": 23, "text": "annotation", "labels": ["X"]},
            {"start": 28, "end": 31, "labels": ["Y"]},
        ]
        assert self.found(file, *values) == [[("annotation", "X"), ("Ada", "Y")]]

    def test_characters_where_nothing_is_quoted(self, file: Path) -> None:
        values = [region(self.TEXT, word, "X") for word in ("annotation", "Ada")]
        for value in values:
            del value["text"]
        assert self.found(file, *values) == [[("annotation", "X"), ("Ada", "X")]]

    def test_a_quotation_that_fits_neither_is_refused(self, file: Path) -> None:
        wrong = region(self.TEXT, "annotation", "X", text="nnotation.")
        assert refusal(file, task(annotation(wrong), text=self.TEXT)).startswith(
            ":1: task 12: region [12, 22) is 'annotation' in the text and 'nnotation.' in the exp"
        )


def test_quotations_may_have_other_blanks(file: Path) -> None:
    text = "Ada  \n Lovelace"
    for quoted in ("Ada Lovelace", "Ada\\nLovelace", "Ada\u00a0 Lovelace "):
        value = region(text, text, "PER", text=quoted)
        assert read(file, task(annotation(value), text=text))[0] == [[(text, "PER")]]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (task(annotation({"start": "/p[1]/text()[1]", "end": "/p[1]", "hypertextlabels": ["X"]})),
         "region 0 is not a range of characters"),
        (task(annotation({"start": 0.5, "end": 1.5, "channel": 0, "labels": ["X"]})),
         "region 0 is not a range of characters"),
        (task(annotation({"start": 0, "end": 3, "labels": [4]})), "a label of region 0 is 4"),
        (task(annotation({"start": 0, "end": 99, "labels": ["X"]})), "entity 0, [0, 99) 'X', does"),
        (task(7), "annotation 0 is not a JSON object"),
        (task(annotation(result=None)), "'result' is not a list"),
        (task(data={"text": "", "n": 1}), "'text' is ''"),
        (task(data={"n": 1}), "which field of the data holds the text cannot be told from []"),
    ],
)  # fmt: skip
def test_bad_tasks(file: Path, made: Any, message: str) -> None:
    assert refusal(file, made).startswith(f":1: task 12: {message}")


def test_what_is_no_task_has_its_line(file: Path) -> None:
    put(file, task(annotation(ADA)), 3, indent=1)
    with pytest.raises(DataError, match=r":\d+: task 1: the task is not a JSON object") as caught:
        read_sentences(file)
    line = int(str(caught.value).removeprefix(f"{file}:").split(":")[0])
    assert file.read_text().split("\n")[line - 1].strip() == "3"


def test_boundaries(file: Path) -> None:
    cut = region(TEXT, "harles Babb", "PER")
    message = refusal(file, task(annotation(cut)))
    assert message.startswith(":1: task 12: entity [20, 31) 'harles Babb' of type 'PER' does not")
    found, warnings = read(file, task(annotation(cut)), boundaries="snap")
    assert (found, warnings) == ([[("Charles Babbage", "PER")]], [])


def test_sentences_with_words_are_of_token_json(file: Path) -> None:
    entities = [{"start": 0, "end": 1, "type": "PER", "text": "Ada"}]
    assert detect_format(put(file, {"tokens": ["Ada"], "entities": entities})) == "token-json"
