# ruff: noqa: RUF001 (characters that look like others are what is tested)
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanproto.data.words import in_words, sentence_of, word_offsets

MIXED = "Zoë’s 👩‍👧 café\r\n東京に 3.14 مرحبا"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, world!", "Hello|,|world|!"),
        ("B2B costs 1,000.50 or 3.14.", "B2B|costs|1,000.50|or|3.14|."),
        ("Berlin-based", "Berlin|-|based"),
        ("Paris's don't I'll they’ve", "Paris|'s|don|'t|I|'ll|they|’ve"),
        ("l’Europe O'Neill's", "l’|Europe|O'|Neill|'s"),
        ("dogs' '90s 5'10", "dogs|'|'|90s|5|'|10"),
        ("user_name _Emma_ __x__", "user_name|_|Emma|_|_|_|x|_|_"),
        ("東京のスカイ hi世界", "東|京|の|ス|カ|イ|hi|世|界"),
        ("ภาษา", "ภ|า|ษ|า"),
        ("한국어 텍스트", "한국어|텍스트"),
        ("किताब cafe\u0301", "किताब|cafe\u0301"),
        ("می\u200cخواهم، ١٢٫٥", "می\u200cخواهم|،|١٢٫٥"),
        ("\u200fשלום\u200f עולם", "שלום|עולם"),
        ("👩‍👩‍👧👍🏽🇩🇪🇫🇷1️⃣❤️‍🔥", "👩‍👩‍👧|👍🏽|🇩🇪|🇫🇷|1️⃣|❤️‍🔥"),
        ("a\r\nb\u200bc\x00d", "a|b|c|d"),
        ("\u0301abc", "\u0301|abc"),
        ("$5 50% #NFL", "$|5|50|%|#|NFL"),
    ],
)
def test_words(text: str, words: str) -> None:
    assert sentence_of(text).words == tuple(words.split("|"))


@given(st.text() | st.text(alphabet="ab1.,'’_- \r\n\u200d\u0301東👍🏽🇩e"))
@example(MIXED)
def test_offsets_are_exact_and_cover_all_that_is_visible(text: str) -> None:
    sentence = sentence_of(text)
    offsets = word_offsets(text)
    assert sentence.text == text
    assert sentence.offsets == offsets
    assert sentence.words == tuple(text[start:end] for start, end in offsets)
    covered = [at for start, end in offsets for at in range(start, end)]
    assert covered == sorted(set(covered))
    assert all(start < end for start, end in offsets)
    for at in set(range(len(text))).difference(covered):
        assert text[at].isspace() or unicodedata.category(text[at]) in ("Cc", "Cf", "Zl", "Zp")


@given(st.text(), st.text())
def test_words_do_not_reach_over_white_space(left: str, right: str) -> None:
    shifted = tuple(
        (start + len(left) + 1, end + len(left) + 1) for start, end in word_offsets(right)
    )
    assert word_offsets(f"{left} {right}") == word_offsets(left) + shifted


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)))
def test_each_ideograph_is_a_word(text: str) -> None:
    assigned = "".join(char for char in text if unicodedata.category(char) == "Lo")
    assert sentence_of(assigned).words == tuple(assigned)


def test_the_words_of_a_type_name() -> None:
    assert in_words("person-artist/author") == "person artist author"
    assert in_words("ProgrammingLanguage") == "programming language"
    assert in_words("MUSIC_GENRE") == "music genre"
