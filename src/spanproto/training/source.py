"""Where a run's training data come from: files as they are, or a sampler over sentences.

Item number i is a function of the data and the seed alone, so that a run can be resumed at any
step, split over processes, and prefetched, and still see the same episodes or sentences.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from spanproto.data.episodes import read_supported_episodes
from spanproto.data.formats import FORMATS, detect_format, read_sentences
from spanproto.data.sampler import EpisodeSampler
from spanproto.data.splits import read_types, sentences_of_split
from spanproto.data.types import Episode, Sentence
from spanproto.errors import ConfigError, DataError
from spanproto.training.doubts import Doubts
from spanproto.training.mixture import MixedEpisodes
from spanproto.training.settings import DataConfig

VALIDATION_SEED = 0
SHARE_SEED = 0

Item = TypeVar("Item")
Item_co = TypeVar("Item_co", covariant=True)


class Source(Protocol[Item_co]):
    """An endless numbered sequence of what a run trains on."""

    def __getitem__(self, index: int) -> Item_co:
        """Item number `index`."""


class Shuffled(Generic[Item]):
    """Given items over and over, in another order each time.

    The steps of `per_step` items each have distinct ones: what is left over at the end of a pass
    waits for another order.
    """

    def __init__(self, items: Sequence[Item], seed: int, per_step: int = 1) -> None:
        self.items = items
        self.seed = seed
        self.size = len(items) - len(items) % per_step or len(items)
        self._epoch, self._order = -1, list(range(len(items)))

    def __getitem__(self, index: int) -> Item:
        """Item number `index` of the endless sequence."""
        epoch, place = divmod(index, self.size)
        if epoch != self._epoch:
            self._order = list(range(len(self.items)))
            random.Random(f"{self.seed}/{epoch}").shuffle(self._order)
            self._epoch = epoch
        return self.items[self._order[place]]


class TrainingData:
    """The training files, read once: episodes, or labelled sentences to draw them from."""

    def __init__(self, config: DataConfig) -> None:
        if not config.train:
            raise ConfigError("data.train names no file; give episode files or labelled sentences")
        self.config = config
        self._episodes: list[Episode] = []
        self._corpora: list[list[Sentence]] = []
        if _hold_episodes(config.train_files, config):
            files = (_read_episodes([name], config) for name in config.train_files)
            self._episodes = [episode for read in files for episode in _share(read, config)]
            if config.mixed:
                self._corpora, self._episodes = corpora_of(self._episodes), []
                if not self._corpora:
                    raise DataError(
                        f"{', '.join(config.train_files)}: no type is in two sentences, so no "
                        "episodes can be drawn from them; set data.mixed=false"
                    )
        else:
            self._corpora = [
                _share(read_sentences(name, config.format), config) for name in config.train_files
            ]
        if config.doubtful:
            self._doubt(Doubts.read(config.doubtful_files))

    def _doubt(self, doubts: Doubts) -> None:
        """Say of each sentence what it may leave unlabelled."""
        given = chain(*self._corpora, self._in_episodes())
        if not any(sentence.words in doubts.ranges for sentence in given):
            raise DataError(
                f"{', '.join(self.config.doubtful_files)}: none of its sentences is one of "
                "data.train, word by word; give doubts on the training sentences, or drop "
                "data.doubtful"
            )
        self._corpora = [[doubts.on(s) for s in corpus] for corpus in self._corpora]
        self._episodes = [doubts.on_episode(episode) for episode in self._episodes]

    def _in_episodes(self) -> Iterator[Sentence]:
        """The sentences of the given episodes, as often as they are there."""
        for episode in self._episodes:
            yield from (*episode.support, *episode.query)

    @property
    def given_episodes(self) -> bool:
        """Whether the files hold episodes that are trained on as they are."""
        return bool(self._episodes)

    def episodes(self, seed: int) -> Source[Episode]:
        """The episodes to train on."""
        if self._episodes:
            return Shuffled(self._episodes, seed)
        return _drawn(self._corpora, self.config.train_types, self.config, seed)

    def corpora(self) -> list[list[Sentence]]:
        """The sentences to train on: those of a file, or of episodes with the same types."""
        if self._episodes:
            return corpora_of(self._episodes)
        if self.config.train_types is None:
            return self._corpora
        types = read_types(self.config.train_types)
        return [sentences_of_split(corpus, types) for corpus in self._corpora]

    def sentences(self) -> Iterator[Sentence]:
        """The distinct sentences to train on, those of episodes where these are given.

        Of sentences with the same words the first is taken.
        """
        given = [] if self._episodes else self.corpora()
        seen: set[tuple[str, ...]] = set()
        for sentence in chain(chain.from_iterable(given), self._in_episodes()):
            if sentence.words not in seen:
                seen.add(sentence.words)
                yield sentence


def corpora_of(episodes: Iterable[Episode]) -> list[list[Sentence]]:
    """The distinct sentences of episodes, to draw others from.

    Those of episodes with the same types are one corpus, since all of these types are labelled in
    their sentences.
    """
    corpora: dict[frozenset[str], dict[tuple[str, ...], Sentence]] = {}
    for episode in episodes:
        corpus = corpora.setdefault(frozenset(episode.types), {})
        for sentence in (*episode.support, *episode.query):
            corpus.setdefault(sentence.words, sentence)
    found = [list(corpus.values()) for corpus in corpora.values()]
    return [corpus for corpus in found if _has_pairs(corpus)]


def _has_pairs(corpus: Iterable[Sentence]) -> bool:
    """Whether some type is in two sentences: one to learn it from, one to be asked about it."""
    counts = Counter(label for sentence in corpus for label in sentence.type_counts())
    return any(number > 1 for number in counts.values())


def validation_episodes(config: DataConfig) -> list[Episode]:
    """The episodes to validate on, the same for every seed; empty if none are given."""
    if not config.valid:
        return []
    if _hold_episodes(config.valid_files, config):
        return _read_episodes(config.valid_files, config)[: config.valid_episodes]
    corpora = [read_sentences(name, config.format) for name in config.valid_files]
    drawn = _drawn(corpora, config.valid_types, config, VALIDATION_SEED)
    return [drawn[number] for number in range(config.valid_episodes)]


def data_files(config: DataConfig) -> list[Path]:
    """All files that the run reads."""
    files = [*config.train_files, *config.doubtful_files, *config.valid_files]
    return [Path(name) for name in files]


def _hold_episodes(files: Sequence[str], config: DataConfig) -> bool:
    formats = {config.format or detect_format(name) for name in files}
    holding = {name in FORMATS and FORMATS[name].holds == "episodes" for name in formats}
    if len(holding) > 1:
        raise DataError(
            f"{', '.join(files)}: some hold episodes and some hold sentences; give one kind"
        )
    return holding.pop()


def _read_episodes(files: Sequence[str], config: DataConfig) -> list[Episode]:
    return [episode for name in files for episode in read_supported_episodes(name, config.format)]


def _share(items: Sequence[Item], config: DataConfig) -> list[Item]:
    """As many of the items of a file as the settings ask, the same for every seed, in order."""
    wanted = max(1, round(config.train_share * len(items)))
    places = random.Random(SHARE_SEED).sample(range(len(items)), min(wanted, len(items)))
    return [items[place] for place in sorted(places)]


def _drawn(
    corpora: Sequence[Sequence[Sentence]], types: str | None, config: DataConfig, seed: int
) -> Source[Episode]:
    """Episodes drawn from corpora: from each by itself, or from all of their sentences."""
    if config.mixed:
        if types is not None:
            corpora = [sentences_of_split(corpus, read_types(types)) for corpus in corpora]
        return MixedEpisodes(corpora, config.ways, config.shots, config.query_shots, seed)
    return EpisodeSampler(
        chain.from_iterable(corpora),
        config.ways,
        config.shots,
        config.query_shots,
        types=None if types is None else read_types(types),
        seed=seed,
        skip_rare=config.skip_rare,
    )
