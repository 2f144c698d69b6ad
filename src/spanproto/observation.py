"""What the model sees in query sentences before it decides: proposed spans, and all evidence.

That is most of the work, and the same for all decisions that ask for the same evidence.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces
from spanproto.classifier import squared_distances, type_log_probabilities
from spanproto.data.types import Episode
from spanproto.errors import DataError
from spanproto.extractor import Decoding, boundary_matrix, decode
from spanproto.meaning import Examples, query_vectors
from spanproto.model import EncodedBatch, MentionStates, SpanProto
from spanproto.objective import near_gold
from spanproto.support import Prototypes, support_examples, support_prototypes
from spanproto.word_evidence import word_evidence

CandidateRule = Literal["model", "released"]


class Proposed(NamedTuple):
    """M spans that the extractor proposes."""

    spans: SpanPlaces
    boundary: Tensor  # (M,), the boundary score f
    stands: Tensor  # (M,), whether no better span is in the way


class Observation(NamedTuple):
    """What speaks for M proposed spans of the query sentences of some episodes.

    Where the model recalls what it was before fine-tuning, probabilities and distances are the
    (geometric) means of both.
    """

    query: EpisodeBatch
    proposed: Proposed
    log_p: Tensor  # (M, slots), log-probabilities of types, Eq. 8
    distance: Tensor  # (M, slots)
    allowed: Tensor  # (M, slots), the types of the span's own episode that have a prototype
    before: Tensor  # (M,), the boundary score before fine-tuning, or 0
    words: Tensor | None  # (M, slots), mean log-probabilities of the words, if asked for
    vectors: Tensor | None  # (M, V, h), what the spans mean, if the pretrained encoder is asked
    prototypes: Prototypes
    examples: Examples | None  # what the support spans mean, if the prototypes do not say it


@torch.inference_mode()
def observe(
    model: SpanProto,
    episodes: Sequence[Episode],
    candidates: CandidateRule = "model",
    *,
    prototypes: Prototypes | None = None,
    decoding: Decoding | None = None,
    words: bool = False,
) -> Observation:
    """Everything that is to be known of the query sentences of the episodes, in one batch.

    See `judging.judge` for the candidate rules and the options.
    """
    model.eval()
    if candidates == "model":
        episodes = [episode.without_query_spans() for episode in episodes]
    words = words or model.config.decision.words
    examples = None
    if prototypes is None:
        prototypes = support_prototypes(model, episodes, words, meanings=False)
        if model.meaning is not None:
            examples = support_examples(model, model.meaning, episodes)
    query = model.batch(episodes, "query").to(model.device)
    encoded = model.encode(query)
    scores = model.boundary_scores(encoded)
    decoding = decoding or model.config.extractor.decoding
    joint = model.config.decision.rule == "joint"
    if candidates == "released":
        proposed = _handed_in(model, encoded, scores, decoding)
    else:
        proposed = _proposed(model, encoded, scores, None if joint else decoding)
    spans = proposed.spans
    log_p, distance, allowed = _typing(model, encoded, spans, prototypes)
    of_words = _of_words(encoded, spans, prototypes) if words else None
    before = torch.zeros_like(proposed.boundary)
    if model.before is not None:
        earlier = model.before.eval()
        recalled = earlier.encode(query)
        known = support_prototypes(earlier, episodes, words, meanings=False)
        others = _typing(earlier, recalled, spans, known)
        log_p, distance = (log_p + others[0]) / 2, (distance + others[1]) / 2
        if of_words is not None:
            of_words = (of_words + _of_words(recalled, spans, known)) / 2
        matrix = earlier.boundary_scores(recalled)
        before = matrix[spans.sentence, spans.start, spans.end - 1]
    vectors = None
    if model.meaning is not None and (examples or prototypes.meanings is not None):
        with model.mixed_precision():
            vectors = query_vectors(model.meaning, episodes, query, spans)
    return Observation(
        query, proposed, log_p, distance, allowed, before, of_words, vectors, prototypes, examples
    )


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
