"""Every candidate with its evidence and what became of it."""

from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto import support as support_sets
from spanproto.classifier import ClassifierConfig
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DecisionConfig, log_odds
from spanproto.extractor import ExtractorConfig
from spanproto.judging import Candidate, judge
from spanproto.model import ModelConfig, SpanProto
from spanproto.prediction import predict
from spanproto.support import support_prototypes


def configured(
    model: SpanProto, decision: DecisionConfig, decoding: str = "flat", **classifier: object
) -> SpanProto:
    config = ModelConfig(
        model.config.encoder,
        extractor=ExtractorConfig(threshold=0.0, decoding=decoding),
        classifier=ClassifierConfig(**classifier),
        decision=decision,
    )
    other = SpanProto(model.encoder, config).eval()
    other.load_state_dict(model.state_dict())
    return other


@pytest.fixture
def joint(tiny_model: SpanProto) -> SpanProto:
    return configured(tiny_model, DecisionConfig("joint", threshold=0.3, floor=0.0))


def judged(model: SpanProto, episode: Episode, **options: object) -> list[list[Candidate]]:
    return judge(model, [episode], **options)[0]


def test_outcomes_agree_with_their_evidence(joint: SpanProto) -> None:
    sentences = judged(joint, synthetic.episode(5))
    everything = [candidate for sentence in sentences for candidate in sentence]
    outcomes = {candidate.outcome for candidate in everything}
    assert outcomes == {"kept", "overlap", "unlikely"}
    for candidate in everything:
        assert (candidate.outcome == "unlikely") == (candidate.score < 0.3)
        assert (
            candidate.label
            == synthetic.TYPES[:3][
                candidate.type_probabilities.index(max(candidate.type_probabilities))
            ]
        )


def test_the_best_of_overlapping_spans_is_kept(joint: SpanProto) -> None:
    for sentence in judged(joint, synthetic.episode(5)):
        kept = [c for c in sentence if c.outcome == "kept"]
        for candidate in sentence:
            rivals = [k for k in kept if k.start < candidate.end and candidate.start < k.end]
            if candidate.outcome == "kept":
                assert rivals == [candidate]
            elif candidate.outcome == "overlap":
                assert max(k.score for k in rivals) >= candidate.score


def test_scores_are_the_odds_of_the_evidence(joint: SpanProto) -> None:
    decision = replace(joint.config.decision, type_weight=0.5, distance_weight=-0.1, bias=0.2)
    model = configured(joint, decision)
    for candidate in judged(model, synthetic.episode(5))[0]:
        odds = log_odds(
            torch.tensor(candidate.boundary_score),
            torch.tensor(candidate.type_probabilities).log(),
            torch.tensor(candidate.distances),
            decision,
        )
        assert candidate.scores == pytest.approx(odds.sigmoid().tolist(), abs=1e-4)


def test_thresholds_hold_for_their_types(joint: SpanProto) -> None:
    episode = synthetic.episode(5)
    label = judged(joint, episode)[0][0].label
    for sentence in judged(joint, episode, thresholds={label: 1.0}):
        assert not any(c.outcome == "kept" and c.label == label for c in sentence)


def test_two_stages_reject_what_is_far(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(5)
    everything = configured(tiny_model, DecisionConfig(), reject=False)
    distances = sorted(
        min(c.distances) for s in judged(everything, episode) for c in s if c.outcome == "kept"
    )
    margin = distances[len(distances) // 2]
    model = configured(tiny_model, DecisionConfig(), margin=margin)
    found = [candidate for sentence in judged(model, episode) for candidate in sentence]
    assert {c.outcome for c in found} == {"kept", "far", "overlap"}
    for candidate in found:
        if candidate.outcome in ("kept", "far"):
            assert (candidate.outcome == "kept") == (min(candidate.distances) <= margin + 1e-5)


def test_prototypes_may_be_given_and_come_in_parts(
    joint: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = synthetic.episode(5).query
    support = tuple(synthetic.corpus(1, 20))
    described = tuple((label, f"the old {label}a") for label in synthetic.TYPES)
    episode = Episode(tuple(synthetic.TYPES), support, query, described)
    whole = support_prototypes(joint, [episode])
    monkeypatch.setattr(support_sets, "SENTENCES_AT_ONCE", 2)
    parts = support_prototypes(joint, [episode])
    torch.testing.assert_close(parts.centres, whole.centres, atol=1e-4, rtol=1e-4)
    given = judged(joint, episode, prototypes=whole)
    own = judged(joint, episode)
    assert [[c[:4] for c in s] for s in given] == [[c[:4] for c in s] for s in own]


def test_a_type_without_support_is_never_chosen(joint: SpanProto) -> None:
    episode = Episode(
        ("river", "tool"),
        (Sentence(("rivera",), (Span(0, 1, "river"),)),),
        (Sentence(("toola", "rivera")),),
    )
    for candidate in judged(joint, episode)[0]:
        assert candidate.label == "river"
        assert candidate.scores[1] == candidate.type_probabilities[1] == 0
        assert candidate.distances[1] == torch.inf


def test_prediction_is_what_is_kept(joint: SpanProto) -> None:
    episodes = [synthetic.episode(5), synthetic.episode(6, synthetic.TYPES[2:5])]
    for sentences, predictions in zip(
        judge(joint, episodes), predict(joint, episodes), strict=True
    ):
        for candidates, prediction in zip(sentences, predictions, strict=True):
            kept = [(c.start, c.end, c.label) for c in candidates if c.outcome == "kept"]
            assert [tuple(m.span) for m in prediction.mentions] == kept


def test_a_model_in_training_predicts_as_one_that_is_not(joint: SpanProto) -> None:
    episodes = [synthetic.episode(5)]
    expected = predict(joint, episodes)
    assert predict(joint.train(), episodes) == expected
    assert not any(module.training for module in joint.modules())


def test_what_resembles_an_entity_of_no_type_is_none(joint: SpanProto) -> None:
    """Each episode has others of its own, which leave the other episodes alone."""
    whole = synthetic.episode(5).without_query_spans()
    rest = whole.types[1:]
    shown = [replace(s, spans=tuple(p for p in s.spans if p.label in rest)) for s in whole.support]
    silent = Episode(rest, tuple(shown), whole.query)
    part = replace(whole.for_types(rest), query=silent.query)
    assert any(sentence.others for sentence in part.support)
    without, told = judge(joint, [silent, silent])[0], judge(joint, [part, silent])
    assert [[c[:4] for c in s] for s in told[1]] == [[c[:4] for c in s] for s in without]
    for before, after in zip(without, told[0], strict=True):
        for one, other in zip(before, after, strict=True):
            assert one[:2] == other[:2]
            assert max(other.scores) <= max(one.scores) + 1e-6
    sums = [sum(candidate.type_probabilities) for s in told[0] for candidate in s]
    assert min(sums) < 0.5 < max(sums)
