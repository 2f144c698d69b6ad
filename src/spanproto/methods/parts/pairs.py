"""Support sentences read together with a query sentence, so that each is seen in the other's light.

Every query sentence has an episode to itself. It is encoded once with each of its support
sentences, and its words are the means over these readings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from spanproto.data.types import Episode
from spanproto.tokenization import SEPARATOR, WordBatch, WordTokenizer


@dataclass(frozen=True)
class PairedWords:
    """P pairs of a query and a support sentence, of E episodes with one query sentence each."""

    words: WordBatch  # of 2P rows: the support sentence of each pair, then the query sentence
    episode: Tensor  # (P,)
    share: Tensor  # (P,), of the pair among those of its episode
    episodes: int

    def rows(self, states: Tensor) -> Tensor:
        """From states (2P, L, h) those of all support and then all query sentences, (P+E, L, h)."""
        support, query = states.chunk(2)
        shared = query * self.share[:, None, None]
        means = query.new_zeros(self.episodes, *query.shape[1:])
        return torch.cat((support, means.index_add(0, self.episode, shared)))


def one_query_each(episodes: Sequence[Episode]) -> list[Episode]:
    """An episode for every query sentence."""
    return [replace(e, query=(sentence,)) for e in episodes for sentence in e.query]


def paired_words(episodes: Sequence[Episode], tokenizer: WordTokenizer) -> PairedWords:
    """The pairs of episodes with one query sentence each, in the order of `collate`'s rows."""
    pairs = [
        (number, episode.query[0].words, sentence.words)
        for number, episode in enumerate(episodes)
        for sentence in episode.support
    ]
    both = tokenizer.batch([(*query, SEPARATOR, *support) for _, query, support in pairs])
    begins = torch.tensor([len(query) + 1 for _, query, _ in pairs])
    sizes = torch.tensor([len(support) for _, _, support in pairs])
    first = torch.cat((begins, torch.zeros_like(begins)))
    count = torch.cat((sizes, begins - 1))
    place = torch.arange(int(count.max()))
    mask = place < count[:, None]  # (2P, L)
    column = torch.where(mask, first[:, None] + place, 0)
    owner = torch.tensor([number for number, _, _ in pairs])
    starts, ends = (torch.cat((at, at)).gather(1, column) for at in (both.first, both.last))
    words = replace(both, first=starts, last=ends, word_mask=mask)
    share = 1 / torch.bincount(owner, minlength=len(episodes))[owner]
    return PairedWords(words, owner, share, len(episodes))
