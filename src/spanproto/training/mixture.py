"""Episodes as varied as what users will ask: other corpora, numbers of types and examples.

Each episode draws from one corpus, since only one corpus's types are labelled together. Its number
of types and of examples are drawn too; what a chosen sentence holds of other types stays in it as
entities to be rejected, and some query sentences hold none of the types at all. Types are called
by their names in half of the episodes, and coarse types stand in for fine ones in some.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

from spanproto.data.types import Episode, Sentence
from spanproto.data.words import in_words
from spanproto.errors import DataError

COARSE_SHARE = 0.2  # of the episodes of a corpus whose types have two levels
NAMED_SHARE = 0.5  # of the episodes have the types' names as descriptions
EMPTY_SHARE = 0.25  # query sentences without a type, for each with one


class MixedEpisodes:
    """An endless sequence of varied episodes; `episodes[i]` depends on data, limits, seed and i."""

    def __init__(
        self, corpora: Sequence[Sequence[Sentence]], ways: int, shots: int, queries: int, seed: int
    ) -> None:
        self.corpora = [Corpus(sentences) for sentences in corpora]
        self.corpora += [
            Corpus([_coarse(sentence) for sentence in sentences])
            for sentences in corpora
            if any("-" in span.label for sentence in sentences for span in sentence.spans)
        ]
        fine = len(corpora)
        self.weights = [
            corpus.weight * (1 if at < fine else COARSE_SHARE)
            for at, corpus in enumerate(self.corpora)
        ]
        self.ways, self.shots, self.queries, self.seed = ways, shots, queries, seed

    def __getitem__(self, index: int) -> Episode:
        """Episode number `index`, counted from 0."""
        rng = random.Random(f"{self.seed}/{index}")
        (corpus,) = rng.choices(self.corpora, self.weights)
        ways, shots = rng.randint(1, self.ways), rng.randint(1, self.shots)
        episode = corpus.episode(min(ways, len(corpus.types)), shots, self.queries, rng)
        if rng.random() < NAMED_SHARE:
            return replace(episode, descriptions=tuple((t, in_words(t)) for t in episode.types))
        return episode


class Corpus:
    """Sentences of one corpus, to be found by the types that they hold."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        unique = list({sentence.words: sentence for sentence in sentences}.values())
        self.holding: dict[str, list[Sentence]] = {}
        for sentence in unique:
            for label in sentence.type_counts():
                self.holding.setdefault(label, []).append(sentence)
        # A type needs a sentence to learn from and another to be asked about.
        self.types = sorted(label for label, found in self.holding.items() if len(found) > 1)
        if not self.types:
            raise DataError("a corpus has no type in at least two sentences; leave it out")
        self.sentences = unique
        labelled = sum(bool(sentence.spans) for sentence in unique)
        self.weight = (labelled * len(self.types)) ** 0.5  # of the corpus among others

    def episode(self, ways: int, shots: int, queries: int, rng: random.Random) -> Episode:
        """An episode of that many types, with so many examples and about as many questions each."""
        if ways > len(self.types):
            raise DataError(
                f"{ways} types were asked for in an episode, and {len(self.types)} of the corpus "
                "are in at least two sentences; ask for fewer"
            )
        types = tuple(rng.sample(self.types, ways))
        taken: set[tuple[str, ...]] = set()
        asked = self._draw(types, queries, taken, rng)
        empty = round(EMPTY_SHARE * len(asked) + rng.random())
        asked += self._fresh(self.sentences, empty, taken, rng)
        shown = self._draw(types, shots, taken, rng)
        rng.shuffle(asked)
        return Episode(
            tuple(sorted({label for sentence in (*shown, *asked) for label in _labels(sentence)})),
            tuple(shown),
            tuple(asked),
        ).for_types(types)

    def _draw(
        self, types: Sequence[str], most: int, taken: set[tuple[str, ...]], rng: random.Random
    ) -> list[Sentence]:
        """Sentences that are not taken yet, up to `most` for each type, at least one where any."""
        chosen: list[Sentence] = []
        for label in types:
            have = sum(label in _labels(sentence) for sentence in chosen)
            # Half of a rare type's sentences at most, so that the other half remains.
            enough = max(1, min(most, len(self.holding[label]) // 2))
            chosen += self._fresh(self.holding[label], enough - have, taken, rng)
        return chosen

    @staticmethod
    def _fresh(
        pool: Sequence[Sentence], number: int, taken: set[tuple[str, ...]], rng: random.Random
    ) -> list[Sentence]:
        """Up to `number` random sentences of the pool that are not taken; now they are."""
        found: list[Sentence] = []
        for _ in range(8 * max(number, 0)):
            if len(found) == number:
                break
            sentence = rng.choice(pool)
            if sentence.words not in taken:
                taken.add(sentence.words)
                found.append(sentence)
        return found


def _labels(sentence: Sentence) -> set[str]:
    return {span.label for span in sentence.spans}


def _coarse(sentence: Sentence) -> Sentence:
    """The sentence with the first part of its types' names: `person` for `person-actor`."""
    return sentence.with_spans(
        span._replace(label=span.label.partition("-")[0]) for span in sentence.spans
    )
