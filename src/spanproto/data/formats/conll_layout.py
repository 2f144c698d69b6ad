"""What a CoNLL-style file does not say of itself: its separator, its header and its columns."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from spanproto.data.formats.columns import Layout, Row
from spanproto.data.tags import is_prefixed
from spanproto.errors import DataError

_COMMENT = re.compile(r"#(?: |$)")
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.*)")
_WORD_NAMES = frozenset({"word", "words", "token", "tokens", "form", "text"})
_LABEL_NAMES = frozenset(
    {"label", "labels", "tag", "tags", "ner", "ner_tag", "ner_tags", "entity", "bio", "iob", "ne"}
)


def is_tabbed(lines: Iterable[tuple[int, str]]) -> bool:
    """Whether most lines have a tab between two fields; comments without one are not asked."""
    texts = [line.strip(" \t") for _, line in lines]
    tabs = ["\t" in text for text in texts if text and ("\t" in text or not text.startswith("# "))]
    return sum(tabs) * 2 > len(tabs)


def looks_like_comment(row: Row) -> bool:
    """Whether the row begins with a `#` that stands alone."""
    return bool(row.fields) and _COMMENT.match(row.fields[0]) is not None


def take_header(rows: list[Row]) -> tuple[list[str], list[Row]]:
    """The names of the columns, if the file gives them, and the rows without that line."""
    for at, row in enumerate(rows):
        if not row.fields:
            continue
        named = _GLOBAL_COLUMNS.match(" ".join(row.fields))
        names = [name.lower() for name in (named[1].split() if named else row.fields)]
        if _WORD_NAMES.intersection(names) and _LABEL_NAMES.intersection(names):
            return names, rows[:at] + rows[at + 1 :]
        if not looks_like_comment(row):
            break
    return [], rows


def find_layout(path: Path, rows: Iterable[Row], header: list[str], label: int | None) -> Layout:
    """The layout; a `label` column, counted from 0 or if negative from the end, is as given."""
    filled = [row for row in rows if row.fields]
    words = [row for row in filled if not looks_like_comment(row)] or filled
    if not words:
        raise DataError(f"{path}: the file has no words; give a word and its tag on each line")
    width = Counter(len(row.fields) for row in words).most_common(1)[0][0]
    if width == 1:
        raise DataError(
            f"{path}:{words[0].line}: the lines have one column; give a word and its tag on each"
        )
    table = [row.fields for row in words if len(row.fields) == width]
    if len(header) != width:
        header = []
    word = _word_column(table, header)
    if label is None:
        label = _label_column(table, header, word)
    elif not -width <= label < width or label % width == word:
        raise DataError(
            f"{path}: column {label} cannot be the label column; the file has {width} columns, "
            f"counted from 0, and its words are in column {word}"
        )
    return Layout(width, word, label % width)


def _word_column(table: Sequence[list[str]], header: list[str]) -> int:
    for at, name in enumerate(header):
        if name in _WORD_NAMES:
            return at
    counted = len(table[0]) > 2 and all(fields[0].isdecimal() for fields in table)
    return 1 if counted else 0


def _label_column(table: Sequence[list[str]], header: list[str], word: int) -> int:
    """The named column, else the rightmost of mostly O and prefixed tags, else the last."""
    columns = [at for at in reversed(range(len(table[0]))) if at != word]
    for at in columns:
        if header and header[at] in _LABEL_NAMES:
            return at
    for at in columns:
        tags = sum(fields[at] == "O" or is_prefixed(fields[at]) for fields in table)
        if tags * 2 > len(table):
            return at
    return columns[0]
