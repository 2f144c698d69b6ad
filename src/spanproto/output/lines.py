"""Text files of documents, whose pieces come as soon as each document does."""

from collections.abc import Iterable, Iterator
from typing import Any

from spanproto.data.formats.columns import encode_sentence
from spanproto.data.formats.json_values import dump
from spanproto.output.document import Document, each


def to_jsonl(documents: Document | Iterable[Document]) -> Iterator[str]:
    """A line of JSON for each document: its text or words, and all that is known of its entities.

    The lines of texts are a file that `fit` reads.
    """
    for document in each(documents):
        given: dict[str, Any] = (
            {"text": document.given}
            if isinstance(document.given, str)
            else {"words": list(document.given.words)}
        )
        given["entities"] = [entity.to_dict() for entity in document.entities]
        yield dump(given) + "\n"


def to_conll(documents: Document | Iterable[Document]) -> Iterator[str]:
    """A word, a tab and a BIO tag a line, and a blank line after each document.

    Tags hold one entity a word: of those that overlap the best is written. A document without
    words has no lines.
    """
    for document in each(documents):
        sentence = document.flat().tagged()
        if sentence.words:
            yield encode_sentence(sentence, "bio", merge=False) + "\n"
