"""Words to sub-token windows: where each word's first and last sub-token lies in the batch.

A sentence longer than the encoder's limit becomes several overlapping windows, and every
sub-token is read from the window that gives it most context; nothing is ever cut away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from spanproto.errors import ConfigError

IntArray = npt.NDArray[np.int64]
Placed = tuple[IntArray, IntArray, IntArray, IntArray]
"""Of a sentence's words: window and position of the first sub-tokens, then of the last ones."""

SEPARATOR = "\x1dbetween\x1d"  # no text has this word
"""A word that stands between two texts and becomes the token that ends one, such as [SEP]."""


@dataclass(frozen=True)
class WordBatch:
    """S sentences of up to L words, laid out as W windows of T sub-tokens."""

    input_ids: Tensor  # (W, T)
    attention_mask: Tensor  # (W, T), 1 on sub-tokens and 0 on padding
    first: Tensor  # (S, L), the place of a word's first sub-token in the W*T states
    last: Tensor  # (S, L), the place of its last sub-token
    word_mask: Tensor  # (S, L), True on words and False on padding


class WordTokenizer:
    """Splits words into sub-tokens and lays sentences out in windows of `max_length`."""

    def __init__(self, tokenizer: Any, max_length: int, overlap: int) -> None:
        self.tokenizer = tokenizer
        self.max_length = max_length
        self.prefix, self.suffix = _special_tokens(tokenizer)
        self.capacity = max_length - len(self.prefix) - len(self.suffix)
        if not 0 <= overlap < self.capacity:
            raise ConfigError(
                f"max_length={max_length} leaves {self.capacity} sub-tokens a window, which must "
                f"exceed overlap={overlap}; raise max_length or lower overlap"
            )
        self.overlap = overlap
        self._pad: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        self._lead = _leading_blank(tokenizer)
        self._unknown = [tokenizer.unk_token_id or self._pad]
        between = np.asarray(self.suffix[-1:] or self._unknown, np.int64)
        self._reserved = {SEPARATOR: between}
        self._pieces: dict[str, IntArray] = dict(self._reserved)

    def batch(self, sentences: Sequence[Sequence[str]], groups: int = 1) -> WordBatch:
        """The windows of all sentences, padded to one length.

        The sentences may be that many groups of equally many; each group then has equally many
        windows, empty ones at its end where it needs fewer.
        """
        self._learn({word for words in sentences for word in words})
        windows: list[IntArray] = []
        placed: list[Placed] = []
        group_ends: list[int] = []
        for number, words in enumerate(sentences, start=1):
            pieces = [self._pieces[word] for word in words]
            body = np.concatenate(pieces) if pieces else np.empty(0, np.int64)
            ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
            firsts, lasts = np.concatenate(([0], ends[:-1]))[: len(words)], ends - 1
            window, position, starts = place_in_windows(len(body), self.capacity, self.overlap)
            window = window + len(windows)
            windows += [body[start : start + self.capacity] for start in starts]
            position = position + len(self.prefix)
            placed.append((window[firsts], position[firsts], window[lasts], position[lasts]))
            if number * groups % len(sentences) == 0:
                group_ends.append(len(windows))
        if groups > 1:
            windows, placed = _with_even_groups(windows, placed, group_ends)
        windows = windows or [np.empty(0, np.int64)]  # encoders cannot do without any
        special = len(self.prefix) + len(self.suffix)
        longest = max(len(window) for window in windows) + special
        width = min(_multiple_of_8(longest), self.max_length)
        length = max((len(words) for words in sentences), default=0)

        input_ids = np.full((len(windows), width), self._pad, np.int64)
        attention_mask = np.zeros((len(windows), width), np.int64)
        for row, window in enumerate(windows):
            size = len(window) + special
            input_ids[row, :size] = np.concatenate((self.prefix, window, self.suffix))
            attention_mask[row, :size] = 1
        first = np.zeros((len(sentences), length), np.int64)
        last = np.zeros_like(first)
        word_mask = np.zeros(first.shape, np.bool_)
        for row, (first_window, first_at, last_window, last_at) in enumerate(placed):
            words_here = len(first_window)
            first[row, :words_here] = first_window * width + first_at
            last[row, :words_here] = last_window * width + last_at
            word_mask[row, :words_here] = True
        return WordBatch(
            *(torch.from_numpy(a) for a in (input_ids, attention_mask, first, last, word_mask))
        )

    def _learn(self, words: set[str]) -> None:
        """Remember the sub-tokens of words not seen before; a word without any is unknown."""
        new = sorted(words - self._pieces.keys())
        if not new:
            return
        if len(self._pieces) > 1_000_000:  # bounded memory on endless text
            self._pieces = dict(self._reserved)
            new = sorted(words - self._pieces.keys())
        encoded = self.tokenizer(
            [self._lead + word for word in new],
            add_special_tokens=False,
            return_attention_mask=False,
            split_special_tokens=True,  # a word that reads "[SEP]" is a word
            verbose=False,
        )
        for word, ids in zip(new, encoded["input_ids"], strict=True):
            self._pieces[word] = np.asarray(ids or self._unknown, np.int64)


