"""The verdict on every span that the extractor proposes: its nearest type, or why it has none."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.balance import evened, with_odds
from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.data.types import Episode, Span
from spanproto.decision import DecisionConfig, log_odds
from spanproto.errors import DataError
from spanproto.extractor import Candidates, Decoding, decode
from spanproto.meaning import alikeness
from spanproto.model import ModelConfig, SpanProto
from spanproto.observation import CandidateRule, Observation, Proposed, observe
from spanproto.support import Prototypes, with_meanings

Outcome = Literal["kept", "overlap", "far", "unlikely"]


class Candidate(NamedTuple):
    """A span that the extractor proposed, all evidence on it, and what became of it.

    What is given for each type is in the order of the episode's types; a type without a prototype
    has probability and score 0.
    """

    start: int
    end: int
    label: str  # the nearest type
    outcome: Outcome  # what spoke against it: a better span, its distance (r), or its score
    boundary_score: float  # f
    distances: tuple[float, ...]
    type_probabilities: tuple[float, ...]
    scores: tuple[float, ...]  # see `decision`
    boundary_before: float = 0.0  # f before the fine-tuning, if that is recalled
    words: tuple[float, ...] = ()  # mean log-probabilities of its words, if they are asked for
    meanings: tuple[float, ...] = ()  # how alike the examples are, if the pretrained is asked

    @property
    def boundary_probability(self) -> float:
        """sigmoid(f) of the extractor."""
        return torch.tensor(self.boundary_score).sigmoid().item()

    @property
    def span(self) -> Span:
        """The span with its nearest type, as plain data."""
        return Span(self.start, self.end, self.label)

    @property
    def score(self) -> float:
        """How probably the span is an entity of its nearest type."""
        return self.scores[self.type_probabilities.index(max(self.type_probabilities))]


def judge(
    model: SpanProto,
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
    *,
    prototypes: Prototypes | None = None,
    thresholds: Mapping[str, float] | None = None,
    decoding: Decoding | None = None,
    words: bool = False,
) -> list[list[list[Candidate]]]:
    """Every candidate of every query sentence of every episode, in one batch, kept or not.

    Under the rule `model` the spans of the query sentences are never looked at. `released`
    repeats the evaluation of the paper's released code, which is an oracle: the gold spans are
    candidates, and predictions within one word of a gold span at both ends are dropped.

    `prototypes` are given where they are known already, `thresholds` are the least scores of some
    types, `decoding` is another than the model's. With `words` it is said what single words are
    taken for even if that has no weight.
    """
    seen = observe(
        model, episodes, candidates, prototypes=prototypes, decoding=decoding, words=words
    )
    return _verdict(model, seen, episodes, candidates, thresholds or {}, decoding)


def judge_by_settings(
    model: SpanProto,
    settings: Sequence[ModelConfig],
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
    *,
    words: bool = False,
) -> list[list[list[list[Candidate]]]]:
    """What `judge` says under each of some settings; those that ask for the same look but once."""
    model.eval()
    seen: dict[ModelConfig, Observation] = {}
    verdicts = []
    for config in settings:
        asked, key = model.with_settings(config), _looked_for(config)
        if key not in seen:
            seen[key] = observe(asked, episodes, candidates, words=words)
        verdicts.append(_verdict(asked, seen[key], episodes, candidates, {}, None))
    return verdicts


def _looked_for(config: ModelConfig) -> ModelConfig:
    """The settings without those of the decision that make no difference to what is observed."""
    decision = config.decision
    rest = DecisionConfig(decision.rule, floor=decision.floor, words_weight=float(decision.words))
    return replace(config, decision=rest)


@torch.inference_mode()
def _verdict(
    model: SpanProto,
    seen: Observation,
    episodes: Sequence[Episode],
    candidates: CandidateRule,
    thresholds: Mapping[str, float],
    decoding: Decoding | None,
) -> list[list[list[Candidate]]]:
    """What becomes of each span that was proposed, under the model's settings."""
    evidence = _weigh(model, seen, episodes)
    joint = model.config.decision.rule == "joint"
    labels = [label for episode in episodes for label in episode.types]
    least = model.config.decision.threshold if joint else 0.0
    limit = torch.tensor([thresholds.get(label, least) for label in labels])
    likely = evidence.score >= limit.to(model.device)[evidence.slot]
    proposed = seen.proposed
    if joint and candidates == "model":
        decoding = decoding or model.config.extractor.decoding
        proposed = _best_first(proposed, evidence, likely, decoding)
    outcome = _outcomes(model, proposed.stands, evidence, likely)
    return _by_sentence(episodes, seen, proposed, evidence, outcome)


class Evidence(NamedTuple):
    """What the mention classifier says of M spans."""

    slot: Tensor  # (M,), the nearest type
    distance: Tensor  # (M, slots)
    probability: Tensor  # (M, slots), Eq. 8
    scores: Tensor  # (M, slots), the probability of being an entity of that type
    meanings: Tensor | None  # (M, slots), how alike the examples are, if asked for

    @property
    def score(self) -> Tensor:
        """The score of the nearest type, (M,)."""
        return self.scores.gather(1, self.slot[:, None])[:, 0]


def _weigh(model: SpanProto, seen: Observation, episodes: Sequence[Episode]) -> Evidence:
    """Type probabilities and scores of the proposed spans, under the model's decision."""
    decision, proposed, log_p = model.config.decision, seen.proposed, seen.log_p
    alike = _alike(model, seen, episodes)
    if alike is not None:
        log_p = with_odds(log_p, decision.meaning_in_type * alike)
    if decision.even_types:
        log_p = evened(log_p, proposed.boundary.sigmoid())
    odds = log_odds(
        proposed.boundary[:, None],
        log_p,
        seen.distance,
        decision,
        before=seen.before[:, None],
        log_length=(proposed.spans.end - proposed.spans.start).log()[:, None],
        words=0.0 if seen.words is None else seen.words,
        meaning=0.0 if alike is None else alike,
    )
    nearest = log_p.argmax(-1)
    scores = odds.masked_fill(~seen.allowed, -torch.inf).sigmoid()
    distance = seen.distance.masked_fill(~seen.allowed, torch.inf)
    return Evidence(nearest, distance, log_p.exp(), scores, alike)


