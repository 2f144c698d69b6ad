"""A decision fitted to labelled episodes: what each piece of evidence weighs, and where to cut.

Evidence is collected as the model will meet it, on query sentences of episodes whose types are
new to it, after fine-tuning if there is to be any.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace

import torch
from torch import Tensor

from spanproto.adaptation import AdaptationConfig, ask_adapted
from spanproto.data.types import Episode, Sentence
from spanproto.decision import (
    DEFAULT_EVIDENCE,
    EVIDENCE,
    LEAST_PROBABILITY,
    DecisionConfig,
    EvidenceName,
    evidence_named,
    fit_scale,
    fit_weights,
    log_odds,
)
from spanproto.errors import DataError
from spanproto.extractor import Decoding
from spanproto.judging import Candidate, judge_by_settings
from spanproto.model import SpanProto
from spanproto.thresholds import Scored, steady_threshold

Judged = Sequence[tuple[Sentence, Sequence[Candidate]]]
JudgedEpisode = list[list[Candidate]]  # the candidates of each query sentence


def fit_decision(
    model: SpanProto,
    episodes: Sequence[Episode],
    adaptation: AdaptationConfig | None = None,
    evidence: Sequence[EvidenceName] = DEFAULT_EVIDENCE,
) -> DecisionConfig:
    """The joint decision of best F1 on the query sentences of the episodes.

    Where the test episodes are of another domain, choose `evidence` that means the same there, or
    none: then the weights keep their proportions, and how sure they make one is fitted. If none of
    the entities is among the candidates, they cannot tell, and weights stay as they are.
    """
    evidence = evidence_named(evidence)
    if "meaning" in evidence and model.meaning is None:
        raise DataError(
            "the decision is to count what spans mean to the pretrained encoder, which it "
            "does not ask yet; let the model ask it (--meaning ENCODER)"
        )
    judged = gather_evidence(model, episodes, adaptation, words="words" in evidence)
    decoding = model.config.extractor.decoding
    return decision_of(judged, model.config.decision, evidence, decoding)


def decision_of(
    judged: Judged,
    decision: DecisionConfig,
    evidence: Sequence[EvidenceName] = DEFAULT_EVIDENCE,
    decoding: Decoding = "flat",
) -> DecisionConfig:
    """The decision with its weights and threshold fitted to what was gathered.

    Without `evidence` the weights keep their proportions. `decoding` is how the candidates that
    reach the threshold will be decoded.
    """
    evidence = evidence_named(evidence)
    joint = replace(decision, rule="joint")
    correct = [
        candidate.span in sentence.spans
        for sentence, candidates in judged
        for candidate in candidates
    ]
    if not any(correct):
        return joint
    everything = [candidate for _, candidates in judged for candidate in candidates]
    asks_words = "words" in evidence or (not evidence and joint.words)
    if asks_words and not all(candidate.words for candidate in everything):
        raise DataError(
            "what single words are taken for was not gathered, and the decision is to count it; "
            "gather the evidence with words=True"
        )
    asks_meaning = "meaning" in evidence or (not evidence and joint.counts("meaning"))
    if asks_meaning and not all(candidate.meanings for candidate in everything):
        raise DataError(
            "what spans mean to the pretrained encoder was not gathered, and the decision is to "
            "count it; let the model ask it (--meaning ENCODER)"
        )
    rows = torch.tensor([_row(candidate) for candidate in everything])  # (N, 7)
    boundary, log_p, distance, before, log_length, words, meaning = rows.unbind(1)

    def odds_of(config: DecisionConfig) -> Tensor:
        return log_odds(
            boundary,
            log_p,
            distance,
            config,
            before=before,
            log_length=log_length,
            words=words,
            meaning=meaning,
        )

    if evidence:
        columns = dict(zip(EVIDENCE, rows.unbind(1), strict=True))
        weighed = {name: columns[name] for name in EVIDENCE if name in evidence}
        weights = fit_weights(weighed, torch.tensor(correct))
    else:
        weights = fit_scale(odds_of(joint), torch.tensor(correct), joint)
    fitted = DecisionConfig(**{**asdict(joint), **weights})
    odds = odds_of(fitted)
    scores = iter(odds.sigmoid().tolist())
    left = [
        Scored(candidate.label, score, candidate.span in sentence.spans)
        for sentence, candidates in judged
        for score, candidate in decoded([(next(scores), one) for one in candidates], decoding)
    ]
    gold = sum(len(sentence.spans) for sentence, _ in judged)
    return replace(fitted, threshold=steady_threshold(left, gold) or fitted.threshold)


def decide_as_suits(
    model: SpanProto,
    episodes: Sequence[Episode],
    adaptation: AdaptationConfig | None = None,
    evidence: Sequence[EvidenceName] = DEFAULT_EVIDENCE,
) -> None:
    """Let the model decide as is best on the episodes."""
    decision = fit_decision(model, episodes, adaptation, evidence)
    model.config = replace(model.config, decision=decision)


def decoded(
    scored: Iterable[tuple[float, Candidate]], decoding: Decoding
) -> list[tuple[float, Candidate]]:
    """The candidates of a sentence that clash with no better one, best first; see `decode`.

    Those of them above a threshold are the same as if only they had been decoded.
    """
    kept: list[tuple[float, Candidate]] = []
    for score, candidate in sorted(scored, key=lambda pair: -pair[0]):
        if not any(_clash(candidate, other, decoding) for _, other in kept):
            kept.append((score, candidate))
    return kept


def _clash(one: Candidate, other: Candidate, decoding: Decoding) -> bool:
    apart = one.end <= other.start or other.end <= one.start
    if apart or decoding == "all":
        return False
    starts, ends = one.start - other.start, one.end - other.end
    inside = starts * ends <= 0  # one of them in the other
    return decoding == "flat" or not inside


def gather_evidence(
    model: SpanProto,
    episodes: Sequence[Episode],
    adaptation: AdaptationConfig | None = None,
    words: bool = False,
) -> Judged:
    """Every query sentence of the episodes with all its candidates.

    What their single words are taken for is there if `words` asks for it, or has a weight.
    """
    (gathered,) = gather_by_settings(model, [model.config.decision], episodes, adaptation, words)
    return gathered


def gather_by_settings(
    model: SpanProto,
    decisions: Sequence[DecisionConfig],
    episodes: Sequence[Episode],
    adaptation: AdaptationConfig | None = None,
    words: bool = False,
) -> list[Judged]:
    """The evidence under each of some settings of the decision, from the same fine-tuned copies."""
    if not episodes:
        raise DataError("there are no episodes to fit the decision to; give some, or do not fit it")
    joint = [replace(decision, rule="joint") for decision in decisions]

    def ask(asked: SpanProto, group: Sequence[Episode]) -> list[tuple[JudgedEpisode, ...]]:
        settings = [replace(asked.config, decision=decision) for decision in joint]
        answers = judge_by_settings(asked, settings, group, words=words)
        return list(zip(*answers, strict=True))

    if adaptation is None:
        judged = [ask(model, [episode])[0] for episode in episodes]
    else:
        judged = list(ask_adapted(model, episodes, adaptation, ask))
    return [
        [
            pair
            for episode, sentences in zip(episodes, answers, strict=True)
            for pair in zip(episode.query, sentences, strict=True)
        ]
        for answers in zip(*judged, strict=True)
    ]


def _row(candidate: Candidate) -> tuple[float, ...]:
    """What speaks for a candidate as an entity of its nearest type, in the order of EVIDENCE."""
    probability = max(candidate.type_probabilities)
    nearest = candidate.type_probabilities.index(probability)
    return (
        candidate.boundary_score,
        math.log(max(probability, LEAST_PROBABILITY)),
        candidate.distances[nearest],
        candidate.boundary_before,
        math.log(candidate.end - candidate.start),
        candidate.words[nearest] if candidate.words else 0.0,
        candidate.meanings[nearest] if candidate.meanings else 0.0,
    )
