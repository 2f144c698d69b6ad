"""K-means by hand, and for several episodes at once."""

import torch

from spanproto.clustering import k_means

EVERYWHERE = torch.ones(4, 2, dtype=torch.bool)


def test_clusters_by_hand() -> None:
    """From 0 and 4 the points 0, 1 | 5, 9 go; from there the means 0.5 and 7 stay."""
    points = torch.tensor([[0.0], [1], [5], [9]])
    found = k_means(points, torch.tensor([[0.0], [4]]), EVERYWHERE)
    assert found.tolist() == [[0.5], [7.0]]


def test_a_point_may_change_sides() -> None:
    """3 is nearer to 2 than to 6, but once 10 is the mean of its cluster's others, it stays out."""
    points = torch.tensor([[0.0], [3], [4], [12]])
    centres = torch.tensor([[0.0], [5]])
    once = k_means(points, centres, EVERYWHERE, rounds=1)
    torch.testing.assert_close(once, torch.tensor([[0.0], [19 / 3]]))
    torch.testing.assert_close(
        k_means(points, centres, EVERYWHERE), torch.tensor([[7 / 3], [12.0]])
    )


def test_a_centre_without_points_stays() -> None:
    points = torch.tensor([[0.0], [1], [0], [1]])
    found = k_means(points, torch.tensor([[0.0], [100]]), EVERYWHERE)
    assert found.tolist() == [[0.5], [100.0]]


def test_episodes_do_not_mix() -> None:
    torch.manual_seed(0)
    points, centres = torch.randn(20, 3), torch.randn(5, 3)
    first, second = slice(0, 12), slice(12, 20)
    allowed = torch.zeros(20, 5, dtype=torch.bool)
    allowed[first, :3], allowed[second, 3:] = True, True
    together = k_means(points, centres, allowed)
    for mine, slots in ((first, slice(0, 3)), (second, slice(3, 5))):
        apart = k_means(points[mine], centres[slots], allowed[mine, slots])
        torch.testing.assert_close(together[slots], apart)
