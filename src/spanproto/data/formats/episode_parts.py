"""The support and query sentences of an episode in JSON, named in whatever is said of them."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from spanproto.data.formats.base import Warn
from spanproto.data.formats.json_values import (
    require_list,
    require_object,
    require_text,
    require_words,
)
from spanproto.data.formats.tagged import sentence_of_lists
from spanproto.data.tags import Scheme, tags_from_spans
from spanproto.data.types import Sentence
from spanproto.errors import DataError

Value = TypeVar("Value")
Result = TypeVar("Result")


def require_types(record: dict[str, Any]) -> tuple[str, ...]:
    """The types that an episode names."""
    types = require_list(record, "types")
    if not types:
        raise DataError("the episode has no types; name at least one")
    return tuple(require_text(label, f"type {at}") for at, label in enumerate(types))


def each_sentence(
    part: str, values: Sequence[Value], convert: Callable[[Value, str], Result]
) -> tuple[Result, ...]:
    """`convert(value, name)` of every sentence of a part; its errors begin with the name."""
    if not values:
        raise DataError(f"the episode has no {part} sentences; give at least one")
    results = []
    for at, value in enumerate(values):
        name = f"{part} sentence {at}"
        try:
            results.append(convert(value, name))
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    return tuple(results)


def parse_tagged_part(
    record: dict[str, Any], part: str, keys: tuple[str, str], scheme: Scheme, warn: Warn
) -> tuple[Sentence, ...]:
    """The sentences of `record[part]`, which has lists of words and of tags under two keys."""
    content = require_object(record.get(part), f"{part!r}")
    words_key, tags_key = keys
    words, tags = require_list(content, words_key), require_list(content, tags_key)
    if len(words) != len(tags):
        raise DataError(
            f"{part!r} has {len(words)} lists of words and {len(tags)} of tags; give one for each"
        )

    def parse(pair: tuple[Any, Any], name: str) -> Sentence:
        return sentence_of_lists(*pair, scheme, lambda message: warn(f"{name}: {message}"))

    return each_sentence(part, list(zip(words, tags, strict=True)), parse)


def encode_tagged_part(
    part: str,
    sentences: Sequence[Sentence],
    keys: tuple[str, str],
    scheme: Scheme,
    merge: bool = False,
) -> dict[str, Any]:
    """What `parse_tagged_part` reads as `record[part]`."""
    words_key, tags_key = keys

    def tags(sentence: Sentence, name: str) -> list[str]:
        require_words(sentence.words)
        return tags_from_spans(sentence.spans, len(sentence.words), scheme, merge=merge)

    return {
        words_key: [sentence.words for sentence in sentences],
        tags_key: each_sentence(part, sentences, tags),
    }
