"""The systems of the tables: how each is trained and scored.

All share encoder, data, episodes and protocol. A method's own published settings are its defaults
(see `spanproto methods`); what is set here is what the tables of this project change.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from spanproto.config import require
from spanproto.experiments.averages import on_episodes_of
from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS
from spanproto.experiments.scoring import Scoring
from spanproto.methods import METHODS

if TYPE_CHECKING:
    from spanproto.decision import EvidenceName

SEEDS = (12, 21, 42, 87, 100)
CROSSDOMAIN_1 = tuple(name for name in COLUMNS if name.endswith("-1"))
CROSSDOMAIN_5 = tuple(name for name in COLUMNS if name.endswith("-5"))
INTER = tuple(name for name in COLUMNS if name.startswith("inter"))
INTER_COMPARED = ("inter-5w1", "inter-5w5")  # where all systems are run
INTRA = tuple(name for name in COLUMNS if name.startswith("intra"))
BROAD = (*CROSSDOMAIN_5, *INTER)  # beside which there are other episodes of the same types

FAINT_TOO = ("decision.floor=0.002",)  # what one stage all but rules out, the other may save
_NAMED = "decision.names_in_meaning=1"
_EVEN = "decision.even_types=true"
# Half of a base-sized encoder: copies for so many episodes take some 8 GB.
_TOP_LAYERS = {
    "tuning": {"tune": "top", "top_layers": 6},
    "episodes_at_once": 8,
    "tokens_at_once": 25_000,
}
_FINE_TUNING: dict[str, dict[str, Any]] = {
    "crossdomain": {"steps": 40, "learning_rate": 1.2e-4},
    "fewnerd": {"steps": 20, "learning_rate": 3e-5},
}
# Whose weights are fitted; None: the usual, all but what single words are taken for.
_EVIDENCE: "dict[str, tuple[EvidenceName, ...] | None]" = {
    "crossdomain": ("boundary", "type"),
    "fewnerd": None,
}
INTER_PARTLY = "fewnerd/inter/partly-labelled.json"  # made by benchmarks/partly_labelled.py
_OF_COMPLETE = {"objective": {"negatives": 1.0, "doubtful": "skip"}}
OF_ALL = {"objective": {"negatives": 0.3, "doubtful": "spare"}}  # boundaries from all sentences
PAPERS_DECISION = "theta-0.50"
_OWN_SCHEDULE = {"steps": 500, "episodes_per_step": 4, "learning_rate": 5e-5}


def spanproto_cell(column: str, seed: int, *also: str) -> Cell:
    """SpanProto as trained and fine-tuned, by the paper's decision and by one that is fitted.

    And, to show what that is worth, with the gold spans handed in. `also` names columns that are
    trained alike.
    """
    run = {
        "method": "spanproto",
        "model": {
            "classifier": {"reject": False},
            "objective": {
                "extractor_steps": 100,
                "extractor_data": "support+query",
                "negatives": 0.3,
            },
        },
        "training": _OWN_SCHEDULE,
    }
    adaptation = {
        **_FINE_TUNING[COLUMNS[column].protocol],
        "leave_one_out": True,
        "recall": True,
        **_TOP_LAYERS,
    }
    by_paper = Scoring(PAPERS_DECISION, deciding=("extractor.threshold=0.50",))
    fitted = Scoring(
        "spanproto-fitted",
        deciding=FAINT_TOO,
        fit_decision=32,
        evidence=_EVIDENCE[COLUMNS[column].protocol],
    )
    scorings = (
        Scoring("spanproto"),
        Scoring("spanproto-released", candidates="released"),
        by_paper,
        fitted,
        replace(by_paper, name=f"{PAPERS_DECISION}-adapted", adaptation=adaptation),
        replace(fitted, name="spanproto-adapted", adaptation=adaptation),
    )
    return Cell("spanproto", column, seed, run, scorings, also)


# Of the one below, where it differs from the one above. The cross-domain data are all small
# letters.
_ENCODER_BEYOND: dict[str, dict[str, Any]] = {
    "crossdomain": {"layers": 8, "dropout": 0.2},
    "fewnerd": {"case": True},
}
# In domains other than that of validation, words and the boundary before the fine-tuning do not
# weigh what they do in that.
EVIDENCE_BEYOND: "dict[str, tuple[EvidenceName, ...]]" = {
    "crossdomain": ("boundary", "type", "meaning"),
    "fewnerd": ("boundary", "type", "distance", "before", "length", "words", "meaning"),
}
_FITTED_ON_BEYOND = {"crossdomain": 32, "fewnerd": 96}
ALL_LAYERS = {"tuning": {"tune": "all"}, "episodes_at_once": 8, "tokens_at_once": 30_000}


def fine_tuning_beyond(column: str) -> dict[str, Any]:
    """How it is fine-tuned: all of its layers, and longer to more examples.

    On Few-NERD it is as the one above.
    """
    if COLUMNS[column].protocol == "fewnerd":
        return {}
    return {
        "steps": 100 if column.endswith("5") else 60,
        "learning_rate": 6e-5,
        **ALL_LAYERS,
    }


def words_cell(column: str, seed: int, *also: str) -> Cell:
    """SpanProto beyond the paper: it learns what single words are, too.

    The score of a span is corrected by those around it, and the pretrained encoder is asked what
    spans mean. Across domains it has the lower layers of the encoder alone, and all of them are
    fine-tuned; on Few-NERD it reads the letter case of words, its decision weighs what single words
    are taken for, and it learns boundaries from those training sentences of INTER alone that leave
    no entity unlabelled; there it is also scored knowing the names of the types, or that they are
    even in a query set.
    """
    cell = spanproto_cell(column, seed, *also)
    protocol = COLUMNS[column].protocol
    scorings = [
        replace(
            scoring,
            name=scoring.name.replace("spanproto", "words"),
            meaning=True,
            evidence=EVIDENCE_BEYOND[protocol],
            fit_decision=_FITTED_ON_BEYOND[protocol],
            adaptation=scoring.adaptation and {**scoring.adaptation, **fine_tuning_beyond(column)},
        )
        for scoring in cell.scorings
        if scoring.fit_decision
    ]
    model: dict[str, dict[str, Any]] = {
        "objective": {"word_weight": 1.0},
        "extractor": {"neighbours": True},
        "encoder": _ENCODER_BEYOND[protocol],
    }
    if protocol == "fewnerd":
        adapted = scorings[-1]
        scorings += [told_names(adapted, "words-named"), told_even(adapted, "words-even")]
    words = cell.retrained("words", model, {}, scorings)
    if column not in INTER:
        return words
    return words.retrained("words", _OF_COMPLETE, {}, scorings, {"doubtful": [INTER_PARTLY]})


def broad_cell(column: str, seed: int, *also: str) -> Cell:
    """SpanProto with words, trained on other episodes of the same types than the column's, too.

    On INTER it is the mean of four trainings, on the episodes of each number of types and of shots,
    and a map of what spans mean is learned from the training sentences. For five shots across
    domains it learns from the episodes of one shot, too.
    """
    require(column in BROAD, f"{column}: there are no other episodes of the same types")
    words, on_inter = words_cell(column, seed, *also), column in INTER
    scorings = [
        replace(scoring, name=scoring.name.replace("words", "broad"), learned=on_inter)
        for scoring in words.scorings
    ]
    if on_inter:
        broad = words.retrained("broad", {}, {}, scorings)
        return replace(broad, averaged=on_episodes_of(INTER, seed))
    return words.retrained("broad", {}, {}, scorings, {"train": episodes_of_both(column)})


def episodes_of_both(column: str) -> list[str]:
    """The files of training episodes of one shot and of five, for a column of five."""
    one = f"{column.removesuffix('5')}1"
    return [file for name in (one, column) for file in COLUMNS[name].data["train"]]


def with_words(scoring: Scoring, name: str) -> Scoring:
    """A scoring whose decision is fitted to what single words are taken for, too."""
    from spanproto.decision import DEFAULT_EVIDENCE

    usual = DEFAULT_EVIDENCE if scoring.evidence is None else scoring.evidence
    return replace(scoring, name=name, evidence=(*usual, "words"))


def told_names(scoring: Scoring, name: str) -> Scoring:
    """A scoring that asks the pretrained encoder about the types' names, too: to report apart."""
    return replace(scoring, name=name, deciding=(*scoring.deciding, _NAMED))


