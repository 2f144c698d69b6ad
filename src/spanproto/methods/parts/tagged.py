"""Episodes as methods that tag words see them: every word with its tag, episode by episode.

Sentences are encoded in rows (S, L). To compare the query words of an episode with its support
words, both are read into tables (E, M), one line for each episode, and results are put back.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from spanproto.batch import EpisodeBatch, SpanPlaces, TensorBatch, collate
from spanproto.data.types import Episode, Sentence, Span
from spanproto.methods.base import FoundSpans
from spanproto.methods.parts.per_query import said_of_queries
from spanproto.methods.parts.tagging import (
    Scheme,
    spans_of_tags,
    tag_count,
    tags_of_sentences,
    tags_of_spans,
)
from spanproto.tokenization import WordBatch, WordTokenizer

NO_WORD = -1  # in place of a tag where there is no word


@dataclass(frozen=True)
class EpisodeWords:
    """The words of the support or query sets of E episodes, up to M in each."""

    place: Tensor  # (E, M), which of the S*L places of the batch a word is at
    tag: Tensor  # (E, M), NO_WORD where an episode has fewer
    line: Tensor  # (S, L), which of the E*M places here a word of the batch is at

    def of(self, rows: Tensor) -> Tensor:
        """Values of all words of the batch (S, L, ...), as a table (E, M, ...)."""
        return _gathered(rows, self.place)

    def rows(self, table: Tensor) -> Tensor:
        """A table (E, M, ...) back in rows (S, L, ...); arbitrary where no such word is."""
        return _gathered(table, self.line)


@dataclass(frozen=True)
class TaggedBatch(TensorBatch):
    """The sentences of some episodes and the tags of their words."""

    sentences: EpisodeBatch
    tags: Tensor  # (S, L), NO_WORD on padding
    tag_count: int  # T, for the episode with most types
    allowed: Tensor  # (E, T), O and the tags of types with support
    support: EpisodeWords
    query: EpisodeWords


@dataclass(frozen=True)
class TaggedSentences(TensorBatch):
    """Sentences of no episode and the tags of their words, in a table of one line."""

    words: WordBatch
    table: EpisodeWords


def tagged_sentences(
    sentences: Sequence[Sentence], tokenizer: WordTokenizer, scheme: Scheme
) -> TaggedSentences:
    """The words of `sentences`, with tags for the types that these have."""
    words = tokenizer.batch([sentence.words for sentence in sentences])
    tags = tags_of_sentences(sentences, words.word_mask.shape, scheme)
    tags = tags.masked_fill(~words.word_mask, NO_WORD)
    rows = torch.arange(len(sentences))
    return TaggedSentences(words, _episode_words(tags, torch.zeros_like(rows), rows >= 0, 1))


def tagged(
    episodes: Sequence[Episode],
    tokenizer: WordTokenizer,
    scheme: Scheme,
    part: Literal["all", "support", "query"] = "all",
    even: bool = False,
) -> TaggedBatch:
    """The batch of `episodes` that `collate` makes, with tags; descriptions are left out."""
    batch = collate([e.without_descriptions() for e in episodes], tokenizer, part, even)
    mask, episode = batch.words.word_mask, batch.episode
    sizes = torch.tensor([len(e.types) for e in episodes])
    both = (batch.support_spans, batch.query_spans)
    row, start, end, slot = (
        torch.cat([getattr(spans, name) for spans in both])
        for name in ("sentence", "start", "end", "slot")
    )
    kind = slot - (sizes.cumsum(0) - sizes)[episode[row]] + 1
    tags = tags_of_spans(SpanPlaces(row, start, end), kind, mask.shape, scheme)
    tags = tags.masked_fill(~mask, NO_WORD)
    number = torch.arange(len(episode))
    return TaggedBatch(
        batch,
        tags,
        tag_count(int(sizes.max()), scheme),
        _allowed(episodes, scheme),
        _episode_words(tags, episode, number < batch.support_end, len(episodes)),
        _episode_words(tags, episode, number >= batch.query_start, len(episodes)),
    )


def found_spans(
    tags: Tensor, batch: EpisodeBatch, episodes: Sequence[Episode], scheme: Scheme
) -> list[list[FoundSpans]]:
    """What tags (S, L), O on padding, say of each query sentence of each episode."""

    def say(episode: Episode, found: list[tuple[int, int, int]]) -> FoundSpans:
        return FoundSpans([Span(a, b, episode.types[kind - 1]) for a, b, kind in found])

    spans, kinds = spans_of_tags(tags, scheme)
    return said_of_queries(spans.sentence, (spans.start, spans.end, kinds), batch, episodes, say)


def _gathered(values: Tensor, place: Tensor) -> Tensor:
    """Of values (A, B, ...) those at the places (C, D) among A*B, as (C, D, ...)."""
    flat = values.flatten(0, 1).index_select(0, place.flatten())
    return flat.view(*place.shape, *values.shape[2:])


def _allowed(episodes: Sequence[Episode], scheme: Scheme) -> Tensor:
    most = max(len(episode.types) for episode in episodes)
    each = tag_count(1, scheme) - 1
    rows = []
    for episode in episodes:
        supported = episode.supported_types()
        has = [label in supported for label in episode.types]
        has += [False] * (most - len(has))
        rows.append([True, *(one for one in has for _ in range(each))])
    return torch.tensor(rows)


def _episode_words(tags: Tensor, episode: Tensor, rows: Tensor, episodes: int) -> EpisodeWords:
    """The words of the chosen `rows` (S,), sorted into their episodes."""
    row, column = ((tags != NO_WORD) & rows[:, None]).nonzero(as_tuple=True)
    order = episode[row].argsort(stable=True)
    row, column = row[order], column[order]
    owner = episode[row]
    sizes = torch.bincount(owner, minlength=episodes)
    rank = torch.arange(len(owner)) - (sizes.cumsum(0) - sizes)[owner]
    most, length = int(sizes.max()), tags.shape[1]
    place = torch.zeros(episodes, most, dtype=torch.long)
    place[owner, rank] = row * length + column
    tag = torch.full((episodes, most), NO_WORD)
    tag[owner, rank] = tags[row, column]
    line = torch.zeros_like(tags)
    line[row, column] = owner * most + rank
    return EpisodeWords(place, tag, line)
