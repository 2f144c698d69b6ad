"""Scores on mentions that nest and on those that do not, apart.

A gold mention is nested if it contains another gold mention of its sentence or lies in one (or has
the same boundaries with another type); all others are flat. What was predicted is sorted by the
gold mentions too, never by other predictions: a right prediction goes with its gold mention, and a
wrong one with the nested if it shares a word with a nested gold mention, with the flat otherwise.
So each group has a precision as well as a recall, both decodings are held against the same two
groups, and the counts of the groups add up to those of all mentions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from spanproto.data.types import Episode, Span
from spanproto.evaluation.counts import Counts


@dataclass(frozen=True, slots=True)
class NestingCounts:
    """The counts on nested and on flat mentions."""

    nested: Counts
    flat: Counts

    @classmethod
    def of(cls, predicted: Iterable[Span], gold: Iterable[Span]) -> "NestingCounts":
        """The counts of one sentence."""
        found, wanted = frozenset(predicted), frozenset(gold)
        nested = nested_mentions(wanted)
        with_nested = {
            span
            for span in found
            if span in nested
            or (span not in wanted and any(_share_a_word(span, mention) for mention in nested))
        }
        return cls(Counts.of(with_nested, nested), Counts.of(found - with_nested, wanted - nested))

    def __add__(self, other: "NestingCounts") -> "NestingCounts":
        return NestingCounts(self.nested + other.nested, self.flat + other.flat)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON."""
        return {"nested": self.nested.to_dict(), "flat": self.flat.to_dict()}


def score_by_nesting(
    episodes: Iterable[Episode], predictions: Iterable[Sequence[Iterable[Span]]]
) -> NestingCounts:
    """The counts pooled over episodes; predictions are given for each query sentence of each."""
    return sum(
        (
            NestingCounts.of(spans, sentence.spans)
            for episode, sentences in zip(episodes, predictions, strict=True)
            for sentence, spans in zip(episode.query, sentences, strict=True)
        ),
        NestingCounts(Counts(), Counts()),
    )


def nested_mentions(mentions: Iterable[Span]) -> frozenset[Span]:
    """Those that contain another or lie in one."""
    distinct = frozenset(mentions)
    return frozenset(
        one
        for one in distinct
        if any(one != other and (_within(one, other) or _within(other, one)) for other in distinct)
    )


def outermost_mentions(mentions: Sequence[Span]) -> list[Span]:
    """Those that lie in no longer one."""
    return [
        one
        for one in mentions
        if not any(_within(one, other) and not _within(other, one) for other in mentions)
    ]


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _share_a_word(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
