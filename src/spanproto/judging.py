"""The verdict on every span that the extractor proposes: its nearest type, or why it has none."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.balance import evened, with_odds
from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import squared_distances, type_log_probabilities
from spanproto.data.types import Episode, Span
from spanproto.decision import log_odds
from spanproto.errors import DataError
from spanproto.extractor import Candidates, Decoding, boundary_matrix, decode
from spanproto.meaning import alikeness, query_vectors
from spanproto.model import EncodedBatch, MentionStates, SpanProto
from spanproto.objective import near_gold
from spanproto.support import Prototypes, support_prototypes
from spanproto.word_evidence import word_evidence

CandidateRule = Literal["model", "released"]
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


@torch.inference_mode()
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
    model.eval()
    if candidates == "model":
        episodes = [episode.without_query_spans() for episode in episodes]
    words = words or model.config.decision.words
    if prototypes is None:
        prototypes = support_prototypes(model, episodes, words)
    query = model.batch(episodes, "query").to(model.device)
    encoded = model.encode(query)
    scores = model.boundary_scores(encoded)
    decoding = decoding or model.config.extractor.decoding
    joint = model.config.decision.rule == "joint"
    if candidates == "released":
        proposed = _handed_in(model, encoded, scores, decoding)
    else:
        proposed = _proposed(model, encoded, scores, None if joint else decoding)
    evidence = _weigh(model, encoded, proposed, prototypes, episodes, words)
    labels = [label for episode in episodes for label in episode.types]
    least = model.config.decision.threshold if joint else 0.0
    limit = torch.tensor([(thresholds or {}).get(label, least) for label in labels])
    likely = evidence.score >= limit.to(model.device)[evidence.slot]
    if joint and candidates == "model":
        proposed = _best_first(proposed, evidence, likely, decoding)
    outcome = _outcomes(model, proposed.stands, evidence, likely)
    return _by_sentence(episodes, query, proposed, evidence, outcome)


class Proposed(NamedTuple):
    """M spans that the extractor proposes."""

    spans: SpanPlaces
    boundary: Tensor  # (M,), the boundary score f
    stands: Tensor  # (M,), whether no better span is in the way


class Evidence(NamedTuple):
    """What the mention classifier says of M spans."""

    slot: Tensor  # (M,), the nearest type
    distance: Tensor  # (M, slots)
    probability: Tensor  # (M, slots), Eq. 8
    scores: Tensor  # (M, slots), the probability of being an entity of that type
    before: Tensor  # (M,), the boundary score before fine-tuning, or 0
    words: Tensor | None  # (M, slots), mean log-probabilities of the words, if asked for
    meanings: Tensor | None  # (M, slots), how alike the examples are, if asked for

    @property
    def score(self) -> Tensor:
        """The score of the nearest type, (M,)."""
        return self.scores.gather(1, self.slot[:, None])[:, 0]


def _proposed(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, decoding: Decoding | None
) -> Proposed:
    """The extractor's candidates: those above theta, decoded; or all above the floor."""
    lengths = encoded.batch.words.word_mask.sum(1)
    if decoding is None:
        floor = model.config.decision.floor
        found = model.extractor.candidates(scores, encoded.cells, lengths, floor)
        stands = found.keep
    else:
        found = model.extractor.candidates(scores, encoded.cells, lengths)
        stands = decode(found, decoding).keep
    row, place = found.keep.nonzero(as_tuple=True)
    at = (row, place)
    return Proposed(SpanPlaces(row, found.start[at], found.end[at]), found.score[at], stands[at])


def _handed_in(
    model: SpanProto, encoded: EncodedBatch, scores: Tensor, decoding: Decoding
) -> Proposed:
    """The released rule: decoded candidates that are not near a gold span, and the gold spans."""
    own = _proposed(model, encoded, scores, decoding)
    row, start, end = (
        places[own.stands] for places in (own.spans.sentence, own.spans.start, own.spans.end)
    )
    found, gold = boundary_matrix(row, start, end, encoded.cells), model.gold_matrix(encoded)
    row, first, last = ((found & ~near_gold(gold)) | gold).nonzero(as_tuple=True)
    boundary = scores[row, first, last]
    return Proposed(SpanPlaces(row, first, last + 1), boundary, torch.ones_like(row).bool())


