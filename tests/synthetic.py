"""Small made-up data: sentences in which a type's entities have words of their own."""

import random
from collections.abc import Sequence

from spanproto.data.types import Episode, Sentence, Span

FILLERS = ["the", "a", "of", "and", "to", "in", "was", "seen", "with", "near", "old", "today"]
TYPES = ["animal", "colour", "fruit", "metal", "river", "tool"]
NAMES = {label: [f"{label}{letter}" for letter in "abcd"] for label in TYPES}


def sentence(rng: random.Random, types: Sequence[str], entities: int = 2) -> Sentence:
    """A sentence with `entities` entities of one or two words between filler words."""
    words: list[str] = []
    spans: list[Span] = []
    for _ in range(entities):
        words += rng.choices(FILLERS, k=rng.randint(1, 3))
        label = rng.choice(types)
        name = rng.choices(NAMES[label], k=rng.randint(1, 2))
        spans.append(Span(len(words), len(words) + len(name), label))
        words += name
    words += rng.choices(FILLERS, k=rng.randint(1, 2))
    return Sentence(tuple(words), tuple(spans))


def corpus(seed: int = 0, size: int = 60, types: Sequence[str] = TYPES) -> list[Sentence]:
    rng = random.Random(seed)
    return [sentence(rng, types) for _ in range(size)]


def episode(seed: int = 0, types: Sequence[str] = TYPES[:3], query: int = 3) -> Episode:
    """An episode in which every type has at least one support span."""
    rng = random.Random(seed)
    support = tuple(sentence(rng, [label]) for label in types)
    return Episode(tuple(types), support, tuple(sentence(rng, types) for _ in range(query)))


def varied_episode(seed: int) -> Episode:
    """An episode of three of the types, with query sentences of any length up to thirty words."""
    rng = random.Random(seed)
    types = rng.sample(TYPES, 3)
    support = tuple(sentence(rng, [label]) for label in types)
    query = tuple(sentence(rng, types, rng.randint(0, 6)) for _ in range(3))
    return Episode(tuple(types), support, query)


def renamed(episode: Episode) -> Episode:
    """The episode with other names of its types, in the same order."""
    names = {label: f"{FILLERS[at]}-x" for at, label in enumerate(episode.types)}

    def sentences(given: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
        return tuple(
            s.with_spans(span._replace(label=names[span.label]) for span in s.spans) for s in given
        )

    return Episode(tuple(names.values()), sentences(episode.support), sentences(episode.query))


def vocabulary() -> list[str]:
    return FILLERS + [name for names in NAMES.values() for name in names]


UNEVEN = [  # episodes of which each lacks something
    episode(3),
    Episode(
        ("river", "tool", "fruit"),  # the last without support
        (
            Sentence(("rivera", "of", "toola"), (Span(0, 3, "river"), Span(2, 3, "tool"))),
            Sentence(("near", "metala", "today"), others=((1, 2),)),
        ),
        (
            Sentence(("the", "toolb", "and", "fruita"), (Span(1, 2, "tool"), Span(3, 4, "fruit"))),
            Sentence(("riverb", "toola"), (Span(0, 2, "river"), Span(1, 2, "tool"))),
        ),
        (("tool", "an old tool"),),
    ),
    Episode(  # all of its support is entities, so that there is no word of none
        ("metal",),
        (Sentence(("metala", "metalb"), (Span(0, 2, "metal"),)),),
        (Sentence(("a", "metalc"), (Span(1, 2, "metal"),)),),
    ),
]
