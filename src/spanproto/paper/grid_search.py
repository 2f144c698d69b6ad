"""The search of the appendix for batch size, learning rate, dropout, T', theta and r.

A setting is judged by the pooled F1 of validation episodes; no test episode is ever drawn. The
whole grid has 12,600 choices, so each call tries some more of them, and TPE is there to look where
it seems worth while. Both leave a file for each choice, and neither measures one twice.
"""

import json
import math
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from spanproto.data.files import atomic_writer
from spanproto.errors import SpanProtoError
from spanproto.experiments.cells import Grid
from spanproto.experiments.choices import validation_column
from spanproto.experiments.columns import COLUMNS, Column, column_named
from spanproto.experiments.own_columns import OwnCell, run_own_cell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.setups import require_inputs
from spanproto.paper import published, quick
from spanproto.paper.own_grid import own_grid
from spanproto.paper.page import Cell, Formatted, Page, Table
from spanproto.paper.recipe import Bench, Recipe
from spanproto.paper.scores import SEARCHES, Scores
from spanproto.paper.variants import STEPS, varied
from spanproto.provenance import provenance

if TYPE_CHECKING:
    from spanproto.experiments.search import SamplerName, Values

SPACE = published.SCOPE
TRIALS = 20  # of one call
EPISODES = 200  # that validate
SHOWN = 20
_SETTING = (
    "SpanProto with the settings of the main tables but for those searched and for the steps of "
    f"training, {STEPS} in place of the paper's {published.STEPS} (what that costs beside the main "
    "tables' fewer steps is said of the curves over T'); not fine-tuned, and rejecting beyond r. "
    "It is judged by the pooled micro F1 of validation episodes: of other types than the test "
    "episodes' on Few-NERD (INTRA draws both from one file), of another domain on the cross-domain "
    "data, whose 5-shot columns have 1-shot validation episodes too. The quick form takes a "
    "hundredth of the steps, and validates on its test sample. Without `--columns` inter-5w1 is "
    "searched."
)
_NEEDS = {"optuna": "search"}


@dataclass(frozen=True)
class GridSearch(Recipe):
    """A study of the appendix's scope, by its grid or by TPE."""

    name: str
    title: str
    sampler: "SamplerName"
    place: str = "Table 10 (tab:search-scope)"
    needs = _NEEDS

    def require_inputs(self, bench: Bench) -> None:
        """The data that train and validate, and an encoder."""
        some = {name: values[0] for name, values in SPACE.items()}
        trials = [trial_cell(column, bench.seeds[0], some) for column in _tested(bench)]
        require_inputs(own_grid(bench, bench.data), trials)

    def run(self, bench: Bench) -> None:
        """Try some more choices on each column; goes on with a study that was stopped."""
        for column in _tested(bench):
            for seed in bench.seeds:
                self._search(bench, column, seed)

    def takes(self, column: str, bench: Bench) -> bool:
        """Every column of the benchmarks; the quick form has one of its own."""
        return column in (quick.COLUMNS[-1:] if bench.quick else COLUMNS)

    def _search(self, bench: Bench, tested: Column, seed: int) -> None:
        from spanproto.experiments.search import open_study, search, summary

        column = validation_column(tested)
        grid = own_grid(bench, bench.data, EPISODES)
        if bench.quick:
            _bring_validation_data(bench, tested, column)
        path = bench.results / SEARCHES / f"{self.name}.{tested.name}.{seed}.journal"
        made = provenance(
            seed, [grid.data / name for name in (column.test_file, *column.data["train"])]
        )
        study = open_study(path, SPACE, self.sampler, _setup(grid, made))
        trials = 2 if bench.quick else TRIALS
        score = partial(validation_f1, grid, tested, seed, bench.quick)
        bar = tqdm(total=trials, unit="trial", desc=tested.name, disable=None)
        with bar:
            for _ in search(study, SPACE, score, trials, bench.workers):
                found = summary(study)
                if found["trials"]:
                    bar.set_postfix_str(f"best F1 {found['trials'][0]['f1']:.2f}")
                bar.update()
                _write(
                    path.with_suffix(".json"),
                    {
                        "column": tested.name,
                        "sampler": self.sampler,
                        "encoder": Path(grid.encoder).name,
                        **({"quick": True} if grid.quick else {}),
                        **found,
                        "provenance": made,
                    },
                )

    def page(self, scores: Scores) -> Page:
        """The best choices so far, and which settings mattered."""
        files = sorted((scores.results / SEARCHES).glob(f"{self.name}.*.json"))
        studies = [study for study in map(scores.load, files) if study["trials"]]
        tables = [table for study in studies for table in _tables(study, scores)]
        remarks = [_remark(study) for study in studies]
        return Page(f"{_SETTING} {scores.described()}", tables, remarks)


