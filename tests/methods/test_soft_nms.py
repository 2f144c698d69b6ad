"""Beam soft-NMS against trying every order of taking spans."""

from collections.abc import Iterator

import numpy as np
import pytest

from spanproto.errors import ConfigError
from spanproto.methods.parts.soft_nms import SoftNmsConfig, conflict_factors, soft_nms

WIDE = 10_000  # beams that no small case fills
FEW = 4  # spans, of which no more than five sets of one size begin with the best


def every_way(
    spans: list[tuple[int, int]], scores: list[float], config: SoftNmsConfig
) -> Iterator[tuple[float, frozenset[int]]]:
    """The mean score and the spans of every set that cannot grow, in every order of taking."""

    def grow(taken: list[int], values: list[float]) -> Iterator[tuple[float, frozenset[int]]]:
        left = {}
        for number in set(range(len(spans))) - set(taken):
            value = scores[number]
            for other in taken:
                words = set(range(*spans[number])), set(range(*spans[other]))
                if len(words[0] & words[1]) / len(words[0] | words[1]) >= config.overlap:
                    value *= config.decay
            if value >= config.least:
                left[number] = value
        if not left:
            yield sum(values) / len(values), frozenset(taken)
        for number, value in left.items():
            yield from grow([*taken, number], [*values, value])

    first = max(range(len(spans)), key=scores.__getitem__)
    yield from grow([first], [scores[first]])


@pytest.mark.parametrize("decay", [1e-5, 0.5, 0.9])
@pytest.mark.parametrize("overlap", [1e-5, 0.4])
def test_no_set_is_better(decay: float, overlap: float) -> None:
    for _, found, best in searched(SoftNmsConfig(WIDE, overlap, decay, least=0.2)):
        assert found == pytest.approx(best)


@pytest.mark.parametrize("decay", [1e-5, 0.5, 0.9])
@pytest.mark.parametrize("overlap", [1e-5, 0.4])
def test_five_beams_find_the_best_of_a_few_spans(decay: float, overlap: float) -> None:
    config = SoftNmsConfig(overlap=overlap, decay=decay, least=0.2)
    assert config.beams == 5
    for spans, found, best in searched(config):
        assert spans > FEW or found == pytest.approx(best)


def searched(config: SoftNmsConfig) -> Iterator[tuple[int, float, float]]:
    """Of random cases the number of spans, what the found set is worth, and the most there is."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        starts = rng.integers(0, 7, size=rng.integers(1, 7))
        spans = list({(int(a), int(a + rng.integers(1, 4))) for a in starts})
        scores = rng.uniform(0.05, 1, len(spans)).tolist()
        ways = list(every_way(spans, scores, config))
        found = frozenset(soft_nms(spans, scores, config))
        worth = max(mean for mean, taken in ways if taken == found)
        yield len(spans), worth, max(mean for mean, _ in ways)


def test_conflicts_by_hand() -> None:
    """[1, 3) shares one of four words with [2, 5) and none with [0, 1)."""
    factor = conflict_factors([(1, 3), (2, 5), (0, 1)], SoftNmsConfig(overlap=0.25, decay=0.5))
    assert factor.tolist() == [[0, 0.5, 1], [0.5, 0, 1], [1, 1, 0]]
    assert conflict_factors([(1, 3), (2, 5)], SoftNmsConfig(overlap=0.26))[0, 1] == 1


def test_a_set_by_hand() -> None:
    """The best span is taken; of two that are in conflict then, the better."""
    spans, scores = [(0, 1), (2, 4), (3, 5), (4, 5)], [0.9, 0.6, 0.7, 0.5]
    assert soft_nms(spans, scores, SoftNmsConfig()) == [0, 2]  # 0.8, not (0.9 + 0.6 + 0.5) / 3
    # In conflict a span keeps half of its score: 0.35 of the one in the middle is too little.
    assert soft_nms(spans, scores, SoftNmsConfig(decay=0.5, least=0.4)) == [0, 2]
    # A set grows as long as it can, even if its mean falls.
    assert soft_nms(spans, scores, SoftNmsConfig(decay=0.5, least=0.01)) == [0, 1, 2, 3]


def test_spans_are_worth_what_they_are_in_their_best_order() -> None:
    """The last span is in conflict with the two before it, which are not with each other."""
    spans, scores = [(4, 5), (3, 4), (0, 3), (1, 4)], [1.0, 0.38, 0.6, 0.7]
    # 1 + 0.7 + 0.6 / 2 is more than 1 + 0.38 + 0.6, and that more than 1 + 0.6 + 0.7 / 2.
    assert soft_nms(spans, scores, SoftNmsConfig(decay=0.5, least=0.25)) == [0, 2, 3]


def test_one_beam_takes_the_best_each_time() -> None:
    spans, scores = [(0, 2), (1, 3), (2, 4), (5, 6)], [0.8, 0.9, 0.7, 0.3]
    assert soft_nms(spans, scores, SoftNmsConfig(beams=1)) == [1, 3]
    assert soft_nms([], [], SoftNmsConfig()) == []
    assert soft_nms([(4, 5)], [0.05], SoftNmsConfig()) == [0]  # it begins with the best, whatever


def test_settings_that_make_no_sense_are_refused() -> None:
    for name in ("beams", "overlap", "least"):
        with pytest.raises(ConfigError, match=f"soft_nms.{name}"):
            SoftNmsConfig(**{name: 0})
    with pytest.raises(ConfigError, match=r"soft_nms\.decay"):
        SoftNmsConfig(decay=2)
