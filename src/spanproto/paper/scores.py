"""The score files of past runs: `FOLDER/COLUMN/SCORING.SEED.json`, found by column and scoring."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spanproto.errors import DataError
from spanproto.experiments.setups import read_score_file

TABLES = ("crossdomain", "fewnerd", "baselines")  # filled by benchmarks/results.py
OWN = "paper/cells"
SEARCHES = "paper/search"
F1, EXTRACTION_F1 = ("micro", "f1"), ("extraction", "f1")  # of the whole system, of its spans
NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Scores:
    """What has been measured so far. Keeps what was read, as the sources of a page."""

    results: Path
    sources: dict[Path, dict[str, Any]] = field(default_factory=dict)

    def files(self, column: str, scoring: str) -> dict[int, Path]:
        """The file of each seed; runs of the tables come before those of the recipes."""
        return {
            int(seed): path
            for folder in (OWN, *reversed(TABLES))
            for path in sorted((self.results / folder / column).glob(f"{scoring}.*.json"))
            for seed in [path.name.removeprefix(f"{scoring}.").removesuffix(".json")]
            if seed.isdigit()
        }

    def read(
        self, column: str, scoring: str, seeds: Collection[int] | None = None
    ) -> list[dict[str, Any]]:
        """The scores of each seed, or of the given ones, in the order of the seeds."""
        return [self.load(path) for path in self._paths(column, scoring, seeds)]

    def load(self, path: Path) -> dict[str, Any]:
        """One file, which becomes a source."""
        if path not in self.sources:
            content = read_score_file(path)
            if "provenance" not in content:
                raise DataError(f"{path}: says nothing of its origin, so it is no score file here")
            self.sources[path] = content
        return self.sources[path]

    def all_files(self) -> Iterator[Path]:
        """Every file of the folder that some page may be written from."""
        for folder in (*TABLES, OWN, SEARCHES):
            yield from sorted((self.results / folder).rglob("*.json"))

    def values(
        self, column: str, scoring: str, *keys: str, seeds: Collection[int] | None = None
    ) -> tuple[float, ...]:
        """One figure of each seed, such as `"micro", "f1"`; none where it is not known.

        With `seeds` given, of these alone.
        """
        return tuple(self._values(column, scoring, keys, seeds))

    def common_seeds(self, column: str, scorings: Iterable[str]) -> set[int]:
        """The seeds that all of the scorings have been run with, those left out that never were."""
        known = [set(found) for one in scorings if (found := self.files(column, one))]
        return set.intersection(*known) if known else set()

    @property
    def quick(self) -> bool:
        """Whether any of what was read is of the quick form."""
        return any(content.get("quick", False) for content in self.sources.values())

    def described(self) -> str:
        """How what was read was measured, in one sentence."""
        made = [content["provenance"] for content in self.sources.values()]
        if not made:
            return f"{NOT_RUN.capitalize()}."
        encoders = encoders_of(self.sources.values())
        seeds = {run["seed"] for run in made}
        hardware = {run["hardware"]["gpu"] or run["hardware"]["cpu"] for run in made}
        parts = [
            f"encoder {_listed(encoders)}" if encoders else "",
            f"{'seed' if len(seeds) == 1 else 'seeds'} {_listed(seeds)}",
            f"on {_listed(hardware)}",
        ]
        several = " A figure without a spread is of one seed." if len(seeds) > 1 else ""
        return f"Measured with {', '.join(part for part in parts if part)}.{several}"

    def _paths(self, column: str, scoring: str, seeds: Collection[int] | None) -> list[Path]:
        files = sorted(self.files(column, scoring).items())
        return [path for seed, path in files if seeds is None or seed in seeds]

    def _values(
        self, column: str, scoring: str, keys: tuple[str, ...], seeds: Collection[int] | None
    ) -> Iterator[float]:
        for path in self._paths(column, scoring, seeds):
            value: Any = self.load(path)
            for key in keys:
                if value is not None and key not in value:
                    raise DataError(f"{path}: has no figure {'.'.join(keys)}; measure it again")
                value = None if value is None else value[key]
            if not isinstance(value, int | float | None):
                raise DataError(f"{path}: {'.'.join(keys)} is no number; measure it again")
            if value is not None:
                yield float(value)


def standard_error(content: Mapping[str, Any]) -> float:
    """Of the mean F1 over the episodes of a score file."""
    return float(content["episode_f1"]["std"] / math.sqrt(content["episodes"]))


def encoders_of(contents: Iterable[Mapping[str, Any]]) -> set[str]:
    """The names of the encoders that score files tell of."""
    models = [content["model"] for content in contents if "model" in content]
    return {Path(model["config"]["encoder"]["name"]).name for model in models}


def steps_of(contents: Iterable[Mapping[str, Any]]) -> str:
    """The numbers of training steps that score files tell of: one, or the least and the most."""
    origins = [content.get("model", {}).get("origin") or {} for content in contents]
    found = [origin.get("training_config", {}).get("steps") for origin in origins]
    known = sorted(steps for steps in found if steps is not None)
    return " to ".join(str(steps) for steps in dict.fromkeys(known[:1] + known[-1:]))


def _listed(items: Iterable[Any]) -> str:
    return ", ".join(map(str, sorted(items)))
