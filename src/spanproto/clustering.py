"""K-means, for many episodes at a time: clusters in place of a classifier that has been trained."""

import torch
from torch import Tensor

from spanproto.classifier import prototypes, squared_distances


def k_means(points: Tensor, centres: Tensor, allowed: Tensor, rounds: int = 100) -> Tensor:
    """The centres (K, d) of the clusters of points (M, d) that grow from the given ones.

    A point joins the nearest centre of those that `allowed` (M, K) gives it; every centre moves to
    the mean of its points, and one without any stays. This goes on until no point changes sides.
    """
    joined: Tensor | None = None
    for _ in range(rounds):
        squared = squared_distances(points, centres).masked_fill(~allowed, torch.inf)
        nearest = squared.argmin(1)  # (M,)
        if joined is not None and torch.equal(nearest, joined):
            break
        joined = nearest
        sizes = torch.bincount(joined, minlength=len(centres))
        means = prototypes(points, 1 / sizes[joined], joined, len(centres))
        centres = torch.where(sizes[:, None] > 0, means, centres)
    return centres
