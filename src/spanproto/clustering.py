"""K-means in place of a classifier that has been trained, by scikit-learn, episode by episode."""

import torch
from torch import Tensor

from spanproto.extras import optional


def k_means(points: Tensor, centres: Tensor, allowed: Tensor) -> Tensor:
    """The centres (K, d) of the clusters of points (M, d) that grow from the given ones.

    `allowed` (M, K) are the centres that a point may join, the same for all points of an episode.
    """
    cluster = optional("sklearn.cluster", "plots")
    found = centres.clone()
    episodes, owner = torch.unique(allowed, dim=0, return_inverse=True)
    for number, own in enumerate(episodes):
        begin, mine = centres[own].detach(), points[owner == number].detach()
        grown = cluster.KMeans(len(begin), init=begin.double().cpu().numpy(), n_init=1)
        grown.fit(mine.double().cpu().numpy())
        found[own] = torch.as_tensor(grown.cluster_centers_).to(found)
    return found
