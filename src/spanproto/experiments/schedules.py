"""Whether the systems of the tables train long enough: half and twice as long, on validation data.

A rate that falls to 0 flattens the curve of any training, so trainings of other lengths are better
witnesses than a look at one on its way.
"""

from dataclasses import replace

from spanproto.experiments.choices import validation_column
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import VALIDATED, baseline_cells, spanproto_cell
from spanproto.methods import method_named
from spanproto.training.settings import RunConfig

# Five shots on Few-NERD alone: across domains the benchmark has no such episodes to validate on.
SCHEDULED_ON = (*VALIDATED, "inter-5w5")
SHARES = {"half": 0.5, "whole": 1.0, "double": 2.0}
TOO_LONG = {  # what would take too long to be tried
    ("decommeta", "inter-5w1"): "double",
    ("decommeta", "inter-5w5"): "double",
}
TUNED_LONGER = {"decommeta": 40}  # steps of fine-tuning, as SpanProto has; its own are three


def lengths(system: str, column: str, steps: int) -> dict[str, int]:
    """The numbers of steps that are tried beside those of the tables, and these, by their share."""
    return {
        name: round(share * steps)
        for name, share in SHARES.items()
        if TOO_LONG.get((system, column)) != name
    }


def longer_tuning(system: str, column: str) -> int | None:
    """The steps of a longer fine-tuning that is tried, too; None: none is, as for five shots.

    There it would cost too much.
    """
    return TUNED_LONGER.get(system) if column in VALIDATED else None


def trained_for(system: str, steps: int) -> str:
    """What a system that trained for so many steps is called."""
    return f"{system}-{steps}"


def tuned_for(trained: str, steps: int) -> str:
    """What a system is called with so many steps of fine-tuning in place of its own."""
    return f"{trained}-tuned-{steps}"


def schedule_cells(name: str, seed: int) -> list[OwnCell]:
    """Every system that is trained: half as long as in the tables, as long, and twice as long.

    Those that take too long are left out. Each is named after its number of steps, so that it
    stays what it is when the tables change. Those whose own fine-tuning is short are scored after
    a longer one, too.
    """
    column = validation_column(COLUMNS[name])
    trained = [
        cell
        for cell in (spanproto_cell(name, seed), *baseline_cells(name, seed))
        if method_named(cell.run["method"]).trains_on is not None
    ]
    cells = []
    for cell in trained:
        settings = RunConfig.of({**cell.run, "data": column.data}).training
        for steps in lengths(cell.system, name, settings.steps).values():
            tried = trained_for(cell.system, steps)
            scorings = [Scoring(tried)]
            if steps == settings.steps and (longer := longer_tuning(cell.system, name)):
                scorings.append(Scoring(tuned_for(tried, longer), adaptation={"steps": longer}))
            cells.append(cell.retrained(tried, {}, {"steps": steps}, scorings))
    return [OwnCell(column, replace(cell, column=column.name)) for cell in cells]
