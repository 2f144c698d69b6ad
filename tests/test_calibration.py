"""A decision fitted to episodes: that it is better there, and decodes as prediction does."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto.adaptation import AdaptationConfig, ask_adapted, pooled_f1
from spanproto.calibration import decision_of, decoded, fit_decision
from spanproto.checkpoint import load_model, save_model
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DecisionConfig, log_odds
from spanproto.errors import ConfigError, DataError
from spanproto.judging import Candidate, judge
from spanproto.methods import method_named
from spanproto.methods.base import MethodConfig
from spanproto.model import SpanProto

QUICK = AdaptationConfig(steps=3, learning_rate=3e-3, dropout=False, recall=True)


@pytest.fixture
def model(trained_model: Path) -> SpanProto:
    return load_model(trained_model)


@pytest.fixture
def episodes() -> list[Episode]:
    return [synthetic.varied_episode(seed) for seed in range(900, 906)]


def f1(model: SpanProto, episodes: list[Episode], decision: DecisionConfig) -> float:
    model.config = replace(model.config, decision=decision)
    return pooled_f1(episodes, [model.predict([episode])[0] for episode in episodes])


def test_a_decision_is_not_fitted_to_nothing(model: SpanProto) -> None:
    with pytest.raises(DataError, match="no episodes to fit the decision to"):
        fit_decision(model, [])


def test_the_fitted_decision_is_better_on_what_it_was_fitted_to(
    model: SpanProto, episodes: list[Episode]
) -> None:
    poor = replace(model.config.decision, boundary_weight=0.1, bias=2.0)  # takes too much
    model.config = replace(model.config, decision=poor)
    fitted = fit_decision(model, episodes)
    assert model.config.decision == poor
    assert fitted.rule == "joint"
    assert fitted.before_weight == pytest.approx(0, abs=1e-6)  # it was not fine-tuned
    assert f1(model, episodes, fitted) > f1(model, episodes, poor) + 5
    for threshold in (fitted.threshold - 0.1, fitted.threshold + 0.1):
        other = replace(fitted, threshold=min(max(threshold, 0.0), 1.0))
        assert f1(model, episodes, fitted) >= f1(model, episodes, other)


def test_evidence_that_there_is_not_is_refused(model: SpanProto, episodes: list[Episode]) -> None:
    with pytest.raises(ConfigError, match="no evidence 'lenght'; did you mean 'length'"):
        fit_decision(model, episodes[:1], None, ("boundary", "lenght"))  # type: ignore[arg-type]


def test_what_cannot_be_weighed_is_refused_before_anything_is_gathered(
    model: SpanProto, episodes: list[Episode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanproto.calibration.gather_evidence", None)
    with pytest.raises(ConfigError, match="there is no evidence 'typ'"):
        fit_decision(model, episodes[:1], None, ("boundary", "typ"))  # type: ignore[arg-type]
    with pytest.raises(DataError, match="let the model ask it"):
        fit_decision(model, episodes[:1], None, ("boundary", "meaning"))


def test_a_fitted_decision_is_saved_with_the_model(
    model: SpanProto, episodes: list[Episode], tmp_path: Path
) -> None:
    decision = fit_decision(model, episodes, None, ("boundary", "type"))
    model.config = replace(model.config, decision=decision)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.config.decision == decision
    assert again.predict(episodes) == model.predict(episodes)


def test_it_is_fitted_to_what_is_said_after_fine_tuning(
    model: SpanProto, episodes: list[Episode]
) -> None:
    fitted = fit_decision(model, episodes, QUICK)
    assert fitted.before_weight != 0
    model.config = replace(model.config, decision=fitted)
    found = list(ask_adapted(model, episodes, QUICK, lambda asked, group: asked.predict(group)))
    assert pooled_f1(episodes, found) > 80


def test_episodes_that_cannot_tell_leave_the_weights(
    model: SpanProto, episodes: list[Episode]
) -> None:
    without = [episode.without_query_spans() for episode in episodes[:2]]
    assert fit_decision(model, without) == replace(model.config.decision, rule="joint")


def test_what_was_said_before_is_evidence(model: SpanProto, episodes: list[Episode]) -> None:
    episode = episodes[0]
    weighed = replace(model.config.decision, before_weight=0.5, length_weight=-1.0)
    model.config = replace(model.config, decision=weighed)
    (after,) = judge(model.adapted([episode], replace(QUICK, recall=False)), [episode])
    (both,) = judge(model.adapted([episode], QUICK), [episode])
    (before,) = judge(model, [episode])
    earlier = {(number, c.start, c.end): c for number, found in enumerate(before) for c in found}
    compared = 0
    for number, (alone, recalled) in enumerate(zip(after, both, strict=True)):
        for one, other in zip(alone, recalled, strict=True):
            assert one.boundary_before == 0
            first = earlier.get((number, one.start, one.end))
            if first is None:
                continue
            compared += 1
            assert other.boundary_before == pytest.approx(first.boundary_score, abs=1e-4)
            means = [(a + b) / 2 for a, b in zip(one.distances, first.distances, strict=True)]
            assert other.distances == pytest.approx(means, abs=1e-4)
            odds = log_odds(
                torch.tensor(other.boundary_score),
                torch.tensor(other.type_probabilities).log(),
                torch.tensor(other.distances),
                weighed,
                before=other.boundary_before,
                log_length=math.log(other.end - other.start),
            )
            assert other.scores == pytest.approx(odds.sigmoid().tolist(), abs=1e-3)
    assert compared > 10


def test_recalling_nothing_new_changes_no_type(model: SpanProto, episodes: list[Episode]) -> None:
    still = replace(QUICK, learning_rate=1e-12)
    (alone,) = judge(model, episodes[:1])
    (recalled,) = judge(model.adapted(episodes[:1], still), episodes[:1])
    for one, other in zip(alone, recalled, strict=True):
        assert [c.label for c in one] == [c.label for c in other]
        for a, b in zip(one, other, strict=True):
            assert b.distances == pytest.approx(a.distances, abs=1e-3)
            assert b.boundary_before == pytest.approx(b.boundary_score, abs=1e-3)


def test_other_methods_recall_nothing(tiny_encoder: Path) -> None:
    method = method_named("token-classifier")
    settings = MethodConfig().encoder
    tagger = method.from_config(method.Config(encoder=replace(settings, name=str(tiny_encoder))))
    with pytest.raises(Exception, match=r"adaptation\.recall=false"):
        tagger.adapted([synthetic.episode(1)], QUICK)


def test_decoding_by_hand() -> None:
    def candidate(start: int, end: int) -> Candidate:
        return Candidate(start, end, "x", "kept", 0.0, (1.0,), (1.0,), (0.5,))

    a, b, c, d = candidate(0, 3), candidate(2, 4), candidate(3, 5), candidate(5, 6)
    scored = [(0.5, a), (0.9, b), (0.4, c), (0.1, d)]
    assert decoded(scored, "flat") == [(0.9, b), (0.1, d)]
    assert decoded([(0.95, a), *scored[1:]], "flat") == [(0.95, a), (0.4, c), (0.1, d)]
    within, crossing = candidate(2, 3), candidate(4, 6)
    more = [*scored, (0.3, within), (0.2, crossing)]
    assert decoded(more, "nested") == [(0.9, b), (0.3, within), (0.2, crossing), (0.1, d)]
    assert decoded(more, "all") == sorted(more, key=lambda pair: -pair[0])


def test_a_threshold_is_fitted_to_what_will_be_decoded() -> None:
    """Wrong spans inside right ones count, unless they cannot both be found."""
    words = tuple("abcdef")

    def candidate(start: int, end: int, f: float) -> Candidate:
        return Candidate(start, end, "x", "kept", f, (1.0,), (1.0,), (0.5,))

    judged = [
        (
            Sentence(words, (Span(0, 3, "x"), Span(4, 6, "x"))),
            [candidate(0, 3, 4.0), candidate(1, 2, -3 - place / 10), candidate(4, 6, 0.0)],
        )
        for place in range(9)
    ]
    flat, nested = (
        decision_of(judged, DecisionConfig(), (), decoding) for decoding in ("flat", "nested")
    )
    assert flat.boundary_weight == nested.boundary_weight
    assert flat.threshold < nested.threshold
