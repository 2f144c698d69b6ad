"""One cell of a table: train a system for a column with a seed, score it, keep the figures.

Each score is a file of its own, written when it is known, so that a table that was stopped goes on
where it stood. Cells run side by side in processes: training small batches leaves a GPU idle.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproto.data.files import atomic_writer
from spanproto.experiments.averages import Changes
from spanproto.experiments.columns import Column, column_named
from spanproto.experiments.patience import free_memory
from spanproto.experiments.scoring import Scoring, Trial, score, together
from spanproto.experiments.setups import how_learned, refuse_other_setup
from spanproto.experiments.trained import forget, train_cell

if TYPE_CHECKING:
    from spanproto.data.types import Episode
    from spanproto.learned_meaning import MeaningMap
    from spanproto.training.settings import Precision


@dataclass(frozen=True)
class Cell:
    """A system, a column and a seed, and the scores that are wanted."""

    system: str
    column: str
    seed: int
    run: Mapping[str, Any]  # method, model and training of the run, and data if not the column's
    scorings: tuple[Scoring, ...]
    also: tuple[str, ...] = ()  # further columns that the same training serves
    averaged: tuple[Changes, ...] = ()
    """What each of several trainings changes whose weights are averaged; empty: there is one."""

    def retrained(
        self,
        system: str,
        model: Mapping[str, Mapping[str, Any]],
        training: Mapping[str, Any],
        scorings: Sequence[Scoring] = (),
        data: Mapping[str, Any] | None = None,
    ) -> "Cell":
        """Another system: other settings of the model's sections, of the training and its data."""
        sections = dict(self.run.get("model", {}))
        for name, values in model.items():
            sections[name] = {**sections.get(name, {}), **values}
        run = {
            **self.run,
            "model": sections,
            "training": {**self.run.get("training", {}), **training},
            "data": {**self.run.get("data", {}), **(data or {})},
        }
        return replace(self, system=system, run=run, scorings=tuple(scorings))

    def lasting(self, steps: int) -> "Cell":
        """The same with so many steps of training, of which the extractor's first are a part."""
        first = self.run.get("model", {}).get("objective", {}).get("extractor_steps")
        model = {} if first is None else {"objective": {"extractor_steps": min(first, steps)}}
        return self.retrained(self.system, model, {"steps": steps}, self.scorings)

    @property
    def data(self) -> dict[str, Any]:
        """The section `data` of its training: the column's, but for what the run changes."""
        return {**column_named(self.column).data, **self.run.get("data", {})}

    @property
    def doubtful(self) -> list[str]:
        """The files that say what its training sentences may leave unlabelled."""
        return list(self.run.get("data", {}).get("doubtful", []))

    def __str__(self) -> str:
        """As it is called in a progress bar."""
        return f"{self.system} {self.column} {self.seed}"

    def scoring(self, name: str) -> Scoring:
        """The one of that name among those that are wanted."""
        return next(scoring for scoring in self.scorings if scoring.name == name)

    def by_column(self) -> "list[Cell]":
        """The cell of each column that the training serves."""
        return [replace(self, column=name, also=()) for name in (self.column, *self.also)]


@dataclass(frozen=True)
class Grid:
    """Where a table's data, encoder and results are."""

    data: Path
    encoder: str
    output: Path
    runs: Path = Path("runs/experiments")
    limit: int | None = None  # test episodes, for a quick look
    device: str = "auto"
    precision: "Precision" = "auto"  # of the encoder, in training and in scoring
    quick: bool = False  # few steps on a sample: the scores say so, and mix with no others

    def file(self, cell: Cell, scoring: Scoring) -> Path:
        """Where a score is kept."""
        return self.output / cell.column / f"{scoring.name}.{cell.seed}.json"

    def missing(self, cell: Cell) -> list[Scoring]:
        """The scores of a cell's first column that are not there yet; refuses others' scores."""
        return [scoring for scoring in cell.scorings if not self._has(cell, scoring)]

    def wants(self, cell: Cell) -> bool:
        """Whether a score of any of a cell's columns is not there yet."""
        return any(self.missing(one) for one in cell.by_column())

    def _has(self, cell: Cell, scoring: Scoring) -> bool:
        path = self.file(cell, scoring)
        if not path.exists():
            return False
        refuse_other_setup(path, self, cell, scoring)
        return True


def run_cell(grid: Grid, cell: Cell) -> None:
    """Train the system, unless its method needs none, and write each missing score."""
    from spanproto.methods import method_named

    trained = method_named(cell.run.get("method", "spanproto")).trains_on is not None
    source = str(train_cell(grid, cell) if trained else grid.encoder)
    free_memory()
    learned = cache(partial(_learned_map, grid, cell))
    for one in cell.by_column():
        column = column_named(one.column)
        episodes = column.test_episodes(grid.data, grid.limit)
        for scorings in together(grid.missing(one)):
            try:
                contents = _score(grid, one, column, source, scorings, episodes, learned)
            finally:
                free_memory()
            for scoring, content in zip(scorings, contents, strict=True):
                with atomic_writer(grid.file(one, scoring)) as stream:
                    stream.write(json.dumps(content, indent=2) + "\n")
    forget(grid, cell)


