"""What each choice in SpanProto's settings is worth, on validation data.

A first setting is scored on validation episodes with one thing changed at a time; the setting of
the tables was chosen with that known. The decision is fitted on other validation episodes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from spanproto.experiments.cells import Cell
from spanproto.experiments.columns import COLUMNS, Column
from spanproto.experiments.own_columns import OwnCell
from spanproto.experiments.scoring import Scoring
from spanproto.experiments.systems import (
    ALL_LAYERS,
    EVIDENCE_BEYOND,
    FAINT_TOO,
    INTER,
    INTER_PARTLY,
    OF_ALL,
    VALIDATED,
    spanproto_cell,
    told_even,
    told_names,
    with_words,
    without_meaning,
    words_cell,
)

if TYPE_CHECKING:
    from spanproto.decision import EvidenceName

CHOSEN_ON = VALIDATED  # whose validation data the choices are judged on
FIRST = "chosen"  # to begin with
_FIRST_MODEL = {"classifier": {"representation": "mean"}}
_FIRST_STEPS = 40
_FIRST_RATES = {"crossdomain": 1.2e-4, "fewnerd": 3e-5}
_FIRST_EVIDENCE: "dict[str, tuple[EvidenceName, ...] | None]" = {
    "crossdomain": ("boundary",),
    "fewnerd": None,
}


@dataclass(frozen=True)
class Choice:
    """One thing changed in the first setting."""

    title: str
    model: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    adaptation: Mapping[str, Any] | None = field(default_factory=dict)  # None: there is none
    rate: float = 1.0  # of the fine-tuning, as a multiple
    decision: Sequence[str] | None = None  # settings of one that is not fitted
    centred: bool = False  # spans, on those of training
    weighing: Sequence[str] = ()  # settings of one whose weights keep their proportions
    evidence: "Sequence[EvidenceName] | None" = None  # other than the first, to fit it to
    words: bool = False  # weighed by the decision, too: what single words are taken for
    protocol: str | None = None  # of the columns that it is tried on; None: of all
    informed: bool = False  # by more than the support set, so that it is told apart

    @property
    def trains(self) -> bool:
        """Whether the change is one of training."""
        return bool(self.model or self.training or self.data)


CHOICES: Mapping[str, Choice] = {
    FIRST: Choice("the first setting"),
    "two-stage": Choice("the paper's decision: two thresholds in a row", decision=()),
    "joint": Choice("one score, its weights not fitted", decision=("decision.rule=joint",)),
    "boundary-and-type": Choice("fitted to boundary and type alone", evidence=("boundary", "type")),
    "with-length": Choice("and length", evidence=("boundary", "type", "length")),
    "with-distance": Choice("and distance", evidence=("boundary", "type", "length", "distance")),
    "with-before": Choice(
        "and the boundary before fine-tuning",
        evidence=("boundary", "type", "length", "distance", "before"),
    ),
    "with-words": Choice(
        "fitted to boundary, type and what the words say", evidence=("boundary", "type", "words")
    ),
    "half-type": Choice(
        "the type at half the weight of the boundary",
        evidence=(),
        weighing=("decision.type_weight=0.5",),
    ),
    "centred": Choice("spans seen from the middle of training spans, by direction", centred=True),
    "no-adaptation": Choice("no fine-tuning", adaptation=None),
    "no-recall": Choice("weights before the fine-tuning not asked", adaptation={"recall": False}),
    "half-rate": Choice("fine-tuned at half the rate", rate=0.5),
    "double-rate": Choice("fine-tuned at twice the rate", rate=2.0),
    "steps-20": Choice("20 steps of fine-tuning", adaptation={"steps": 20}),
    "steps-80": Choice("80 steps of fine-tuning", adaptation={"steps": 80}),
    "all-layers": Choice(
        "all layers tuned, at half the rate",
        adaptation={"tuning": {"tune": "all"}, "episodes_at_once": 8},
        rate=0.5,
    ),
    "top-3": Choice("top 3 layers tuned", adaptation={"tuning": {"tune": "top", "top_layers": 3}}),
    "thinned": Choice(
        "a third of the spans apart from entities seen in fine-tuning",
        adaptation={"negatives": 0.3},
    ),
    "no-leave-one-out": Choice(
        "support spans in their own prototypes", adaptation={"leave_one_out": False}
    ),
    "low-rank": Choice(
        "low-rank adapters, at eight times the rate",
        adaptation={"tuning": {"tune": "low-rank"}},
        rate=8.0,
    ),
    "all-negatives": Choice("all spans seen in training", {"objective": {"negatives": 1.0}}),
    "support-only": Choice(
        "the extractor trained on support sentences alone",
        {"objective": {"extractor_data": "support"}},
    ),
    "boundary": Choice(
        "spans represented by their ends", {"classifier": {"representation": "boundary"}}
    ),
    "sphere": Choice("spans on a sphere", {"classifier": {"sphere": 4.0}}),
    "redrawn": Choice(
        "trained on varied episodes, drawn anew from the sentences of the given ones",
        data={"mixed": True, "ways": 11, "shots": 2, "query_shots": 3},
        protocol="crossdomain",
    ),
    "rotary": Choice("the released code's boundary score", {"extractor": {"head": "rotary"}}),
    "dropout": Choice("dropout of 0.2", {"encoder": {"dropout": 0.2}}),
    "shorter": Choice("trained half as long", training={"steps": 250}),
    "longer": Choice("trained twice as long", training={"steps": 1000}),
    "meta": Choice(
        "trained to be fine-tuned (first-order MAML) in the second half",
        {"objective": {"meta": {"after": 250}}},
    ),
    "names-quarter": Choice(
        "a quarter of each prototype is the type's name",
        {"classifier": {"names_weight": 0.25}},
        informed=True,
    ),
    "names-half": Choice(
        "half of each prototype is the type's name",
        {"classifier": {"names_weight": 0.5}},
        informed=True,
    ),
}
OF_TABLES = {"tables": "spanproto-adapted", "tables-fitted": "spanproto-fitted"}
WITH_WORDS = {"tables-words": "tables", "tables-fitted-words": "tables-fitted"}
NOT_TUNED = {"tables-words-learned": "tables-fitted-words-learned"}  # scored without fine-tuning
_WORDS_LEARNED = {"objective": {"word_weight": 1.0}}
_RIVALS = {"objective": {**_WORDS_LEARNED["objective"], "rivals": "step"}}
RETRAINED = {  # from the setting of the tables
    "tables-redrawn": Choice(
        "that setting, trained on varied episodes",
        data=CHOICES["redrawn"].data,
        protocol="crossdomain",
    ),
    "tables-redrawn-longer": Choice(
        "and twice as long",
        training=CHOICES["longer"].training,
        data=CHOICES["redrawn"].data,
        protocol="crossdomain",
    ),
    "tables-words-learned": Choice(
        "that setting, and what the words say, learned as well", _WORDS_LEARNED, words=True
    ),
    "tables-words-dropout": Choice(
        "and dropout of 0.2",
        {**_WORDS_LEARNED, **CHOICES["dropout"].model},
        words=True,
        protocol="crossdomain",
    ),
    "tables-words-layers": Choice(
        "and the first 8 of 12 layers of the encoder alone",
        {**_WORDS_LEARNED, "encoder": {"dropout": 0.2, "layers": 8}},
        words=True,
        protocol="crossdomain",
    ),
    "tables-words-all-layers": Choice(
        "and all of these tuned, at half the rate for 60 steps, and the boundary before it counted",
        {**_WORDS_LEARNED, "encoder": {"dropout": 0.2, "layers": 8}},
        adaptation={"steps": 60, **ALL_LAYERS},
        rate=0.5,
        evidence=("boundary", "type", "before", "words"),
        words=True,
        protocol="crossdomain",
    ),
    "tables-words-case": Choice(
        "and the letter case of words read",
        {**_WORDS_LEARNED, "encoder": {"case": True}},
        words=True,
        protocol="fewnerd",
    ),
    "tables-words-rivals": Choice(
        "or types told from those of all episodes of a step",
        _RIVALS,
        words=True,
        protocol="fewnerd",
    ),
    "tables-words-rivals-batch": Choice(
        "and of twice as many",
        _RIVALS,
        {"episodes_per_step": 8},
        words=True,
        protocol="fewnerd",
    ),
}
FINAL = {  # of SpanProto with words
    "final-no-meaning": Choice(
        "words learned, all that paid, and scores corrected by those around them"
    ),
    "final": Choice("and what spans mean to the pretrained encoder"),
    "final-not-tuned": Choice("and no fine-tuning"),
    "final-fewer": Choice(
        "tuned, with neither words nor the boundary before it weighed", protocol="crossdomain"
    ),
    "final-doubts": Choice(
        "tuned, and nothing learned from what the model itself takes for unlabelled entities",
        data={"doubtful": ["fewnerd/inter/doubts.json"]},  # made by `spanproto data doubts`
        protocol="fewnerd",
    ),
    "final-partly": Choice(
        "tuned, told which training sentences leave entities unlabelled: hardly a negative there",
        data={"doubtful": [INTER_PARTLY]},
        protocol="fewnerd",
    ),
    "final-named": Choice(
        "SpanProto with words, the pretrained encoder asked what the types' names mean, too",
        informed=True,
    ),
    "final-names-quarter": Choice(
        "SpanProto with words, and a quarter of each prototype is the type's name",
        CHOICES["names-quarter"].model,
        informed=True,
    ),
    "final-names-half": Choice(
        "and half of it the name", CHOICES["names-half"].model, informed=True
    ),
    "final-even": Choice(
        "SpanProto with words, told that query sets have about as many entities of each type",
        informed=True,
    ),
}
KNOWN = {**CHOICES, **RETRAINED, **FINAL}
TITLES = {
    **{name: choice.title for name, choice in CHOICES.items()},
    "tables": "the setting of the tables",
    "tables-fitted": "and no fine-tuning",
    "tables-words": "that setting, and what the words say",
    "tables-fitted-words": "and no fine-tuning",
    **{name: choice.title for name, choice in RETRAINED.items()},
    **dict.fromkeys(NOT_TUNED.values(), "words learned, and no fine-tuning"),
    **{name: choice.title for name, choice in FINAL.items()},
}
ALL_EVIDENCE: "dict[str, tuple[EvidenceName, ...]]" = {
    **EVIDENCE_BEYOND,
    "crossdomain": ("boundary", "type", "before", "words", "meaning"),
}
_FITTED_ON = 32  # validation episodes


def validation_column(column: Column, fitted_on: int = 0) -> Column:
    """A column whose test episodes are validation episodes, without the first so many.

    Drawn episodes have another seed than those that decisions are fitted on.
    """
    return replace(
        column,
        name=f"{column.name}-valid",
        test_file=column.validation["valid"][0],
        test_types=column.validation.get("valid_types"),
        skip=fitted_on if column.setting is None else 0,
        skip_rare=column.validation.get("skip_rare", False),
    )


def choice_cells(name: str, seed: int) -> list[OwnCell]:
    """Every choice on the validation data of a column; those of one training are one cell."""
    table = spanproto_cell(name, seed)
    by_name = {scoring.name: scoring for scoring in table.scorings}
    scored = _first(by_name["spanproto-adapted"], COLUMNS[name].protocol)
    column = validation_column(COLUMNS[name], scored.fit_decision)
    table = replace(table, system="tables", column=column.name)
    cells = {FIRST: table.retrained(FIRST, _FIRST_MODEL, {})}
    for key, choice in CHOICES.items():
        if choice.protocol not in (None, COLUMNS[name].protocol):
            continue
        training = key if choice.trains else FIRST
        cell = cells.get(training) or cells[FIRST].retrained(
            key, choice.model, choice.training, data=choice.data
        )
        scorings = (*cell.scorings, _rescored(scored, key, choice))
        cells[training] = replace(cell, scorings=scorings)
    of_tables = {here: replace(by_name[there], name=here) for here, there in OF_TABLES.items()}
    weighed = [with_words(of_tables[there], here) for here, there in WITH_WORDS.items()]
    cells["tables"] = replace(table, scorings=(*of_tables.values(), *weighed))
    for key, choice in RETRAINED.items():
        if choice.protocol in (None, COLUMNS[name].protocol):
            rescored = [_rescored(of_tables["tables"], key, choice)]
            if key in NOT_TUNED:
                untuned = replace(choice, adaptation=None)
                rescored.append(_rescored(of_tables["tables-fitted"], NOT_TUNED[key], untuned))
            cells[key] = table.retrained(
                key, choice.model, choice.training, rescored, data=choice.data
            )
    return [OwnCell(column, cell) for cell in (*cells.values(), *_final(name, seed, column))]


def _final(name: str, seed: int, column: Column) -> list[Cell]:
    """SpanProto with words as it came to be, its decision fitted on as many episodes as others'.

    Across domains its decision is fitted to more at first than in the tables.
    """
    cell, protocol = words_cell(name, seed), COLUMNS[name].protocol
    by_name = {s.name: replace(s, fit_decision=_FITTED_ON) for s in cell.scorings}
    chosen = by_name["words-adapted"]
    tuned = replace(chosen, evidence=ALL_EVIDENCE[protocol])
    scorings = [
        without_meaning(tuned, "final-no-meaning"),
        replace(tuned, name="final"),
        replace(by_name["words-fitted"], name="final-not-tuned", evidence=tuned.evidence),
    ]
    if chosen != tuned:
        scorings.append(replace(chosen, name="final-fewer"))
    scorings += [
        told_names(chosen, "final-named"),
        told_even(chosen, "final-even"),
    ]
    of_all = OF_ALL if name in INTER else {}
    cell = cell.retrained("final", of_all, {}, scorings, {"doubtful": []})
    cell = replace(cell, column=column.name)
    others = [
        cell.retrained(key, choice.model, choice.training, [replace(chosen, name=key)], choice.data)
        for key, choice in FINAL.items()
        if choice.trains and choice.protocol in (None, protocol)
    ]
    return [cell, *others]


def _first(scored: Scoring, protocol: str) -> Scoring:
    """A scoring of the tables as it was in the first setting."""
    adaptation = {
        **(scored.adaptation or {}),
        "learning_rate": _FIRST_RATES[protocol],
        "steps": _FIRST_STEPS,
    }
    return replace(
        scored, adaptation=adaptation, deciding=FAINT_TOO, evidence=_FIRST_EVIDENCE[protocol]
    )


def _rescored(scored: Scoring, key: str, choice: Choice) -> Scoring:
    scored = with_words(scored, key) if choice.words else replace(scored, name=key)
    scored = replace(scored, centred=choice.centred)
    if choice.adaptation is None:
        scored = replace(scored, adaptation=None)
    else:
        adaptation = {**(scored.adaptation or {}), **choice.adaptation}
        adaptation["learning_rate"] *= choice.rate
        scored = replace(scored, adaptation=adaptation)
    if choice.evidence is not None:
        scored = replace(scored, evidence=choice.evidence)
    if choice.decision is None:
        return replace(scored, deciding=(*scored.deciding, *choice.weighing))
    return replace(scored, deciding=(*scored.deciding, *choice.decision), fit_decision=0)
