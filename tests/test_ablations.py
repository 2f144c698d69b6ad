"""SpanProto without its extractor, and without its classifier."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from waiting import NoWaiting

from spanproto.adaptation import AdaptationConfig
from spanproto.batch import collate
from spanproto.classifier import ClassifierConfig
from spanproto.config import read_yaml
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DecisionConfig
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.extractor import ExtractorConfig
from spanproto.judging import judge
from spanproto.model import ModelConfig, SpanProto
from spanproto.objective import ObjectiveConfig
from spanproto.support import support_prototypes
from spanproto.training.settings import RunConfig

CONFIGS = Path(__file__).parents[1] / "configs"
MARGIN = 3.0
BY_DISTANCE = DecisionConfig("joint", boundary_weight=0, type_weight=0, distance_weight=-1, bias=3)
EPISODES = [synthetic.episode(1), synthetic.episode(2, synthetic.TYPES[1:6], query=2)]


def built(tiny_encoder: Path, **settings) -> SpanProto:
    torch.manual_seed(0)
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    return SpanProto.from_config(ModelConfig(encoder, **settings)).eval()


@pytest.fixture
def all_spans(tiny_encoder: Path) -> SpanProto:
    return built(
        tiny_encoder,
        extractor=ExtractorConfig("none", max_length=3),
        classifier=ClassifierConfig(margin=MARGIN),
        decision=BY_DISTANCE,
        objective=ObjectiveConfig(extractor_steps=0),
    )


@pytest.fixture
def clustering(tiny_encoder: Path) -> SpanProto:
    return built(
        tiny_encoder,
        extractor=ExtractorConfig(threshold=0.0),
        classifier=ClassifierConfig(centres="k-means", projection="none", reject=False),
        objective=ObjectiveConfig(joint_weight=0),
    )


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("ablation-*.yaml")), ids=lambda p: p.stem)
def test_the_files_are_runs(path: Path) -> None:
    run = RunConfig.of(read_yaml(path))
    assert run.training.output == f"runs/{path.stem}"
    if path.stem == "ablation-all-spans":
        assert run.model.decision == BY_DISTANCE
        assert run.model.decision.bias == run.model.classifier.margin


def test_every_short_span_is_a_candidate(all_spans: SpanProto) -> None:
    """Of five words, five spans of one, four of two and three of three words."""
    words = Sentence(("the", "old", "toola", "was", "seen"))
    ((judged,),) = judge(all_spans, [replace(EPISODES[0], query=(words,))])
    assert [(c.start, c.end) for c in judged] == [
        (start, end) for start in range(5) for end in range(start + 1, min(5, start + 3) + 1)
    ]


def test_the_margin_decides_and_the_nearest_wins(all_spans: SpanProto) -> None:
    for candidate in (c for s in judge(all_spans, EPISODES) for q in s for c in q):
        assert (candidate.score >= 0.5) == (min(candidate.distances) <= MARGIN)
        assert (candidate.outcome == "unlikely") == (min(candidate.distances) > MARGIN)
    for sentence in (q for s in judge(all_spans, EPISODES) for q in s):
        kept = [c for c in sentence if c.outcome == "kept"]
        for one in (c for c in sentence if c.outcome == "overlap"):
            rivals = [c for c in kept if c.start < one.end and one.start < c.end]
            assert min(min(c.distances) for c in rivals) <= min(one.distances)


def test_without_an_extractor_nothing_of_it_is_trained(all_spans: SpanProto) -> None:
    assert not list(all_spans.extractor.parameters())
    batch = all_spans.prepare(EPISODES, 1)
    with NoWaiting():
        terms = all_spans.gradients(batch, 1, 0)
    assert terms["span"] == 0
    assert terms["margin"] > 0
    assert terms["loss"].item() == pytest.approx((terms["proto"] + terms["margin"]).item())


def test_clusters_take_the_place_of_prototypes(clustering: SpanProto) -> None:
    """Two types whose spans are mixed up: the clusters follow the words, not the labels."""
    mixed = [("rivera", "x"), ("rivera", "x"), ("toola", "x"), ("toola", "y"), ("toola", "y")]
    support = tuple(Sentence((word,), (Span(0, 1, label),)) for word, label in mixed)
    episode = Episode(("x", "none", "y"), support, (Sentence(("rivera",)), Sentence(("toola",))))
    centres = support_prototypes(clustering, [episode]).centres
    states = clustering.mention_states(
        clustering.encode(collate([episode], clustering.encoder.words))
    )
    spans = states.represent(states.batch.support_spans)
    torch.testing.assert_close(centres[0], spans[0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(centres[2], spans[4], atol=1e-4, rtol=1e-4)
    judged = judge(clustering, [episode, *EPISODES])[0]
    assert [[c.label for c in sentence] for sentence in judged] == [["x"], ["y"]]


def test_only_the_extractor_is_trained_then(clustering: SpanProto) -> None:
    terms = clustering.gradients(clustering.prepare(EPISODES, 500), 500, 0)
    assert terms["loss"] == terms["span"]
    assert terms["proto"] == terms["margin"] == 0
    support = clustering.support_batch(EPISODES[:1])
    loss = clustering.support_loss(support, AdaptationConfig())
    torch.testing.assert_close(
        loss, clustering.support_loss(support, AdaptationConfig(joint_weight=0))
    )


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"decision\.rule=joint"):
        ModelConfig(extractor=ExtractorConfig("none"))
    with pytest.raises(ConfigError, match=r"objective\.extractor_steps=0"):
        ModelConfig(extractor=ExtractorConfig("none"), decision=BY_DISTANCE)
    with pytest.raises(ConfigError, match=r"objective\.joint_weight=0"):
        ModelConfig(classifier=ClassifierConfig(centres="k-means"))
    with pytest.raises(ConfigError, match=r"extractor\.max_length"):
        ExtractorConfig(max_length=0)