def _weigh(
    model: SpanProto,
    encoded: EncodedBatch,
    proposed: Proposed,
    prototypes: Prototypes,
    episodes: Sequence[Episode],
    words: bool,
) -> Evidence:
    """Distances, type probabilities and scores of the proposed spans.

    Where the model recalls what it was before fine-tuning, probabilities and distances are the
    (geometric) means of both. With `words` the probabilities of single words are there, too.
    """
    spans = proposed.spans
    log_p, distance, allowed = _typing(model, encoded, spans, prototypes)
    of_words = _of_words(encoded, spans, prototypes) if words else None
    before = torch.zeros_like(proposed.boundary)
    if model.before is not None:
        earlier = model.before.eval()
        recalled = earlier.encode(encoded.batch)
        known = support_prototypes(earlier, episodes, words, meanings=False)
        others = _typing(earlier, recalled, spans, known)
        log_p, distance = (log_p + others[0]) / 2, (distance + others[1]) / 2
        if of_words is not None:
            of_words = (of_words + _of_words(recalled, spans, known)) / 2
        matrix = earlier.boundary_scores(recalled)
        before = matrix[spans.sentence, spans.start, spans.end - 1]
    alike = _alike(model, encoded, spans, prototypes, episodes)
    if alike is not None:
        log_p = with_odds(log_p, model.config.decision.meaning_in_type * alike)
    if model.config.decision.shots_in_type:
        log_p = with_odds(log_p, model.config.decision.shots_in_type * _log_shots(prototypes))
    if model.config.decision.even_types:
        log_p = evened(log_p, proposed.boundary.sigmoid())
    odds = log_odds(
        proposed.boundary[:, None],
        log_p,
        distance,
        model.config.decision,
        before=before[:, None],
        log_length=(spans.end - spans.start).log()[:, None],
        words=0.0 if of_words is None else of_words,
        meaning=0.0 if alike is None else alike,
    )
    nearest = log_p.argmax(-1)
    if model.config.decision.pairs:  # fitted to the nearest type: no other is likelier
        odds = odds.minimum(odds.gather(1, nearest[:, None]))
    scores = odds.masked_fill(~allowed, -torch.inf).sigmoid()
    distance = distance.masked_fill(~allowed, torch.inf)
    return Evidence(nearest, distance, log_p.exp(), scores, before, of_words, alike)


def _alike(
    model: SpanProto,
    encoded: EncodedBatch,
    spans: SpanPlaces,
    prototypes: Prototypes,
    episodes: Sequence[Episode],
) -> Tensor | None:
    """How alike spans and examples are to the pretrained encoder (M, slots), if it is asked."""
    decision = model.config.decision
    if model.meaning is None or prototypes.meanings is None:
        weighed = decision.counts("meaning") or decision.names_in_meaning != 0
        if weighed or prototypes.meanings is not None:
            raise DataError(
                "the decision counts what spans mean to the pretrained encoder, which is not at "
                "hand; name it (evaluate --meaning ENCODER, or model.ask_meaning in Python), or "
                "fit without it"
            )
        return None
    with model.mixed_precision():
        vectors = query_vectors(model.meaning, episodes, encoded.batch, spans)
    return alikeness(vectors, prototypes.meanings, prototypes.examples, decision.nearest_in_meaning)


def _log_shots(prototypes: Prototypes) -> Tensor:
    """The logarithm of the number of examples of each type, (slots,): more are of frequent ones."""
    if prototypes.shots is None:
        raise DataError(
            "decision.shots_in_type counts the examples of each type, whose number is not known; "
            "fit the model to the examples again"
        )
    return prototypes.shots.clamp(min=1).log()


def _of_words(encoded: EncodedBatch, spans: SpanPlaces, prototypes: Prototypes) -> Tensor:
    """What the words of the spans are taken for, (M, slots)."""
    if prototypes.words is None:
        raise DataError(
            "decision.words_weight counts what single words are taken for, but there are no "
            "prototypes of words; fit the model to the examples again"
        )
    return word_evidence(encoded.batch, encoded.start, spans, prototypes.words)


def _typing(
    model: SpanProto, encoded: EncodedBatch, spans: SpanPlaces, prototypes: Prototypes
) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of types, distances to prototypes, and which of these count, (M, slots)."""
    states = model.mention_states(encoded)
    placement = model.place(states, spans, prototypes.centres)
    log_p = type_log_probabilities(
        model.classifier.softmax_distance(placement.squared),
        placement.allowed,
        _distance_to_none(model, states, spans, prototypes),
    )
    return log_p, model.classifier.margin_distance(placement.squared), placement.allowed


def _distance_to_none(
    model: SpanProto, states: MentionStates, spans: SpanPlaces, prototypes: Prototypes
) -> Tensor | None:
    """To the nearest entity of no type of a span's own episode, (M,), if any episode has one."""
    if not len(prototypes.others):
        return None
    squared = squared_distances(states.represent(spans), prototypes.others)  # (M, P)
    own = states.batch.episode.index_select(0, spans.sentence)[:, None] == prototypes.episode
    return model.classifier.softmax_distance(squared.masked_fill(~own, torch.inf).amin(1))


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
    query: EpisodeBatch,
    proposed: Proposed,
    evidence: Evidence,
    outcomes: Sequence[Outcome],
) -> list[list[list[Candidate]]]:
    """The spans as plain values, for each query sentence of each episode, in reading order."""
    rows, results = iter(query.query_rows), []
    sentence_at: dict[int, tuple[list[Candidate], Episode]] = {}
    for episode in episodes:
        results.append([list[Candidate]() for _ in episode.query])
        sentence_at |= {next(rows): (found, episode) for found in results[-1]}
    spans = proposed.spans
    first, own = _own_slots(episodes, query, spans)
    columns = (
        spans.sentence,
        spans.start,
        spans.end,
        evidence.slot - first,
        proposed.boundary,
        evidence.before,
    )
    nothing = own[:, :0].float()
    asked = [
        nothing if table is None else table.gather(1, own)
        for table in (evidence.words, evidence.meanings)
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
