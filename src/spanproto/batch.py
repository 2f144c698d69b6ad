"""Episodes as tensors: all sentences of all episodes of a step in one batch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from spanproto.data.types import Episode, Sentence
from spanproto.errors import DataError
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


@dataclass(frozen=True)
class EpisodeBatch:
    """Episodes of a step: S sentences, support first and then query, and the spans over them."""

    words: WordBatch
    support_count: int  # rows before this are support sentences, the others query sentences
    episode: Tensor  # (S,), the episode of each sentence
    slot_episode: Tensor  # (slots,), the episode of each type slot
    support_spans: LabelledSpans
    query_spans: LabelledSpans
    episodes: int

    def to(self, device: torch.device) -> "EpisodeBatch":
        """The batch on another device, without waiting for the copies."""
        return map_tensors(self, lambda tensor: tensor.to(device, non_blocking=True))

    def pinned(self) -> "EpisodeBatch":
        """The batch in page-locked memory, from where copies to a GPU need no waiting."""
        return map_tensors(self, Tensor.pin_memory)


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


def collate(episodes: Sequence[Episode], tokenizer: WordTokenizer) -> EpisodeBatch:
    """One batch of all sentences of `episodes`."""
    slots: dict[tuple[int, str], int] = {}
    for number, episode in enumerate(episodes):
        if not any(sentence.spans for sentence in episode.support):
            raise DataError(
                f"an episode of types {list(episode.types)} has no support span at all; "
                "give at least one labelled example"
            )
        for label in episode.types:
            slots[number, label] = len(slots)
    support = [(n, s) for n, episode in enumerate(episodes) for s in episode.support]
    query = [(n, s) for n, episode in enumerate(episodes) for s in episode.query]
    return EpisodeBatch(
        words=tokenizer.batch([sentence.words for _, sentence in support + query]),
        support_count=len(support),
        episode=torch.tensor([number for number, _ in support + query]),
        slot_episode=torch.tensor([number for number, _ in slots]),
        support_spans=_spans(support, slots, first_row=0),
        query_spans=_spans(query, slots, first_row=len(support)),
        episodes=len(episodes),
    )


def _spans(
    sentences: Sequence[tuple[int, Sentence]], slots: dict[tuple[int, str], int], first_row: int
) -> LabelledSpans:
    rows = [
        (row, span.start, span.end, slots[number, span.label])
        for row, (number, sentence) in enumerate(sentences, start=first_row)
        for span in sentence.spans
    ]
    return LabelledSpans(*torch.tensor(rows, dtype=torch.long).reshape(-1, 4).unbind(1))
