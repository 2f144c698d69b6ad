"""How SpanProto with words fares in domains that its decision is not fitted on.

A threshold that is best on OntoNotes may be too high or too low where names are not what is to be
found. The foreign domains tell, of which the benchmarks make no column; and what it is worth there
that mentions change places in the fine-tuning.
"""

from dataclasses import replace

from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import words_cell

LENIENCES = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)
EXCHANGED = "carried-exchanged"
EXCHANGES = 8
_WITH_EXCHANGES = "wiki-5"  # with one example of a type there is nothing to exchange


def lenient(lenience: float) -> str:
    """What a scoring is called that cuts lower by so much, in log-odds."""
    if lenience == 0:
        return "carried-as-fitted"
    return f"carried-{'lower' if lenience > 0 else 'higher'}-{abs(lenience):g}"


def carried_cells(seed: int) -> list[OwnCell]:
    """A cell for each training, which serves all domains: several cuts from the same copies."""
    cells = []
    for like in reversed(FOREIGN_AS_FOR):  # five shots take longer, so they come first
        words = words_cell(like, seed)
        adapted = replace(words.scoring("words-adapted"), lenience=0.0)
        scorings: list[Scoring] = [
            replace(adapted, name=lenient(one), lenience=one) for one in LENIENCES
        ]
        if like == _WITH_EXCHANGES:
            tuning = {**(adapted.adaptation or {}), "exchanges": EXCHANGES}
            scorings.append(replace(adapted, name=EXCHANGED, adaptation=tuning))
        cell = replace(words, system="carried", scorings=tuple(scorings))
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        cells.append(OwnCell.serving(columns, cell))
    return cells
