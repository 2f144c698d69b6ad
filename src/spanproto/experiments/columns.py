"""The columns of the benchmarks' tables: what trains, validates and tests, and how it is scored.

The data folder is laid out as `crossdomain/1-shot/ner_train_1.json`, `crossdomain/5-shot/...`,
`fewnerd/inter/{train-reduced,test}.txt` and `fewnerd/all66/all.txt`.
"""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from spanproto.data.episodes import read_supported_episodes
from spanproto.data.formats import read_sentences
from spanproto.data.sampler import EpisodeSampler
from spanproto.data.splits import read_types
from spanproto.data.types import Episode
from spanproto.errors import ConfigError, nearest_name

TEST_SEED = 2022
FEWNERD_TEST_EPISODES = 500
_DOMAINS = {"news": 1, "wiki": 2, "social": 3, "ontonotes": 4}
_TRAINING = _DOMAINS | {"ontonotes": 1}  # the other two of the four train both: the same file
_ALL = "fewnerd/all66/all.txt"
_SETTINGS = {"5w1": (5, 1, 1), "10w1": (10, 1, 1), "5w5": (5, 5, 5), "10w5": (10, 5, 1)}  # N, K, Q


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: str
    protocol: str
    data: dict[str, Any]  # the section `data` of a training run, file names relative to the folder
    test_file: str
    validation: dict[str, Any] = field(default_factory=dict)  # more of it, to look at in training
    test_types: str | None = None
    setting: tuple[int, int, int] | None = None  # N, K and Q where episodes are drawn
    skip: int = 0  # episodes at the beginning of the test file that are not tested on
    skip_rare: bool = False  # types with too few test sentences to draw episodes of

    def test_episodes(self, folder: Path, limit: int | None = None) -> list[Episode]:
        """The episodes to test on, the same for every system and seed."""
        path = folder / self.test_file
        if self.setting is None:
            return read_supported_episodes(path)[self.skip :][:limit]
        ways, shots, queries = self.setting
        types = None if self.test_types is None else read_types(self.test_types)
        sampler = EpisodeSampler(
            read_sentences(path), ways, shots, queries, types, TEST_SEED, self.skip_rare
        )
        return list(islice(sampler, min(limit or FEWNERD_TEST_EPISODES, FEWNERD_TEST_EPISODES)))


def _crossdomain(domain: str, shots: int) -> Column:

    def file(part: str, number: int, shots: int) -> str:
        name = f"ner_{part}_{number}" if shots == 1 else f"ner-{part}-{number}-shot-5"
        return f"crossdomain/{shots}-shot/{name}.json"

    number = _DOMAINS[domain]
    data = {"train": [file("train", _TRAINING[domain], shots)], "protocol": "crossdomain"}
    validation = {"valid": [file("valid", number, 1)]}  # the 5-shot ones are not to be had
    test_file = file("test", number, shots)
    return Column(f"{domain}-{shots}", "crossdomain", data, test_file, validation)


def _fewnerd(benchmark: str, setting: str) -> Column:
    ways, shots, queries = _SETTINGS[setting]
    inter = benchmark == "inter"
    data = {
        "train": ["fewnerd/inter/train-reduced.txt" if inter else _ALL],
        "train_types": f"{benchmark}/train",
        "ways": ways,
        "shots": shots,
        "query_shots": queries,
        "protocol": "fewnerd",
    }
    # INTER's own dev file leaves entities of other types unlabelled, as its test file hardly does;
    # what has dev types alone where all types are labelled is like the latter.
    validation = {"valid": [_ALL], "valid_types": f"{benchmark}/dev", "skip_rare": True}
    return Column(
        f"{benchmark}-{setting}",
        "fewnerd",
        data,
        "fewnerd/inter/test.txt" if inter else _ALL,
        validation,
        f"{benchmark}/test",
        _SETTINGS[setting],
    )


COLUMNS: dict[str, Column] = {
    column.name: column
    for column in (
        *(_crossdomain(domain, 1) for domain in _DOMAINS),
        *(_crossdomain(domain, 5) for domain in ("news", "wiki", "social")),
        *(_fewnerd(name, setting) for name in ("inter", "intra") for setting in _SETTINGS),
    )
}
"""Every column by name. Few-NERD episodes are drawn anew; OntoNotes has no 5-shot episodes here."""


def column_named(name: str) -> Column:
    """The column of that name."""
    if name not in COLUMNS:
        raise ConfigError(f"there is no column {name!r}; {nearest_name(name, COLUMNS)}")
    return COLUMNS[name]
