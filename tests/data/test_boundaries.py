import pytest
from covered import covered
from hypothesis import given
from hypothesis import strategies as st

from spanproto.data.boundaries import boundaries_named, characters_of_utf16, labelled, meet_words
from spanproto.data.types import Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError

TEXT = "Dr. Ada Lovelace's notes"


def snapped(text: str, *entities: Span) -> tuple[list[tuple[str, str]], list[str]]:
    """What the entities cover once snapped, and the warnings."""
    heard: list[str] = []
    sentence = labelled(sentence_of(text), entities, "snap", heard.append)
    return covered(sentence), heard


@pytest.mark.parametrize(
    ("start", "end", "taken"),
    [
        (4, 16, "Ada Lovelace"),
        (5, 15, "Ada Lovelace"),
        (6, 9, "Ada Lovelace"),
        (3, 17, "Ada Lovelace's"),
        (7, 9, "Lovelace"),
        (16, 17, "'s"),
    ],
)
def test_snapping_takes_in_what_is_touched(start: int, end: int, taken: str) -> None:
    assert snapped(TEXT, Span(start, end, "PER")) == ([(taken, "PER")], [])


def test_what_touches_no_word_is_dropped_with_a_warning() -> None:
    found, (warning,) = snapped("Ada  wrote", Span(3, 4, "PER"), Span(0, 3, "PER"))
    assert found == [("Ada", "PER")]
    assert warning == "entity [3, 4) ' ' of type 'PER' touches no word and was left out"


@pytest.mark.parametrize("order", [1, -1])
def test_what_becomes_the_same_is_kept_once(order: int) -> None:
    entities = [Span(0, 2, "PER"), Span(0, 3, "PER"), Span(0, 3, "X")][::order]
    found, (warning,) = snapped("Ada wrote", *entities)
    assert sorted(found) == [("Ada", "PER"), ("Ada", "X")]
    assert "covers the same words" in warning


def test_refusing_says_where_the_words_are() -> None:
    sentence = sentence_of(TEXT)
    with pytest.raises(DataError, match=r"touches are \[4, 16\) 'Ada Lovelace'"):
        labelled(sentence, [Span(5, 16, "PER")], "refuse", pytest.fail)
    with pytest.raises(DataError, match="it covers none, so leave it out"):
        labelled(sentence, [Span(7, 8, "PER")], "refuse", pytest.fail)
    with pytest.raises(DataError, match="no words"):
        labelled(sentence_of(" "), [], "snap", pytest.fail)


@given(st.text(min_size=1), st.data())
def test_snapped_entities_cover_what_they_touched(text: str, data: st.DataObject) -> None:
    sentence = sentence_of(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    if not sentence.offsets:
        return
    found = labelled(sentence, [Span(start, end, "X")], "snap", lambda message: None)
    touched = {
        at
        for at, (a, b) in enumerate(sentence.offsets)
        if set(range(a, b)) & set(range(start, end))
    }
    assert {at for span in found.spans for at in range(span.start, span.end)} == touched


@given(st.text(st.characters(exclude_categories=["Cs"])), st.data())
def test_utf16_units_become_characters(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = (len(text[:at].encode("utf-16-le")) // 2 for at in (start, end))
    assert characters_of_utf16(text, [Span(first, last, "X")]) == [Span(start, end, "X")]


def test_half_of_a_character_is_no_character() -> None:
    assert characters_of_utf16("😀a", [Span(2, 3, "X")]) == [Span(1, 2, "X")]
    assert characters_of_utf16("😀a", [Span(1, 3, "X")]) is None
    assert characters_of_utf16("😀a", [Span(0, 4, "X")]) is None


def test_meeting_words() -> None:
    sentence = sentence_of("Ada wrote")
    assert meet_words(sentence, [Span(0, 3, "X"), Span(0, 9, "X")])
    assert not meet_words(sentence, [Span(0, 3, "X"), Span(4, 8, "X")])


def test_names_of_the_rules() -> None:
    assert boundaries_named("snap") == "snap"
    with pytest.raises(DataError, match="no rule 'widen' for boundaries; choose refuse or snap"):
        boundaries_named("widen")
