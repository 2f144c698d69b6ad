"""Whether what SpanProto with words decides by suits domains that it is not fitted on.

What is best on OntoNotes may be too high a threshold or too low where names are not what is to be
found. The foreign domains tell, of which the benchmarks make no column: they are scored at several
cuts. With five shots they are also scored, at the fitted one, after fewer steps of fine-tuning;
after training on the benchmark's episodes of one shot and of five; and as the mean of two
trainings, one on each.
"""

from dataclasses import replace

from spanproto.experiments.averages import on_episodes_of
from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import broad_cell, words_cell

LENIENCES = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)
SHORTER = 0.6  # times the steps of fine-tuning
MORE_FORMS_LIKE = "wiki-5"


def cut(lenience: float) -> str:
    """What is said of a threshold that is lower by so much, in log-odds."""
    if lenience == 0:
        return "as fitted"
    return f"{'lower' if lenience > 0 else 'higher'} {abs(lenience):g}"


def lenient(lenience: float) -> str:
    """What a scoring with such a threshold is called."""
    return f"carried-{cut(lenience).replace(' ', '-')}"


SHORTENED, MERGED, AVERAGED = "carried-shorter", "carried-merged", "carried-averaged"
CUT_TITLES = {lenient(lenience): cut(lenience) for lenience in LENIENCES}
FORM_TITLES = {
    SHORTENED: "shorter",
    MERGED: "trained on more",
    AVERAGED: "two trainings averaged",
}
CARRIED_TITLES = {**CUT_TITLES, **FORM_TITLES}


def carried_cells(seed: int) -> list[OwnCell]:
    """A cell for each training, which serves all domains: every cut from the same copies."""
    cells = []
    for like in FOREIGN_AS_FOR:
        words = words_cell(like, seed)
        adapted = words.scoring("words-adapted")
        scorings = [replace(adapted, name=lenient(one), lenience=one) for one in LENIENCES]
        several = [replace(words, system="carried", scorings=tuple(scorings))]
        if like == MORE_FORMS_LIKE:
            several[0] = replace(several[0], scorings=(*scorings, _shortened(adapted)))
            merged = replace(adapted, name=MERGED)
            several.append(replace(broad_cell(like, seed), system=MERGED, scorings=(merged,)))
            both = words.retrained(AVERAGED, {}, {}, [replace(adapted, name=AVERAGED)])
            several.append(replace(both, averaged=on_episodes_of(FOREIGN_AS_FOR, seed)))
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        cells += [OwnCell.serving(columns, one) for one in several]
    return cells


def _shortened(adapted: Scoring) -> Scoring:
    """Fine-tuned for fewer steps."""
    assert adapted.adaptation is not None
    steps = round(SHORTER * adapted.adaptation["steps"])
    return replace(adapted, name=SHORTENED, adaptation={**adapted.adaptation, "steps": steps})