def told_even(scoring: Scoring, name: str) -> Scoring:
    """A scoring that knows the types to be even in a query set, seen whole: to report apart."""
    return replace(scoring, name=name, deciding=(*scoring.deciding, _EVEN))


def without_meaning(scoring: Scoring, name: str) -> Scoring:
    """A scoring that does not ask the pretrained encoder."""
    evidence = tuple(piece for piece in scoring.evidence or () if piece != "meaning")
    return replace(scoring, name=name, meaning=False, evidence=evidence)


# How long the baselines train here, and at which rate where the schedule is much shorter than
# their own; their other settings are their own. What differs on Few-NERD, and for five shots,
# comes after.
_SCHEDULES: dict[str, dict[str, Any]] = {
    "protobert": {"steps": 300, "episodes_per_step": 4},
    "container": {"steps": 720},  # 3 to 7 passes over the sentences; its authors make one
    "matching-network": {"steps": 250, "episodes_per_step": 4, "learning_rate": 5e-5},
    "l-tapnet-cdt": {"steps": 150, "episodes_per_step": 2, "learning_rate": 5e-5},
    "esd": {"steps": 250, "episodes_per_step": 2, "learning_rate": 5e-5},
    "decommeta": {"steps": 240, "episodes_per_step": 4, "learning_rate": 5e-5},
}
_ON_FEWNERD: dict[str, dict[str, Any]] = {
    "protobert": {"steps": 800},
    "container": {"steps": 530},  # one pass
    "matching-network": {"steps": 800},
    "l-tapnet-cdt": {"steps": 600},
    "esd": {"steps": 600, "learning_rate": 1e-4},
    "decommeta": {"steps": 480},
}
# Of L-TapNet+CDT query sentences go with all others, so that memory holds but one episode.
_FOR_FIVE_SHOTS: dict[str, dict[str, dict[str, Any]]] = {
    "crossdomain": {"l-tapnet-cdt": {"steps": 300, "episodes_per_step": 1}},
    "fewnerd": {
        "l-tapnet-cdt": {"steps": 400, "episodes_per_step": 1},
    },
}
_SAME_WEIGHTS = {"protobert": ("nnshot", "structshot")}  # scored with the weights of the first
_CONFIGURED = {("structshot", "inter-5w5"): ("temperature=0.318",)}  # its authors' for a column
_ADAPTATION: dict[str, dict[str, Any]] = {
    "token-classifier": {
        "steps": 60,
        "learning_rate": 1e-4,
        "head_learning_rate": 5e-3,
        **_TOP_LAYERS,
    },
}
VALIDATED = ("news-1", "inter-5w1")  # on whose validation data settings are judged


