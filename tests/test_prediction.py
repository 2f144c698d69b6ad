"""Prediction: what is kept, what is rejected, and that gold query spans are never looked at."""

from dataclasses import replace

import pytest
import synthetic
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spanproto.benchmark import evaluate
from spanproto.classifier import ClassifierConfig
from spanproto.data.types import Episode, Sentence, Span
from spanproto.extractor import ExtractorConfig
from spanproto.model import ModelConfig, SpanProto
from spanproto.prediction import SentencePrediction, predict, predict_all


def with_settings(model: SpanProto, extractor=None, classifier=None) -> SpanProto:
    config = ModelConfig(
        model.config.encoder,
        extractor or model.config.extractor,
        classifier or model.config.classifier,
    )
    other = SpanProto(model.encoder, config).eval()
    other.load_state_dict(model.state_dict())
    return other


@pytest.fixture
def eager_model(tiny_model: SpanProto) -> SpanProto:
    """Untrained, but it keeps every candidate that decoding leaves."""
    return with_settings(tiny_model, ExtractorConfig(threshold=0.0), ClassifierConfig(reject=False))


def assert_same(
    left: list[list[SentencePrediction]], right: list[list[SentencePrediction]]
) -> None:
    for one, other in zip(left, right, strict=True):
        for a, b in zip(one, other, strict=True):
            assert a.candidates == b.candidates
            assert [m.span for m in a.mentions] == [m.span for m in b.mentions]
            for m, n in zip(a.mentions, b.mentions, strict=True):
                assert m[3:] == pytest.approx(n[3:], abs=1e-3)


def test_gold_query_spans_change_no_prediction(eager_model: SpanProto) -> None:
    episode = synthetic.episode(5)
    moved = replace(
        episode,
        query=tuple(s.with_spans([Span(0, 1, episode.types[0])]) for s in episode.query),
    )
    found = predict(eager_model, [episode])
    assert any(sentence.mentions for sentence in found[0])
    assert_same(found, predict(eager_model, [moved]))
    assert_same(found, predict(eager_model, [episode.without_query_spans()]))


def test_the_released_rule_hands_the_gold_spans_in(tiny_model: SpanProto) -> None:
    silent = with_settings(
        tiny_model, ExtractorConfig(threshold=1.0), ClassifierConfig(reject=False)
    )
    episode = synthetic.episode(5)
    assert not any(s.mentions for s in predict(silent, [episode])[0])
    oracle = predict(silent, [episode], candidates="released")[0]
    for sentence, prediction in zip(episode.query, oracle, strict=True):
        assert set(prediction.candidates) == {span[:2] for span in sentence.spans}


def test_the_released_rule_drops_near_misses_and_keeps_the_rest(tiny_model: SpanProto) -> None:
    everything = with_settings(
        tiny_model, ExtractorConfig(threshold=0.0, decoding="all"), ClassifierConfig(reject=False)
    )
    words = tuple(synthetic.FILLERS[:6])
    query = Sentence(words, (Span(2, 3, "river"),))
    episode = Episode(("river",), (Sentence(("rivera",), (Span(0, 1, "river"),)),), (query,))
    found = set(predict(everything, [episode], candidates="released")[0][0].candidates)
    spans = {(i, j) for i in range(6) for j in range(i + 1, 7)}
    near = {(i, j) for i, j in spans if abs(i - 2) <= 1 and abs(j - 3) <= 1}
    assert found == (spans - near) | {(2, 3)}


def test_the_released_rule_adds_gold_to_what_was_decoded(tiny_model: SpanProto) -> None:
    """A prediction that overlaps a gold span but is not near it stays, and nested gold too."""
    flat = with_settings(tiny_model, ExtractorConfig(threshold=0.0), ClassifierConfig(reject=False))
    words = tuple(synthetic.FILLERS[:9])
    support = (Sentence(("rivera",), (Span(0, 1, "river"),)),)

    def found(*gold: Span, rule: str) -> set[tuple[int, int]]:
        episode = Episode(("river",), support, (Sentence(words, gold),))
        return set(predict(flat, [episode], candidates=rule)[0][0].candidates)

    own = found(rule="model")
    gold = (Span(0, 9, "river"), Span(2, 6, "river"))
    near = {(i, j) for i, j in own for g in gold if abs(i - g[0]) <= 1 and abs(j - g[1]) <= 1}
    expected = (own - near) | {span[:2] for span in gold}
    assert own - near
    assert found(*gold, rule="released") == expected


def test_a_sentence_of_more_entities_than_the_limit_keeps_them(tiny_model: SpanProto) -> None:
    model = with_settings(
        tiny_model,
        ExtractorConfig(threshold=0.0, max_candidates=2, decoding="all"),
        ClassifierConfig(reject=False),
    )
    episode = replace(synthetic.episode(), query=(Sentence(("old",) * 7),))
    assert len(predict(model, [episode])[0][0].candidates) == 7