def _alike(model: SpanProto, seen: Observation, episodes: Sequence[Episode]) -> Tensor | None:
    """How alike spans and examples are to the pretrained encoder (M, slots), if it is asked."""
    decision, known = model.config.decision, seen.prototypes
    if seen.vectors is None:
        weighed = decision.counts("meaning") or decision.names_in_meaning != 0
        if weighed or known.meanings is not None:
            raise DataError(
                "the decision counts what spans mean to the pretrained encoder, which is not at "
                "hand; name it (evaluate --meaning ENCODER, or model.ask_meaning in Python), or "
                "fit without it"
            )
        return None
    if seen.examples is not None:
        known = with_meanings(known, model, episodes, seen.examples)
    assert known.meanings is not None
    return alikeness(seen.vectors, known.meanings, decision.learned_in_meaning)


def _best_first(
    proposed: Proposed, evidence: Evidence, likely: Tensor, decoding: Decoding
) -> Proposed:
    """The likely spans decoded in the order of their scores rather than their boundaries'."""
    order = torch.where(likely, evidence.score, -1.0).argsort(descending=True, stable=True)
    row = proposed.spans.sentence[order]
    by_row = row.argsort(stable=True)  # best first within each sentence
    order, row = order[by_row], row[by_row]
    rows = int(row.max()) + 1 if len(row) else 0
    sizes = torch.bincount(row, minlength=rows)
    place = torch.arange(len(row), device=row.device) - (sizes.cumsum(0) - sizes)[row]
    shape = (rows, int(sizes.max()) if len(row) else 0)

    def grid(values: Tensor) -> Tensor:
        return values.new_zeros(shape).index_put_((row, place), values[order])

    spans = proposed.spans
    found = Candidates(grid(spans.start), grid(spans.end), grid(evidence.score), grid(likely))
    stands = torch.zeros_like(likely)
    stands[order] = decode(found, decoding).keep[row, place]
    return proposed._replace(stands=stands)


def _outcomes(
    model: SpanProto, stands: Tensor, evidence: Evidence, likely: Tensor
) -> list[Outcome]:
    """What became of each span; of several reasons against it, the one that came first."""
    settings = model.config.classifier
    rejects = settings.reject and model.config.decision.rule == "two-stage"
    near = evidence.distance.amin(1) <= (settings.radius if rejects else torch.inf)
    joint = model.config.decision.rule == "joint"
    reasons: list[tuple[Outcome, list[bool]]] = [
        ("overlap", (~stands).tolist()),
        ("far", (~near).tolist()),
        ("unlikely", (~likely).tolist()),
    ]
    if joint:  # what is unlikely was not decoded
        reasons.reverse()
    return [
        next((name for name, holds in reasons if holds[at]), "kept") for at in range(len(stands))
    ]


def _by_sentence(
    episodes: Sequence[Episode],
    seen: Observation,
    proposed: Proposed,
    evidence: Evidence,
    outcomes: Sequence[Outcome],
) -> list[list[list[Candidate]]]:
    """The spans as plain values, for each query sentence of each episode, in reading order."""
    rows, results = iter(seen.query.query_rows), []
    sentence_at: dict[int, tuple[list[Candidate], Episode]] = {}
    for episode in episodes:
        results.append([list[Candidate]() for _ in episode.query])
        sentence_at |= {next(rows): (found, episode) for found in results[-1]}
    spans = proposed.spans
    first, own = _own_slots(episodes, seen.query, spans)
    columns = (
        spans.sentence,
        spans.start,
        spans.end,
        evidence.slot - first,
        proposed.boundary,
        seen.before,
    )
    nothing = own[:, :0].float()
    asked = [
        nothing if table is None else table.gather(1, own)
        for table in (seen.words, evidence.meanings)
    ]
    tables = (evidence.distance, evidence.probability, evidence.scores)
    # (M, T): the others' would be many
    per_type = [*(table.gather(1, own) for table in tables), *asked]
    for (row, start, end, number, boundary, before), outcome, *values in sorted(
        zip(
            zip(*(column.tolist() for column in columns), strict=True),
            outcomes,
            *(table.tolist() for table in per_type),
            strict=True,
        ),
        key=lambda item: item[0][:3],
    ):
        found, episode = sentence_at[row]
        count = len(episode.types)
        distances, probabilities, scores, words, meanings = (tuple(v[:count]) for v in values)
        found.append(
            Candidate(
                start,
                end,
                episode.types[number],
                outcome,
                boundary,
                distances,
                probabilities,
                scores,
                before,
                words,
                meanings,
            )
        )
    return results


def _own_slots(
    episodes: Sequence[Episode], query: EpisodeBatch, spans: SpanPlaces
) -> tuple[Tensor, Tensor]:
    """The first slot (M,) of each span's episode, and the slots (M, T) of its types, T the most.

    An episode with fewer types has others' slots, or the last one, in the places beyond them.
    """
    sizes = torch.tensor([len(episode.types) for episode in episodes])
    owner = query.episode.index_select(0, spans.sentence)
    first = (sizes.cumsum(0) - sizes).to(owner.device).index_select(0, owner)
    types = torch.arange(int(sizes.max()), device=owner.device)
    return first, (first[:, None] + types).clamp(max=int(sizes.sum()) - 1)
