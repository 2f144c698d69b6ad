import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan

from spanproto.data.formats import (
    Problem,
    detect_format,
    format_for_name,
    open_sentences,
    read_sentences,
    write_sentences,
)
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.errors import DataError, MissingExtraError

NLP = spacy.blank("en")
TEXT = "Ada  Lovelace\n\nmet 😀 Charles."


def doc(*places: tuple[int, int, str], group: str | None = None, text: str = TEXT) -> Doc:
    made = NLP(text)
    spans = [made.char_span(start, end, label) for start, end, label in places]
    if group is None:
        made.ents = spans
    else:
        made.spans[group] = spans
    return made


def put(path: Path, *docs: Doc) -> Path:
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "train.spacy"


def test_entities_and_words(file: Path) -> None:
    put(file, doc((0, 13, "PER"), (21, 28, "PER")), doc())
    assert detect_format(file) == "spacy"
    first, second = read_sentences(file)
    assert first.words == ("Ada", "Lovelace", "met", "😀", "Charles", ".")
    assert first.text == TEXT
    assert first.offsets == ((0, 3), (5, 13), (15, 18), (19, 20), (21, 28), (28, 29))
    assert first.spans == (Span(0, 2, "PER"), Span(4, 5, "PER"))
    assert second == first.unlabelled()


def test_span_groups_where_there_are_no_entities(file: Path) -> None:
    grouped = doc((0, 13, "PER"), (0, 3, "NAME"), group="sc")
    grouped.spans["more"] = [grouped.char_span(0, 3, "NAME"), grouped.char_span(21, 28, "PER")]
    both = doc((0, 13, "PER"))
    both.spans["sc"] = [both.char_span(21, 28, "PER")]
    first, second = read_sentences(put(file, grouped, both))
    assert first.spans == (Span(0, 2, "PER"), Span(0, 1, "NAME"), Span(4, 5, "PER"))
    assert second.spans == (Span(0, 2, "PER"),)


def test_white_space_at_the_ends_of_entities(file: Path) -> None:
    made = NLP(TEXT)
    made.spans["sc"] = [DocSpan(made, 0, 2, "PER"), DocSpan(made, 3, 4, "X")]
    assert [token.text for token in made[:4]] == ["Ada", " ", "Lovelace", "\n\n"]
    problems: list[Problem] = []
    (located,) = open_sentences(put(file, made), on_problem=problems.append).items
    assert located.item.spans == (Span(0, 1, "PER"),)
    (problem,) = problems
    assert problem.message.startswith("document 0: entity [13, 15)")
    assert (problem.line, problem.is_error) == (None, False)


def test_a_document_without_words_is_named(file: Path) -> None:
    put(file, doc(), NLP(" \n"))
    with pytest.raises(DataError) as caught:
        read_sentences(file)
    assert str(caught.value) == f"{file}: document 1: the sentence has no words; leave it out"


def test_a_label_is_needed(file: Path) -> None:
    with pytest.raises(DataError, match="document 0: the label of 'Ada' is ''"):
        read_sentences(put(file, doc((0, 3, ""), group="sc")))


def test_no_documents(file: Path) -> None:
    with pytest.raises(DataError, match="holds no sentences"):
        read_sentences(put(file))


@pytest.mark.parametrize("keep", [40, 200])
def test_a_broken_file(file: Path, keep: int) -> None:
    file.write_bytes(put(file, *[doc((0, 3, "PER"))] * 3).read_bytes()[:keep])
    with pytest.raises(DataError, match=r"train\.spacy: not a DocBin that spaCy can read"):
        read_sentences(file, "spacy")


def test_other_binary_files_are_not_taken_for_text(tmp_path: Path) -> None:
    file = tmp_path / "sheet.xlsx"
    file.write_bytes(b"PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00\xff\xfe")
    with pytest.raises(
        DataError, match=r"sheet\.xlsx: a binary file in no known format; the .*conll"
    ):
        detect_format(file)
    with pytest.raises(DataError, match=r"sheet\.xlsx: a binary file where text is needed"):
        read_sentences(file, "conll")


def test_text_in_utf16_is_to_be_saved_as_utf8(tmp_path: Path) -> None:
    file = tmp_path / "notepad.txt"
    file.write_text("Ada\tB-PER\n", "utf-16")
    with pytest.raises(DataError, match="save the file as UTF-8"):
        detect_format(file)


def test_without_spacy(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(file, doc())
    monkeypatch.setitem(sys.modules, "spacy", None)
    assert detect_format(file) == "spacy"
    for use in (read_sentences, lambda path: write_sentences(path, [Sentence(("a",))], "spacy")):
        with pytest.raises(MissingExtraError, match=r"pip install 'spanproto\[spacy\]'"):
            use(file)


class TestWriting:
    def docs(self, file: Path, *sentences: Sentence) -> list[Doc]:
        write_sentences(file, sentences, format_for_name(file, "sentences"))
        return list(DocBin().from_disk(file).get_docs(NLP.vocab))

    def test_text_and_entities(self, file: Path) -> None:
        text = "\tAda  Lovelace\n\nmet 😀  "
        sentence = sentence_of(text).with_spans([Span(0, 2, "PER"), Span(3, 4, "X")])
        (made,) = self.docs(file, sentence)
        assert made.text == text
        assert [(ent.text, ent.label_) for ent in made.ents] == [
            ("Ada  Lovelace", "PER"),
            ("😀", "X"),
        ]
        assert read_sentences(file) == [sentence]

    def test_nested_spans_are_a_group(self, file: Path) -> None:
        words = ("Bank", "of", "Spain")
        nested = Sentence(words, (Span(0, 3, "ORG"), Span(2, 3, "LOC")))
        touching = Sentence(words, (Span(0, 2, "A"), Span(2, 3, "A")))
        first, second = self.docs(file, nested, touching)
        assert first.text == "Bank of Spain"
        assert not first.ents
        assert [span.text for span in first.spans["sc"]] == ["Bank of Spain", "Spain"]
        assert [ent.text for ent in second.ents] == ["Bank of", "Spain"]

    @pytest.mark.parametrize(
        "sentence",
        [
            Sentence(("Ada", " ")),
            Sentence(("Ada",), (), "Ada Lovelace", ((0, 3),)),
            Sentence(("Eva",), (), "Ada", ((0, 3),)),
        ],
    )
    def test_what_a_document_cannot_hold(self, file: Path, sentence: Sentence) -> None:
        with pytest.raises(DataError, match="sentence 1: a word is invisible, or differs"):
            write_sentences(file, [Sentence(("fine",)), sentence], "spacy")
        assert not file.exists()

    def test_nothing_to_write(self, file: Path) -> None:
        with pytest.raises(DataError, match="no sentences to write"):
            write_sentences(file, [], "spacy")
        assert not file.exists()


def test_the_type_of_a_vocabulary_does_not_matter(file: Path) -> None:
    """Lexical attributes such as `is_space` need a language, and a file names none."""
    made: Any = Doc(spacy.vocab.Vocab(), words=["Ada", "\n", "wrote"], spaces=[True, False, False])
    assert read_sentences(put(file, made))[0].words == ("Ada", "wrote")
