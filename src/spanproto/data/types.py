"""The units of data: a labelled span, a sentence of words, and an N-way K-shot episode."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from spanproto.errors import DataError


class Span(NamedTuple):
    """Words `start` up to, not including, `end` of a sentence, with an entity type."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and the entity spans over them; spans may nest or overlap.

    `others` are entities of none of the types in question, as half-open ranges of words: a model
    may learn from them where entities are, and must not give them one of its types. What is
    `doubtful`, of training data, may be an entity that nobody labelled: a span extractor does not
    learn from it that it is none.

    `text` and `offsets` are set when the sentence came from running text: `offsets[i]` is the
    half-open range of characters of `text` that word `i` covers.
    """

    words: tuple[str, ...]
    spans: tuple[Span, ...] = ()
    text: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    others: tuple[tuple[int, int], ...] = ()
    doubtful: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        for span in self.spans:
            if not 0 <= span.start < span.end <= len(self.words):
                raise DataError(
                    f"span [{span.start}, {span.end}) of type {span.label!r} does not fit a "
                    f"sentence of {len(self.words)} words; spans are half-open word positions"
                )
        if (self.text is None) != (self.offsets is None):
            raise DataError("a sentence needs both text and offsets, or neither")
        if self.offsets is not None and len(self.offsets) != len(self.words):
            raise DataError(
                f"{len(self.offsets)} character offsets for {len(self.words)} words; "
                "give one (start, end) pair for each word"
            )

    def unlabelled(self) -> "Sentence":
        """The same words with no spans: all that a model may see of a query sentence."""
        return replace(self, spans=(), others=(), doubtful=())

    def with_spans(self, spans: Iterable[Span]) -> "Sentence":
        """The same words with other spans."""
        return replace(self, spans=tuple(spans))

    def type_counts(self) -> Counter[str]:
        """How many spans of each type the sentence has."""
        return Counter(span.label for span in self.spans)


@dataclass(frozen=True, slots=True)
class Episode:
    """One few-shot task: the target types, labelled support sentences, and query sentences.

    A type may lack support spans (real benchmark files have such episodes); it can then never be
    predicted and its query entities count as misses. `descriptions` say in words what some of the
    types are; each counts as one more example of its type, or takes the place of the type's name
    where names are used.
    """

    types: tuple[str, ...]
    support: tuple[Sentence, ...]
    query: tuple[Sentence, ...]
    descriptions: tuple[tuple[str, str], ...] = ()  # (type, text)

    def __post_init__(self) -> None:
        if len(set(self.types)) != len(self.types):
            raise DataError(f"episode types {list(self.types)} repeat; name each type once")
        known = set(self.types)
        for part, sentences in (("support", self.support), ("query", self.query)):
            for index, sentence in enumerate(sentences):
                for span in sentence.spans:
                    if span.label not in known:
                        raise DataError(
                            f"{part} sentence {index} has a span of type {span.label!r}, which is "
                            f"not among the episode's types {sorted(known)}"
                        )

    def for_types(self, types: Iterable[str]) -> "Episode":
        """The same sentences with only these types to find; entities of others become `others`."""
        chosen = tuple(types)
        return Episode(
            chosen,
            tuple(_for_types(sentence, chosen) for sentence in self.support),
            tuple(_for_types(sentence, chosen) for sentence in self.query),
            tuple(pair for pair in self.descriptions if pair[0] in chosen),
        )

    def supported_types(self) -> tuple[str, ...]:
        """The types that have at least one support span, in the order of `types`."""
        present = {span.label for sentence in self.support for span in sentence.spans}
        return tuple(label for label in self.types if label in present)

    def has_support(self) -> bool:
        """Whether there is any support span; without one nothing can be learnt or predicted."""
        return any(sentence.spans for sentence in self.support)

    def without_query_spans(self) -> "Episode":
        """The episode as a model may see it at prediction time."""
        return replace(self, query=tuple(sentence.unlabelled() for sentence in self.query))

    def without_descriptions(self) -> "Episode":
        """The episode as a method sees it that has no use for what types are called."""
        return replace(self, descriptions=())


def _for_types(sentence: Sentence, types: tuple[str, ...]) -> Sentence:
    spans = tuple(span for span in sentence.spans if span.label in types)
    others = tuple((s.start, s.end) for s in sentence.spans if s.label not in types)
    return replace(sentence, spans=spans, others=sentence.others + others)
