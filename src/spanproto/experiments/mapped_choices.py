"""What a learned map of what spans mean gives in domains that decisions are not fitted on.

It is learned from the few types of the training domains, so it may tell apart what these differ in
and nothing else. All weights are scored on the same fine-tuned copies, the weight of nothing too.
"""

from dataclasses import replace

from spanproto.experiments.carried_choices import MORE_FORMS_LIKE, data_of_both
from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import words_cell

WEIGHTS = {0.0: "without the map", 0.5: "half its weight", 1.0: "with it"}
"""Of the map beside each of the two cosines, and what is said of it."""


def weighed(weight: float) -> str:
    """What a scoring with such a weight is called."""
    return f"mapped-{weight:g}"


MAPPED_TITLES = {weighed(weight): title for weight, title in WEIGHTS.items()}


def mapped_cells(seed: int) -> list[OwnCell]:
    """A cell for each number of shots, which serves all domains.

    With five shots it is trained on the episodes of one shot, too.
    """
    cells = []
    for like in FOREIGN_AS_FOR:
        words = words_cell(like, seed)
        adapted = replace(words.scoring("words-adapted"), learned=True)
        scorings = [
            replace(
                adapted,
                name=weighed(weight),
                deciding=(*adapted.deciding, f"decision.learned_in_meaning={weight:g}"),
            )
            for weight in WEIGHTS
        ]
        data = data_of_both() if like == MORE_FORMS_LIKE else {}
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        mapped = words.retrained("mapped", {}, {}, scorings, data)
        cells.append(OwnCell.serving(columns, mapped))
    return cells
