"""Eq. 5-9 against numbers worked out by hand, and what must not change them."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spanproto.classifier import (
    ClassifierConfig,
    MentionClassifier,
    as_distance,
    boundary_representations,
    margin_loss,
    mean_representations,
    prototype_loss,
    prototypes,
    squared_distances,
    type_log_probabilities,
    without_self,
)
from spanproto.errors import ConfigError


def test_eq_5_by_hand() -> None:
    spans = torch.tensor([[1.0, 2.0], [3.0, 4.0], [10.0, 0.0]])
    weight, slot = torch.tensor([1 / 2, 1 / 2, 1.0]), torch.tensor([2, 2, 0])
    assert prototypes(spans, weight, slot, slots=3).tolist() == [[10, 0], [0, 0], [2, 3]]


@given(st.permutations(range(6)))
def test_prototypes_do_not_depend_on_the_order_of_spans(order) -> None:
    torch.manual_seed(0)
    spans, slot = torch.randn(6, 4, dtype=torch.float64), torch.tensor([0, 1, 1, 2, 0, 1])
    weight = torch.tensor([1 / 2, 1 / 3, 1 / 3, 1, 1 / 2, 1 / 3], dtype=torch.float64)
    there = prototypes(spans, weight, slot, 3)
    again = prototypes(spans[order], weight[order], slot[order], 3)
    torch.testing.assert_close(there, again)


def test_eq_8_and_7_by_hand() -> None:
    # Distances 1 and 2 to the two prototypes of the span's episode; the third is another's.
    distances = torch.tensor([[1.0, 2.0, 0.0]])
    allowed = torch.tensor([[True, True, False]])
    p = math.exp(-1) / (math.exp(-1) + math.exp(-2))
    log_p = type_log_probabilities(distances, allowed)
    assert log_p.exp()[0].tolist() == pytest.approx([p, 1 - p, 0])
    assert prototype_loss(distances, allowed, torch.tensor([1])).item() == pytest.approx(
        -math.log(1 - p)
    )


def test_a_span_of_a_type_without_support_has_a_finite_term() -> None:
    distances = torch.tensor([[1.0, 2.0]])
    loss = prototype_loss(distances, torch.tensor([[True, False]]), torch.tensor([1]))
    assert loss.isfinite()


def test_eq_9_by_hand() -> None:
    # r = 3, distances 1 and 5 to the two types that exist: (2 + 0) / 2.
    loss = margin_loss(torch.tensor([[1.0, 5.0, 0.0]]), torch.tensor([[True, True, False]]), 3.0)
    assert loss.tolist() == [1.0]


def test_distances_by_hand() -> None:
    squared = squared_distances(torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.tensor([[3.0, 4.0]]))
    assert squared.flatten().tolist() == [25, 0]
    assert as_distance(squared, "euclidean").flatten().tolist() == pytest.approx([5, 0], abs=1e-5)
    assert as_distance(squared, "squared-euclidean") is squared


def test_a_span_on_its_prototype_has_a_finite_gradient() -> None:
    span = torch.tensor([[3.0, 4.0]], requires_grad=True)
    as_distance(squared_distances(span, torch.tensor([[3.0, 4.0]])), "euclidean").sum().backward()
    assert span.grad.isfinite().all()


@pytest.mark.parametrize(
    ("projection", "expected"),
    [
        ("none", [1 + 30, 2 + 40]),
        ("linear", [2 * 31 + 2, 2 * 42 + 2]),
        ("sigmoid", [2 - 1 / (1 + math.exp(3)), 2 - 1 / (1 + math.exp(5))]),
    ],
)
def test_boundary_representations_by_hand(projection: str, expected: list[float]) -> None:
    classifier = MentionClassifier(2, ClassifierConfig(projection=projection))
    if projection != "none":
        with torch.no_grad():
            classifier.projection.weight.copy_(2 * torch.eye(2))
            classifier.projection.bias.fill_(1.0)
    start = torch.tensor([[[9.0, 9.0], [1.0, 2.0], [9.0, 9.0]]])
    end = torch.tensor([[[9.0, 9.0], [9.0, 9.0], [30.0, 40.0]]])
    # The span [1, 3): the start state of word 1 and the end state of word 2.
    at = torch.tensor
    projected = classifier.project(start), classifier.project(end)
    represented = boundary_representations(*projected, at([0]), at([1]), at([3]))
    assert represented[0].tolist() == pytest.approx(expected, rel=1e-5)


def test_a_projection_may_narrow_and_needs_to_be_there() -> None:
    classifier = MentionClassifier(8, ClassifierConfig(projection="linear", projection_size=3))
    assert classifier.project(torch.zeros(1, 2, 8)).shape == (1, 2, 3)
    with pytest.raises(ConfigError, match="projection=linear"):
        ClassifierConfig(projection="none", projection_size=3)


def test_mean_representations_by_hand() -> None:
    start = torch.tensor([[[1.0, 0.0], [2.0, 0.0], [6.0, 0.0]]])
    end = torch.tensor([[[0.0, 3.0], [0.0, 6.0], [0.0, 9.0]]])
    at = torch.tensor
    found = mean_representations(start, end, at([0, 0, 0]), at([0, 2, 1]), at([3, 3, 3]))
    assert found.tolist() == [[3, 6], [6, 9], [4, 7.5]]
    # A place that holds no span must not spoil the others' gradients.
    assert mean_representations(start, end, at([0]), at([2]), at([1])).isfinite().all()


def test_on_the_sphere_only_directions_count() -> None:
    classifier = MentionClassifier(2, ClassifierConfig(projection="none", sphere=5.0))
    settled = classifier.settle(torch.tensor([[3.0, 4.0], [0.03, 0.04], [-4.0, 3.0]]))
    assert settled.tolist()[0] == pytest.approx([3, 4])
    assert settled.tolist()[1] == pytest.approx([3, 4])
    squared = squared_distances(settled[2:], settled[:1])
    assert squared.item() == pytest.approx(2 * 25, rel=1e-5)
    with pytest.raises(ConfigError, match="radius"):
        ClassifierConfig(sphere=0.0)


def test_the_prototype_that_the_others_make() -> None:
    spans = torch.tensor([[0.0, 0.0], [2.0, 0.0], [4.0, 6.0], [7.0, 7.0]])
    slot, weight = torch.tensor([0, 0, 0, 1]), torch.tensor([1 / 3, 1 / 3, 1 / 3, 1.0])
    means = prototypes(spans, weight, slot, 2)
    others = without_self(spans, means, slot, weight)
    expected = [[3, 3], [2, 3], [1, 0], [7, 7]]
    torch.testing.assert_close(others, torch.tensor(expected).float(), atol=1e-5, rtol=1e-5)
