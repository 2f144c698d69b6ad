"""Words to sub-token windows: where each word's first and last sub-token lies in the batch.

A sentence longer than the encoder's limit becomes several overlapping windows, and every
sub-token is read from the window that gives it most context; nothing is ever cut away. Short
windows share a row of the batch, so that an encoder spends little on padding.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from spanproto.errors import ConfigError
from spanproto.letter_case import case_of
from spanproto.packing import lay_out

IntArray = npt.NDArray[np.int64]
Placed = tuple[IntArray, IntArray, IntArray, IntArray]
"""Of a sentence's words: window and position of the first sub-tokens, then of the last ones."""

SEPARATOR = "\x1dbetween\x1d"  # no text has this word
"""A word that stands between two texts and becomes the token that ends one, such as [SEP]."""


@dataclass(frozen=True)
class WordBatch:
    """S sentences of up to L words, their windows laid out in R rows of T sub-tokens."""

    input_ids: Tensor  # (R, T)
    window: Tensor  # (R, T), counted from 1 in each row; 0 on padding
    position: Tensor  # (R, T), of a sub-token in its window
    first: Tensor  # (S, L), the place of a word's first sub-token in the R*T states
    last: Tensor  # (S, L), the place of its last sub-token
    word_mask: Tensor  # (S, L), True on words and False on padding

    @property
    def attention_mask(self) -> Tensor:
        """1 on sub-tokens and 0 on padding, (R, T); it does not keep windows of a row apart."""
        return self.window.clamp(max=1)


class WordTokenizer:
    """Splits words into sub-tokens and lays sentences out in windows of `max_length`.

    With `share_rows` several windows may lie in one row, for encoders that can be told so.
    """

    def __init__(
        self, tokenizer: Any, max_length: int, overlap: int, share_rows: bool = False
    ) -> None:
        self.tokenizer = tokenizer
        self.share_rows = share_rows
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
        self._ids_a_case = 0

    def tell_case(self, vocabulary: int) -> None:
        """From now on, add so much to the ids of a word for the number of its case."""
        self._ids_a_case = vocabulary
        self._pieces = dict(self._reserved)

    def batch(self, sentences: Sequence[Sequence[str]], groups: int = 1) -> WordBatch:
        """The windows of all sentences, in rows of one length.

        The sentences may be that many groups of equally many; each group then has equally many
        rows of its own, empty ones at its end where it needs fewer.
        """
        self._learn({word for words in sentences for word in words})
        windows: list[IntArray] = []
        placed: list[Placed] = []
        group_of: list[int] = []  # of each window
        for number, words in enumerate(sentences):
            pieces = [self._pieces[word] for word in words]
            body = np.concatenate(pieces) if pieces else np.empty(0, np.int64)
            ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
            firsts, lasts = np.concatenate(([0], ends[:-1]))[: len(words)], ends - 1
            window, position, starts = place_in_windows(len(body), self.capacity, self.overlap)
            window = window + len(windows)
            windows += [body[start : start + self.capacity] for start in starts]
            position = position + len(self.prefix)
            placed.append((window[firsts], position[firsts], window[lasts], position[lasts]))
            group_of += [number * groups // len(sentences)] * len(starts)
        if not windows:  # encoders cannot do without any
            windows, group_of = [np.empty(0, np.int64)] * groups, list(range(groups))
        whole = [np.concatenate((self.prefix, window, self.suffix)) for window in windows]
        sizes = [len(window) for window in whole]
        width = min(_multiple_of_8(max(sizes)), self.max_length)
        places, rows = lay_out(sizes, group_of, width if self.share_rows else 0)
        begins = np.asarray([row * width + offset for row, _, offset in places])
        length = max((len(words) for words in sentences), default=0)

        input_ids = np.full((rows, width), self._pad, np.int64)
        number_in_row = np.zeros((rows, width), np.int64)
        position_in_window = np.zeros((rows, width), np.int64)
        for tokens, size, (row, number, offset) in zip(whole, sizes, places, strict=True):
            at = slice(offset, offset + size)
            input_ids[row, at] = tokens
            number_in_row[row, at] = number
            position_in_window[row, at] = np.arange(size)
        first = np.zeros((len(sentences), length), np.int64)
        last = np.zeros_like(first)
        word_mask = np.zeros(first.shape, np.bool_)
        for row, (first_window, first_at, last_window, last_at) in enumerate(placed):
            words_here = len(first_window)
            first[row, :words_here] = begins[first_window] + first_at
            last[row, :words_here] = begins[last_window] + last_at
            word_mask[row, :words_here] = True
        layout = (input_ids, number_in_row, position_in_window)
        return WordBatch(*(torch.from_numpy(a) for a in (*layout, first, last, word_mask)))

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
            case = case_of(word) * self._ids_a_case
            self._pieces[word] = np.asarray(ids or self._unknown, np.int64) + case


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
