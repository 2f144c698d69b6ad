"""Types that are about as frequent as each other in a query set.

Few-NERD draws a query set so that each type has between Q and 2Q entities. Who knows that, and sees
a query set as a whole, can tell types apart better than by one span at a time: a type that many
spans are taken for is less likely than it seems, and one that hardly any is taken for is more so.
No label is looked at, but texts of which nobody has counted the entities are not like that, so what
comes of it says nothing of them.
"""

from torch import Tensor

ROUNDS = 30
DAMPING = 3.0
"""Added to the expected number of each type: it slows the rounds down, so that they do not go all
the way where there are but a few spans."""


def evened(log_p: Tensor, weight: Tensor) -> Tensor:
    """Log-probabilities (M, slots) of types by which each is expected about as often.

    The spans count by their `weight` (M,), the probability that they are entities at all; those
    that overlap count each. What a span has for none of the types stays as it was. Every span has
    a type that it may have, and a slot belongs to one episode, so that the query sets of several
    are evened each by itself.
    """
    excess = log_p.new_zeros(log_p.shape[1])
    for _ in range(ROUNDS):
        expected = weight @ with_odds(log_p, -excess).exp()  # (slots,)
        excess = excess + (expected + DAMPING).log() / 2
    return with_odds(log_p, -excess)


def with_odds(log_p: Tensor, change: Tensor) -> Tensor:
    """Log-probabilities (M, slots) with other odds among the types, and those of none as before."""
    total = log_p.logsumexp(-1, keepdim=True)
    return (log_p + change).log_softmax(-1) + total
