"""The page: well-formed, escaped, with every character of the text."""

from html.parser import HTMLParser

from hypothesis import given
from output.test_document import PARIS, TEXT, UNIVERSITY
from output.test_nesting import documents

from spanproto import Sentence
from spanproto.entity import Entity
from spanproto.output import Document, to_html

VOID = {"meta"}


class Page(HTMLParser):
    """Reads a page, refuses tags that do not match, and keeps what stands in the articles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.titles: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "article":
            self.texts.append("")
        if tag == "mark":
            self.titles.append(dict(attrs)["title"] or "")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "article" in self.open and "bdi" not in self.open:
            self.texts[-1] += data


def test_scores_and_places_show_on_hover() -> None:
    found = Entity("Paris", "city", 18, 23, 0.7, (("person", 0.25),))
    page = Page(to_html([Document(TEXT, [found]), Document(Sentence(("Paris",)))]))
    assert page.titles == ["city 0.70 · characters 18 to 23 · person 0.25"]
    assert page.texts == [TEXT, "Paris"]


def test_a_nested_entity_is_marked_within() -> None:
    fragment = to_html(Document(TEXT, [UNIVERSITY, PARIS]), page=False)
    assert "Paris<bdi>city</bdi></mark><bdi>organisation</bdi></mark>," in fragment
    assert fragment.startswith('<div class="spanproto">')


def test_what_users_write_is_never_markup() -> None:
    nasty = '<script>alert("1")</script>'
    page = to_html(Document(nasty, [Entity(nasty, nasty, 0, len(nasty), 0.5)]), title=nasty)
    assert "<script" not in page
    assert Page(page).texts == [nasty]


def test_nothing_found_is_a_page_without_legend() -> None:
    assert "<ul>" not in to_html([])
    assert Page(to_html(Document(""))).texts == [""]


@given(documents())
def test_any_text_is_shown_whole(document: Document) -> None:
    (text,) = Page(to_html(document)).texts
    assert len(text) == len(document.text)
