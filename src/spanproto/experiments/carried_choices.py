"""Whether the threshold of SpanProto with words suits domains that its decision is not fitted on.

What is best on OntoNotes may be too high or too low where names are not what is to be found. The
foreign domains tell, of which the benchmarks make no column: they are scored at several cuts. They
are also scored, at the fitted one, with half of what spans mean being how alike the nearest example
of a type is, and after training on the benchmark's episodes of one shot and of five.
"""

from dataclasses import replace

from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.systems import words_cell

LENIENCES = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)


def cut(lenience: float) -> str:
    """What is said of a threshold that is lower by so much, in log-odds."""
    if lenience == 0:
        return "as fitted"
    return f"{'lower' if lenience > 0 else 'higher'} {abs(lenience):g}"


def lenient(lenience: float) -> str:
    """What a scoring with such a threshold is called."""
    return f"carried-{cut(lenience).replace(' ', '-')}"


NEAREST = "carried-nearest"
MERGED = "carried-merged"
CARRIED_TITLES = {
    **{lenient(lenience): cut(lenience) for lenience in LENIENCES},
    NEAREST: "as fitted, nearest example",
    MERGED: "as fitted, trained on more",
}


def carried_cells(seed: int) -> list[OwnCell]:
    """A cell for each training, which serves all domains: every cut from the same copies."""
    cells = []
    train = [name for like in FOREIGN_AS_FOR for name in COLUMNS[like].data["train"]]
    for like in FOREIGN_AS_FOR:
        words = words_cell(like, seed)
        adapted = words.scoring("words-adapted")
        scorings = [replace(adapted, name=lenient(one), lenience=one) for one in LENIENCES]
        deciding = (*adapted.deciding, "decision.nearest_in_meaning=0.5")
        scorings.append(replace(adapted, name=NEAREST, deciding=deciding))
        cell = replace(words, system="carried", scorings=tuple(scorings))
        merged = words.retrained(MERGED, {}, {}, [replace(adapted, name=MERGED)], {"train": train})
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        cells += [OwnCell.serving(columns, one) for one in (cell, merged)]
    return cells