def _learned_map(grid: Grid, cell: Cell) -> "MeaningMap":
    """The map of what spans mean that is learned from the training sentences of the cell's data.

    Trainings that are averaged have these, too, in other episodes.
    """
    from spanproto.encoder import Encoder, EncoderConfig
    from spanproto.meaning import Meaning
    from spanproto.training.distributed import choose_device
    from spanproto.training.settings import DataConfig
    from spanproto.training.source import TrainingData

    encoder = Encoder.from_pretrained(EncoderConfig(name=grid.encoder))
    corpora = TrainingData(DataConfig(**{**cell.data, "root": str(grid.data)})).corpora()
    return Meaning(encoder.to(choose_device(grid.device))).learn(corpora, seed=cell.seed)


def _training_episodes(grid: Grid, column: Column, seed: int, count: int) -> "list[Episode]":
    """The first so many episodes that a training with the seed sees, or fewer for a quick look."""
    from spanproto.training.settings import DataConfig
    from spanproto.training.source import TrainingData

    episodes = TrainingData(DataConfig(**{**column.data, "root": str(grid.data)})).episodes(seed)
    return [episodes[number] for number in range(min(count, grid.limit or count))]


def _validation_episodes(grid: Grid, column: Column, count: int) -> "list[Episode]":
    """So many of the column's validation episodes, or fewer for a quick look."""
    from spanproto.training.settings import DataConfig
    from spanproto.training.source import validation_episodes

    count = min(count, grid.limit or count)
    data = {**column.data, **column.validation, "root": str(grid.data), "valid_episodes": count}
    return validation_episodes(DataConfig(**data))


def _files(grid: Grid, column: Column, scoring: Scoring) -> list[Path]:
    """What a score comes from: the test file first, and what the decision is fitted on."""
    fitted = column.validation.get("valid", []) if scoring.fit_decision else []
    return [grid.data / name for name in dict.fromkeys((column.test_file, *fitted))]


def _score(
    grid: Grid,
    cell: Cell,
    column: Column,
    source: str,
    scorings: Sequence[Scoring],
    episodes: "Sequence[Episode]",
    learned: "Callable[[], MeaningMap]",
) -> list[dict[str, Any]]:
    """What is found of scorings that are had together; `learned` gives the map, if it is asked."""
    from spanproto.checkpoint import load_model
    from spanproto.config import to_dict
    from spanproto.encoder import Encoder, EncoderConfig
    from spanproto.model import SpanProto
    from spanproto.provenance import provenance
    from spanproto.training.distributed import choose_device, in_bf16

    first = scorings[0]
    method = first.method or cell.run.get("method", "spanproto")
    model = load_model(source, method, list(first.configure)).to(choose_device(grid.device))
    model.use_mixed_precision(in_bf16(grid.precision, model.device))
    if first.meaning:
        assert isinstance(model, SpanProto)
        asked = Encoder.from_pretrained(EncoderConfig(name=grid.encoder))
        model.ask_meaning(asked, learned() if first.learned else None)
    adapts = first.adaptation is not None or model.always_adapts
    settings = model.adaptation({**(first.adaptation or {}), "seed": cell.seed}) if adapts else None
    trial = Trial(
        episodes,
        partial(_training_episodes, grid, column, cell.seed),
        partial(_validation_episodes, grid, column),
        column.protocol,
    )
    return [
        {
            "system": cell.system,
            "scoring": scoring.name,
            "column": column.name,
            "candidates": scoring.candidates,
            "deciding": list(scoring.deciding),
            "fitted_on": scoring.fit_decision,
            "evidence": None if scoring.evidence is None else list(scoring.evidence),
            **({"lenience": scoring.lenience} if scoring.lenience else {}),
            "meaning": scoring.meaning,
            "learned": how_learned(cell, scoring),
            "adaptation": None if settings is None else to_dict(settings),
            "limit": grid.limit,
            **({"averaged": list(cell.averaged)} if cell.averaged else {}),
            **({"quick": True} if grid.quick else {}),
            "precision": "bf16" if model.bf16 else "fp32",
            **findings,
            "provenance": provenance(cell.seed, _files(grid, column, scoring)),
            "model": {"config": to_dict(config), "origin": model.origin},
        }
        for scoring, (config, findings) in zip(
            scorings, score(model, scorings, trial, settings), strict=True
        )
    ]
