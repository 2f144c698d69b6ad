"""What every method in the table must do; a new line there is tested here without more."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
import synthetic
import torch
from every_method import adaptation_of, found, report_of
from waiting import NoWaiting

from spanproto.adaptation import adapt, predict_adapted
from spanproto.checkpoint import load_model, save_model
from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import CheckpointError, ConfigError, DataError
from spanproto.methods import METHODS, method_named
from spanproto.methods.base import Method, MethodConfig
from spanproto.stacking import unstacked

TEST = [synthetic.episode(seed) for seed in range(100, 106)]


@pytest.fixture(params=METHODS)
def model(request: pytest.FixtureRequest, trained: Callable[[str], Path]) -> Method:
    return load_model(trained(request.param), request.param)


@pytest.mark.parametrize("name", METHODS)
def test_the_table_and_the_class_agree(name: str) -> None:
    method = method_named(name)
    assert method.name == name
    assert issubclass(method.Config, MethodConfig)
    assert method.__doc__
    assert all(METHODS[name])
    assert all(other in METHODS for other in method.weights_of)


def test_it_learns_an_easy_task_within_a_minute(
    model: Method, training_seconds: dict[str, float]
) -> None:
    begun = process_time()
    assert report_of(model, TEST).micro.f1 > 90
    assert training_seconds.get(model.name, 0.0) + process_time() - begun < 60


def test_it_saves_and_loads_to_identical_predictions(model: Method, tmp_path: Path) -> None:
    save_model(model, tmp_path)
    loaded = load_model(tmp_path)
    assert type(loaded) is type(model)
    assert loaded.config == model.config
    assert found(loaded, TEST[:2]) == found(model, TEST[:2])


def test_an_adapted_model_saves_and_loads_to_identical_predictions(
    model: Method, tmp_path: Path
) -> None:
    settings = adaptation_of(model, {"steps": 5, "learning_rate": 1e-3})
    try:
        one, both = (model.adapted(TEST[:count], settings) for count in (1, 2))
    except ConfigError:
        assert not model.always_adapts
        pytest.skip("not fine-tuned to support sets")
    save_model(one, tmp_path)
    loaded = load_model(tmp_path)
    assert loaded.config == model.config
    for kept, now in zip(loaded.predict(TEST[:1])[0], one.predict(TEST[:1])[0], strict=True):
        assert sorted(kept.spans) == sorted(now.spans)
    plain = unstacked(one).state_dict()
    assert all(torch.equal(plain[name], kept) for name, kept in loaded.state_dict().items())
    assert plain.keys() == loaded.state_dict().keys()
    assert len(found(loaded, TEST[1:2])) == 1  # it can be adapted anew
    with pytest.raises(CheckpointError, match="several support sets are not one model"):
        save_model(both, tmp_path)


def test_a_type_without_support_is_never_predicted(model: Method) -> None:
    more = [replace(e, types=("metal", *e.types)) for e in TEST[:2]]
    assert found(model, more) == found(model, TEST[:2])


def test_query_entities_without_support_are_no_trouble_in_training(model: Method) -> None:
    if model.trains_on != "episodes":
        pytest.skip("not trained on episodes")
    base = synthetic.episode(5)
    query = (*base.query, Sentence(("the", "metala"), (Span(1, 2, "metal"),)))
    episode = replace(base, types=("metal", *base.types), query=query)
    terms = model.gradients(model.prepare([episode, TEST[0]], 1), 1, 0)
    assert terms["loss"].isfinite()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    assert gradients
    assert all(gradient.isfinite().all() for gradient in gradients)


def test_a_training_step_never_waits_for_the_device(model: Method) -> None:
    if model.trains_on is None:
        pytest.skip("not trained")
    items = TEST[:2]
    if model.trains_on == "sentences":
        items = [sentence for episode in items for sentence in episode.support]
    batch = model.prepare(items, step=1000)
    with NoWaiting():
        model.gradients(batch, step=1000, seed=0)


def test_gold_query_spans_are_not_looked_at(model: Method) -> None:
    episode = TEST[0]
    first = episode.types[0]
    moved = replace(
        episode, query=tuple(sentence.with_spans([Span(0, 1, first)]) for sentence in episode.query)
    )
    assert found(model, [moved]) == found(model, [episode])


def test_other_episodes_change_nothing(model: Method) -> None:
    other = synthetic.episode(7, synthetic.TYPES[1:6], query=5)
    assert found(model, [TEST[0], other]) == [
        *found(model, [TEST[0]]),
        *found(model, [other]),
    ]


@pytest.mark.parametrize("support", [(), tuple(s.unlabelled() for s in 30 * TEST[0].support)])
def test_an_episode_without_support_is_refused(model: Method, support: tuple[Sentence]) -> None:
    nothing = replace(TEST[0], support=support)
    for ask in (found, lambda model, asked: model.adapted(asked, adaptation_of(model))):
        with pytest.raises(DataError, match="no support span at all"):
            ask(model, [nothing])


def test_queries_without_words_are_fine(model: Method) -> None:
    empty = replace(TEST[0], query=(Sentence(()), TEST[0].query[0]))
    assert found(model, [empty])[0][0] == []
    assert found(model, [replace(TEST[0], query=(Sentence(()),))]) == [[[]]]
    assert found(model, [replace(TEST[0], query=())]) == [[]]


def test_copies_adapted_side_by_side_are_those_adapted_alone(model: Method) -> None:
    episodes = [TEST[0], synthetic.episode(7, synthetic.TYPES[1:6], query=5)]
    settings = {"steps": 5, "learning_rate": 1e-3, "dropout": False}
    try:
        model.support_batch(episodes)
    except ConfigError:
        assert not model.always_adapts
        with pytest.raises(ConfigError, match="is not fine-tuned to support sets"):
            adapt(model, episodes, adaptation_of(model, settings))
        return
    together, apart = (
        list(predict_adapted(model, episodes, adaptation_of(model, settings | extra)))
        for extra in ({}, {"episodes_at_once": 1})
    )
    for one, other in zip(together, apart, strict=True):
        assert [sorted(s.spans) for s in one] == [sorted(s.spans) for s in other]


@pytest.mark.parametrize("name", METHODS)
def test_adaptation_lowers_the_loss_on_the_support_set(name: str, tiny_encoder: Path) -> None:
    method = method_named(name)
    model = method.from_config(method.Config(EncoderConfig(str(tiny_encoder))))
    episodes, config = TEST[:2], adaptation_of(model, {"steps": 10, "learning_rate": 1e-3})
    losses = []

    def look(step: int, adapted: Method) -> bool:
        adapted.eval()
        with torch.no_grad():
            losses.append(adapted.support_loss(adapted.support_batch(episodes), config).item())
        return True

    try:
        adapt(model, episodes, config, look)
    except ConfigError:
        assert not model.always_adapts
        pytest.skip("not fine-tuned to support sets")
    assert losses[-1] < losses[0]


def test_an_episode_with_one_type_of_one_word(model: Method) -> None:
    support = (Sentence(("the", "toola"), (Span(1, 2, "tool"),)),)
    (sentences,) = found(model, [Episode(("tool",), support, (Sentence(("a", "toola")),))])
    assert {span.label for span in sentences[0]} <= {"tool"}
