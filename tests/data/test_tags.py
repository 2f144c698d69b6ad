from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproto.data.tags import (
    SCHEMES,
    Scheme,
    TagError,
    UnknownSchemeError,
    detect_scheme,
    irregular_positions,
    scheme_named,
    spans_from_tags,
    tags_from_spans,
)
from spanproto.data.types import Span
from spanproto.errors import DataError

LABELS = st.sampled_from(["PER", "creative-work", "O", "I-95", "B-cell", "_", "Ω x"])


@st.composite
def flat_spans(draw: st.DrawFn) -> tuple[int, list[Span]]:
    pieces = draw(st.lists(st.tuples(st.integers(1, 4), st.none() | LABELS), max_size=8))
    spans, position = [], 0
    for length, label in pieces:
        if label is not None:
            spans.append(Span(position, position + length, label))
        position += length
    return position, spans


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        (["B-PER I-PER O B-PER", "O"], "bio"),
        (["O O", "O"], "bio"),
        (["B-PER B-PER"], "bio"),
        (["I-PER I-PER O I-LOC"], "iob1"),
        (["I-PER B-PER O", "O I-LOC"], "iob1"),
        (["I-PER B-LOC O"], "bio"),
        (["B-PER I-PER E-PER O S-LOC"], "iobes"),
        (["B-PER L-PER O U-LOC"], "bilou"),
        (["person-actor O location"], "io"),
        (["vitamin-B O location"], "io"),
        (["B-PER I-PER O B-LOC PER"], "bio"),
    ],
)
def test_scheme_is_told_apart(sequences: list[str], scheme: Scheme) -> None:
    assert detect_scheme(sequence.split() for sequence in sequences) == scheme


@pytest.mark.parametrize(
    ("tags", "offender"),
    [
        ("O B_PER I_PER", "B_PER"),
        ("O PER-B PER-I", "PER-B"),
        ("O B I", "B"),
        ("person place person B-PER", "B-PER"),
    ],
)
def test_unknown_scheme_names_the_tag(tags: str, offender: str) -> None:
    with pytest.raises(UnknownSchemeError, match=repr(offender)) as caught:
        detect_scheme([tags.split()])
    assert caught.value.tag == offender


@pytest.mark.parametrize(
    ("scheme", "tags", "spans"),
    [
        ("bio", "B-X I-X B-X O", [(0, 2, "X"), (2, 3, "X")]),
        ("bio", "O I-X I-X", [(1, 3, "X")]),
        ("bio", "B-X I-Y I-Y", [(0, 1, "X"), (1, 3, "Y")]),
        ("iob1", "I-X I-X B-X I-Y", [(0, 2, "X"), (2, 3, "X"), (3, 4, "Y")]),
        ("iobes", "B-X E-X S-X S-X", [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]),
        ("iobes", "B-X I-X O E-Y I-Y", [(0, 2, "X"), (3, 4, "Y"), (4, 5, "Y")]),
        ("bilou", "B-X L-X U-X", [(0, 2, "X"), (2, 3, "X")]),
        ("io", "X X O I-Y", [(0, 2, "X"), (3, 4, "Y")]),
    ],
)
def test_tags_to_spans(scheme: Scheme, tags: str, spans: list[tuple[int, int, str]]) -> None:
    assert spans_from_tags(tags.split(), scheme) == spans


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("bio", "B-X I-X B-X O B-Y"),
        ("iob1", "I-X I-X B-X O I-Y"),
        ("iobes", "B-X E-X S-X O S-Y"),
        ("bilou", "B-X L-X U-X O U-Y"),
    ],
)
def test_spans_to_tags(scheme: Scheme, tags: str) -> None:
    spans = [Span(0, 2, "X"), Span(2, 3, "X"), Span(4, 5, "Y")]
    assert tags_from_spans(spans, 5, scheme) == tags.split()


@given(flat_spans(), st.sampled_from(SCHEMES))
def test_spans_survive_tags(case: tuple[int, list[Span]], scheme: Scheme) -> None:
    length, spans = case
    touching = any(
        left.end == right.start and left.label == right.label for left, right in pairwise(spans)
    )
    if scheme == "io" and touching:
        with pytest.raises(DataError, match="merge"):
            tags_from_spans(spans, length, scheme)
    else:
        tags = tags_from_spans(spans, length, scheme)
        assert spans_from_tags(tags, scheme) == spans
        assert irregular_positions(tags, scheme) == []


def test_io_merges_touching_entities_when_asked() -> None:
    tags = tags_from_spans([Span(0, 1, "X"), Span(1, 3, "X")], 3, "io", merge=True)
    assert spans_from_tags(tags, "io") == [Span(0, 3, "X")]


@pytest.mark.parametrize(
    ("scheme", "tags", "positions"),
    [
        ("bio", "O I-X I-X B-Y I-X", [1, 4]),
        ("iob1", "B-X I-X", [0]),
        ("iobes", "B-X I-X O I-Y", [1, 3]),
        ("io", "I-X X", []),
    ],
)
def test_irregular_tags_are_found(scheme: Scheme, tags: str, positions: list[int]) -> None:
    assert irregular_positions(tags.split(), scheme) == positions


@pytest.mark.parametrize(
    ("scheme", "tag"), [("bio", "PER"), ("bio", "E-X"), ("iobes", "M-X"), ("bio", "B-"), ("io", "")]
)
def test_tag_of_another_scheme_is_refused(scheme: Scheme, tag: str) -> None:
    with pytest.raises(TagError) as caught:
        spans_from_tags(["O", tag], scheme)
    assert caught.value.position == 1


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([Span(0, 2, "X"), Span(1, 3, "Y")], "share a word"),
        ([Span(0, 2, "X"), Span(0, 2, "Y")], "share a word"),
        ([Span(0, 4, "X")], "does not fit"),
        ([Span(0, 1, "")], "no type"),
    ],
)
def test_spans_that_tags_cannot_hold(spans: list[Span], message: str) -> None:
    with pytest.raises(DataError, match=message):
        tags_from_spans(spans, 3, "bio")


def test_scheme_names() -> None:
    assert [scheme_named(name) for name in ("IOB2", "BIOES", "IOB", "BILOU")] == [
        "bio",
        "iobes",
        "iob1",
        "bilou",
    ]
    with pytest.raises(DataError, match="did you mean 'iobes'"):
        scheme_named("iobse")
