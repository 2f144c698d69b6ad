"""Annotated text: what is marked, how, and when colours are used."""

import io

import pytest

from spanproto.display import Annotator, table, wants_colour
from spanproto.entity import Entity
from spanproto.output import Document

TEXT = "In May, Ada Lovelace's aunt (Jane) left."
PEOPLE = (Entity("Ada Lovelace", "person", 8, 20, 0.9), Entity("Jane", "person", 29, 33, 0.8))
MONTH = Entity("May", "month", 3, 6, 0.7)


def test_entities_stand_in_brackets_without_colour() -> None:
    annotate = Annotator(("person",), colour=False)
    assert annotate.document(Document(TEXT, PEOPLE)) == (
        "In May, [Ada Lovelace | person]'s aunt ([Jane | person]) left."
    )


def test_each_type_has_its_own_colour() -> None:
    annotate = Annotator(("person", "month"), colour=True)
    text = annotate.document(Document(TEXT, (MONTH, *PEOPLE)))
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
