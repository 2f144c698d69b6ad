"""What training sentences may leave unlabelled.

A corpus in which some types are labelled has entities of others, too. Told that these are none, the
extractor learns to overlook what it is there to find. Where labels of other types, or another
model, say what may be an entity, nothing is learned from that as being none.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from spanproto.data.formats import read_sentences
from spanproto.data.types import Episode, Sentence

Range = tuple[int, int]


@dataclass(frozen=True)
class Doubts:
    """What may be an entity of some sentences, by their words."""

    ranges: Mapping[tuple[str, ...], tuple[Range, ...]]

    @classmethod
    def read(cls, files: Iterable[str]) -> "Doubts":
        """The spans of labelled sentences, whatever their types."""
        found: dict[tuple[str, ...], tuple[Range, ...]] = {}
        for name in files:
            for sentence in read_sentences(name):
                ranges = tuple((span.start, span.end) for span in sentence.spans)
                found[sentence.words] = (*found.get(sentence.words, ()), *ranges)
        return cls(found)

    def on(self, sentence: Sentence) -> Sentence:
        """The sentence with what is doubtful of it; what it has labelled is not."""
        known = {*((span.start, span.end) for span in sentence.spans), *sentence.others}
        doubtful = [pair for pair in self.ranges.get(sentence.words, ()) if pair not in known]
        return replace(sentence, doubtful=(*sentence.doubtful, *doubtful)) if doubtful else sentence

    def on_episode(self, episode: Episode) -> Episode:
        """The episode, all of its sentences with what is doubtful of them."""
        return replace(
            episode,
            support=tuple(map(self.on, episode.support)),
            query=tuple(map(self.on, episode.query)),
        )
