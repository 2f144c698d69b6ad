"""Scores by the mean and by the nearest support words, by hand."""

import torch

from spanproto.methods.parts.neighbours import (
    matching_scores,
    nearest_scores,
    prototype_scores,
    tag_prototypes,
)

INF = torch.inf
# Two episodes: the first has two words of O and one of type 1, the second one of type 2 and O.
SUPPORT = torch.tensor([[[0.0, 0], [10, 0], [3, 0]], [[0, 2], [0, 5], [9, 9]]])
TAG = torch.tensor([[0, 0, 1], [2, 0, -1]])
QUERY = torch.tensor([[[1.0, 0]], [[0, 3]]])


def test_means() -> None:
    centres, present = tag_prototypes(SUPPORT, TAG, 3)
    assert present.tolist() == [[True, True, False], [True, False, True]]
    assert centres[0, :2].tolist() == [[5, 0], [3, 0]]
    assert centres[1, [0, 2]].tolist() == [[0, 5], [0, 2]]


def test_minus_squared_distances_to_the_means() -> None:
    scores = prototype_scores(SUPPORT, TAG, QUERY, 3)
    assert scores.tolist() == [[[-16, -4, -INF]], [[-4, -INF, -1]]]


def test_minus_squared_distances_to_the_nearest() -> None:
    scores = nearest_scores(SUPPORT, TAG, QUERY, 3)
    assert scores.tolist() == [[[-1, -4, -INF]], [[-4, -INF, -1]]]


def test_means_of_dot_products() -> None:
    scores = matching_scores(SUPPORT, TAG, QUERY, 3)
    assert scores.tolist() == [[[(0 + 10) / 2, 3, -INF]], [[15, -INF, 6]]]
