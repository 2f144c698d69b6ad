"""Fine-tuning to support sets: many at once are the same as one by one."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
import synthetic
import torch

from spanproto.adaptation import (
    AdaptationConfig,
    _steps_in_time,
    adapt,
    adapt_to_one,
    choose_steps,
    held_out_folds,
    pooled_f1,
    predict_adapted,
)
from spanproto.batch import collate
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError
from spanproto.model import SpanProto
from spanproto.objective import losses
from spanproto.prediction import Mention, SentencePrediction
from spanproto.stacking import StackedLinear, TuningConfig, stack, unstacked

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
    """Single weights may differ: the optimiser makes steps of gradients that are but rounding."""
    episodes, config = some_episodes(), quick(tuning=tuning)
    stacked = dict(adapt(tiny_model, episodes, config).named_parameters())
    seen = []
    for number, episode in enumerate(episodes):
        alone = adapt(tiny_model, [episode], config)
        expected = support_loss(alone, episode)
        for name, parameter in alone.named_parameters():
            if parameter.requires_grad:
                parameter.data.copy_(stacked[name].data[number : number + 1])
        assert support_loss(alone, episode) == pytest.approx(expected, rel=0.01)
        assert expected < 0.97 * support_loss(tiny_model, episode)
        seen.append(dict(alone.named_parameters())["extractor.head.query.weight"])
    assert not torch.equal(seen[0], seen[1])


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_a_stack_of_one_becomes_a_plain_model(tiny_model: SpanProto, tuning) -> None:
    episode = synthetic.episode(4)
    adapted = adapt(tiny_model, [episode], quick(tuning=tuning))
    plain = unstacked(adapted)
    assert support_loss(plain, episode) == pytest.approx(support_loss(adapted, episode), rel=1e-4)
    shapes = {name: tensor.shape for name, tensor in tiny_model.state_dict().items()}
    assert {name: tensor.shape for name, tensor in plain.state_dict().items()} == shapes
    again = adapt(plain, [episode], quick(tuning=tuning, steps=1))
    assert support_loss(again, episode) != support_loss(plain, episode)


def test_layer_norms_of_a_head_are_tuned_where_the_encoder_is_narrowly(
    tiny_model: SpanProto,
) -> None:
    tiny_model.classifier.add_module("norm", torch.nn.LayerNorm(32))
    stacked = stack(tiny_model, 2, TuningConfig("low-rank", rank=4))
    norms = {
        name: parameter.requires_grad
        for name, parameter in stacked.named_parameters()
        if "norm." in name.lower() and name.endswith(".weight")
    }
    assert len(norms) > 1
    assert {name for name, tuned in norms.items() if tuned} == {"classifier.norm.weight"}


@pytest.mark.parametrize("tuning", TUNINGS, ids=lambda tuning: tuning.tune)
def test_the_loss_on_the_support_set_falls(tiny_model: SpanProto, tuning) -> None:
    episode = synthetic.episode(4)
    adapted = adapt(tiny_model, [episode], quick(steps=20, tuning=tuning))
    assert support_loss(adapted, episode) < support_loss(tiny_model, episode)


def test_the_rate_falls_unless_it_must_not(tiny_model: SpanProto) -> None:
    episode = synthetic.episode(4)
    falling, constant = (
        adapt(tiny_model, [episode], quick(steps=2, decay=decay)) for decay in (True, False)
    )
    first = adapt(tiny_model, [episode], quick(steps=1))
    weights = [
        dict(model.named_parameters())["extractor.head.query.weight"][0]
        for model in (first, falling, constant)
    ]
    half, whole = ((weights[at] - weights[0]).norm().item() for at in (1, 2))
    assert half == pytest.approx(whole / 2, rel=1e-2)


def test_a_batch_that_is_made_already_is_used(tiny_model: SpanProto) -> None:
    episodes = [synthetic.episode(1), synthetic.episode(2)]
    batch = collate(episodes, tiny_model.encoder.words, "support", even=True)
    made, given = (adapt(tiny_model, episodes, quick(), batch=each) for each in (None, batch))
    for one, other in zip(made.parameters(), given.parameters(), strict=True):
        assert torch.equal(one, other)


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


def test_folds_hold_out_sentences_whose_types_the_rest_has() -> None:
    def named(*labels: str) -> Sentence:
        spans = (Span(i, i + 1, label) for i, label in enumerate(labels))
        return Sentence(("old",) * max(1, len(labels)), tuple(spans))

    episode = Episode(
        ("tool", "river"), (named("tool"), named(), named("tool", "river"), named("river")), ()
    )
    folds = held_out_folds(episode, most=8)
    assert [fold.query for fold in folds] == [(episode.support[i],) for i in (0, 2, 3)]
    assert all(len(fold.support) == 3 for fold in folds)
    assert len(held_out_folds(episode, most=2)) == 2
    single = Episode(("tool",), (named("tool"), named()), ())
    assert held_out_folds(single, most=8) == []


def test_folds_that_are_drawn_hold_every_type_if_they_can() -> None:
    def named(label: str) -> Sentence:
        return Sentence(("old",), (Span(0, 1, label),))

    support = (*[named("tool")] * 9, *[named("river")] * 2, *[named("fruit")] * 2)
    episode = Episode(("tool", "river", "fruit"), support, ())
    for seed in range(5):
        folds = held_out_folds(episode, 3, seed)
        assert {fold.query[0].spans[0].label for fold in folds} == set(episode.types)
        assert folds == held_out_folds(episode, 3, seed)
        assert all(len(fold.support) == len(support) - 1 for fold in folds)
    assert len({repr(held_out_folds(episode, 3, seed)) for seed in range(5)}) > 1
    assert len(held_out_folds(episode, 8)) == 8


@pytest.mark.parametrize("limit", [{"episodes_at_once": 2}, {"tokens_at_once": 1}])
def test_no_more_folds_are_tuned_side_by_side_than_episodes(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch, limit: dict[str, int]
) -> None:
    sizes: list[int] = []

    def scored(folds: Sequence[Episode], _: object) -> float:
        sizes.append(len(folds))
        return 10.0

    monkeypatch.setattr("spanproto.adaptation.pooled_f1", scored)
    choose_steps(tiny_model, two_types(), quick(early_stopping=True, **limit))
    assert set(sizes) == {limit.get("episodes_at_once", 1)}


def two_types() -> Episode:
    rng = random.Random(0)
    support = tuple(synthetic.sentence(rng, synthetic.TYPES[:2]) for _ in range(5))
    return Episode(tuple(synthetic.TYPES[:2]), support, ())


def test_early_stopping_takes_the_steps_at_which_held_out_sentences_are_found_best(
    tiny_model: SpanProto, monkeypatch
) -> None:
    scores = iter([10.0, 40.0, 40.0, 20.0])
    monkeypatch.setattr("spanproto.adaptation.pooled_f1", lambda *_: next(scores))
    episode = two_types()
    config = quick(steps=8, check_every=2, early_stopping=True)
    assert choose_steps(tiny_model, episode, config) == (6, 8)

    scores = iter([10.0, 40.0, 40.0, 20.0])
    stopped = adapt_to_one(tiny_model, episode, config)
    seen: list[dict[str, torch.Tensor]] = []

    def keep(step: int, adapted: SpanProto) -> bool:
        seen.append({name: p.detach().clone() for name, p in adapted.named_parameters()})
        return True

    adapt(tiny_model, [episode], config, keep)
    name = "extractor.head.query.weight"
    assert torch.equal(dict(stopped.named_parameters())[name], seen[5][name])


class Clock:
    """Time that passes by so many seconds a step, at its beginning; in place of `time`."""

    def __init__(self, model: SpanProto, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
        self.now = 0.0
        supported = type(model).support_loss

        def slow(*arguments: object) -> torch.Tensor:
            self.now += seconds
            return supported(*arguments)

        monkeypatch.setattr(type(model), "support_loss", slow)
        monkeypatch.setattr("spanproto.adaptation.time", self)

    def monotonic(self) -> float:
        return self.now


def test_held_out_sentences_take_half_of_the_time(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(tiny_model, monkeypatch, seconds=1.0)
    looked: list[float] = []

    def score(*_: object) -> float:
        looked.append(clock.now)
        return 10.0

    monkeypatch.setattr("spanproto.adaptation.pooled_f1", score)
    config = quick(steps=100, check_every=3, early_stopping=True, seconds=19.8)
    adapt_to_one(tiny_model, two_types(), config)
    assert looked == [3.0, 6.0, 9.0, 10.0]
    assert clock.now == 20.0  # the step that was begun is done


def test_a_search_that_takes_all_the_time_leaves_one_step(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(tiny_model, monkeypatch, seconds=1.0)
    config = quick(steps=100, check_every=3, early_stopping=True, seconds=0.9)
    adapted = adapt_to_one(tiny_model, two_types(), config)
    assert clock.now == 2.0  # one of the search, and one
    before = support_loss(tiny_model, two_types())
    assert support_loss(adapted, two_types()) != pytest.approx(before)


def test_the_rate_falls_as_it_did_where_the_steps_were_found(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(tiny_model, monkeypatch, seconds=1.0)
    monkeypatch.setattr("spanproto.adaptation.pooled_f1", lambda *_: 10.0)
    config = quick(steps=100, check_every=3, early_stopping=True, seconds=20.5)
    factors: list[float] = []
    step = torch.optim.AdamW.step

    def noting(optimizer: torch.optim.AdamW) -> object:
        factors.append(optimizer.param_groups[0]["lr"] / config.learning_rate)
        clock.now -= 0.0 if len(factors) <= 11 else 0.9  # alone it is far faster
        return step(optimizer)

    monkeypatch.setattr(torch.optim.AdamW, "step", noting)
    adapt_to_one(tiny_model, two_types(), config)
    searched, alone = factors[:11], factors[11:]
    assert len(alone) == 11
    assert searched[-1] < 0.2
    assert alone == pytest.approx([1 - done / 11 for done in range(11)])


def test_a_time_that_ends_before_the_first_look_still_tells(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(tiny_model, monkeypatch, seconds=1.0)
    config = quick(steps=100, check_every=50, early_stopping=True, seconds=3.8)
    assert choose_steps(tiny_model, two_types(), config) == (4, 4)


def test_a_support_set_that_cannot_tell_takes_all_steps(tiny_model: SpanProto) -> None:
    episode = Episode(("tool",), (Sentence(("toola",), (Span(0, 1, "tool"),)),), ())
    assert choose_steps(tiny_model, episode, quick(early_stopping=True)) == (5, 5)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seconds": float("inf")}, "adaptation.seconds must be finite"),
        ({"seconds": float("nan")}, "adaptation.seconds must be finite"),
        ({"learning_rate": float("inf")}, "adaptation.learning_rate must be finite"),
        ({"weight_decay": -1.0}, "adaptation.weight_decay must not be negative"),
        ({"seed": 10**23}, r"adaptation.seed must be less than 2\^63"),
    ],
)
def test_settings_that_no_fine_tuning_can_have_are_refused(
    settings: dict[str, float], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        AdaptationConfig(**settings)


def test_adapters_wider_than_a_layer_are_refused(tiny_model: SpanProto) -> None:
    with pytest.raises(ConfigError, match=r"tuning\.rank=100000 is more than a layer is wide"):
        stack(tiny_model, 1, TuningConfig(tune="low-rank", rank=100_000))


def test_pooled_f1_by_hand() -> None:
    gold = Sentence(("a", "b", "c"), (Span(0, 1, "x"), Span(2, 3, "y")))
    found = SentencePrediction([Mention(0, 1, "x", 1, 1, 0), Mention(1, 2, "x", 1, 1, 0)], [])
    episode = Episode(("x", "y"), (gold,), (gold,))
    assert pooled_f1([episode], [[found]]) == 50


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


def test_the_steps_that_fit_into_the_time() -> None:
    def in_time(done: int, elapsed: float, seconds: float = 10.0) -> int:
        return _steps_in_time(30, seconds, done, elapsed)

    assert in_time(0, 0.0) == in_time(1, 5.0) == 30
    assert in_time(2, 0.2) == 30
    assert in_time(2, 2.0) == 10
    assert in_time(5, 9.9) == 6  # the one begun is done
    assert in_time(6, 10.5) == 6  # and no more
    assert in_time(0, 10.5) == 1  # but never none
    assert in_time(0, 0.1, seconds=0.0) == 0  # unless asked for


def test_gradients_of_stacked_weights_lie_in_memory_as_the_weights_do() -> None:
    linear = torch.nn.Linear(3, 5)
    layer, rows = StackedLinear(linear, 2), torch.randn(4, 3)
    torch.testing.assert_close(layer(rows), linear(rows))
    layer(rows).sum().backward()
    assert layer.weight.grad is not None
    assert layer.weight.grad.stride() == layer.weight.stride()
    assert layer.weight.grad.mT.is_contiguous()


def test_mixed_precision_lets_heads_multiply_faster_and_back(tiny_model: SpanProto) -> None:
    tiny_model.use_mixed_precision(True)
    assert tiny_model.bf16
    assert torch.get_float32_matmul_precision() == "high"
    tiny_model.use_mixed_precision(False)
    assert not tiny_model.bf16
    assert torch.get_float32_matmul_precision() == "highest"
