"""Names of types in their prototypes: by hand, wherever a model is used, and never unasked."""

from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch

from spanproto import FewShotNER, judging
from spanproto import support as support_sets
from spanproto.adaptation import AdaptationConfig, adapt, held_out_folds
from spanproto.batch import EpisodeBatch, collate
from spanproto.checkpoint import load_model, save_model
from spanproto.classifier import ClassifierConfig
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError
from spanproto.meta import MetaConfig
from spanproto.model import MentionStates, SpanProto
from spanproto.objective import ObjectiveConfig, losses
from spanproto.support import support_prototypes

RIVER, TOOL = "river", "tool"
BY_HAND = Episode(
    (RIVER, TOOL, "metal"),
    (Sentence(("a", "b", "c"), (Span(0, 1, RIVER), Span(1, 2, TOOL), Span(2, 3, RIVER))),),
    (),
    descriptions=((TOOL, "old tool"),),
)


def with_names(model: SpanProto, weight: float, **classifier: object) -> SpanProto:
    settings = replace(model.config.classifier, names_weight=weight, **classifier)
    return model.with_settings(replace(model.config, classifier=settings))


def centres(model: SpanProto, episode: Episode) -> torch.Tensor:
    return support_prototypes(model, [episode]).centres


def by_hand(batch: EpisodeBatch, model: SpanProto) -> MentionStates:
    """States in which the spans of `BY_HAND` lie at 1, 10 and 3, its two names at 6 and 2."""
    start = torch.zeros(*batch.words.word_mask.shape, 1)
    end = start.clone()
    end[0, :3, 0] = torch.tensor([1.0, 10.0, 3.0])
    end[1, 0, 0] = 6.0
    end[2, 1, 0] = 2.0  # the last of its two words
    return MentionStates(batch, start, end, model.classifier)


def test_a_name_is_a_row_apart_from_examples_and_in_no_mean(tiny_model: SpanProto) -> None:
    batch = with_names(tiny_model, 0.25).batch([BY_HAND], "support")
    assert batch.words.word_mask.sum(1).tolist() == [3, 1, 2]
    assert batch.support_spans.weight.tolist() == [1 / 2, 1, 1 / 2]
    names = batch.names
    places = zip(names.sentence.tolist(), names.start.tolist(), names.end.tolist(), strict=True)
    assert list(places) == [(1, 0, 1), (2, 0, 2)]
    assert (names.slot.tolist(), names.weight.tolist()) == ([0, 1], [1, 1])
    assert batch.support_weight.tolist() == batch.query_weight.tolist() == [1, 0, 0]
    assert batch.query_rows == (0,)
    assert batch.types[0].tolist() == [True, True, False]
    two = [BY_HAND, replace(BY_HAND, support=BY_HAND.support * 2)]
    even = collate(two, tiny_model.encoder.words, "support", even=True, names=True)
    assert even.words.word_mask.sum(1).tolist() == [3, 1, 2, 0, 3, 3, 1, 2]
    assert even.names.sentence.tolist() == [1, 2, 6, 7]


def test_a_prototype_is_moved_towards_its_name(tiny_model: SpanProto) -> None:
    model = with_names(tiny_model, 0.25)
    states = by_hand(model.batch([BY_HAND], "support"), model)
    # 3/4 of the mean 2 and 1/4 of the name 6; 3/4 of 10 and 1/4 of 2.
    assert model.prototypes(states)[:2, 0].tolist() == [3.0, 8.0]


def test_what_is_left_of_a_prototype_without_a_span(tiny_model: SpanProto) -> None:
    model = with_names(tiny_model, 0.25)
    states = by_hand(model.batch([BY_HAND], "support"), model)
    # The river at 1 leaves the one at 3, with 3/8, and the name at 6, with 1/4: 4.2. That at 3
    # leaves (3/8 + 6/4) / (5/8) = 3. The only tool leaves its name, at 2.
    distances = [(1 - 4.2) ** 2, 0.0, (10 - 2) ** 2]
    order = states.batch.support_spans.slot.tolist()
    assert order == [0, 1, 0]
    expected = [distances[0], distances[2], distances[1]]
    assert model.squared_distance_to_others(states).tolist() == pytest.approx(expected, abs=1e-4)


