"""A learned scale of the dot products of words, which begins where the encoder's can be told apart.

How large the products of an encoder's states are is an accident of its pretraining. A scale that
is learned from a fixed beginning would take as many steps as it is orders of magnitude away.
"""

import math
from collections.abc import Iterable
from itertools import islice

import torch
from torch import Tensor, nn

from spanproto.batch import map_tensors
from spanproto.data.types import Sentence
from spanproto.encoder import Encoder

SENTENCES = 32  # of the training data, to begin with


class LearnedScale(nn.Module):
    """Products times e^log."""

    def __init__(self) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.zeros(1))

    def forward(self, products: Tensor) -> Tensor:
        """The products, scaled."""
        return self.log.exp() * products

    @torch.no_grad()
    def begin(self, encoder: Encoder, sentences: Iterable[Sentence], spread: float) -> None:
        """Give the products of words of the sentences the standard deviation `spread`."""
        some = [sentence.words for sentence in islice(sentences, SENTENCES) if sentence.words]
        words = map_tensors(encoder.words.batch(some), lambda each: each.to(self.log.device))
        training = encoder.training
        states = encoder.eval().first_states(words)[words.word_mask].float()  # (W, h)
        encoder.train(training)
        self.log.fill_(math.log(spread / max((states @ states.mT).std().item(), 1e-6)))
