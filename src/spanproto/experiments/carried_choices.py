"""Whether what SpanProto with words decides by suits domains that it is not fitted on.

What is best on OntoNotes may be too high a threshold or too low where names are not what is to be
found. The foreign domains tell, of which the benchmarks make no column: they are scored at several
cuts. With five shots they are also scored, at the fitted one, with half of what spans mean being
how alike the nearest example of a type is; after fewer steps of fine-tuning; and after training on
the benchmark's episodes of one shot and of five, from which on other ways to tell types are tried.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from spanproto.experiments.foreign_choices import FOREIGN_AS_FOR, FOREIGN_DOMAINS, foreign_column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import trained_plainly, words_cell

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


MERGED = "carried-merged"
CUT_TITLES = {lenient(lenience): cut(lenience) for lenience in LENIENCES}
FORM_TITLES = {
    "carried-nearest": "nearest example",
    "carried-shorter": "shorter",
    "carried-nearest-shorter": "nearest example, shorter",
    MERGED: "trained on more",
    "carried-types": "trained on more, types weigh thrice",
    "carried-deep": "trained on more, all layers",
    "carried-mean": "trained on more, spans by their mean",
}
TYPES_WEIGH = 3.0  # in the fine-tuning, of the loss of types beside that of boundaries
OTHERS_TRAINED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "carried-deep": {"encoder": {"layers": None}},
    "carried-mean": {"classifier": {"representation": "mean"}},
}
CARRIED_TITLES = {**CUT_TITLES, **FORM_TITLES}


def carried_cells(seed: int) -> list[OwnCell]:
    """A cell for each training, which serves all domains: every cut from the same copies."""
    cells = []
    for like in FOREIGN_AS_FOR:
        table = words_cell(like, seed)
        words = trained_plainly(table)
        adapted = words.scoring("words-adapted")
        scorings = [replace(adapted, name=lenient(one), lenience=one) for one in LENIENCES]
        several = [replace(words, system="carried", scorings=tuple(scorings))]
        if like == MORE_FORMS_LIKE:
            several[0] = replace(several[0], scorings=(*scorings, *_forms(adapted)))
            merged = replace(adapted, name=MERGED)
            weighed = {**(adapted.adaptation or {}), "joint_weight": TYPES_WEIGH}
            types = replace(adapted, name="carried-types", adaptation=weighed)
            several.append(replace(table, system=MERGED, scorings=(merged, types)))
            for name, model in OTHERS_TRAINED.items():
                several.append(table.retrained(name, model, {}, [replace(adapted, name=name)]))
        columns = [foreign_column(like, domain) for domain in FOREIGN_DOMAINS]
        cells += [OwnCell.serving(columns, one) for one in several]
    return cells


def _forms(adapted: Scoring) -> Iterator[Scoring]:
    """Fine-tuned less, or by the nearest example, too, or both."""
    assert adapted.adaptation is not None
    steps = round(SHORTER * adapted.adaptation["steps"])
    deciding = (*adapted.deciding, "decision.nearest_in_meaning=0.5")
    tuned = {**adapted.adaptation, "steps": steps}
    yield replace(adapted, name="carried-nearest", deciding=deciding)
    yield replace(adapted, name="carried-shorter", adaptation=tuned)
    yield replace(adapted, name="carried-nearest-shorter", deciding=deciding, adaptation=tuned)
