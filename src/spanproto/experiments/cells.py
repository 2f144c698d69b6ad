"""One cell of a table: train a system for a column with a seed, score it, keep the figures.

Each score is a file of its own, written when it is known, so that a table that was stopped goes on
where it stood. Cells run side by side in processes: training small batches leaves a GPU idle.
"""

import json
import multiprocessing
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spanproto.data.files import atomic_writer
from spanproto.experiments.columns import Column, column_named

if TYPE_CHECKING:
    from spanproto.data.types import Episode
    from spanproto.judging import CandidateRule
    from spanproto.methods.base import Method


@dataclass(frozen=True)
class Scoring:
    """One way to score a trained system."""

    name: str
    method: str | None = None  # another that the same weights serve
    adaptation: Mapping[str, Any] | None = None  # settings of the fine-tuning; None: none
    candidates: "CandidateRule" = "model"
    configure: Sequence[str] = ()  # settings of the model, each key=value
    look: "Callable[[Method, Sequence[Episode]], Mapping[str, Any]] | None" = None
    """What is noted of the trained model and the episodes in place of a score."""


@dataclass(frozen=True)
class Cell:
    """A system, a column and a seed, and the scores that are wanted."""

    system: str
    column: str
    seed: int
    run: Mapping[str, Any]  # method, model and training of the run
    scorings: tuple[Scoring, ...]


@dataclass(frozen=True)
class Grid:
    """Where a table's data, encoder and results are."""

    data: Path
    encoder: str
    output: Path
    runs: Path = Path("runs/experiments")
    limit: int | None = None  # test episodes, for a quick look
    training: Mapping[str, Any] = field(default_factory=dict)  # over the cells' own
    device: str = "auto"

    def file(self, cell: Cell, scoring: Scoring) -> Path:
        """Where a score is kept."""
        return self.output / cell.column / f"{scoring.name}.{cell.seed}.json"

    def missing(self, cell: Cell) -> list[Scoring]:
        """The scores of a cell that are not there yet."""
        return [scoring for scoring in cell.scorings if not self.file(cell, scoring).exists()]


def run_cells(grid: Grid, cells: Iterable[Cell], workers: int) -> Iterator[Cell]:
    """Run what is missing of each cell; yields the cells as they are done."""
    todo = [cell for cell in cells if grid.missing(cell)]
    if workers <= 1:
        for cell in todo:
            run_cell(grid, cell)
            yield cell
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = {pool.submit(run_cell, grid, cell): cell for cell in todo}
        for future in as_completed(futures):
            future.result()
            yield futures[future]


def run_cell(grid: Grid, cell: Cell) -> None:
    """Train the system, unless its method needs none, and write each missing score."""
    from spanproto.methods import method_named

    column = column_named(cell.column)
    folder = grid.runs / grid.output.name / f"{cell.system}.{cell.column}.{cell.seed}"
    trained = method_named(cell.run.get("method", "spanproto")).trains_on is not None
    source = str(_train(grid, cell, column, folder) if trained else grid.encoder)
    episodes = column.test_episodes(grid.data, grid.limit)
    for scoring in grid.missing(cell):
        content = _score(grid, cell, column, source, scoring, episodes)
        with atomic_writer(grid.file(cell, scoring)) as stream:
            stream.write(json.dumps(content, indent=2) + "\n")
    shutil.rmtree(folder, ignore_errors=True)


def _train(grid: Grid, cell: Cell, column: Column, folder: Path) -> Path:
    from spanproto.training.loop import train
    from spanproto.training.settings import RunConfig

    model = dict(cell.run.get("model", {}))
    model["encoder"] = {"name": grid.encoder, **model.get("encoder", {})}
    training = {
        "checkpoint_every": 1_000_000,
        **cell.run.get("training", {}),
        **grid.training,
        "output": str(folder),
        "seed": cell.seed,
        "device": grid.device,
    }
    data = {"root": str(grid.data), **column.data}
    content = {**cell.run, "model": model, "data": data, "training": training}
    return train(RunConfig.of(content))


def _score(
    grid: Grid, cell: Cell, column: Column, source: str, scoring: Scoring, episodes: Any
) -> dict[str, Any]:
    from spanproto import benchmark
    from spanproto.checkpoint import load_model
    from spanproto.config import to_dict
    from spanproto.provenance import provenance
    from spanproto.training.distributed import choose_device

    method = scoring.method or cell.run.get("method", "spanproto")
    model = load_model(source, method, list(scoring.configure)).to(choose_device(grid.device))
    model.bf16 = model.device.type == "cuda"
    adapts = scoring.adaptation is not None or model.always_adapts
    settings = (
        model.adaptation({**(scoring.adaptation or {}), "seed": cell.seed}) if adapts else None
    )
    if scoring.look is not None:
        findings = scoring.look(model, episodes)
    else:
        findings = benchmark.evaluate(
            model, episodes, column.protocol, scoring.candidates, settings
        ).to_dict()
    return {
        "system": cell.system,
        "scoring": scoring.name,
        "column": column.name,
        "candidates": scoring.candidates,
        "adaptation": None if settings is None else to_dict(settings),
        "precision": "bf16" if model.bf16 else "fp32",
        **findings,
        "provenance": provenance(cell.seed, [grid.data / column.test_file]),
        "model": {"config": to_dict(model.config), "origin": model.origin},
    }
