"""K-means by hand, and for several episodes at once."""

import torch

from spanproto.clustering import k_means

EVERYWHERE = torch.ones(4, 2, dtype=torch.bool)


def test_clusters_by_hand() -> None:
    """From 0 and 4 the points 0, 1 | 5, 9 go; from there the means 0.5 and 7 stay."""
    points = torch.tensor([[0.0], [1], [5], [9]])
    found = k_means(points, torch.tensor([[0.0], [4]]), EVERYWHERE)
    torch.testing.assert_close(found, torch.tensor([[0.5], [7.0]]))


def test_a_point_may_change_sides() -> None:
    """3 is nearer to 5 than to 0, but once 12 pulls that centre away, it goes over, and 4 too."""
    points = torch.tensor([[0.0], [3], [4], [12]])
    found = k_means(points, torch.tensor([[0.0], [5]]), EVERYWHERE)
    torch.testing.assert_close(found, torch.tensor([[7 / 3], [12.0]]))


def test_episodes_do_not_mix() -> None:
    torch.manual_seed(0)
    points, centres = torch.randn(20, 3), torch.randn(6, 3)
    first, second = slice(0, 12), slice(12, 20)
    allowed = torch.zeros(20, 6, dtype=torch.bool)
    allowed[first, :3], allowed[second, 3:5] = True, True
    together = k_means(points, centres, allowed)
    for mine, slots in ((first, slice(0, 3)), (second, slice(3, 5))):
        apart = k_means(points[mine], centres[slots], allowed[mine, slots])
        torch.testing.assert_close(together[slots], apart)
    assert torch.equal(together[5], centres[5])  # a type without a span
