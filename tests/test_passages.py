# ruff: noqa: RUF001 (marks that look like others are what is tested)
"""Passages: where text is cut, and that nothing is lost or shifted by it."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.passages import examples_of, passage_starts, windows_of

LONG = "This line is long enough that an editor has wrapped it here and"
TEXTS = st.text() | st.text(alphabet="aB1. !?…\n\r\t。'\")-東\u0301👍\u2029\u200f")


def passages(text: str) -> list[str]:
    sentence = sentence_of(text)
    places = [0, *passage_starts(sentence), len(sentence.words)]
    assert sentence.offsets is not None
    return [
        text[sentence.offsets[a][0] : sentence.offsets[b - 1][1]]
        for a, b in pairwise(places)
        if a < b
    ]


@pytest.mark.parametrize(
    "expected",
    [
        ["Ada wrote it.", "Grace read it!", "Who else?", "Nobody."],
        ["He said “Go!”", "Then (they say.)", "Well."],
        ["Dr. Smith met J. R. Tolkien, e.g. in the U.S. Army.", "Then he left."],
        ["They waited... and waited.", "On 3. Mai 1999 it came."],
        ["Version 3.14 is out.", "Use it."],
        ["هل هذا صحيح؟", "نعم."],
        ["यह सच है।", "हाँ।"],
    ],
)
def test_sentences(expected: list[str]) -> None:
    assert passages(" ".join(expected)) == expected
    assert passages("\r\n".join(expected)) == expected


def test_scripts_without_blanks() -> None:
    assert passages("東京に行く。大阪！「はい。」次") == [
        "東京に行く。",
        "大阪！",
        "「はい。」",
        "次",
    ]


def test_lines() -> None:
    assert passages(f"{LONG}\ngoes on.") == [f"{LONG}\ngoes on."]
    assert passages("Ada Lovelace\nGrace Hopper\r\nAlan") == [
        "Ada Lovelace",
        "Grace Hopper",
        "Alan",
    ]
    assert passages(f"{LONG}\n\nNew one") == [LONG, "New one"]
    assert passages(f"{LONG}\n- an item") == [LONG, "- an item"]
    paragraph = "word " * 40 + "end"
    assert passages(f"{paragraph}\n{paragraph}") == [paragraph, paragraph]


@pytest.mark.parametrize("text", ["." * 200_000, ".)" * 100_000, " ." * 100_000, "\n" * 200_000])
def test_odd_text_is_cut_in_no_time(text: str) -> None:
    sentence = sentence_of(text)
    began = time.monotonic()
    passage_starts(sentence)
    assert time.monotonic() - began < 3


@given(TEXTS, st.integers(2, 9), st.integers(0, 3))
def test_windows_hold_every_word_once_as_their_own(text: str, limit: int, overlap: int) -> None:
    sentence = sentence_of(text)
    windows = windows_of(sentence, limit, min(overlap, limit - 1))
    assert all(0 < window.end - window.start <= limit for window in windows)
    for word in range(len(sentence.words)):
        assert sum(window.owns(word, word + 1) for window in windows) == 1
        (home,) = [window for window in windows if window.owns(word, word + 1)]
        assert home.start <= word < home.end


@given(st.integers(1, 60), st.integers(4, 20), st.integers(0, 60), st.integers(1, 3))
def test_a_span_belongs_where_it_is_farthest_from_a_cut(
    size: int, limit: int, start: int, length: int
) -> None:
    overlap, end = 3, start + length
    sentence = Sentence(tuple("abc"[at % 3] for at in range(size)))
    windows = windows_of(sentence, limit, overlap)
    if end > size:
        return

    def room(window) -> float:
        left = start - window.start if window.start else float("inf")
        right = window.end - end if window.end < size else float("inf")
        return min(left, right)

    holding = [w for w in windows if w.start <= start and end <= w.end]
    (home,) = [window for window in windows if window.owns(start, end)]
    assert home in holding
    assert room(home) == max(map(room, holding))


def test_windows_overlap_evenly() -> None:
    windows = windows_of(Sentence(("a",) * 500), limit=200, overlap=40)
    assert [(window.start, window.end) for window in windows] == [(0, 200), (150, 350), (300, 500)]
    assert windows_of(Sentence(("a",) * 200))[0].owns(0, 200)
    assert windows_of(Sentence(())) == []


def test_examples_are_cut_where_passages_are_and_never_in_an_entity() -> None:
    text = "Ada wrote it. Yahoo! Inc. read it. Nobody else did."
    words = sentence_of(text)
    example = words.with_spans([Span(0, 1, "person"), Span(4, 8, "company")])
    parts = examples_of(example)
    assert [" ".join(part.words) for part in parts] == [
        "Ada wrote it .",
        "Yahoo ! Inc . read it .",
        "Nobody else did .",
    ]
    assert parts[0].spans == (Span(0, 1, "person"),)
    assert parts[1].spans == (Span(0, 4, "company"),)
    assert parts[2].spans == ()


@given(st.integers(0, 40), st.lists(st.tuples(st.integers(0, 39), st.integers(1, 15)), max_size=5))
def test_no_example_loses_a_word_or_an_entity(size: int, places: list[tuple[int, int]]) -> None:
    fitting = [(start, start + length) for start, length in places if start + length <= size]
    example = Sentence(
        tuple(map(str, range(size))),
        tuple(Span(*place, "x") for place in fitting[::2]),
        others=tuple(fitting[1::2]),
    )
    parts = examples_of(example, limit=8)
    assert tuple(word for part in parts for word in part.words) == example.words
    seen = {part.words[s.start : s.end] for part in parts for s in part.spans}
    assert seen == {example.words[s.start : s.end] for s in example.spans}
    seen = {part.words[start:end] for part in parts for start, end in part.others}
    assert seen == {example.words[start:end] for start, end in example.others}
    if not fitting:
        assert all(len(part.words) <= 8 for part in parts)
