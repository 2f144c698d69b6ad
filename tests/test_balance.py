"""Types that are about as frequent as each other in a query set."""

import pytest
import torch

from spanproto.balance import evened, with_odds


def test_a_span_that_could_be_of_either_type_goes_where_fewer_are() -> None:
    sure = torch.tensor([[0.95, 0.05]]).log().expand(4, 2)
    unsure = torch.tensor([[0.6, 0.4]]).log()
    found = evened(torch.cat((sure, unsure)), torch.ones(5)).exp()
    assert found[4, 1] > 0.5
    assert (found[:4, 0] > 0.5).all()
    assert found.sum(1).tolist() == pytest.approx([1.0] * 5)


def test_expected_counts_come_out_even() -> None:
    torch.manual_seed(0)
    log_p, weight = (3 * torch.randn(60, 4)).log_softmax(-1), torch.rand(60)
    before, after = (weight @ p.exp() for p in (log_p, evened(log_p, weight)))
    assert after.tolist() == pytest.approx([weight.sum().item() / 4] * 4, rel=5e-3)
    assert before.std() > 10 * after.std()


def test_what_is_no_entity_does_not_count() -> None:
    log_p = torch.tensor([[0.9, 0.1]] * 9 + [[0.1, 0.9]]).log()
    weight = torch.tensor([0.0] * 8 + [1.0, 1.0])
    assert evened(log_p, weight).exp()[8:].tolist() == [
        pytest.approx([0.9, 0.1], abs=1e-4),
        pytest.approx([0.1, 0.9], abs=1e-4),
    ]


def test_episodes_of_a_batch_are_evened_apart() -> None:
    torch.manual_seed(0)
    first, second = (torch.randn(5, 3).log_softmax(-1) for _ in range(2))
    weight = torch.rand(10)
    both = torch.full((10, 6), -torch.inf)
    both[:5, :3], both[5:, 3:] = first, second
    found = evened(both, weight)
    torch.testing.assert_close(found[:5, :3], evened(first, weight[:5]))
    torch.testing.assert_close(found[5:, 3:], evened(second, weight[5:]))
    assert not found.isnan().any()


def test_none_of_the_types_keeps_its_share() -> None:
    log_p = torch.tensor([[0.5, 0.2], [0.3, 0.1]]).log()
    assert evened(log_p, torch.ones(2)).exp().sum(1).tolist() == pytest.approx([0.7, 0.4])
    changed = with_odds(log_p, torch.tensor([0.0, 1.0])).exp()
    assert changed.sum(1).tolist() == pytest.approx([0.7, 0.4])
    assert (changed[:, 1] / changed[:, 0] / (log_p[:, 1] - log_p[:, 0]).exp()).tolist() == (
        pytest.approx([torch.e, torch.e])
    )


def test_a_lone_span_keeps_its_type() -> None:
    log_p = torch.tensor([[0.99, 0.01]]).log()
    found = evened(log_p, torch.ones(1)).exp()
    assert 0.6 < found[0, 0] < 0.9


def test_nothing_found_is_nothing_to_even() -> None:
    assert evened(torch.zeros(0, 3), torch.zeros(0)).shape == (0, 3)
