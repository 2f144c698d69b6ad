"""What the types of an episode are called, in words that an encoder can read."""

import re

from spanproto.data.types import Episode
from spanproto.data.words import in_words, sentence_of

SPELLED_OUT = {
    "PER": "person",
    "ORG": "organization",
    "LOC": "location",
    "GPE": "country or city",
    "FAC": "building",
    "NORP": "nationality or religion",
    "MISC": "miscellaneous",
}
"""The abbreviations of the usual corpora. A description takes the place of any of them."""


def name_of(label: str) -> str:
    """A type's name in words: `person` of `PER`, `product car` of `product-car`."""
    parts = re.split(r"[\s_/\-.]+", label)
    return in_words(" ".join(SPELLED_OUT.get(part, part) for part in parts))


def type_names(episode: Episode) -> list[tuple[str, tuple[str, ...]]]:
    """The types that have support spans, each with the words of its description or its name."""
    described = dict(episode.descriptions)
    return [
        (label, _words(described.get(label, "")) or _words(name_of(label)) or (label,))
        for label in episode.supported_types()
    ]


def _words(text: str) -> tuple[str, ...]:
    return sentence_of(text).words
