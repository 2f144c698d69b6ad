"""The systems of the tables: how each is trained and scored.

All share encoder, data, episodes and protocol. A method's own published settings are its defaults
(see `spanproto methods`); what is set here is what the tables of this project change.
"""

from typing import Any

from spanproto.experiments.cells import Cell, Scoring
from spanproto.experiments.columns import COLUMNS

SEEDS = (12, 21, 42, 87, 100)
CROSSDOMAIN_1 = tuple(name for name in COLUMNS if name.endswith("-1"))
CROSSDOMAIN_5 = tuple(name for name in COLUMNS if name.endswith("-5"))
INTER = tuple(name for name in COLUMNS if name.startswith("inter"))
INTRA = tuple(name for name in COLUMNS if name.startswith("intra"))

_TRAINED_ON_BOTH: dict[str, Any] = {
    "classifier": {"representation": "mean", "reject": False},
    "objective": {"extractor_steps": 100, "extractor_data": "support+query"},
}
_RATES = {"crossdomain": 6e-5, "fewnerd": 3e-5}


def spanproto_cell(column: str, seed: int) -> Cell:
    """SpanProto, as trained and fine-tuned to each support set."""
    rate = _RATES[COLUMNS[column].protocol]
    adaptation = {"steps": 40, "learning_rate": rate, "leave_one_out": True}
    run = {
        "method": "spanproto",
        "model": _TRAINED_ON_BOTH,
        "training": {"steps": 1000, "episodes_per_step": 4, "learning_rate": 5e-5},
    }
    scorings = (Scoring("spanproto"), Scoring("spanproto-adapted", adaptation=adaptation))
    return Cell("spanproto", column, seed, run, scorings)


# How long the baselines train here; their other settings are their own.
_BASELINES: dict[str, dict[str, Any]] = {
    "protobert": {"steps": 1000, "episodes_per_step": 4},
    "container": {"steps": 500},
    "matching-network": {"steps": 1000, "episodes_per_step": 4},
    "l-tapnet-cdt": {"steps": 500, "episodes_per_step": 2},
    "esd": {"steps": 1000, "episodes_per_step": 2},
    "decommeta": {"steps": 300, "episodes_per_step": 8},
    "token-classifier": {},
}
_SAME_WEIGHTS = {"protobert": ("protobert", "nnshot", "structshot")}


def baseline_cells(column: str, seed: int) -> list[Cell]:
    """Every other system; those that share their training are scored with the same weights."""
    return [
        Cell(
            method,
            column,
            seed,
            {"method": method, "training": training},
            tuple(Scoring(name, method=name) for name in _SAME_WEIGHTS.get(method, (method,))),
        )
        for method, training in _BASELINES.items()
    ]
