"""Fine-tuning to support sets: many at once are the same as one by one."""

from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto.adaptation import AdaptationConfig, adapt, predict_adapted
from spanproto.batch import collate
from spanproto.data.types import Episode
from spanproto.model import SpanProto
from spanproto.objective import losses
from spanproto.stacking import TuningConfig, stack

TUNINGS = [
    TuningConfig("all"),
    TuningConfig("top", top_layers=1),
    TuningConfig("low-rank", rank=4),
    TuningConfig("heads"),
]


def quick(**values: object) -> AdaptationConfig:
    return AdaptationConfig(**{"steps": 5, "learning_rate": 3e-3, "dropout": False, **values})


def some_episodes() -> list[Episode]:
    return [
        synthetic.episode(1),
        synthetic.episode(2, synthetic.TYPES[:5], query=1),
        synthetic.episode(3, synthetic.TYPES[4:6]),
    ]


def support_loss(model: SpanProto, episode: Episode) -> float:
    with torch.no_grad():
        batch = collate([episode], model.encoder.words, "support")
        return float(sum(losses(model, batch)))


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_a_stack_predicts_as_the_model_it_was_made_of(tiny_model: SpanProto, tuning) -> None:
    episodes = some_episodes()
    stacked = stack(tiny_model, len(episodes), tuning)
    words = tiny_model.encoder.words
    with torch.no_grad():
        together = losses(stacked, collate(episodes, words, "support", even=True))
        expected = losses(tiny_model, collate(episodes, words, "support"))
    torch.testing.assert_close(torch.stack(together), torch.stack(expected), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_many_at_once_are_the_same_as_one_by_one(tiny_model: SpanProto, tuning) -> None:
    """Weights without influence (the projection's bias moves no distance) may differ."""
    episodes, config = some_episodes(), quick(tuning=tuning)
    stacked = dict(adapt(tiny_model, episodes, config).named_parameters())
    for number, episode in enumerate(episodes):
        for name, alone in adapt(tiny_model, [episode], config).named_parameters():
            if alone.requires_grad and name != "classifier.projection.bias":
                torch.testing.assert_close(stacked[name][number], alone[0], atol=1e-3, rtol=1e-2)
    first, second, *_ = stacked["extractor.head.query.weight"]
    assert not torch.equal(first, second)


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_the_loss_on_the_support_set_falls(tiny_model: SpanProto, tuning) -> None:
    episode = synthetic.episode(4)
    adapted = adapt(tiny_model, [episode], quick(steps=20, tuning=tuning))
    assert support_loss(adapted, episode) < support_loss(tiny_model, episode)


def test_the_given_model_stays_as_it_is(tiny_model: SpanProto) -> None:
    before = {name: tensor.clone() for name, tensor in tiny_model.state_dict().items()}
    adapt(tiny_model, some_episodes(), quick())
    assert all(torch.equal(before[name], t) for name, t in tiny_model.state_dict().items())
    assert all(parameter.requires_grad for parameter in tiny_model.parameters())


def test_a_seed_gives_the_same_predictions_whatever_the_batches(tiny_model: SpanProto) -> None:
    episodes, config = some_episodes(), quick(dropout=True)
    first = list(predict_adapted(tiny_model, episodes, config))
    torch.manual_seed(999)
    assert list(predict_adapted(tiny_model, episodes, config)) == first
    plain = quick(steps=8)
    apart = list(predict_adapted(tiny_model, episodes, replace(plain, episodes_at_once=1)))
    together = list(predict_adapted(tiny_model, episodes, plain))
    for one, other in zip(apart, together, strict=True):
        assert [s.candidates for s in one] == [s.candidates for s in other]


def test_gold_query_spans_are_not_looked_at(tiny_model: SpanProto) -> None:
    episodes = some_episodes()
    blind = [episode.without_query_spans() for episode in episodes]
    seen, unseen = (list(predict_adapted(tiny_model, e, quick())) for e in (episodes, blind))
    assert seen == unseen


def test_seconds_end_the_fine_tuning(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(4)
    stopped = adapt(tiny_model, [episode], quick(steps=10**6, seconds=0.0))
    assert support_loss(stopped, episode) == pytest.approx(support_loss(tiny_model, episode))


def test_what_is_tuned_is_what_was_asked_for(tiny_model: SpanProto) -> None:
    def trained(tuning: TuningConfig) -> set[str]:
        stacked = stack(tiny_model, 2, tuning)
        return {name for name, p in stacked.named_parameters() if p.requires_grad}

    everything, top, low_rank, heads = map(trained, TUNINGS)
    assert not any("embeddings" in name for name in everything)
    assert {name for name in everything if ".layer.1." in name} == {
        name for name in top if name.startswith("encoder.")
    }
    assert all(name.endswith((".up", ".down")) for name in low_rank if name.startswith("encoder."))
    assert heads == {name for name in everything if not name.startswith("encoder.")}
