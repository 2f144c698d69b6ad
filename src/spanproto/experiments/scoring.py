"""Ways to score a trained system. Those that fine-tune it alike are had from the same copies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spanproto.adaptation import AdaptationConfig
    from spanproto.data.types import Episode
    from spanproto.decision import EvidenceName
    from spanproto.methods.base import Method, MethodConfig
    from spanproto.model import ModelConfig, SpanProto
    from spanproto.observation import CandidateRule


@dataclass(frozen=True)
class Scoring:
    """One way to score a trained system."""

    name: str
    method: str | None = None  # another that the same weights serve
    adaptation: Mapping[str, Any] | None = None  # settings of the fine-tuning; None: none
    candidates: "CandidateRule" = "model"
    configure: Sequence[str] = ()  # settings of the model, each key=value
    centred: bool = False  # spans seen from the middle of training spans
    meaning: bool = False  # the pretrained encoder asked what spans mean
    learned: bool = False  # and a map of what it says, learned from the training sentences
    deciding: Sequence[str] = ()  # settings of prediction, set after any fine-tuning
    fit_decision: int = 0  # on so many validation episodes, before it is scored
    evidence: "Sequence[EvidenceName] | None" = None  # whose weights are fitted; None: the usual
    lenience: float = 0.0  # by how much the log-odds may lie below the fitted threshold
    look: "Callable[[Method, Sequence[Episode]], Mapping[str, Any]] | None" = None
    """What is noted of the trained model and the episodes in place of a score."""


@dataclass(frozen=True)
class Trial:
    """What models are scored on, and so many episodes of validation or training for decisions."""

    episodes: "Sequence[Episode]"
    training: "Callable[[int], Sequence[Episode]]"
    validation: "Callable[[int], Sequence[Episode]]"
    protocol: str


def together(scorings: Iterable[Scoring]) -> list[list[Scoring]]:
    """The scorings, those in one list that differ in nothing but the decision."""
    groups: dict[str, list[Scoring]] = {}
    for scoring in scorings:
        rest = replace(scoring, name="", deciding=(), fit_decision=0, evidence=None, lenience=0.0)
        groups.setdefault(repr(rest), []).append(scoring)
    return list(groups.values())


def score(
    model: "Method",
    scorings: Sequence[Scoring],
    trial: Trial,
    adaptation: "AdaptationConfig | None",
) -> "list[tuple[MethodConfig, Mapping[str, Any]]]":
    """With what settings each of such scorings was done, and what came of it."""
    from spanproto import benchmark
    from spanproto.centring import CENTRED_ON, centred
    from spanproto.model import SpanProto

    first = scorings[0]
    if not isinstance(model, SpanProto):
        if first.look is not None:
            return [(model.config, first.look(model, trial.episodes)) for _ in scorings]
        report = benchmark.evaluate(
            model, trial.episodes, trial.protocol, first.candidates, adaptation
        )
        return [(model.config, report.to_dict()) for _ in scorings]
    if first.centred:
        model = centred(model, trial.training(CENTRED_ON))
    configs = _configs(model, scorings, trial, adaptation)
    if first.look is not None:
        looked = [first.look(model.with_settings(config), trial.episodes) for config in configs]
        return list(zip(configs, looked, strict=True))
    reports = benchmark.evaluate_settings(
        model, configs, trial.episodes, trial.protocol, first.candidates, adaptation
    )
    return [(config, report.to_dict()) for config, report in zip(configs, reports, strict=True)]


def _configs(
    model: "SpanProto",
    scorings: Sequence[Scoring],
    trial: Trial,
    adaptation: "AdaptationConfig | None",
) -> "list[ModelConfig]":
    """The settings of each scoring, decisions fitted where they are to be."""
    from spanproto.calibration import decision_of, gather_by_settings
    from spanproto.checkpoint import reconfigured
    from spanproto.decision import DEFAULT_EVIDENCE, TYPE_SETTINGS
    from spanproto.thresholds import lowered

    configs = [reconfigured(model, scoring.deciding) for scoring in scorings]
    words = any(config.decision.words for config in configs)
    words = words or any("words" in (scoring.evidence or ()) for scoring in scorings)
    for number in sorted({scoring.fit_decision for scoring in scorings} - {0}):
        # What a decision is fitted to depends on these of its settings alone.
        places: dict[tuple[float, ...], list[int]] = {}
        for place, (scoring, config) in enumerate(zip(scorings, configs, strict=True)):
            if scoring.fit_decision == number:
                key = tuple(getattr(config.decision, name) for name in ("floor", *TYPE_SETTINGS))
                places.setdefault(key, []).append(place)
        settings = [configs[first].decision for first, *_ in places.values()]
        gathered = gather_by_settings(model, settings, trial.validation(number), adaptation, words)
        for judged, alike in zip(gathered, places.values(), strict=True):
            for place in alike:
                scoring, config = scorings[place], configs[place]
                evidence = DEFAULT_EVIDENCE if scoring.evidence is None else scoring.evidence
                decision = decision_of(judged, config.decision, evidence, config.extractor.decoding)
                threshold = lowered(decision.threshold, scoring.lenience)
                configs[place] = replace(config, decision=replace(decision, threshold=threshold))
    return configs
