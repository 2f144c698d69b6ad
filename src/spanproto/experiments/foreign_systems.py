"""Whether more fine-tuning is what DecomMeta lacks with five shots across domains.

The benchmark has no five-shot episodes but those of the tests, so it is asked on the foreign
domains, beside ProtoBERT, which the paper puts below it with five shots and these tables above.
"""

from dataclasses import replace

from spanproto.experiments.foreign_choices import FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.schedules import TUNED_LONGER, tuned_for
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import baseline_cells

TRAINED_AS_FOR = "wiki-5"
COMPARED = ("protobert", "decommeta")


def foreign_scorings(system: str) -> list[Scoring]:
    """As in the tables and, where its own fine-tuning is short, with a longer one."""
    scorings = [Scoring(system, method=system)]
    if steps := TUNED_LONGER.get(system):
        adaptation = {"steps": steps}
        scorings.append(Scoring(tuned_for(system, steps), method=system, adaptation=adaptation))
    return scorings


def foreign_system_cells(seed: int) -> list[OwnCell]:
    """A cell for each system, which serves all domains."""
    columns = [foreign_column(TRAINED_AS_FOR, domain) for domain in FOREIGN_DOMAINS]
    return [
        OwnCell.serving(
            columns,
            replace(
                cell, system=f"{cell.system}-foreign", scorings=tuple(foreign_scorings(cell.system))
            ),
        )
        for cell in baseline_cells(TRAINED_AS_FOR, seed)
        if cell.system in COMPARED
    ]
