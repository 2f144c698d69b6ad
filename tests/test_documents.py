"""Documents: what users may give, and how windows' results become one."""

import pytest
import synthetic

from spanproto import Sentence
from spanproto.data.words import sentence_of
from spanproto.documents import DocumentJudge, Judged, clash, document_of
from spanproto.errors import DataError
from spanproto.explanation import explanations
from spanproto.judging import Candidate, Outcome
from spanproto.model import SpanProto
from spanproto.passages import Window
from spanproto.support import support_prototypes


def candidate(start: int, end: int, score: float = 0.9, outcome: Outcome = "kept") -> Candidate:
    return Candidate(start, end, "x", outcome, score, (1.0,), (1.0,), (score,))


def judge(model: SpanProto, **values: object) -> DocumentJudge:
    task = synthetic.episode()
    thresholds = dict.fromkeys(task.types, 0.0)
    given = {"decoding": "flat", **values}
    return DocumentJudge(model, task, support_prototypes(model, [task]), thresholds, **given)


def test_a_document_is_a_string_a_sentence_or_words() -> None:
    assert document_of("a b") == sentence_of("a b")
    assert document_of(["a", "b"]) == document_of(("a", "b")) == Sentence(("a", "b"))
    assert document_of(synthetic.corpus()[0]).spans == ()
    for wrong in (5, None, b"a", {"text": "a"}, ["a", None]):
        with pytest.raises(DataError, match=r"input 7 is a \w+; give a string"):
            document_of(wrong, "input 7")


@pytest.mark.parametrize(
    ("one", "other", "flat", "nested"),
    [
        ((0, 2), (2, 4), False, False),
        ((0, 2), (1, 3), True, True),
        ((0, 4), (1, 3), True, False),
        ((1, 3), (0, 4), True, False),
        ((0, 2), (0, 2), True, False),
    ],
)
def test_clashes(one: tuple[int, int], other: tuple[int, int], flat: bool, nested: bool) -> None:
    first, second = candidate(*one), candidate(*other)
    assert clash(first, second, "flat") is flat
    assert clash(first, second, "nested") is nested
    assert not clash(first, second, "all")


def test_spans_of_two_windows_are_one_list_without_clashes(eager_model: SpanProto) -> None:
    left, right = Window(0, 10, 0, 16), Window(6, 16, 16, 32)
    merged = judge(eager_model)._merged(
        [
            (left, [candidate(1, 2), candidate(6, 9, 0.7), candidate(8, 10, 0.95)]),
            (right, [candidate(0, 1, 0.99), candidate(1, 5, 0.8), candidate(8, 9, 0.6)]),
        ]
    )
    assert [(one.start, one.end, one.outcome) for one in merged] == [
        (1, 2, "kept"),
        (6, 9, "overlap"),  # the right window's is better
        (7, 11, "kept"),
        (14, 15, "kept"),
    ]


def test_candidates_are_in_reading_order_and_in_words(eager_model: SpanProto) -> None:
    document = sentence_of("the rivera. Old rivera!\r\n\r\nThe 👍")
    (judged,) = judge(eager_model)([document])
    assert judged.document is document
    places = [(one.start, one.end) for one in judged.candidates]
    assert places == sorted(places)
    assert {word for one in judged.kept for word in range(one.start, one.end)} == set(range(8))
    for one in judged.candidates:
        text, start, end = judged.place(one, in_characters=True)
        assert document.text is not None
        assert document.text[start:end] == text
        assert judged.place(one, in_characters=False) == (text, one.start, one.end)


def test_an_explanation_names_the_better_span_and_the_distance(tiny_model: SpanProto) -> None:
    """The two-stage rule: boundaries are compared before types are."""
    words = Sentence(tuple("abcdef"))

    def one(start: int, end: int, boundary: float, outcome: Outcome) -> Candidate:
        types = (0.2, 0.5, 0.3)
        return Candidate(start, end, "colour", outcome, boundary, (4.0, 3.5, 5.0), types, types)

    judged = Judged(
        words,
        [one(0, 2, 3.0, "far"), one(1, 3, 2.0, "overlap"), one(4, 5, 1.0, "kept")],
    )
    far, overlap, kept = explanations(judge(tiny_model), judged, in_characters=False)
    assert far.reason == "farther than r = 3 from every type"
    assert overlap.reason == "overlaps a better span 'a b'"
    assert kept.reason == "kept"
    assert kept.score == kept.scores["colour"] == 0.5
    unlikely = Judged(words, [one(0, 1, 0.0, "unlikely")])
    strict = judge(tiny_model)
    strict.thresholds["colour"] = 0.5001
    (found,) = explanations(strict, unlikely, in_characters=False)
    assert found.reason == "score 0.5000 is below the threshold 0.5001"
