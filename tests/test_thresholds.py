"""Thresholds: the best F1, and never worse than before."""

import math
import random
from statistics import pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanproto.data.types import Sentence, Span
from spanproto.judging import Candidate
from spanproto.thresholds import (
    ENOUGH,
    Scored,
    best_threshold,
    lowered,
    proposals,
    steady_threshold,
    tune,
)


def scored(*pairs: tuple[float, bool], label: str = "x") -> list[Scored]:
    return [Scored(label, score, correct) for score, correct in pairs]


def f1(predictions: list[Scored], gold: int, least: float) -> float:
    kept = [prediction for prediction in predictions if prediction.score >= least]
    return 2 * sum(prediction.correct for prediction in kept) / (len(kept) + gold)


def test_the_threshold_is_in_the_middle_of_the_gap() -> None:
    assert best_threshold(scored((0.9, True), (0.5, False)), 1) == pytest.approx(0.7)
    assert best_threshold(scored((0.9, True), (0.5, True)), 2) == pytest.approx(0.25)
    assert best_threshold(scored((0.9, False)), 1) is None
    assert best_threshold([], 3) is None


@given(st.floats(0.01, 0.99), st.floats(-3, 3))
def test_a_threshold_is_lowered_by_its_log_odds(threshold: float, by: float) -> None:
    def log_odds(p: float) -> float:
        return math.log(p / (1 - p))

    assert log_odds(lowered(threshold, by)) == pytest.approx(log_odds(threshold) - by, abs=1e-6)
    assert lowered(threshold, 0.0) == threshold
    assert (lowered(0.0, by), lowered(1.0, by)) == (0.0, 1.0)


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.35, 0.5, 0.8]), st.booleans())))
def test_no_threshold_is_better(pairs: list[tuple[float, bool]]) -> None:
    predictions = scored(*pairs)
    gold = sum(correct for _, correct in pairs) + 2
    best = best_threshold(predictions, gold)
    reached = 0.0 if best is None else f1(predictions, gold, best)
    for least in (0.0, 0.15, 0.3, 0.4, 0.6, 0.9):
        assert f1(predictions, gold, least) <= reached + 1e-9


def test_a_type_has_its_own_threshold_where_it_can_tell() -> None:
    sure = scored(*[(0.9, True)] * ENOUGH, (0.8, False), label="sure")
    faint = scored((0.2, True), label="faint")
    gold = {"sure": ENOUGH, "faint": 1}
    shared, own = proposals([*sure, *faint], gold, ["sure", "faint"])
    assert len(set(shared.values())) == 1
    assert own["sure"] == pytest.approx(0.85)
    assert own["faint"] == shared["faint"]
    assert proposals([], gold, ["sure"]) == []


def test_thresholds_change_only_for_the_better() -> None:
    words = tuple("abcdef")
    gold = [Sentence(words, (Span(0, 1, "x"), Span(1, 2, "x")))]
    scores = {0: 0.9, 1: 0.6, 2: 0.4}

    def predict(thresholds: dict[str, float]) -> list[list[Candidate]]:
        return [
            [
                Candidate(at, at + 1, "x", "kept", 0.0, (1.0,), (1.0,), (score,))
                for at, score in scores.items()
                if score >= thresholds["x"]
            ]
        ]

    tuning = tune(gold, predict, {"x": 0.8})
    assert tuning.f1_before == pytest.approx(100 * 2 / 3)
    assert tuning.f1_after == 100
    assert tuning.thresholds == {"x": pytest.approx(0.5)}
    assert tune(gold, predict, {"x": 0.55}).thresholds == {"x": 0.55}


def test_a_steady_threshold_is_the_best_one_where_that_is_plain() -> None:
    plain = scored((0.9, True), (0.5, False))  # F1 of 1 above 0.7 and of 2 / 3 above 0.25
    assert steady_threshold(plain, 1) == pytest.approx(0.7, abs=1e-6)
    assert steady_threshold(scored((0.9, False)), 1) is None
    assert steady_threshold([], 3) is None


def test_a_steady_threshold_weighs_all_by_their_f1() -> None:
    even = scored((0.9, True), (0.8, False), (0.6, True), (0.4, False), (0.3, True), (0.1, True))
    f1 = [2 / 5, 2 / 6, 4 / 7, 4 / 8, 6 / 9, 8 / 10]
    cuts = [0.85, 0.7, 0.5, 0.35, 0.2, 0.05]
    weights = [math.exp((value - max(f1)) / 0.005) for value in f1]
    by_hand = sum(w * cut for w, cut in zip(weights, cuts, strict=True)) / sum(weights)
    assert steady_threshold(even, 4) == pytest.approx(by_hand)


def test_a_steady_threshold_moves_less_than_the_best_from_sample_to_sample() -> None:
    rng = random.Random(3)

    def sample() -> list[Scored]:
        values = [rng.random() for _ in range(400)]
        return [Scored("a", value, rng.random() < value) for value in values]

    samples = [sample() for _ in range(30)]
    gold = [sum(prediction.correct for prediction in one) for one in samples]
    spread = {
        choose: pstdev(choose(one, count) or 0.0 for one, count in zip(samples, gold, strict=True))
        for choose in (best_threshold, steady_threshold)
    }
    assert spread[steady_threshold] < 0.7 * spread[best_threshold]
