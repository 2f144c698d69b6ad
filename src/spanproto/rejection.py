"""The radius r beyond which a span is an entity of none of the types, fitted to labelled episodes.

The paper sets r = 3 for all. How far spans lie from prototypes depends on the encoder, on the width
of its states and on the fine-tuning, so r is fitted in the space that it is applied to: on episodes
whose types are new to the model, and after the fine-tuning if there is any. The margin of the loss
(Eq. 9) stays as it is.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from spanproto.adaptation import AdaptationConfig, ask_adapted
from spanproto.data.types import Episode
from spanproto.errors import ConfigError, DataError
from spanproto.judging import judge
from spanproto.model import SpanProto
from spanproto.thresholds import Scored, steady_threshold


class Proposal(NamedTuple):
    """A typed span as it is before any is rejected."""

    distance: float  # to the nearest prototype
    right: bool
    other: bool  # it is an entity of a type that is not looked for


class Proposals(NamedTuple):
    """All that is proposed for some sentences, and the number of entities in them."""

    spans: Sequence[Proposal]
    entities: int


class Kept(NamedTuple):
    """What a radius leaves, in percent."""

    precision: float
    recall: float
    f1: float
    others_rejected: float | None  # of the entities of other types that were proposed, if any were


def propose(
    model: SpanProto, episodes: Sequence[Episode], adaptation: AdaptationConfig | None = None
) -> Proposals:
    """What the model would find in the query sentences of the episodes if it rejected nothing."""
    if not episodes:
        raise DataError("there are no episodes to propose spans for; give some")
    _require_two_stages(model)
    config = replace(model.config, classifier=replace(model.config.classifier, reject=False))
    lenient = model.with_settings(config)
    if adaptation is None:
        judged = [judge(lenient, [episode])[0] for episode in episodes]
    else:
        judged = list(ask_adapted(lenient, episodes, adaptation, judge))
    spans = [
        Proposal(
            min(candidate.distances),
            candidate.span in sentence.spans,
            (candidate.start, candidate.end) in sentence.others,
        )
        for episode, sentences in zip(episodes, judged, strict=True)
        for sentence, candidates in zip(episode.query, sentences, strict=True)
        for candidate in candidates
        if candidate.outcome == "kept"
    ]
    entities = sum(len(sentence.spans) for episode in episodes for sentence in episode.query)
    return Proposals(spans, entities)


def kept_within(proposals: Proposals, radius: float) -> Kept:
    """How good what lies within the radius of a prototype is."""
    kept = [span for span in proposals.spans if span.distance <= radius]
    right = sum(span.right for span in kept)
    others = sum(span.other for span in proposals.spans)
    return Kept(
        precision=100 * right / max(1, len(kept)),
        recall=100 * right / max(1, proposals.entities),
        f1=200 * right / max(1, len(kept) + proposals.entities),
        others_rejected=100 * (1 - sum(span.other for span in kept) / others) if others else None,
    )


def fitted_radius(proposals: Proposals) -> float | None:
    """The radius of the best F1, give or take what is chance; None if nothing right is proposed.

    Where all of it pays, that lies beyond the farthest.
    """
    nearness = [Scored("", 1 / (1 + span.distance), span.right) for span in proposals.spans]
    least = steady_threshold(nearness, proposals.entities)
    return None if least is None else 1 / least - 1


def reject_as_suits(
    model: SpanProto, episodes: Sequence[Episode], adaptation: AdaptationConfig | None = None
) -> None:
    """Let the model reject beyond the radius that is best on the episodes.

    If nothing that it finds in them is right, they cannot tell, and it rejects as before.
    """
    radius = fitted_radius(propose(model, episodes, adaptation))
    if radius is not None:
        classifier = replace(model.config.classifier, reject=True, fitted_radius=radius)
        model.config = replace(model.config, classifier=classifier)


def _require_two_stages(model: SpanProto) -> None:
    if model.config.decision.rule != "two-stage":
        raise ConfigError(
            "a joint decision weighs distances and has no radius to fit; take the two-stage one "
            "(decision.rule=two-stage)"
        )
