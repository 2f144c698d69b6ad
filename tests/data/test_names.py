"""What types are called, in words."""

import pytest

from spanproto.data.names import name_of, type_names
from spanproto.data.types import Episode, Sentence, Span


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("person", "person"),
        ("product-car", "product car"),
        ("WORK_OF_ART", "work of art"),
        ("PER", "person"),
        ("location-GPE", "location country or city"),
        ("PERCENT", "percent"),
        ("per-unit", "per unit"),
    ],
)
def test_a_label_in_words(label: str, name: str) -> None:
    assert name_of(label) == name


def test_supported_types_have_their_description_or_their_name() -> None:
    spans = (Span(0, 1, "LOC"), Span(1, 2, "ORG"), Span(2, 3, "--"))
    episode = Episode(
        ("PER", "ORG", "LOC", "--"),
        (Sentence(("a", "b", "c"), spans),),
        (),
        descriptions=(("LOC", "a place, as on maps"), ("ORG", "\u200b"), ("PER", "never shown")),
    )
    assert type_names(episode) == [
        ("ORG", ("organization",)),
        ("LOC", ("a", "place", ",", "as", "on", "maps")),
        ("--", ("--",)),
    ]
