"""N-way K~2K-shot episodes drawn from a labelled corpus by the rule of Few-NERD.

Draw N types. Take sentences in random order, accepting one only if all its types are among the N,
no type would pass 2K entities, and some type it holds still has fewer than K; stop when every type
has K. Fill the query set likewise with Q in place of K, from the sentences the support left over
(Ding et al. 2021, Few-NERD: A Few-shot Named Entity Recognition Dataset).
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import count, islice
from typing import TypeVar

from spanproto.data.types import Episode, Sentence
from spanproto.errors import ConfigError, DataError

Item = TypeVar("Item")

DRAWS_OF_TYPES = 200
"""How many sets of types are tried for one episode before the corpus is called too small."""


class EpisodeSampler:
    """An endless sequence of episodes: `sampler[i]` depends on corpus, settings, seed and i alone.

    A stream can therefore be resumed at any place and split over workers. `types` (default: all of
    the corpus) are those to draw from; `query_shots` (default: `shots`) is the Q of the rule.
    Types too rare for any episode are an error unless `skip_rare` leaves them out. Of sentences
    with the same words the first is used, so that no query sentence is seen in the support.
    """

    def __init__(
        self,
        sentences: Iterable[Sentence],
        ways: int,
        shots: int,
        query_shots: int | None = None,
        types: Iterable[str] | None = None,
        seed: int = 0,
        skip_rare: bool = False,
    ) -> None:
        self.ways = ways
        self.shots = shots
        self.query_shots = shots if query_shots is None else query_shots
        self.seed = seed
        for name in ("ways", "shots", "query_shots"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)}: an episode needs at least 1")
        counted = [(sentence, sentence.type_counts()) for sentence in sentences]
        if types is None:
            types = {label for _, counts in counted for label in counts}
        kept, usable = self._without_rare(sorted(set(types)), counted, skip_rare)
        self.types = tuple(kept)
        if len(self.types) < ways:
            raise DataError(
                f"{len(self.types)} types can fill an episode and {ways}-way episodes need {ways}; "
                "lower the number of ways or shots, or give a larger corpus"
            )

        position = {label: index for index, label in enumerate(self.types)}
        self._sentences = [sentence for sentence, _ in usable]
        # Of each sentence: the number of entities of each of its types, and these types as bits.
        self._counts = [
            [(position[label], number) for label, number in counts.items()] for _, counts in usable
        ]
        self._masks = [sum(1 << kind for kind, _ in counts) for counts in self._counts]
        self._by_mask: dict[int, list[int]] = {}
        for index, mask in enumerate(self._masks):
            self._by_mask.setdefault(mask, []).append(index)

    def __getitem__(self, index: int) -> Episode:
        """Episode number `index`, counted from 0."""
        if index < 0:
            raise IndexError("episodes are numbered from 0; the sequence has no end to count from")
        rng = random.Random(f"{self.seed}/{index}")
        ran_short: Counter[int] = Counter()
        for _ in range(DRAWS_OF_TYPES):
            kinds = sorted(islice(_in_random_order(list(range(len(self.types))), rng), self.ways))
            drawn = sum(1 << kind for kind in kinds)
            candidates = [
                number
                for mask, numbers in self._by_mask.items()
                if not mask & ~drawn
                for number in numbers
            ]
            support, short = self._fill(drawn, self.shots, candidates, (), rng)
            if not short:
                query, short = self._fill(drawn, self.query_shots, candidates, set(support), rng)
            if not short:
                return Episode(
                    tuple(self.types[kind] for kind in kinds),
                    tuple(self._sentences[number] for number in support),
                    tuple(self._sentences[number] for number in query),
                )
            ran_short.update(kind for kind in kinds if short >> kind & 1)
        worst = ", ".join(
            f"{self.types[kind]} ({times} times)" for kind, times in ran_short.most_common(5)
        )
        raise DataError(
            f"no {self.ways}-way {self.shots}-shot episode with {self.query_shots} query shots "
            f"came about in {DRAWS_OF_TYPES} draws of types; those that ran short of sentences "
            f"without other types: {worst}; lower ways or shots, or leave these types out"
        )

    def __iter__(self) -> Iterator[Episode]:
        """All episodes in order, without end."""
        return self.stream()

    def stream(self, start: int = 0, step: int = 1) -> Iterator[Episode]:
        """Episodes `start`, `start + step`, ... without end: a worker's part, or a resumed run."""
        return map(self.__getitem__, count(start, step))

    def take(self, number: int) -> Iterator[Episode]:
        """The first `number` episodes."""
        return islice(self, number)

    def _fill(
        self,
        drawn: int,
        shots: int,
        candidates: list[int],
        taken: Collection[int],
        rng: random.Random,
    ) -> tuple[list[int], int]:
        """Sentences accepted for one set, and the bits of the types still short of `shots`.

        Counts only grow, so a sentence once refused stays refused: one pass over a random order
        has the same outcome as drawing for ever, and it ends.
        """
        short = drawn
        totals = [0] * len(self.types)
        accepted: list[int] = []
        for number in _in_random_order(candidates, rng):
            if not self._masks[number] & short or number in taken:
                continue
            counts = self._counts[number]
            if any(totals[kind] + entities > 2 * shots for kind, entities in counts):
                continue
            accepted.append(number)
            for kind, entities in counts:
                totals[kind] += entities
                if totals[kind] >= shots:
                    short &= ~(1 << kind)
            if not short:
                break
        return accepted, short

    def _without_rare(
        self, types: list[str], counted: list[tuple[Sentence, Counter[str]]], skip_rare: bool
    ) -> tuple[list[str], list[tuple[Sentence, Counter[str]]]]:
        """The types that can fill an episode, and the sentences that can be part of one.

        Leaving a type out also leaves out the sentences that hold it, hence the repetition.
        """
        while True:
            usable = self._usable(set(types), counted)
            in_sentences: Counter[str] = Counter()
            in_total: Counter[str] = Counter()
            for _, counts in usable:
                in_sentences.update(counts.keys())
                in_total.update(counts)
            rare = [
                label
                for label in types
                if in_sentences[label] < 2 or in_total[label] < self.shots + self.query_shots
            ]
            if not rare:
                return types, usable
            if not skip_rare:
                found = ", ".join(
                    f"{label} ({in_total[label]} entities in "
                    f"{in_sentences[label]} usable sentences)"
                    for label in rare
                )
                raise DataError(
                    f"too few entities for {self.shots} support and {self.query_shots} query "
                    f"shots: {found}; lower the shots or the query shots, or skip rare types"
                )
            types = [label for label in types if label not in rare]

    def _usable(
        self, types: set[str], counted: list[tuple[Sentence, Counter[str]]]
    ) -> list[tuple[Sentence, Counter[str]]]:
        """The sentences that some draw of types could accept, one for each sequence of words."""
        most = 2 * max(self.shots, self.query_shots)
        unique: dict[tuple[str, ...], tuple[Sentence, Counter[str]]] = {}
        for sentence, counts in counted:
            if (
                0 < len(counts) <= self.ways
                and counts.keys() <= types
                and max(counts.values()) <= most
            ):
                unique.setdefault(sentence.words, (sentence, counts))
        return list(unique.values())


def _in_random_order(items: list[Item], rng: random.Random) -> Iterator[Item]:
    """The items in random order, shuffling the list only as far as it is read (Fisher-Yates).

    `Random.random` is the one method whose numbers stay the same over versions of Python.
    """
    for remaining in range(len(items), 0, -1):
        chosen = int(rng.random() * remaining)
        items[chosen], items[remaining - 1] = items[remaining - 1], items[chosen]
        yield items[remaining - 1]
