"""Collapsed dependency transfer: transition scores of BIO tags for any types (Hou et al., 2020).

All that matters is whether a tag is O, B or I, and whether it has the same type as the one before
it, so what is learned on some types serves others.
"""

from collections.abc import Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn

from spanproto.data.types import Sentence
from spanproto.methods.parts.tagging import kinds_of_tags


class CollapsedTransitions(nn.Module):
    """Scores from O, B and I (rows) to O, B, I of the same and B, I of another type (columns).

    After O every type counts as the same. Where a sentence begins and ends, O, B and I have scores
    of their own.
    """

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(nn.init.xavier_normal_(torch.empty(3, 5)))
        self.start = nn.Parameter(0.5 * torch.randn(3))
        self.end = nn.Parameter(0.5 * torch.randn(3))

    @torch.no_grad()
    def begin(self, sentences: Iterable[Sentence]) -> None:
        """Begin with the logarithms of how often tags follow each other in the sentences.

        From chance, a short training would not get there. What leads to any type is shared by all
        of them.
        """
        steps, starts, ends = torch.full((3, 5), 0.5), torch.full((3,), 0.5), torch.full((3,), 0.5)
        types: set[str] = set()
        for sentence in sentences:
            tags = _tags(sentence)
            types.update(label for _, label in tags if label)
            for (before, one), (after, other) in pairwise(tags):
                steps[before, after + 2 * (before > 0 and after > 0 and one != other)] += 1
            if tags:
                starts[tags[0][0]] += 1
                ends[tags[-1][0]] += 1
        shared = torch.ones(3, 5)
        shared[0, 1:3] = shared[:, 3:] = max(len(types), 1)
        self.table.copy_((steps / steps.sum(1, keepdim=True) / shared).log())
        self.start.copy_((starts / starts.sum() / torch.tensor([1, *shared[0, 1:3]])).log())
        self.end.copy_((ends / ends.sum()).log())

    def forward(self, tags: int) -> tuple[Tensor, Tensor, Tensor]:
        """The scores of so many tags: `start` (1, T), `transitions` (1, T, T) and `end` (1, T)."""
        tag = torch.arange(tags, device=self.table.device)
        letter = torch.where(tag > 0, 2 - tag % 2, 0)  # 0, 1 and 2 for O, B and I
        kind = kinds_of_tags(tag, "bio")
        other = (kind[:, None] > 0) & (kind > 0) & (kind[:, None] != kind)
        column = letter + 2 * other  # (T, T)
        transitions = self.table[letter[:, None], column]
        return self.start[letter][None], transitions[None], self.end[letter][None]


def _tags(sentence: Sentence) -> list[tuple[int, str | None]]:
    """0, 1 or 2 for O, B or I, and the type, of each word; of several spans the first one's."""
    tags: list[tuple[int, str | None]] = [(0, None)] * len(sentence.words)
    for span in reversed(sentence.spans):
        inside = [(2, span.label)] * (span.end - span.start - 1)
        tags[span.start : span.end] = [(1, span.label), *inside]
    return tags
