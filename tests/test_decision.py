"""The score that weighs all evidence: by hand, and that fitting it makes it true."""

import math

import pytest
import torch

from spanproto.decision import (
    DecisionConfig,
    expected_calibration_error,
    fit_scale,
    fit_weights,
    log_odds,
)
from spanproto.errors import ConfigError


def test_log_odds_by_hand() -> None:
    config = DecisionConfig(boundary_weight=2, type_weight=3, distance_weight=-1, bias=0.5)
    odds = log_odds(
        torch.tensor([[1.0]]), torch.tensor([[-1.0, -2.0]]), torch.tensor([[0.5, 4.0]]), config
    )
    assert odds.tolist() == [[2 - 3 - 0.5 + 0.5, 2 - 6 - 4 + 0.5]]


def test_unfitted_odds_need_both_a_boundary_and_a_type() -> None:
    def score(boundary: float, type_probability: float) -> float:
        evidence = torch.tensor([[boundary]]), torch.tensor([[math.log(type_probability)]])
        return log_odds(*evidence, torch.zeros(1, 1), DecisionConfig()).sigmoid().item()

    assert score(4.0, 0.9) > 0.9
    assert score(4.0, 0.01) < 0.5
    assert score(-1.0, 1.0) < 0.5


def test_fitting_finds_the_weights_that_made_the_data() -> None:
    generator = torch.Generator().manual_seed(0)
    boundary = 3 * torch.randn(20000, generator=generator)
    log_p = -torch.rand(20000, generator=generator) * 3
    distance = torch.rand(20000, generator=generator) * 5
    truth = DecisionConfig(boundary_weight=0.7, type_weight=1.5, distance_weight=-0.6, bias=1.0)
    probability = log_odds(boundary, log_p, distance, truth).sigmoid()
    correct = torch.rand(20000, generator=generator) < probability
    evidence = {"boundary": boundary, "type": log_p, "distance": distance}
    fitted = fit_weights(evidence, correct)
    for name, value in fitted.items():
        assert value == pytest.approx(getattr(truth, name), abs=0.12)
    assert fitted["length_weight"] == fitted["before_weight"] == 0  # nothing was said of them
    scores = log_odds(boundary, log_p, distance, DecisionConfig(**fitted)).sigmoid()
    unfitted = log_odds(boundary, log_p, distance, DecisionConfig()).sigmoid()
    assert expected_calibration_error(scores, correct) < 0.02
    assert expected_calibration_error(unfitted, correct) > 0.1


def test_fitting_the_scale_keeps_the_proportions() -> None:
    generator = torch.Generator().manual_seed(0)
    boundary = 3 * torch.randn(20000, generator=generator)
    log_p = -torch.rand(20000, generator=generator) * 3
    given = DecisionConfig(boundary_weight=1.0, type_weight=0.5, bias=0.3)
    odds = log_odds(boundary, log_p, torch.zeros(()), given)
    correct = torch.rand(20000, generator=generator) < (0.4 * odds - 1.0).sigmoid()
    fitted = fit_scale(odds, correct, given)
    assert fitted["boundary_weight"] == pytest.approx(0.4, abs=0.02)
    assert fitted["type_weight"] == pytest.approx(fitted["boundary_weight"] / 2)
    assert fitted["bias"] == pytest.approx(0.4 * 0.3 - 1.0, abs=0.05)
    assert fitted["distance_weight"] == 0


def test_evidence_that_separates_right_from_wrong_keeps_the_weights_finite() -> None:
    boundary = torch.tensor([-2.0, -1.0, 1.0, 2.0])
    evidence = {"boundary": boundary, "type": torch.zeros(4), "distance": torch.ones(4)}
    fitted = fit_weights(evidence, boundary > 0)
    assert all(math.isfinite(value) for value in fitted.values())
    assert fitted["boundary_weight"] > 0


def test_calibration_error_by_hand() -> None:
    # Two bins: 0.9 said of four of which two are right, 0.1 of two of which none is.
    scores = torch.tensor([0.9, 0.9, 0.9, 0.9, 0.1, 0.1])
    correct = torch.tensor([True, True, False, False, False, False])
    expected = 4 / 6 * 0.4 + 2 / 6 * 0.1
    assert expected_calibration_error(scores, correct) == pytest.approx(expected, abs=1e-6)
    assert expected_calibration_error(torch.ones(3), torch.ones(3).bool()) == 0


def test_a_threshold_is_a_probability() -> None:
    with pytest.raises(ConfigError, match=r"decision\.threshold"):
        DecisionConfig(threshold=1.5)
