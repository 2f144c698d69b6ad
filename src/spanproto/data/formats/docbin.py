"""`spacy`: spaCy's binary DocBin, the `*.spacy` files of its training.

The words are spaCy's tokens, less those of white space alone, with their places in the text. The
entities are `doc.ents` or, where a document has none, the spans of all groups of `doc.spans`, which
may nest. Entities that do not overlap are written as `doc.ents`, others as the group `sc`.

spaCy is optional and takes a while to import, so it is imported when a file is read or written.
"""

import zlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from spanproto.data.boundaries import labelled
from spanproto.data.files import read_bytes
from spanproto.data.formats.base import (
    Format,
    OnProblem,
    Reading,
    ReadOptions,
    Unit,
    Warn,
    WriteOptions,
    Writer,
    parsed,
)
from spanproto.data.formats.json_values import require_text, require_words
from spanproto.data.types import Sentence, Span
from spanproto.data.words import is_visible
from spanproto.errors import DataError, MissingExtraError

_GROUP = "sc"
_SIGNED_BYTES = 64


def _spacy() -> Any:
    try:
        return import_module("spacy")
    except ModuleNotFoundError:
        raise MissingExtraError("spacy", "spaCy") from None


def docs_in(doc_bin: Any) -> Iterator[Any]:
    """The documents of a DocBin."""
    yield from doc_bin.get_docs(_spacy().vocab.Vocab())


def sentence_of_doc(doc: Any, warn: Warn) -> Sentence:
    """The sentence that a spaCy document is."""
    tokens = [token for token in doc if is_visible(token.text)]
    words = require_words([token.text for token in tokens])
    offsets = tuple((token.idx, token.idx + len(token)) for token in tokens)
    found = doc.ents or [span for group in doc.spans.values() for span in group]
    entities = dict.fromkeys(
        Span(
            span.start_char,
            span.end_char,
            require_text(span.label_, f"the label of {span.text!r}"),
        )
        for span in found
    )
    # Tokens are met in any case: snapping takes white space off the ends of an entity.
    return labelled(Sentence(words, (), doc.text, offsets), entities, "snap", warn)


def _units(path: Path) -> Iterator[Unit[Any]]:
    tokens = _spacy().tokens
    raw = read_bytes(path)
    try:
        docs = list(docs_in(tokens.DocBin().from_bytes(raw)))
    except Exception as error:  # whatever msgpack, numpy or spaCy make of broken bytes
        raise DataError(
            f"{path}: not a DocBin that spaCy can read ({type(error).__name__}); write it again"
        ) from None
    for at, doc in enumerate(docs):
        yield Unit(None, f"document {at}", doc)


def _read(path: Path, options: ReadOptions, on_problem: OnProblem) -> Reading[Sentence]:
    return Reading(parsed(_units(path), sentence_of_doc, on_problem))


def _doc(sentence: Sentence, options: WriteOptions) -> Any:
    """The sentence as a document, with a token of white space where words are further apart."""
    spacy = _spacy()
    require_words(sentence.words)
    pieces = list(_pieces(sentence))
    doc = spacy.tokens.Doc(
        spacy.vocab.Vocab(),
        words=[piece for piece, _ in pieces],
        spaces=[spaced for _, spaced in pieces],
    )
    token_of_word = [token.i for token in doc if is_visible(token.text)]
    if [doc[at].text for at in token_of_word] != list(sentence.words):
        raise DataError(
            "a word is invisible, or differs from the text, or something visible stands between "
            "words, which a document cannot hold; choose a JSON format"
        )
    spans = [
        spacy.tokens.Span(
            doc, token_of_word[span.start], token_of_word[span.end - 1] + 1, span.label
        )
        for span in sentence.spans
    ]
    if all(before.end <= after.start for before, after in pairwise(sorted(sentence.spans))):
        doc.ents = spans
    else:
        doc.spans[_GROUP] = spans
    return doc


def _pieces(sentence: Sentence) -> Iterator[tuple[str, bool]]:
    """The text in tokens, each with whether a blank follows it."""
    if sentence.text is None or sentence.offsets is None:
        last = len(sentence.words) - 1
        yield from ((word, at < last) for at, word in enumerate(sentence.words))
        return
    text, position = sentence.text, 0
    ends = [0, *(end for _, end in sentence.offsets)]
    starts = [*(start for start, _ in sentence.offsets), len(text)]
    for end, start in zip(ends, starts, strict=True):
        gap = text[end:start]
        spaced = gap.startswith(" ") and end > 0
        if end:
            yield text[position:end], spaced
        if gap[spaced:]:
            yield gap[spaced:], False
        position = start


def _assemble(docs: Iterable[Any]) -> Iterator[bytes]:
    yield _spacy().tokens.DocBin(docs=docs).to_bytes()


def _is_docbin(opening: bytes) -> bool:
    """Whether the bytes are compressed and begin with the keys of a DocBin."""
    try:
        return b"attrs" in zlib.decompressobj().decompress(opening, _SIGNED_BYTES)
    except zlib.error:
        return False


FORMAT = Format(
    name="spacy",
    description="spaCy's binary DocBin; may nest; needs the extra 'spacy'",
    patterns=("*.spacy",),
    holds="sentences",
    signature=_is_docbin,
    read=_read,
    writer=Writer(_doc, _assemble),
)
