"""A sentence from words and their tags."""

from collections.abc import Callable, Sequence

from spanproto.data.tags import Scheme, irregular_positions, spans_from_tags
from spanproto.data.types import Sentence


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
