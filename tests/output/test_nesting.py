"""Entities as a tree, and the terminal's rendering of it."""

from hypothesis import given
from hypothesis import strategies as st
from output.test_document import PARIS, TEXT, UNIVERSITY, entity

from spanproto.display import Annotator
from spanproto.entity import Entity
from spanproto.output.document import Document
from spanproto.output.nesting import Mark, nested

CROSSING = entity("Paris, 👩‍🔬", "crossing")


def spans(marks: tuple[Mark, ...]) -> list[object]:
    return [(TEXT[mark.start : mark.end], mark.is_end, spans(mark.inner)) for mark in marks]


def test_an_entity_holds_those_within_it() -> None:
    assert spans(nested(Document(TEXT, [PARIS, UNIVERSITY]).placed())) == [
        ("University of Paris", True, [("Paris", True, [])])
    ]


def test_one_that_crosses_another_comes_in_parts() -> None:
    assert spans(nested(Document(TEXT, [CROSSING, UNIVERSITY]).placed())) == [
        ("University of Paris", True, [("Paris", False, [])]),
        (", 👩‍🔬", True, []),
    ]


def test_a_terminal_shows_the_text_as_it_is() -> None:
    document = Document(TEXT, [PARIS, UNIVERSITY])
    assert Annotator(document.labels(), colour=False).document(document) == (
        "The [University of [Paris | city] | organisation], 👩‍🔬 in\r\nParis."
    )
    coloured = Annotator(document.labels(), colour=True).document(document)
    assert coloured == (
        "The \033[1;36mUniversity of \033[1;33mParis\033[0;33m city\033[0m\033[1;36m"
        "\033[0;36m organisation\033[0m, 👩‍🔬 in\r\nParis."
    )


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Any text with any entities."""
    text = draw(st.text(max_size=30))
    starts = st.integers(0, max(len(text) - 1, 0))
    found = draw(st.lists(st.tuples(starts, st.integers(1, 30), st.sampled_from("xyz"))))
    ends = [(start, min(start + size, len(text)), label) for start, size, label in found if text]
    return Document(text, [Entity(text[s:e], label, s, e, 0.5) for s, e, label in ends])


@given(documents())
def test_every_entity_ends_once(document: Document) -> None:
    def ends(marks: tuple[Mark, ...]) -> list[Entity]:
        return [
            entity
            for mark in marks
            for entity in [*([mark.entity] if mark.is_end else []), *ends(mark.inner)]
        ]

    assert sorted(map(repr, ends(nested(document.placed())))) == sorted(
        map(repr, document.entities)
    )
