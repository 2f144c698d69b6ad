"""Spans to tag tensors and back, against the readers of tag files."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanproto.batch import SpanPlaces
from spanproto.data.tags import spans_from_tags
from spanproto.data.types import Span
from spanproto.evaluation.protocols import runs_of_one_type
from spanproto.methods.parts.tagging import (
    kinds_of_tags,
    spans_of_tags,
    tag_count,
    tags_of_spans,
)

LETTERS = {"io": "I", "bio": "BI", "bioes": "BIES"}
FILE_SCHEME = {"io": "io", "bio": "bio", "bioes": "iobes"}


def places(rows: list[list[Span]]) -> tuple[SpanPlaces, torch.Tensor]:
    flat = [(row, s.start, s.end, int(s.label)) for row, spans in enumerate(rows) for s in spans]
    row, start, end, kind = torch.tensor(flat, dtype=torch.long).reshape(-1, 4).unbind(1)
    return SpanPlaces(row, start, end), kind


def as_spans(tags: torch.Tensor, scheme) -> list[list[Span]]:
    spans, kind = spans_of_tags(tags, scheme)
    rows: list[list[Span]] = [[] for _ in tags]
    columns = (spans.sentence, spans.start, spans.end, kind)
    for row, start, end, label in zip(*(c.tolist() for c in columns), strict=True):
        rows[row].append(Span(start, end, str(label)))
    return rows


def text(tag: int, scheme) -> str:
    """A tag as files write it."""
    if tag == 0:
        return "O"
    kind, letter = divmod(tag - 1, len(LETTERS[scheme]))
    return f"{LETTERS[scheme][letter]}-{kind + 1}"


def test_a_sentence_by_hand() -> None:
    spans, kind = places([[Span(0, 1, "2"), Span(2, 5, "1")], []])
    shape = torch.Size((2, 5))
    assert tags_of_spans(spans, kind, shape, "io").tolist() == [[2, 0, 1, 1, 1], [0] * 5]
    assert tags_of_spans(spans, kind, shape, "bio").tolist()[0] == [3, 0, 1, 2, 2]
    assert tags_of_spans(spans, kind, shape, "bioes").tolist()[0] == [8, 0, 1, 2, 3]
    assert [tag_count(2, scheme) for scheme in LETTERS] == [3, 5, 9]
    assert kinds_of_tags(torch.arange(9), "bioes").tolist() == [0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_a_shared_word_belongs_to_the_first_span() -> None:
    spans, kind = places([[Span(1, 2, "2"), Span(0, 3, "1")]])
    assert tags_of_spans(spans, kind, torch.Size((1, 3)), "io").tolist() == [[1, 2, 1]]


@st.composite
def flat_rows(draw: st.DrawFn) -> tuple[int, list[list[Span]]]:
    length = draw(st.integers(0, 7))
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        cuts = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
        kinds = draw(st.lists(st.sampled_from("0123"), min_size=6, max_size=6))
        pairs = zip(cuts, cuts[1:], kinds, strict=False)
        rows.append([Span(a, b, kind) for a, b, kind in pairs if kind != "0"])
    return length, rows


@given(flat_rows(), st.sampled_from(sorted(LETTERS)))
def test_flat_spans_go_round(drawn: tuple[int, list[list[Span]]], scheme) -> None:
    length, rows = drawn
    spans, kind = places(rows)
    found = as_spans(tags_of_spans(spans, kind, torch.Size((len(rows), length)), scheme), scheme)
    expected = [sorted(runs_of_one_type(row)) for row in rows] if scheme == "io" else rows
    assert [sorted(row) for row in found] == [sorted(row) for row in expected]


@pytest.mark.parametrize("scheme", sorted(LETTERS))
def test_any_tags_are_read_as_files_are(scheme) -> None:
    generator = torch.Generator().manual_seed(0)
    tags = torch.randint(0, tag_count(2, scheme), (200, 6), generator=generator)
    for row, found in zip(tags.tolist(), as_spans(tags, scheme), strict=True):
        words = [text(tag, scheme) for tag in row]
        assert found == sorted(spans_from_tags(words, FILE_SCHEME[scheme])), words
