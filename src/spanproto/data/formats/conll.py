"""`conll`: a word a line in columns, as in the CoNLL shared tasks and most NER corpora.

Columns are cut at tabs when most lines have one, otherwise at runs of blanks. What a file does not
say is found: the label column is the one named in a header (`word label`, or `# global.columns` of
CoNLL-U Plus), else the rightmost that is mostly O and prefixed tags, else the last; words are in
the first column, or in the second when the first counts them. `-DOCSTART-` lines end a sentence.

A line that begins with `#` and a blank is a comment if it stands before the first word of a
sentence and cannot be a word: it has not the file's number of columns or, where blanks separate
them (`# id 7 domain=en`), its label is seen nowhere else.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from spanproto.data.files import numbered_lines
from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    WriteOptions,
    text_writer,
)
from spanproto.data.formats.columns import (
    Layout,
    Row,
    blocks_of,
    encode_sentence,
    rows_of,
    sentences_in,
)
from spanproto.data.formats.conll_layout import (
    find_layout,
    is_tabbed,
    looks_like_comment,
    take_header,
)
from spanproto.data.tags import Scheme, UnknownSchemeError, detect_scheme, is_prefixed
from spanproto.data.types import Sentence
from spanproto.errors import DataError

_DOCUMENT = "-DOCSTART-"
_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    lines = [
        (number, "" if line.startswith(_DOCUMENT) else line)
        for number, line in numbered_lines(path)
    ]
    tabbed = is_tabbed(lines)
    header, rows = take_header(list(rows_of(lines, tabbed)))
    layout = find_layout(path, rows, header, options.label_column)
    rows = list(_without_comments(rows, layout, tabbed))
    scheme = options.scheme or _scheme(path, rows, layout)
    return Reading(sentences_in(rows, layout, scheme, on_problem), scheme)


def _without_comments(rows: list[Row], layout: Layout, tabbed: bool) -> Iterator[Row]:
    labels = {
        row.fields[layout.label]
        for row in rows
        if len(row.fields) == layout.width and not looks_like_comment(row)
    }
    within_sentence = False
    for row in rows:
        if not within_sentence and looks_like_comment(row):
            is_word = len(row.fields) == layout.width and (
                tabbed
                or row.fields[layout.label] in labels
                or is_prefixed(row.fields[layout.label])
            )
            if not is_word:
                continue
        within_sentence = bool(row.fields)
        yield row


def _scheme(path: Path, rows: Iterable[Row], layout: Layout) -> Scheme:
    """The scheme of the label column; if there is none, the line that shows it is named."""
    blocks = [
        [row for row in block if len(row.fields) == layout.width] for block in blocks_of(rows)
    ]
    try:
        return detect_scheme([row.fields[layout.label] for row in block] for block in blocks)
    except UnknownSchemeError as error:
        line = next(
            row.line for block in blocks for row in block if row.fields[layout.label] == error.tag
        )
        raise DataError(f"{path}:{line}: {error}") from None


def _encode(sentence: Sentence, options: WriteOptions) -> str:
    for word in sentence.words:
        if word.startswith(_DOCUMENT):
            raise DataError(
                f"the word {word!r} would be read as a line between documents; choose a JSON format"
            )
    return encode_sentence(sentence, options.scheme or "bio", options.merge)


def _sniff(text: str) -> bool:
    """No JSON, and most lines have the same number of columns, two or more."""
    if _JSON.match(text):
        return False
    lines = list(enumerate(text.split("\n")))
    widths = Counter(len(row.fields) for row in rows_of(lines, is_tabbed(lines)) if row.fields)
    ((width, count),) = widths.most_common(1)
    return width > 1 and count * 2 > widths.total()


FORMAT = Format(
    name="conll",
    description="Columns as in CoNLL, a word and its tag a line; BIO, IOB1, IOBES, BILOU or IO",
    patterns=("*.conll", "*.tsv", "*.bio", "*.iob", "*.iob2", "*.txt"),
    holds="sentences",
    sniff=_sniff,
    read=_read,
    writer=text_writer(_encode, closing=""),
    has_label_column=True,
    has_schemes=True,
)
