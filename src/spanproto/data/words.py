"""Words of running text, with the exact characters each one covers.

The rule is one for all languages and needs no model. It prefers more boundaries to fewer, since an
entity can take in several words but can never end inside one.

* Letters, digits and the marks on them run together: `naïve`, `B2B`, `किताब`, `مرحبا`. So do
  joiners inside a word (zero-width joiner and non-joiner, soft hyphen).
* Scripts written without spaces between words (Han, kana, Thai, Lao, Burmese, Khmer): each
  character, with its marks, is a word.
* A number keeps its inner points and commas: `3.14`, `1,000`.
* An underscore inside a word stays (`user_name`); one at an edge is punctuation (`_Emma_`).
* A hyphen is a word of its own: `Berlin-based` is three words.
* An apostrophe between letters begins the English endings ’s ’m ’d ’t ’ll ’re ’ve and otherwise
  ends the word it follows: `Paris|'s`, `don|'t`, `l'|Europe`, `O'|Neill`.
* Any other visible character is a word of its own; an emoji sequence (skin tones, joined emoji,
  flags, keycaps) is one word.
* White space, line ends, control characters and invisible marks of direction belong to no word.
"""

import re
import unicodedata
from bisect import bisect_right

from spanproto.data.types import Sentence

_UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # Han iteration mark and zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),  # halfwidth Katakana
    (0x20000, 0x3FFFF),  # Han, supplementary planes
)
_UNSPACED_STARTS = [first for first, _ in _UNSPACED_SCRIPTS]
_SEPARATORS = frozenset("\u061c\u200b\u200e\u200f\u2028\u2029\ufeff") | frozenset(
    map(chr, [*range(0x202A, 0x202F), *range(0x2061, 0x206A)])
)
_PARTICULAR = {
    "'": "'",
    "\u2019": "'",
    "_": "_",
    ".": ".",
    ",": ".",
    "\u066b": ".",
    "\u066c": ".",
    "\u200d": "j",
}


class _Shapes(dict[int, str]):
    """A table for `str.translate` that gives each character one letter for its kind.

    w letter, d digit, c unspaced script, m mark on what precedes, j joiner, r regional indicator,
    p any other visible character, blank: no part of a word; ' _ . as they are (a comma is a
    point). `word_offsets` adds e: the apostrophe that begins an English ending.
    """

    def __missing__(self, code: int) -> str:
        shape = self[code] = _shape(chr(code))
        return shape


def _shape(char: str) -> str:
    if char in _PARTICULAR:
        return _PARTICULAR[char]
    if char in _SEPARATORS or char.isspace():
        return " "
    code, category = ord(char), unicodedata.category(char)
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "r"
    if category[0] == "M" or category == "Cf" or 0x1F3FB <= code <= 0x1F3FF:
        return "m"
    if category[0] == "N":
        return "d"
    if category[0] == "L":
        return "c" if _is_unspaced(code) else "w"
    return " " if category == "Cc" else "p"


def _is_unspaced(code: int) -> bool:
    at = bisect_right(_UNSPACED_STARTS, code) - 1
    return at >= 0 and code <= _UNSPACED_SCRIPTS[at][1]


_SHAPES = _Shapes()
_RUN = r"[wd][wdmj]*"
_WORD = re.compile(
    rf"""
      e{_RUN}                                     # an English ending
    | {_RUN}(?:(?:_+|(?<=d)\.(?=d)){_RUN})*(?:'(?=w))?
    | c[mj]*
    | rr[mj]*                                     # a flag
    | [^ ][mj]*(?:(?<=j)[pr][mj]*)*               # punctuation, symbols, emoji sequences
    """,
    re.VERBOSE,
)
_ENGLISH_ENDING = re.compile(r"(?<=\w)['\u2019](?=(?:[smdt]|ll|re|ve)(?!\w))", re.IGNORECASE)


def word_offsets(text: str) -> tuple[tuple[int, int], ...]:
    """The half-open range of characters that each word of `text` covers, in order."""
    shapes = list(text.translate(_SHAPES))
    for ending in _ENGLISH_ENDING.finditer(text):
        shapes[ending.start()] = "e"
    return tuple(match.span() for match in _WORD.finditer("".join(shapes)))


def is_visible(text: str) -> bool:
    """Whether there is any word in the text."""
    return bool(word_offsets(text))


def in_words(label: str) -> str:
    """The words of a type's name: `person-actor`, `ProgrammingLanguage` and `MUSIC_GENRE` alike."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", label)
    return " ".join(re.split(r"[\s_/\-.]+", spaced)).strip().lower()


def sentence_of(text: str) -> Sentence:
    """The text as one unlabelled sentence of words that know their characters."""
    offsets = word_offsets(text)
    return Sentence(tuple(text[start:end] for start, end in offsets), (), text, offsets)
