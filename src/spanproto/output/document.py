"""What was given and what was found in it, which every form of output is made from."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from spanproto.data.boundaries import labelled
from spanproto.data.types import Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.entity import Entity
from spanproto.errors import DataError


class Placed(NamedTuple):
    """An entity and the characters of the document's text that it covers."""

    start: int
    end: int
    entity: Entity


@dataclass(frozen=True, init=False)
class Document:
    """A text or words, and the entities found in it, which may nest.

    `given` is what was given to `predict` (a list of words becomes a sentence) and `entities` is
    what came back: their positions count characters of a text, or words.
    """

    given: str | Sentence
    entities: tuple[Entity, ...]

    def __init__(
        self, given: str | Sentence | Sequence[str], entities: Iterable[Entity] = ()
    ) -> None:
        if not isinstance(given, str | Sentence):
            given = Sentence(tuple(given))
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "entities", tuple(entities))
        length, unit = (
            (len(given), "characters") if isinstance(given, str) else (len(given.words), "words")
        )
        for entity in self.entities:
            if not 0 <= entity.start < entity.end <= length:
                raise DataError(
                    f"entity [{entity.start}, {entity.end}) {entity.text!r} does not fit a "
                    f"document of {length} {unit}; give what the entities were found in"
                )

    @property
    def counts_words(self) -> bool:
        """Whether the entities' positions count words."""
        return isinstance(self.given, Sentence)

    @property
    def sentence(self) -> Sentence:
        """The document as words that know their characters; the entities are not among its spans.

        Words that come from no text stand in one with a blank between them.
        """
        if isinstance(self.given, str):
            return sentence_of(self.given)
        words = self.given.words
        if self.given.offsets is not None:
            return self.given.unlabelled()
        ends = accumulate(len(word) + 1 for word in words)
        offsets = tuple(
            (end - len(word) - 1, end - 1) for end, word in zip(ends, words, strict=True)
        )
        return Sentence(words, (), " ".join(words), offsets)

    @property
    def text(self) -> str:
        """The text that was given or, of words without one, the words with blanks between."""
        return self.given if isinstance(self.given, str) else self.sentence.text or ""

    def labels(self) -> tuple[str, ...]:
        """The types that were found, in the order of the text."""
        return tuple(dict.fromkeys(placed.entity.label for placed in self.placed()))

    def placed(self) -> list[Placed]:
        """The entities by their place in `text`, the longer first where two begin together."""
        if self.counts_words:
            offsets = self.sentence.offsets or ()
            found = [
                Placed(offsets[entity.start][0], offsets[entity.end - 1][1], entity)
                for entity in self.entities
            ]
        else:
            found = [Placed(entity.start, entity.end, entity) for entity in self.entities]
        return sorted(found, key=lambda placed: (placed.start, -placed.end))

    def flat(self) -> "Document":
        """The document with entities that share nothing: the best first, of equals the longest."""
        kept: list[Entity] = []
        for entity in sorted(self.entities, key=lambda e: (-e.score, e.start - e.end, e.start)):
            if all(entity.end <= other.start or other.end <= entity.start for other in kept):
                kept.append(entity)
        return Document(self.given, sorted(kept, key=lambda entity: entity.start))

    def tagged(self) -> Sentence:
        """The document as a sentence whose spans are the entities; they must meet its words."""
        sentence = self.sentence
        if self.counts_words:
            return sentence.with_spans(Span(e.start, e.end, e.label) for e in self.entities)
        if not self.entities:
            return sentence
        found = [Span(entity.start, entity.end, entity.label) for entity in self.entities]
        return labelled(sentence, found, "refuse", lambda message: None)


def each(documents: Document | Iterable[Document]) -> Iterator[Document]:
    """The documents, of which one may stand alone."""
    yield from (documents,) if isinstance(documents, Document) else documents
