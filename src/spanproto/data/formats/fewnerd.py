"""`fewnerd`: the sentence files of Few-NERD, a word, a tab and a bare type (or O) a line."""

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
    encode_sentence,
    rows_of,
    sentences_in,
)
from spanproto.data.tags import UnknownSchemeError, detect_scheme
from spanproto.data.types import Sentence

_LAYOUT = Layout(width=2, word=0, label=1)


def _sniff(text: str) -> bool:
    """Two columns and bare types; what else columns may hold is left to `conll`."""
    lines = [row.fields for row in rows_of(enumerate(text.split("\n")), tabbed=True) if row.fields]
    if any(len(fields) != _LAYOUT.width for fields in lines):
        return False
    try:
        return detect_scheme([[fields[_LAYOUT.label] for fields in lines]]) == "io"
    except UnknownSchemeError:
        return False


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    rows = rows_of(numbered_lines(path), tabbed=True)
    return Reading(sentences_in(rows, _LAYOUT, "io", on_problem), "io")


def _encode(sentence: Sentence, options: WriteOptions) -> str:
    return encode_sentence(sentence, "io", options.merge)


FORMAT = Format(
    name="fewnerd",
    description="Few-NERD sentences: word, tab, bare type or O; IO tags",
    patterns=("*.txt",),
    holds="sentences",
    sniff=_sniff,
    read=_read,
    writer=text_writer(_encode, closing=""),
)