def place_in_windows(
    size: int, capacity: int, overlap: int
) -> tuple[IntArray, IntArray, list[int]]:
    """For each of `size` sub-tokens its window and position in it, and the windows' starts.

    Windows of `capacity` begin every `capacity - overlap` sub-tokens; the last one is moved back
    so that it is full. A sub-token is read where its distance to the window's nearer cut is
    largest (an edge that is also the sentence's edge is no cut).
    """
    if size <= capacity:
        return np.zeros(size, np.int64), np.arange(size, dtype=np.int64), [0]
    starts = np.append(np.arange(0, size - capacity, capacity - overlap), size - capacity)
    position = np.arange(size)[None, :] - starts[:, None]  # (windows, size)
    left = np.where(starts[:, None] == 0, size, position)
    right = np.where(starts[:, None] == size - capacity, size, capacity - 1 - position)
    inside = (position >= 0) & (position < capacity)
    window = np.where(inside, np.minimum(left, right), -1).argmax(axis=0)
    return window, position[window, np.arange(size)], [int(start) for start in starts]


def _with_even_groups(
    windows: list[IntArray], placed: list[Placed], group_ends: list[int]
) -> tuple[list[IntArray], list[Placed]]:
    """Empty windows added after each group's own, and the words' windows counted anew."""
    starts = [0, *group_ends[:-1]]
    most = max(end - start for start, end in zip(starts, group_ends, strict=True))
    evened: list[IntArray] = []
    for start, end in zip(starts, group_ends, strict=True):
        padding = [np.empty(0, np.int64)] * (most - (end - start))
        evened += windows[start:end] + padding
    moved: list[Placed] = []
    size = len(placed) // len(group_ends)
    for row, (first_window, first, last_window, last) in enumerate(placed):
        shift = (row // size) * most - starts[row // size]
        moved.append((first_window + shift, first, last_window + shift, last))
    return evened, moved


def _special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids that the tokenizer puts before and after a text."""
    bare: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
    full: list[int] = tokenizer("a")["input_ids"]
    for start in range(len(full) - len(bare) + 1):
        if full[start : start + len(bare)] == bare:
            return full[:start], full[start + len(bare) :]
    raise ConfigError("this tokenizer changes a text when it adds special tokens; choose another")


def _leading_blank(tokenizer: Any) -> str:
    """A blank for tokenizers that mark the beginning of a word by the blank before it."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    spaced = tokenizer(" a", add_special_tokens=False)["input_ids"]
    return " " if spaced != bare and len(spaced) == len(bare) else ""


def _multiple_of_8(size: int) -> int:
    """`size` rounded up, since matrix units work in tiles of eight."""
    return -(-size // 8) * 8
