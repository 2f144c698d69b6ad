"""The letter case of words, for encoders that do not see it.

An uncased tokenizer writes all words small, and with the capitals goes what says most of where a
name begins and ends. Here the case of a word travels in the ids of its sub-tokens, and a vector
for it, learned in training, is added to what the encoder embeds each of them as.
"""

import torch.nn.functional as F
from torch import Tensor, nn

CASES = 4
"""No capital, a capital first and no other, capitals alone, and any other mixture."""
CASE_VECTORS = ".case"
"""How the name of their parameter ends."""
_FASTER = 10.0
"""At an encoder's rate, vectors that begin at 0 would hardly get anywhere; these go so much further
at each step."""


def case_of(word: str) -> int:
    """The number of a word's case."""
    letters = [letter for letter in word if letter.isalpha()]
    capitals = [letter.isupper() for letter in letters]
    if not any(capitals):
        return 0
    if capitals[0] and not any(capitals[1:]):
        return 1
    return 2 if all(capitals) else 3


class CasedEmbedding(nn.Embedding):
    """An encoder's embedding of sub-tokens, and a vector for the case of their word.

    An id is that of the sub-token and, times the size of the vocabulary, the word's case. A word
    without capitals is embedded as it was before there was a case.
    """

    def __init__(self, embedding: nn.Embedding) -> None:
        size, width = embedding.weight.shape
        super().__init__(size, width, embedding.padding_idx, _weight=embedding.weight.detach())
        self.case = nn.Parameter(embedding.weight.new_zeros(CASES - 1, width))

    def forward(self, ids: Tensor) -> Tensor:
        """The embeddings (..., h) of ids of any shape."""
        case = F.pad(_FASTER * self.case, (0, 0, 1, 0))  # (CASES, h)
        return super().forward(ids % self.num_embeddings) + F.embedding(
            ids // self.num_embeddings, case
        )
