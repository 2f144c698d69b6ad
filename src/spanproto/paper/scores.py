"""The score files of past runs: `FOLDER/COLUMN/SCORING.SEED.json`, found by column and scoring."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TABLES = ("crossdomain", "fewnerd", "baselines")  # filled by benchmarks/results.py
OWN = "paper/cells"
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

    def read(self, column: str, scoring: str) -> list[dict[str, Any]]:
        """The scores of each seed, in the order of the seeds."""
        found = [path for _, path in sorted(self.files(column, scoring).items())]
        return [self.load(path) for path in found]

    def load(self, path: Path) -> dict[str, Any]:
        """One file, which becomes a source."""
        if path not in self.sources:
            self.sources[path] = json.loads(path.read_text("utf-8"))
        return self.sources[path]

    def values(self, column: str, scoring: str, *keys: str) -> tuple[float, ...]:
        """One figure of each seed, such as `"micro", "f1"`; none where it is not known."""
        return tuple(self._values(column, scoring, keys))

    @property
    def quick(self) -> bool:
        """Whether any of what was read is of the quick form."""
        return any(content.get("quick", False) for content in self.sources.values())

    def described(self) -> str:
        """How what was read was measured, in one sentence."""
        made = [content["provenance"] for content in self.sources.values()]
        if not made:
            return f"{NOT_RUN.capitalize()}."
        models = [content["model"] for content in self.sources.values() if "model" in content]
        encoders = {Path(model["config"]["encoder"]["name"]).name for model in models}
        seeds = {run["seed"] for run in made}
        hardware = {run["hardware"]["gpu"] or run["hardware"]["cpu"] for run in made}
        parts = [
            f"encoder {_listed(encoders)}" if encoders else "",
            f"{'seed' if len(seeds) == 1 else 'seeds'} {_listed(seeds)}",
            f"on {_listed(hardware)}",
        ]
        return f"Measured with {', '.join(part for part in parts if part)}."

    def _values(self, column: str, scoring: str, keys: tuple[str, ...]) -> Iterator[float]:
        for content in self.read(column, scoring):
            value: Any = content
            for key in keys:
                value = None if value is None else value[key]
            if value is not None:
                yield float(value)


def _listed(items: Iterable[Any]) -> str:
    return ", ".join(map(str, sorted(items)))
