"""Annotated sentences: what is marked, how, and when colours are used."""

import io

import pytest

from spanproto.data.types import Span
from spanproto.display import Annotator, running_text, table, wants_colour

WORDS = ("In", "May", ",", "Ada", "Lovelace", "'s", "aunt", "(", "Jane", ")", "left", ".")


def test_punctuation_hugs_its_word() -> None:
    assert running_text(WORDS) == "In May, Ada Lovelace's aunt (Jane) left."


def test_entities_stand_in_brackets_without_colour() -> None:
    annotate = Annotator(("person",), colour=False)
    spans = [Span(8, 9, "person"), Span(3, 5, "person"), Span(4, 5, "name")]
    assert annotate(WORDS, spans) == (
        "In May, [Ada Lovelace | person]'s aunt ([Jane | person]) left."
    )


def test_each_type_has_its_own_colour() -> None:
    annotate = Annotator(("person", "month"), colour=True)
    text = annotate(WORDS, [Span(1, 2, "month"), Span(3, 5, "person")])
    assert "\033[1;33mMay\033[0;33m month\033[0m, \033[1;36mAda Lovelace\033[0;36m person" in text
    assert "[" not in text.replace("\033[", "")


def test_a_table_is_aligned() -> None:
    assert table([("name", "n"), ("a", 10)], numeric=[1]) == ["name   n", "a     10"]


def test_colour_is_for_terminals_unless_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_colour(terminal)
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(terminal)
