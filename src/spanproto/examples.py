"""Labelled examples as users have them, in a file or in memory, as sentences.

An example in memory is one of

* a `Sentence`, or a spaCy `Doc`;
* `{"text": ..., "entities": [...]}` with entities in characters, ends exclusive, each as
  `{"start", "end", "label"}` or `(start, end, label)`; `spans` is another name for `entities`;
* `(text, {"entities": [(start, end, label), ...]})`, the training data of spaCy;
* `{"words": [...], "entities": [...]}` with entities in words, or `{"words": [...], "tags": [...]}`
  with BIO tags; `tokens` is another name for `words`;
* an object as doccano, Label Studio or Prodigy export them (see `spanproto.data.formats`).
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from spanproto.data.boundaries import boundaries_named
from spanproto.data.formats import char_jsonl, doccano, label_studio, prodigy, read_sentences
from spanproto.data.formats.base import Problem, ReadOptions, Unit, Warn, parsed
from spanproto.data.formats.docbin import docs_in, sentence_of_doc
from spanproto.data.formats.json_values import (
    EntityKeys,
    entities_in,
    require_fit,
    require_words,
)
from spanproto.data.formats.tagged import sentence_of_lists
from spanproto.data.formats.text_records import Parse, Record
from spanproto.data.types import Sentence
from spanproto.errors import DataError

_WORDS = ("words", "tokens")
_ENTITIES = ("entities", "spans")
_EXPORTS: tuple[tuple[Callable[[Record], bool], Parse], ...] = (
    (label_studio.is_record, label_studio.parse),
    (doccano.is_record, doccano.parse),
    (prodigy.is_record, prodigy.parse),
)


def read_examples(
    source: Any,
    *,
    format: str | None = None,
    boundaries: str = "refuse",
    allow_unlabelled: bool = False,
) -> list[Sentence]:
    """The sentences of a file, of a spaCy DocBin or of examples in memory.

    `source` is the path of a file of sentences, whose `format` is found from its content unless it
    is given, or a DocBin, or any number of examples (see above). An entity that begins or ends
    inside a word is refused or, if `boundaries` is "snap", widened to the words that it touches.
    There must be a labelled span among the examples unless `allow_unlabelled`. What is wrong with
    an example is said with its place; what had to be left out is one Python warning.
    """
    heard: list[str] = []
    options = ReadOptions(boundaries=boundaries_named(boundaries))
    if isinstance(source, str | PathLike):
        sentences = read_sentences(
            Path(source), format, boundaries=boundaries, on_warning=heard.append
        )
    elif format is not None:
        raise DataError(f"the format {format!r} is for a file; leave it out or give a path")
    else:
        sentences = list(_sentences(_examples(source), options, heard.append))
    if heard:
        more = f" (and {len(heard) - 1} more like this)" if heard[1:] else ""
        warnings.warn(f"{heard[0]}{more}", stacklevel=2)
    _require_some(sentences, allow_unlabelled)
    return sentences


def _require_some(sentences: list[Sentence], allow_unlabelled: bool) -> None:
    if not sentences:
        raise DataError("there are no examples; give at least one labelled text")
    if not allow_unlabelled and not any(sentence.spans for sentence in sentences):
        raise DataError(
            f"none of the {len(sentences)} examples has a labelled span; label at least one"
        )


def _examples(source: Any) -> Iterable[Any]:
    """The single examples of a source in memory."""
    if _is_spacy(source, "DocBin"):
        return docs_in(source)
    if isinstance(source, Mapping | Sentence | bytes) or _is_spacy(source, "Doc"):
        raise DataError(
            f"the examples are a single {type(source).__name__}; put examples in a list"
        )
    if not isinstance(source, Iterable):
        raise DataError(
            f"examples cannot be read from a {type(source).__name__}; give a path, a DocBin or a "
            "list of examples"
        )
    return source


def _sentences(
    examples: Iterable[Any], options: ReadOptions, heard: Callable[[str], None]
) -> Iterator[Sentence]:
    def on_problem(problem: Problem) -> None:
        if problem.is_error:
            raise DataError(problem.message)
        heard(problem.message)

    def parse(example: Any, warn: Warn) -> Sentence | None:
        return _sentence(example, options, warn)

    units = (Unit(None, f"example {at}", example) for at, example in enumerate(examples))
    return (located.item for located in parsed(units, parse, on_problem))


def _sentence(example: Any, options: ReadOptions, warn: Warn) -> Sentence | None:
    if isinstance(example, Sentence):
        require_words(example.words)
        return example
    if _is_spacy(example, "Doc"):
        return sentence_of_doc(example, warn)
    match example:
        case [str(text), Mapping() as annotations]:
            return _sentence_of_record({"text": text, **annotations}, options, warn)
        case Mapping():
            return _sentence_of_record(dict(example), options, warn)
    raise DataError(
        f"a {type(example).__name__} is no example; give an object with 'text' and 'entities', "
        "or with 'words' and 'tags'"
    )


def _sentence_of_record(record: Record, options: ReadOptions, warn: Warn) -> Sentence | None:
    words = [key for key in _WORDS if _is_list_of_strings(record.get(key))]
    if words and "text" not in record:
        return _sentence_of_words(record, words[0], warn)
    if words and record[words[0]]:
        raise DataError(
            f"it has both 'text' and {words[0]!r}, which leaves open what the positions count; "
            "give one of them"
        )
    for is_record, parse in _EXPORTS:
        if is_record(record):
            return parse(record, options, warn)
    return char_jsonl.parse(record, options, warn)


def _sentence_of_words(record: Record, key: str, warn: Warn) -> Sentence:
    words = list(record[key])
    if "tags" in record:
        return sentence_of_lists(words, list(record["tags"]), "bio", warn)
    found = next((record[key] for key in _ENTITIES if key in record), None)
    if not isinstance(found, list | tuple):
        raise DataError(
            "it has no list of 'entities', nor 'tags'; add one, empty if there are none"
        )
    keys = EntityKeys()
    if any(isinstance(entity, Mapping) and "type" in entity for entity in found):
        keys = EntityKeys(label="type")
    spans = require_fit(entities_in(found, keys), len(words), "words", warn)
    return Sentence(require_words(words), tuple(spans))


def _is_list_of_strings(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(word, str) for word in value)


def _is_spacy(value: Any, name: str) -> bool:
    """Whether a value is of that class of spaCy, which need not be imported to know."""
    tokens = sys.modules.get("spacy.tokens")
    return tokens is not None and isinstance(value, getattr(tokens, name))
