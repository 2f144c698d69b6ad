"""What a recipe is: one table or figure of the paper, run, then written from what was measured.

Running leaves JSON files and needs no optional library; writing turns these files into Markdown
and pictures, and can be done elsewhere.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from spanproto.experiments.cells import Cell
from spanproto.experiments.systems import SEEDS
from spanproto.paper.page import Page
from spanproto.paper.scores import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bench:
    """What recipes run on, and where they leave what they measure."""

    data: Path
    encoder: str
    results: Path = Path("results")
    columns: tuple[str, ...] = ()  # of the benchmarks; none: those that a recipe takes by itself
    seeds: tuple[int, ...] = SEEDS[:1]
    systems: tuple[str, ...] = ()  # of the cells that are run; none: all
    workers: int = 1  # cells at a time
    device: str = "auto"
    quick: bool = False  # a bundled sample in place of the data, and a hundredth of the steps

    @property
    def folder(self) -> Path:
        """Where recipes write."""
        return self.results / "paper"

    @property
    def scores(self) -> Scores:
        """What has been measured so far."""
        return Scores(self.results)


class Recipe(ABC):
    """One table or figure. Most are made of cells; what is not overrides `run`."""

    name: str
    title: str
    place: str  # in the paper, such as "Table 2 (tab:fewnerd)"
    pictures: Mapping[str, str] = {}
    """The caption of each picture that `figures` draws, by file name without suffix."""
    needs: Mapping[str, str] = {}
    """The extra that brings each optional library without which it does not run."""

    reads_data: bool = True  # whether it looks at the corpora
    trains: bool = True  # whether it needs an encoder

    def cells(self, bench: Bench) -> list[Cell]:
        """What is to be trained and scored; cells of one training are merged over recipes.

        Their files are `bench.folder / "cells" / COLUMN / SCORING.SEED.json`. In the quick form
        the runner shortens them and brings data for the columns `quick.COLUMNS`.
        """
        return []

    def require_inputs(self, bench: Bench) -> None:  # noqa: B027
        """Complain of what `run` lacks for what is to be measured yet; leaves no trace."""

    def run(self, bench: Bench) -> None:  # noqa: B027
        """Measure what is no cell, and leave it in files under `bench.folder`; go on, if stopped.

        In the quick form this takes seconds and needs no data but what comes with the package.
        """

    def takes(self, column: str, bench: Bench) -> bool:
        """Whether the column is one that the recipe can run on."""
        return any(cell.column == column for cell in self.cells(bench))

    @abstractmethod
    def page(self, scores: Scores) -> Page:
        """The figures of the paper beside what is in the files; nothing is run."""

    def figures(self, scores: Scores) -> "Mapping[str, Figure]":
        """Those `pictures` for which there are files to draw from; needs the extra `plots`."""
        return {}
