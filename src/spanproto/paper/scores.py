"""The score files of past runs: `FOLDER/COLUMN/SCORING.SEED.json`, found by column and scoring."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TABLES = ("crossdomain", "fewnerd", "baselines")  # filled by benchmarks/results.py
OWN = "paper/cells"


@dataclass(frozen=True)
class Scores:
    """What has been measured so far. Remembers what was read, as the sources of a page."""

    results: Path
    sources: set[Path] = field(default_factory=set)

    def files(self, column: str, scoring: str) -> dict[int, Path]:
        """The file of each seed; runs of the tables come before those of the recipes."""
        return {
            int(seed): path
            for folder in (OWN, *reversed(TABLES))
            for path in sorted((self.results / folder / column).glob(f"{scoring}.*.json"))
            for seed in [path.name.removeprefix(f"{scoring}.").removesuffix(".json")]
            if seed.isdigit()
        }

    def read(self, column: str, scoring: str) -> list[dict[str, Any]]:
        """The scores of each seed, in the order of the seeds."""
        found = sorted(self.files(column, scoring).items())
        self.sources.update(path for _, path in found)
        return [json.loads(path.read_text("utf-8")) for _, path in found]

    def values(self, column: str, scoring: str, *keys: str) -> tuple[float, ...]:
        """One figure of each seed, such as `"micro", "f1"`; none where it is not known."""
        return tuple(self._values(column, scoring, keys))

    def _values(self, column: str, scoring: str, keys: tuple[str, ...]) -> Iterator[float]:
        for content in self.read(column, scoring):
            value: Any = content
            for key in keys:
                value = None if value is None else value[key]
            if value is not None:
                yield float(value)
