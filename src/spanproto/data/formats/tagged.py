"""A sentence from words and their tags."""

from collections.abc import Callable, Sequence
from typing import Any

from spanproto.data.formats.json_values import require_text, require_words
from spanproto.data.tags import Scheme, TagError, irregular_positions, spans_from_tags
from spanproto.data.types import Sentence
from spanproto.errors import DataError


def tagged_sentence(
    words: Sequence[str],
    tags: Sequence[str],
    scheme: Scheme,
    warn_at: Callable[[int, str], None],
) -> Sentence:
    """The sentence; `warn_at(position, message)` hears of tags that break the scheme's rules."""
    spans = spans_from_tags(tags, scheme)
    for position in irregular_positions(tags, scheme):
        warn_at(
            position,
            f"tag {tags[position]!r} breaks the rules of {scheme} here; read as conlleval does",
        )
    return Sentence(tuple(words), tuple(spans))


def sentence_of_lists(
    words: Any, tags: Any, scheme: Scheme, warn: Callable[[str], None]
) -> Sentence:
    """The sentence of two lists that are yet to be checked."""
    if not isinstance(words, list) or not isinstance(tags, list) or len(words) != len(tags):
        raise DataError("needs a list of words and a list of as many tags; mend them")
    checked = [require_text(tag, f"tag {at}") for at, tag in enumerate(tags)]
    try:
        return tagged_sentence(
            require_words(words), checked, scheme, lambda at, message: warn(f"word {at}: {message}")
        )
    except TagError as error:
        raise DataError(f"word {error.position}: {error}") from None
