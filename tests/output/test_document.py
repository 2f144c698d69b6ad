"""Documents: what was given, and the entities by their place in it."""

import pytest

from spanproto import Sentence, Span
from spanproto.entity import Entity
from spanproto.errors import DataError
from spanproto.output.document import Document, each

TEXT = "The University of Paris, 👩‍🔬 in\r\nParis."


def entity(text: str, label: str, score: float = 0.9, within: str = TEXT) -> Entity:
    """The first entity of that text."""
    start = within.index(text)
    return Entity(text, label, start, start + len(text), score)


UNIVERSITY = entity("University of Paris", "organisation", 0.8)
PARIS = entity("Paris", "city", 0.7)


def test_entities_are_placed_in_the_text_as_given() -> None:
    placed = Document(TEXT, [PARIS, UNIVERSITY]).placed()
    assert [TEXT[start:end] for start, end, _ in placed] == ["University of Paris", "Paris"]


def test_words_without_a_text_stand_with_blanks_between() -> None:
    document = Document(Sentence(("In", "New", "York", ".")), [Entity("New York", "city", 1, 3, 1)])
    ((start, end, _),) = document.placed()
    assert document.text == "In New York ."
    assert document.text[start:end] == "New York"


def test_a_list_of_words_is_a_sentence() -> None:
    assert Document(["New", "York"]) == Document(Sentence(("New", "York")))


def test_words_of_a_text_are_placed_in_it() -> None:
    given = Sentence(("New", "York"), (Span(0, 1, "x"),), "New\tYork!", ((0, 3), (4, 8)))
    document = Document(given, [Entity("New\tYork", "city", 0, 2, 1)])
    assert document.placed()[0][:2] == (0, 8)
    assert document.tagged().spans == (Span(0, 2, "city"),)


def test_the_flat_document_keeps_the_best_of_those_that_overlap() -> None:
    assert Document(TEXT, [PARIS, UNIVERSITY]).flat().entities == (UNIVERSITY,)
    better = entity("Paris", "city", 0.9)
    assert Document(TEXT, [better, UNIVERSITY]).flat().entities == (better,)


@pytest.mark.parametrize("given", ["short", Sentence(("short",))])
def test_entities_of_another_document_are_refused(given: str | Sentence) -> None:
    with pytest.raises(DataError, match="does not fit a document"):
        Document(given, [UNIVERSITY])


def test_entities_that_cut_words_have_no_tags() -> None:
    with pytest.raises(DataError, match="does not begin and end at a word"):
        Document(TEXT, [entity("Par", "city")]).tagged()


def test_one_document_may_stand_for_several() -> None:
    document = Document("")
    assert list(each(document)) == list(each([document])) == [document]
    assert document.placed() == []
    assert document.tagged().words == ()
