"""From rows of tensors, as methods find spans, to what is said of each query sentence."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from spanproto.batch import EpisodeBatch
from spanproto.data.types import Episode
from spanproto.methods.base import FoundSpans

Say = Callable[[Episode, list[tuple[Any, ...]]], FoundSpans]


def said_of_queries(
    sentence: Tensor,
    values: Sequence[Tensor],
    batch: EpisodeBatch,
    episodes: Sequence[Episode],
    say: Say,
) -> list[list[FoundSpans]]:
    """What `say` makes of the spans of each query sentence of each episode.

    `values` (P,) each describe P spans, such as by their starts, ends and types; `sentence` (P,) is
    the row of the batch that a span is in.
    """
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    columns = (column.tolist() for column in (sentence, *values))
    for row, *span in zip(*columns, strict=True):
        found[row].append(tuple(span))
    rows = iter(batch.query_rows)
    return [[say(episode, found[next(rows)]) for _ in episode.query] for episode in episodes]