def test_by_default_names_are_not_looked_at(eager_model: SpanProto) -> None:
    episode = synthetic.episode(3)
    batch = eager_model.batch([episode])
    assert len(batch.words.word_mask) == len(episode.support) + len(episode.query)
    assert not len(batch.names.slot)
    assert torch.equal(
        centres(eager_model, episode), centres(eager_model, synthetic.renamed(episode))
    )
    config = AdaptationConfig(steps=2, learning_rate=1e-3)
    one, other = (adapt(eager_model, [e], config) for e in (episode, synthetic.renamed(episode)))
    for mine, theirs in zip(one.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_another_name_is_another_prototype_and_another_prediction(eager_model: SpanProto) -> None:
    model, episode = with_names(eager_model, 0.5), synthetic.episode(3)
    other = synthetic.renamed(episode)
    assert (centres(model, episode) - centres(model, other)).abs().max() > 0.01
    described = replace(other, descriptions=tuple(zip(other.types, episode.types, strict=True)))
    torch.testing.assert_close(centres(model, described), centres(model, episode))
    distances = [
        [c.distances for s in judging.judge(model, [e])[0] for c in s] for e in (episode, other)
    ]
    assert distances[0] != distances[1]


def test_a_name_alone_makes_the_prototype_if_it_has_all_the_weight(eager_model: SpanProto) -> None:
    model = with_names(eager_model, 1.0)
    words = Sentence(("river",), (Span(0, 1, RIVER),))
    named = Episode((RIVER,), (Sentence(("rivera",), (Span(0, 1, RIVER),)),), ())
    shown = Episode((RIVER,), (words,), ())
    torch.testing.assert_close(centres(model, named), centres(eager_model, shown))


def test_training_learns_from_names(tiny_model: SpanProto) -> None:
    model, episode = with_names(tiny_model, 0.5), synthetic.episode(3)
    batch = model.batch([episode])
    states = model.mention_states(model.encode(batch))
    states.start.retain_grad()
    model.prototypes(states).square().sum().backward()
    assert (states.start.grad[batch.names.sentence, 0].abs().sum(1) > 0).all()
    one, other = (losses(model, model.batch([e])) for e in (episode, synthetic.renamed(episode)))
    assert one.proto != other.proto
    torch.testing.assert_close(one.span, other.span)


@pytest.mark.parametrize("leave_one_out", [False, True])
def test_many_are_tuned_at_once_as_one_by_one(tiny_model: SpanProto, leave_one_out: bool) -> None:
    model = with_names(tiny_model, 0.5)
    config = AdaptationConfig(
        steps=5, learning_rate=3e-3, dropout=False, leave_one_out=leave_one_out
    )
    episodes = [synthetic.episode(1), synthetic.episode(2, synthetic.TYPES[:5], query=1)]

    def loss(tuned: SpanProto, episode: Episode) -> float:
        with torch.no_grad():
            return float(tuned.support_loss(tuned.support_batch([episode]), config))

    stacked = dict(adapt(model, episodes, config).named_parameters())
    for number, episode in enumerate(episodes):
        alone = adapt(model, [episode], config)
        expected = loss(alone, episode)
        for name, parameter in alone.named_parameters():
            if parameter.requires_grad:
                parameter.data.copy_(stacked[name].data[number : number + 1])
        assert loss(alone, episode) == pytest.approx(expected, rel=0.01)
        assert expected < 0.97 * loss(model, episode)
        unlike = dict(adapt(model, [synthetic.renamed(episode)], config).named_parameters())
        name = "classifier.projection.weight"
        assert not torch.allclose(unlike[name].data[0], stacked[name].data[number], atol=1e-3)


def test_a_meta_step_sees_names(tiny_model: SpanProto) -> None:
    objective = ObjectiveConfig(extractor_steps=0, meta=MetaConfig(after=0, steps=1))
    model = with_names(tiny_model, 0.5)
    model = model.with_settings(replace(model.config, objective=objective))
    episodes = [synthetic.episode(1), synthetic.episode(2)]
    proto = [
        model.gradients(model.prepare(given, 1), 1, 0)["proto"]
        for given in (episodes, [synthetic.renamed(episode) for episode in episodes])
    ]
    assert proto[0] != proto[1]


def test_prototypes_in_parts_have_the_name_once(
    eager_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = ((synthetic.TYPES[0], "the old one"),)
    support = tuple(synthetic.corpus(1, 20))
    episode = Episode(tuple(synthetic.TYPES), support, (), described)
    model = with_names(eager_model, 0.25)
    whole = centres(model, episode)
    monkeypatch.setattr(support_sets, "SENTENCES_AT_ONCE", 2)
    torch.testing.assert_close(centres(model, episode), whole, atol=1e-4, rtol=1e-4)


def test_held_out_sentences_keep_the_descriptions() -> None:
    support = tuple(synthetic.corpus(1, 6, synthetic.TYPES[:1]))
    described = ((synthetic.TYPES[0], "the old one"),)
    episode = Episode(tuple(synthetic.TYPES[:1]), support, (), described)
    assert {fold.descriptions for fold in held_out_folds(episode, 8)} == {described}


def test_a_model_with_names_is_saved_and_fitted(trained_model: Path, tmp_path: Path) -> None:
    loaded = load_model(trained_model, overrides=["classifier.names_weight=0.25"])
    assert isinstance(loaded, SpanProto)
    save_model(loaded, tmp_path / "model")
    ner = FewShotNER.from_pretrained(tmp_path / "model")
    assert ner.model.config.classifier.names_weight == 0.25
    text, shown = "the animala seen near old rivera today", synthetic.corpus(1, 8)
    ner.fit(shown, steps=2, descriptions={"river": "rivera riverb"})
    task = ner.task
    torch.testing.assert_close(ner._judge(None, False).prototypes.centres, centres(ner.model, task))
    ner.save(tmp_path / "fitted")
    again = FewShotNER.load(tmp_path / "fitted")
    assert again.model.config.classifier.names_weight == 0.25
    assert again.explain(text) == ner.explain(text)
    undescribed = FewShotNER.from_pretrained(tmp_path / "model").fit(shown, steps=2)
    assert undescribed.explain(text) != ner.explain(text)


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ConfigError, match="names_weight is a share"):
        ClassifierConfig(names_weight=1.5)
    with pytest.raises(ConfigError, match=r"set classifier\.names_weight=0"):
        ClassifierConfig(names_weight=0.5, centres="k-means")
