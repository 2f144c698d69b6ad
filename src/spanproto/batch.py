"""Episodes as tensors: all sentences of all episodes of a step in one batch.

Every mean of Algorithm 1 but one (that over the false positives) is over a set that is known when
the batch is made, so it is made here, as a weight: a loss is then a sum of weighted terms.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeVar

import torch
from torch import Tensor

from spanproto.data.episodes import require_support
from spanproto.data.names import type_names
from spanproto.data.types import Episode, Sentence, Span
from spanproto.data.words import sentence_of
from spanproto.tokenization import WordBatch, WordTokenizer


@dataclass(frozen=True)
class SpanPlaces:
    """P spans of a batch."""

    sentence: Tensor  # (P,), the row of the span's sentence
    start: Tensor  # (P,)
    end: Tensor  # (P,), half-open


@dataclass(frozen=True)
class LabelledSpans(SpanPlaces):
    """P spans of a batch with their types."""

    slot: Tensor  # (P,), the place of the span's type among all types of all episodes
    weight: Tensor  # (P,), the span's share in the mean that it is part of


class TensorBatch:
    """A dataclass of tensors, at any depth, that moves as one."""

    def to(self, device: torch.device) -> Self:
        """The batch on another device, without waiting for the copies."""
        return map_tensors(self, lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self) -> Self:
        """The batch in page-locked memory, from where copies to a GPU need no waiting."""
        return map_tensors(self, Tensor.pin_memory)


@dataclass(frozen=True)
class EpisodeBatch(TensorBatch):
    """S sentences of some episodes and the spans over them.

    Rows before `support_end` are support sentences and rows from `query_start` on are query
    sentences. They are the same rows where a support set is its own query set.
    """

    words: WordBatch
    support_end: int
    query_start: int
    query_rows: tuple[int, ...]  # the row of each query sentence, episode by episode
    sentence_weight: Tensor  # (S,), a sentence's share in the mean over all of its episode
    support_weight: Tensor  # (support_end,), its share in the mean over the support set
    query_weight: Tensor  # (S - query_start,), its share in the mean over the query set
    episode: Tensor  # (S,), the number of a sentence's episode
    types: Tensor  # (S, slots), the types a sentence's spans may have: its episode's, if supported
    label: Tensor  # (slots,), a number for each type, the same in all episodes that have it
    others: SpanPlaces  # entities of no type of the episode
    doubtful: SpanPlaces  # what may be an entity that nobody labelled
    support_spans: LabelledSpans  # weighted for the mean of each type, 1 / K_t
    query_spans: LabelledSpans  # weighted for the mean of Eq. 7; 0 if the type has no support
    names: LabelledSpans  # the names of types, all of a row each; none unless they are asked for


Batch = TypeVar("Batch")


def map_tensors(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    """The dataclass `batch` with every tensor in it, at any depth, changed."""
    changed: dict[str, Any] = {}
    for field in fields(batch):  # type: ignore[arg-type]
        value = getattr(batch, field.name)
        if isinstance(value, Tensor):
            changed[field.name] = change(value)
        elif is_dataclass(value):
            changed[field.name] = map_tensors(value, change)
    return replace(batch, **changed)  # type: ignore[type-var]


Slots = dict[tuple[int, str], int]  # episode number and type -> slot


class Row(NamedTuple):
    """A sentence of an episode; types in words and padding are in no mean over sentences."""

    episode: int
    sentence: Sentence
    counts: bool = True
    name: tuple[Span, ...] = ()  # all of the row, if it is the name of a type


def collate(
    episodes: Sequence[Episode],
    tokenizer: WordTokenizer,
    part: Literal["all", "support", "query"] = "all",
    even: bool = False,
    names: bool = False,
) -> EpisodeBatch:
    """One batch of sentences of `episodes`: all of them, or the support or query sets alone.

    A batch of support sets has them as query sets too, to train on. A description of a type is a
    row of the support set, all of it a span of that type; with `names` every type has such a row,
    its description or else its name, which is kept apart from the support spans. With `even` (for
    one part) all episodes have the same number of sentences and fill the same number of rows, as a
    stacked model needs it.
    """
    require_support(episodes)
    support = [Row(n, s) for n, episode in enumerate(episodes) for s in episode.support]
    query = [Row(n, s) for n, episode in enumerate(episodes) for s in episode.query]
    keys = [(n, label) for n, episode in enumerate(episodes) for label in episode.types]
    slots: Slots = {key: slot for slot, key in enumerate(keys)}
    known = {(row.episode, span.label) for row in support for span in row.sentence.spans}
    support += _names(episodes) if names else _descriptions(episodes)
    shots = Counter((row.episode, span.label) for row in support for span in row.sentence.spans)
    if part == "support":
        query = support = _evened(support, len(episodes)) if even else support
    elif part == "query":
        query, support = _evened(query, len(episodes)) if even else query, []
    rows = support if part == "support" else support + query
    query_start = len(rows) - len(query)

    query_weight = _shares(query, len(episodes))
    query_span_weight = []
    for row, share in zip(query, query_weight, strict=True):
        is_known = [(row.episode, span.label) in known for span in row.sentence.spans]
        query_span_weight += [share * has_type / max(1, sum(is_known)) for has_type in is_known]
    support_span_weight = [
        1 / shots[row.episode, span.label] for row in support for span in row.sentence.spans
    ]  # 1 / K_t, Eq. 6
    named = [row._replace(sentence=row.sentence.with_spans(row.name)) for row in support]
    types = [
        [n == owner and (owner, t) in known for owner, t in keys] for n in range(len(episodes))
    ]
    numbers = {label: number for number, label in enumerate(dict.fromkeys(t for _, t in keys))}
    return EpisodeBatch(
        words=tokenizer.batch([row.sentence.words for row in rows], len(episodes) if even else 1),
        support_end=len(support),
        query_start=query_start,
        query_rows=tuple(at for at, row in enumerate(query, query_start) if row.counts),
        sentence_weight=torch.tensor(_shares(rows, len(episodes))),
        support_weight=torch.tensor(_shares(support, len(episodes))),
        query_weight=torch.tensor(query_weight),
        episode=torch.tensor([row.episode for row in rows], dtype=torch.long),
        types=torch.tensor(types)[[row.episode for row in rows]],
        label=torch.tensor([numbers[label] for _, label in keys], dtype=torch.long),
        others=_places([row.sentence.others for row in rows]),
        doubtful=_places([row.sentence.doubtful for row in rows]),
        support_spans=_labelled(support, 0, slots, support_span_weight),
        query_spans=_labelled(query, query_start, slots, query_span_weight),
        names=_labelled(named, 0, slots, [1.0 for row in named for _ in row.name]),
    )


def _evened(rows: Sequence[Row], episodes: int) -> list[Row]:
    """The rows with padding, so that each episode has as many."""
    sizes = Counter(row.episode for row in rows)
    most = max(sizes.values(), default=0)
    empty = Sentence(())
    padding = [Row(n, empty, False) for n in range(episodes) for _ in range(most - sizes[n])]
    return sorted([*rows, *padding], key=lambda row: row.episode)


def _descriptions(episodes: Sequence[Episode]) -> list[Row]:
    """The descriptions of types that have support spans too."""
    rows = []
    for number, episode in enumerate(episodes):
        supported = episode.supported_types()
        for label, text in episode.descriptions:
            words = sentence_of(text).words
            if label in supported and words:
                spans = (Span(0, len(words), label),)
                rows.append(Row(number, Sentence(words, spans), False))
    return rows


def _names(episodes: Sequence[Episode]) -> list[Row]:
    """The types that have support spans, each in words."""
    return [
        Row(number, Sentence(words), False, (Span(0, len(words), label),))
        for number, episode in enumerate(episodes)
        for label, words in type_names(episode)
    ]


def _shares(rows: Sequence[Row], episodes: int) -> list[float]:
    """Weights of sentences for a mean within each episode and then over the episodes."""
    sizes = Counter(row.episode for row in rows if row.counts)
    return [1 / (sizes[row.episode] * episodes) if row.counts else 0.0 for row in rows]


def _places(ranges: Sequence[Sequence[tuple[int, int]]]) -> SpanPlaces:
    """The half-open ranges of words of each row."""
    places = [(at, *span) for at, row in enumerate(ranges) for span in row]
    return SpanPlaces(*torch.tensor(places, dtype=torch.long).reshape(-1, 3).unbind(1))


def _labelled(
    rows: Sequence[Row], first_row: int, slots: Slots, weight: Sequence[float]
) -> LabelledSpans:
    spans = [
        (at, span.start, span.end, slots[row.episode, span.label])
        for at, row in enumerate(rows, start=first_row)
        for span in row.sentence.spans
    ]
    row, start, end, slot = torch.tensor(spans, dtype=torch.long).reshape(-1, 4).unbind(1)
    return LabelledSpans(row, start, end, slot, torch.tensor(weight, dtype=torch.float))