def _tested(bench: Bench) -> list[Column]:
    """The columns that are searched for."""
    names = quick.COLUMNS[-1:] if bench.quick else bench.columns or ("inter-5w1",)
    return [column_named(name) for name in names if name in COLUMNS]  # or another recipe's


def _setup(grid: Grid, made: Mapping[str, Any]) -> dict[str, str]:
    """What all trials of a study have in common."""
    return {
        "the encoder": Path(grid.encoder).name,
        "the form": "quick" if grid.quick else "full",
        "data of SHA-256": " ".join(file["sha256"][:12] for file in made["data"]),
    }


def validation_f1(
    grid: Grid, tested: Column, seed: int, shortened: bool, values: "Values"
) -> float | None:
    """The F1 of a choice, measured now or before; None if its training diverges."""
    own = trial_cell(tested, seed, values)
    if shortened:
        own = own._replace(cell=quick.shortened(own.cell))
    try:
        if grid.missing(own.cell):
            run_own_cell(grid, own)
    except SpanProtoError as error:
        if type(error) is not SpanProtoError:  # what is wrong is no loss that is no number any more
            raise
        return None
    (scoring,) = own.cell.scorings
    content = json.loads(grid.file(own.cell, scoring).read_text("utf-8"))
    return float(content["micro"]["f1"])


def trial_cell(tested: Column, seed: int, values: "Values") -> OwnCell:
    """SpanProto with these settings, scored on the validation data of the column."""
    name = "trial-" + "-".join(f"{values[key]:g}" for key in SPACE)
    model: dict[str, dict[str, Any]] = {
        "encoder": {"dropout": values["dropout"]},
        "objective": {"extractor_steps": int(values["T'"])},
        "extractor": {"threshold": values["theta"]},
        "classifier": {"margin": values["r"], "reject": True},
    }
    training = {
        "steps": STEPS,
        "episodes_per_step": int(values["batch size"]),
        "learning_rate": values["learning rate"],
    }
    column = validation_column(tested)
    cell = varied(tested.name, seed, name, model, [Scoring(name)], training)
    return OwnCell(column, replace(cell, column=column.name))


def _bring_validation_data(bench: Bench, tested: Column, column: Column) -> None:
    """The quick form's test sample serves to validate as well."""
    shutil.copyfile(bench.data / tested.test_file, bench.data / column.test_file)


def _write(path: Path, content: Mapping[str, Any]) -> None:
    with atomic_writer(path) as stream:
        stream.write(json.dumps(content, indent=2) + "\n")


def _tables(study: dict[str, Any], scores: Scores) -> list[Table]:
    trials = study["trials"]
    column = column_named(study["column"])
    best = trial_cell(column, study["provenance"]["seed"], trials[0]["values"])
    scores.read(best.column.name, best.cell.system)  # what the best was measured with
    rows = [
        (f"trial {trial['number']}", [*_shown(trial["values"]), trial["f1"]])
        for trial in trials[:SHOWN]
    ]
    rows.append(("chosen in the paper", [*_shown(published.CHOSEN), ""]))
    count = study.get("diverged", 0)  # studies of earlier versions have none
    diverged = f", and {count} whose training diverged" if count else ""
    title = f"{_named(study)}: {len(trials)} trial(s), the best first{diverged}"
    tables = [Table(("", *SPACE, "validation F1"), rows, title)]
    if study["importance"]:
        shares = [(name, [float(share)]) for name, share in study["importance"].items()]
        tables.append(Table(("setting", "importance (PED-ANOVA)"), shares))
    return tables


def _named(study: Mapping[str, Any]) -> str:
    return f"{study['column']}, seed {study['provenance']['seed']}"


def _remark(study: Mapping[str, Any]) -> str:
    """How the best choice so far differs from the paper's, and how much has been looked at."""
    trials = study["trials"]
    best = [trial["values"] for trial in trials if trial["f1"] == trials[0]["f1"]]
    alike = f", one of {len(best)} alike," if len(best) > 1 else ""
    parts = [
        f"{name} {best[0][name]:g} where the paper chose {chosen:g}"
        if best[0][name] != chosen
        else f"{name} {chosen:g} as the paper"
        for name, chosen in published.CHOSEN.items()
    ]
    return (
        f"{_named(study)}: the best choice so far{alike} has {', '.join(parts)}; "
        f"{len(trials):,} of {math.prod(map(len, SPACE.values())):,} choices have been tried, on "
        "one column with one seed, where the paper searched for each benchmark."
    )


def _shown(values: Mapping[str, float]) -> list[Cell]:
    return [
        Formatted(values[name], f"{values[name]:g}") if name in values else "not said"
        for name in SPACE
    ]


GRID_SEARCH = GridSearch("grid-search", "The grid search of the appendix", "grid")
TPE_SEARCH = GridSearch("tpe-search", "The same scope searched by TPE", "tpe")
