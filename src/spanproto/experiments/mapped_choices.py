"""What a learned map of what spans mean gives in domains that decisions are not fitted on.

It is learned from the few types of the training domains, so it may tell apart what these differ in
and nothing else. Some of these are types of the foreign domains, too, as `person`, which the model
has trained on as well. All weights are scored on the same fine-tuned copies: that of nothing too,
and cosines that weigh as much more as the map adds.
"""

from dataclasses import replace
from typing import NamedTuple

from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import BROAD, broad_cell, words_cell


class Form(NamedTuple):
    """What is said of a scoring, and its settings of the decision."""

    title: str
    learned: float  # the weight of the map beside each of the two cosines
    in_type: float = 12.0  # of all in the type's log-probability


FORMS = {
    "mapped-0": Form("without the map", 0.0),
    "mapped-0.5": Form("half its weight", 0.5),
    "mapped-1": Form("with it", 1.0),
    "mapped-heavier": Form("without it, cosines half as heavy again", 0.0, 18.0),
}
MAPPED_TITLES = {name: form.title for name, form in FORMS.items()}


def mapped_cells(seed: int) -> list[OwnCell]:
    """A cell for each number of shots, which serves all domains.

    With five shots it is trained on the episodes of one shot, too.
    """
    cells = []
    for like in FOREIGN_AS_FOR:
        words = words_cell(like, seed)
        adapted = replace(words.scoring("words-adapted"), learned=True)
        trained = broad_cell(like, seed) if like in BROAD else words
        scorings = [
            replace(
                adapted,
                name=name,
                deciding=(
                    *adapted.deciding,
                    f"decision.learned_in_meaning={form.learned:g}",
                    f"decision.meaning_in_type={form.in_type:g}",
                ),
            )
            for name, form in FORMS.items()
        ]
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        mapped = replace(trained, system="mapped", scorings=tuple(scorings))
        cells.append(OwnCell.serving(columns, mapped))
    return cells
