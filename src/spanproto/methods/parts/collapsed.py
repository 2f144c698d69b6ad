"""Collapsed dependency transfer: transition scores of BIO tags for any types (Hou et al., 2020).

All that matters is whether a tag is O, B or I, and whether it has the same type as the one before
it, so what is learned on some types serves others.
"""

import torch
from torch import Tensor, nn

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

    def forward(self, tags: int) -> tuple[Tensor, Tensor, Tensor]:
        """The scores of so many tags: `start` (1, T), `transitions` (1, T, T) and `end` (1, T)."""
        tag = torch.arange(tags, device=self.table.device)
        letter = torch.where(tag > 0, 2 - tag % 2, 0)  # 0, 1 and 2 for O, B and I
        kind = kinds_of_tags(tag, "bio")
        other = (kind[:, None] > 0) & (kind > 0) & (kind[:, None] != kind)
        column = letter + 2 * other  # (T, T)
        transitions = self.table[letter[:, None], column]
        return self.start[letter][None], transitions[None], self.end[letter][None]
