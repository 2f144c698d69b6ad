"""Where the episodes of a run come from: the files as they are, or a sampler over sentences.

Episode number i is a function of the data and the seed alone, so that a run can be resumed at any
step, split over processes, and prefetched, and still see the same episodes.
"""

import random
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol

from spanproto.data.episodes import read_supported_episodes
from spanproto.data.formats import FORMATS, detect_format, read_sentences
from spanproto.data.sampler import EpisodeSampler
from spanproto.data.splits import read_types
from spanproto.data.types import Episode
from spanproto.errors import ConfigError, DataError
from spanproto.training.mixture import MixedEpisodes
from spanproto.training.settings import DataConfig

VALIDATION_SEED = 0


class EpisodeSource(Protocol):
    """An endless numbered sequence of training episodes."""

    def __getitem__(self, index: int) -> Episode:
        """Episode number `index`."""


class ShuffledEpisodes:
    """Given episodes over and over, in another order each time."""

    def __init__(self, episodes: Sequence[Episode], seed: int) -> None:
        self.episodes = episodes
        self.seed = seed
        self._epoch, self._order = -1, list(range(len(episodes)))

    def __getitem__(self, index: int) -> Episode:
        """Episode number `index` of the endless sequence."""
        epoch, place = divmod(index, len(self.episodes))
        if epoch != self._epoch:
            self._order = list(range(len(self.episodes)))
            random.Random(f"{self.seed}/{epoch}").shuffle(self._order)
            self._epoch = epoch
        return self.episodes[self._order[place]]


def training_source(config: DataConfig, seed: int) -> EpisodeSource:
    """The episodes to train on."""
    if not config.train:
        raise ConfigError("data.train names no file; give episode files or labelled sentences")
    if _hold_episodes(config.train, config):
        return ShuffledEpisodes(_read_episodes(config.train, config), seed)
    if config.mixed:
        return _mixture(config.train, config, seed)
    return _sampler(config.train, config.train_types, config, seed)


def validation_episodes(config: DataConfig) -> list[Episode]:
    """The episodes to validate on, the same for every seed; empty if none are given."""
    if not config.valid:
        return []
    if _hold_episodes(config.valid, config):
        return _read_episodes(config.valid, config)[: config.valid_episodes]
    if config.mixed:
        mixture = _mixture(config.valid, config, VALIDATION_SEED)
        return [mixture[index] for index in range(config.valid_episodes)]
    sampler = _sampler(config.valid, config.valid_types, config, VALIDATION_SEED)
    return list(islice(sampler, config.valid_episodes))


def data_files(config: DataConfig) -> list[Path]:
    """All files that the run reads."""
    return [Path(name) for name in [*config.train, *config.valid]]


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


def _mixture(files: Sequence[str], config: DataConfig, seed: int) -> MixedEpisodes:
    corpora = [read_sentences(name, config.format) for name in files]
    return MixedEpisodes(corpora, config.ways, config.shots, config.query_shots, seed)


def _sampler(
    files: Sequence[str], types: str | None, config: DataConfig, seed: int
) -> EpisodeSampler:
    return EpisodeSampler(
        (sentence for name in files for sentence in read_sentences(name, config.format)),
        config.ways,
        config.shots,
        config.query_shots,
        types=None if types is None else read_types(types),
        seed=seed,
        skip_rare=config.skip_rare,
    )
