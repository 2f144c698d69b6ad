"""Whatever a format can hold is read back as it was written."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spanproto.data.formats import (
    FORMATS,
    detect_format,
    read_episodes,
    read_sentences,
    write_episodes,
    write_sentences,
)
from spanproto.data.tags import SCHEMES
from spanproto.data.types import Episode, Sentence, Span
from spanproto.data.words import sentence_of, word_offsets

ANY_CHARACTER = st.characters(exclude_categories=["Cs"])
WORDS = st.text(ANY_CHARACTER, min_size=1, max_size=6) | st.sampled_from(
    ["#", "# x", "[", "{", "don't", "a\u00a0b", "\u2028", "👩‍👧", "東京", "-DOCSTART-", "I-X"]
)
COLUMN_WORDS = WORDS.filter(
    lambda word: (
        not set("\t\r\n") & set(word)
        and word == word.strip(" ")
        and not word.startswith(("\ufeff", "-DOCSTART-"))
    )
)
LABELS = st.sampled_from(["PER", "creative-work", "person-artist/author", "Ω", "a b"])


def is_visible(word: str) -> bool:
    """Whether a word has no invisible character at its ends."""
    offsets = word_offsets(word)
    return bool(offsets) and offsets[0][0] == 0 and offsets[-1][1] == len(word)


@st.composite
def flat_sentences(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> Sentence:
    """Sentences whose entities neither overlap nor touch one of their own type."""
    pieces = draw(
        st.lists(
            st.tuples(st.none() | LABELS, st.lists(words, min_size=1, max_size=3)),
            min_size=1,
            max_size=5,
        )
    )
    spans: list[Span] = []
    text: list[str] = []
    for label, piece in pieces:
        if label is not None and not (
            spans and spans[-1].end == len(text) and spans[-1].label == label
        ):
            spans.append(Span(len(text), len(text) + len(piece), label))
        text += piece
    return Sentence(tuple(text), tuple(spans))


@st.composite
def nested_spans(draw: st.DrawFn, length: int) -> list[Span]:
    places = st.builds(Span, st.integers(0, length - 1), st.integers(1, length), LABELS)
    fitting = places.filter(lambda span: span.start < span.end)
    return draw(st.lists(fitting, unique=True, max_size=5))


@st.composite
def nested_sentences(draw: st.DrawFn, words: st.SearchStrategy[str] = WORDS) -> Sentence:
    text = draw(st.lists(words, min_size=1, max_size=6))
    return Sentence(tuple(text), tuple(draw(nested_spans(len(text)))))


def episodes_of(sentences: st.SearchStrategy[Sentence]) -> st.SearchStrategy[Episode]:
    part = st.lists(sentences, min_size=1, max_size=3).map(tuple)

    def episode(support: tuple[Sentence, ...], query: tuple[Sentence, ...]) -> Episode:
        labels = {span.label for sentence in support + query for span in sentence.spans}
        return Episode(tuple(sorted(labels)), support, query)

    return st.builds(episode, part, part).filter(lambda episode: bool(episode.types))


def sentences_read_back(
    sentences: list[Sentence], format: str, scheme: str | None = None
) -> list[Sentence]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write_sentences(path, sentences, format, scheme=scheme)
        return read_sentences(path, format, scheme=scheme)


def episodes_read_back(episodes: list[Episode], format: str) -> list[Episode]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        write_episodes(path, episodes, format)
        assert detect_format(path) == format
        return read_episodes(path, format)


@settings(deadline=None, max_examples=60)
@given(st.lists(flat_sentences(COLUMN_WORDS), min_size=1, max_size=4), st.sampled_from(SCHEMES))
def test_conll(sentences: list[Sentence], scheme: str) -> None:
    assert sentences_read_back(sentences, "conll", scheme) == sentences


@settings(deadline=None, max_examples=60)
@given(st.lists(flat_sentences(COLUMN_WORDS), min_size=1, max_size=4))
def test_conll_found_by_itself(sentences: list[Sentence]) -> None:
    assert sentences_read_back(sentences, "conll") == sentences


@settings(deadline=None, max_examples=60)
@given(st.lists(flat_sentences(COLUMN_WORDS), min_size=1, max_size=4))
def test_fewnerd(sentences: list[Sentence]) -> None:
    assert sentences_read_back(sentences, "fewnerd") == sentences


@settings(deadline=None, max_examples=60)
@given(st.lists(nested_sentences(), min_size=1, max_size=4))
def test_token_json(sentences: list[Sentence]) -> None:
    assert sentences_read_back(sentences, "token-json") == sentences


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_char_jsonl_of_texts(data: st.DataObject) -> None:
    sentence = sentence_of(data.draw(st.text(ANY_CHARACTER, min_size=1)))
    assume(sentence.words)
    labelled = sentence.with_spans(data.draw(nested_spans(len(sentence.words))))
    assert sentences_read_back([labelled], "char-jsonl") == [labelled]


@settings(deadline=None, max_examples=60)
@given(nested_sentences(WORDS.filter(is_visible)))
def test_char_jsonl_of_words(sentence: Sentence) -> None:
    """Words are cut anew, but text and entities stay."""
    (found,) = sentences_read_back([sentence], "char-jsonl")
    assert found.text == " ".join(sentence.words)
    assert found.offsets is not None
    assert [
        (found.text[found.offsets[span.start][0] : found.offsets[span.end - 1][1]], span.label)
        for span in found.spans
    ] == [(" ".join(sentence.words[span.start : span.end]), span.label) for span in sentence.spans]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_spacy_of_texts(data: st.DataObject) -> None:
    sentence = sentence_of(data.draw(st.text(ANY_CHARACTER, min_size=1)))
    assume(sentence.words)
    labelled = sentence.with_spans(data.draw(nested_spans(len(sentence.words))))
    (found,) = sentences_read_back([labelled], "spacy")
    assert set(found.spans) == set(labelled.spans)
    assert found.unlabelled() == sentence


@settings(deadline=None, max_examples=60)
@given(st.lists(nested_sentences(WORDS.filter(is_visible)), min_size=1, max_size=4))
def test_spacy_of_words(sentences: list[Sentence]) -> None:
    found = sentences_read_back(sentences, "spacy")
    assert [sentence.words for sentence in found] == [sentence.words for sentence in sentences]
    assert [set(sentence.spans) for sentence in found] == [
        set(sentence.spans) for sentence in sentences
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(episodes_of(flat_sentences()), min_size=1, max_size=3))
def test_fewnerd_episodes(episodes: list[Episode]) -> None:
    assert episodes_read_back(episodes, "fewnerd-episodes") == episodes


@settings(deadline=None, max_examples=60)
@given(st.lists(episodes_of(flat_sentences()), min_size=1, max_size=3))
def test_crossdomain(episodes: list[Episode]) -> None:
    assert episodes_read_back(episodes, "crossdomain") == episodes


@settings(deadline=None, max_examples=60)
@given(st.lists(episodes_of(nested_sentences()), min_size=1, max_size=3))
def test_token_episodes(episodes: list[Episode]) -> None:
    assert episodes_read_back(episodes, "token-episodes") == episodes


def test_every_format_has_a_round_trip_test() -> None:
    tested = [name.removeprefix("test_").replace("_", "-") for name in globals()]
    for name in (name for name, form in FORMATS.items() if form.writer is not None):
        assert any(test.startswith(name) for test in tested), name


@pytest.mark.parametrize("format", ["conll", "fewnerd"])
def test_sentences_are_found_in_the_right_format(tmp_path: Path, format: str) -> None:
    sentence = Sentence(("a", "#", "b"), (Span(0, 2, "person-other"),))
    write_sentences(tmp_path / "file", [sentence, sentence], format)
    assert detect_format(tmp_path / "file") == format