def compared_seeds(column: str) -> tuple[int, ...]:
    """The seeds that every system of a column is run with; SpanProto's own tables have more."""
    if column in CROSSDOMAIN_1:
        return SEEDS[:3]
    return SEEDS[:1] if column in (*CROSSDOMAIN_5, *INTER_COMPARED) else ()


def trained_alike(columns: Sequence[str]) -> list[tuple[str, ...]]:
    """The columns, those together that are trained on the same data in the same way."""
    groups: dict[str, list[str]] = {}
    for column in columns:
        groups.setdefault(repr(COLUMNS[column].data), []).append(column)
    return [tuple(group) for group in groups.values()]


def baseline_cells(column: str, seed: int, *also: str) -> list[Cell]:
    """Every other system, for a column and `also` for others that are trained alike.

    Those that share their training are scored with the same weights.
    """
    served = {name for names in _SAME_WEIGHTS.values() for name in names}
    return [
        Cell(
            method,
            column,
            seed,
            {"method": method, "training": _schedule(method, column)},
            tuple(
                Scoring(
                    name,
                    method=name,
                    adaptation=_ADAPTATION.get(name),
                    configure=_CONFIGURED.get((name, column), ()),
                )
                for name in (method, *_SAME_WEIGHTS.get(method, ()))
            ),
            also,
        )
        for method in METHODS
        if method not in {"spanproto", *served}
    ]


def alike(system: str) -> str:
    """What a system is called where it is trained as SpanProto is."""
    return f"{system}-alike"


def alike_cell(column: str, seed: int, *also: str) -> Cell:
    """ProtoBERT, and what shares its weights, trained as SpanProto is: a firmer measure of all.

    The last layer alone, no dropout on it, and SpanProto's schedule.
    """
    (method, served), *_ = _SAME_WEIGHTS.items()
    scorings = tuple(
        Scoring(alike(name), method=name, configure=_CONFIGURED.get((name, column), ()))
        for name in (method, *served)
    )
    run = {
        "method": method,
        "model": {"layers": 1, "dropout": 0.0},
        "training": _OWN_SCHEDULE,
    }
    return Cell(alike(method), column, seed, run, scorings, also)


def by_nearest(system: str) -> str:
    """What a system is called where it is trained by the nearest words, which it predicts by."""
    return f"{system}-nearest"


def nearest_cell(column: str, seed: int, *also: str) -> Cell:
    """NNShot, and StructShot with its weights, trained by the nearest words.

    In the tables' own rows they have ProtoBERT's weights.
    """
    names = ("nnshot", "structshot")
    scorings = tuple(
        Scoring(by_nearest(name), method=name, configure=_CONFIGURED.get((name, column), ()))
        for name in names
    )
    run = {
        "method": names[0],
        "model": {"loss": "nearest"},
        "training": _schedule("protobert", column),
    }
    return Cell(by_nearest(names[0]), column, seed, run, scorings, also)


def _schedule(method: str, column: str) -> dict[str, Any]:
    """How a method trains for a column."""
    protocol = COLUMNS[column].protocol
    return {
        **_SCHEDULES.get(method, {}),
        **(_ON_FEWNERD.get(method, {}) if protocol == "fewnerd" else {}),
        **(_FOR_FIVE_SHOTS[protocol].get(method, {}) if column.endswith("5") else {}),
    }