def test_long_sentences_are_predicted_in_parts_to_the_same_end(eager_model: SpanProto) -> None:
    long = Sentence(("old", "rivera", "the") * 20)
    short = synthetic.episode(3)
    episodes = [short, replace(short, query=(short.query[0], long, *short.query[1:]))]
    whole = predict(eager_model, episodes)
    assert_same(whole, list(predict_all(eager_model, episodes, cells_per_batch=4000)))


def test_gold_that_no_candidate_covers_is_missed(tiny_model: SpanProto) -> None:
    silent = with_settings(tiny_model, ExtractorConfig(threshold=1.0))
    episode = synthetic.episode(5)
    report = evaluate(silent, [episode], "crossdomain")
    assert report.micro.gold == sum(len(sentence.spans) for sentence in episode.query)
    assert report.micro.recall == 0


def test_a_support_sentence_among_the_query_finds_its_own_types(eager_model: SpanProto) -> None:
    """At distance 0 from a one-span prototype, a support span gets the type it was given."""
    support = tuple(
        Sentence((synthetic.NAMES[label][0],), (Span(0, 1, label),)) for label in ("river", "tool")
    )
    episode = Episode(("river", "tool"), support, support)
    labels = [sentence.mentions[0].label for sentence in predict(eager_model, [episode])[0]]
    assert labels == ["river", "tool"]
    assert predict(eager_model, [episode])[0][0].mentions[0].distance == pytest.approx(0, abs=0.02)


def test_rejection_is_by_distance_r(eager_model: SpanProto) -> None:
    episode = synthetic.episode(7)
    free = [m for s in predict(eager_model, [episode])[0] for m in s.mentions]
    distances = sorted(mention.distance for mention in free)
    middle = distances[len(distances) // 2]
    strict = with_settings(eager_model, classifier=ClassifierConfig(margin=middle))
    kept = predict(strict, [episode])[0]
    assert [m.span for s in kept for m in s.mentions] == [
        m.span for m in free if m.distance <= middle
    ]
    assert 0 < sum(len(s.mentions) for s in kept) < len(free)
    assert sum(len(s.candidates) for s in kept) == len(free)  # the extractor's say is unchanged


def test_a_type_without_support_is_never_predicted(eager_model: SpanProto) -> None:
    episode = synthetic.episode(2)
    more = replace(episode, types=("metal", *episode.types))
    labels = {m.label for s in predict(eager_model, [more])[0] for m in s.mentions}
    assert labels
    assert labels <= set(episode.types)


@given(seed=st.integers(0, 99))
@settings(max_examples=8, deadline=None)
def test_other_episodes_in_the_batch_change_nothing(shared_model: SpanProto, seed: int) -> None:
    model = with_settings(
        shared_model, ExtractorConfig(threshold=0.3), ClassifierConfig(reject=False)
    )
    episodes = [synthetic.episode(seed), synthetic.episode(seed + 1, synthetic.TYPES[2:6], 5)]
    together = predict(model, episodes)
    assert_same(together, [predict(model, [episode])[0] for episode in episodes])
    assert_same(together, list(predict_all(model, episodes, sentences_per_batch=1)))


@pytest.mark.parametrize("decoding", ["flat", "nested"])
def test_decoding_is_as_configured(tiny_model: SpanProto, decoding: str) -> None:
    model = with_settings(
        tiny_model,
        ExtractorConfig(threshold=0.0, decoding=decoding),
        ClassifierConfig(reject=False),
    )
    sentence = predict(model, [synthetic.episode(4)])[0][0]
    spans = sentence.candidates
    overlaps = [(a, b) for a in spans for b in spans if a < b and a[0] < b[1] and b[0] < a[1]]
    assert bool(overlaps) is (decoding == "nested")
    assert all(
        (a[0] <= b[0] and b[1] <= a[1]) or (b[0] <= a[0] and a[1] <= b[1]) for a, b in overlaps
    )


def test_queries_without_words_are_fine(eager_model: SpanProto) -> None:
    episode = replace(synthetic.episode(), query=(Sentence(()), Sentence(("old",))))
    found = predict(eager_model, [episode])[0]
    assert found[0] == SentencePrediction([], [])
    assert len(found[1].mentions) == 1


def test_scores_are_probabilities(eager_model: SpanProto) -> None:
    for mention in predict(eager_model, [synthetic.episode()])[0][0].mentions:
        assert 0 <= mention.boundary_probability <= 1
        assert 0 < mention.type_probability <= 1
        assert torch.tensor(mention.distance).isfinite()
