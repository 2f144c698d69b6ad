"""The loss of single words: by hand, word by word, without waiting, and in training."""

import math
from dataclasses import replace

import pytest
import synthetic
import torch
from torch import Tensor
from waiting import NoWaiting

from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import ConfigError
from spanproto.model import SpanProto
from spanproto.objective import ObjectiveConfig, held_out_losses, losses
from spanproto.word_loss import word_loss

BY_HAND = Episode(
    ("river", "tool"),
    (Sentence(("a", "b", "c", "d"), (Span(0, 2, "river"), Span(3, 4, "tool"))),),
    (Sentence(("e", "f"), (Span(0, 1, "river"),)),),
)


def loss_of(model: SpanProto, episodes: list[Episode]) -> Tensor:
    batch = model.batch(episodes)
    states = model.encode(batch).start
    return word_loss(batch, states, batch, states)


def by_brute_force(model: SpanProto, episode: Episode) -> float:
    """The loss of an episode, one word at a time."""

    def words(sentence: Sentence) -> list[tuple[Tensor, list[str | None]]]:
        states = model.encoder(model.encoder.words.batch([sentence.words]))[0][0]
        labels = [
            [span.label for span in sentence.spans if span.start <= at < span.end] or [None]
            for at in range(len(sentence.words))
        ]
        return list(zip(states, labels, strict=True))

    described = [
        Sentence(tuple(text.split()), (Span(0, len(text.split()), label),))
        for label, text in episode.descriptions
    ]
    of_label: dict[str | None, list[Tensor]] = {}
    for sentence in (*episode.support, *described):
        for state, labels in words(sentence):
            for label in labels:
                of_label.setdefault(label, []).append(state)
    centres = {label: torch.stack(states).mean(0) for label, states in of_label.items()}
    means = []
    for sentence in episode.query:
        terms = []
        for state, labels in words(sentence):
            distances = {name: (state - c).square().sum().item() for name, c in centres.items()}
            total = math.log(sum(math.exp(-d) for d in distances.values()))
            terms += [distances[label] + total for label in labels if label in centres]
        means.append(sum(terms) / max(1, len(terms)))
    return sum(means) / len(means)


def test_by_hand(tiny_model: SpanProto) -> None:
    support = tiny_model.batch([BY_HAND], "support")
    query = tiny_model.batch([BY_HAND], "query")
    known = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [0.0, 1.0]]])
    asked = torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])
    # Squared distances to river, tool and none: 1st word 0, 2, 17; 2nd word 10, 4, 1.
    first = math.log(1 + math.exp(-2) + math.exp(-17))
    second = math.log(math.exp(-10) + math.exp(-4) + math.exp(-1)) + 1
    assert word_loss(support, known, query, asked).item() == pytest.approx((first + second) / 2)


@torch.no_grad()
def test_all_at_once_is_as_word_by_word(tiny_model: SpanProto) -> None:
    expected = [by_brute_force(tiny_model, episode) for episode in synthetic.UNEVEN]
    for episode, value in zip(synthetic.UNEVEN, expected, strict=True):
        assert loss_of(tiny_model, [episode]).item() == pytest.approx(value, rel=1e-4)
    mean = sum(expected) / len(expected)
    assert loss_of(tiny_model, synthetic.UNEVEN).item() == pytest.approx(mean, rel=1e-4)


def test_gradients_are_finite_without_support_or_words_of_none(tiny_model: SpanProto) -> None:
    tiny_model.zero_grad()
    loss_of(tiny_model, synthetic.UNEVEN).backward()
    gradients = [p.grad for p in tiny_model.parameters() if p.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.abs().max() > 0 for gradient in gradients)
    tiny_model.zero_grad()


def test_nothing_waits_for_the_device(tiny_model: SpanProto) -> None:
    batch = tiny_model.batch(synthetic.UNEVEN)
    states = tiny_model.encode(batch).start.detach()
    with NoWaiting():
        word_loss(batch, states, batch, states)


@torch.no_grad()
def test_it_has_its_weight_in_the_objective(tiny_model: SpanProto) -> None:
    batch = tiny_model.batch(synthetic.UNEVEN)
    without, once, twice = (losses(tiny_model, batch, word_weight=w) for w in (0.0, 1.0, 2.0))
    assert without.word == 0
    torch.testing.assert_close(once.word, loss_of(tiny_model, synthetic.UNEVEN))
    torch.testing.assert_close(twice.word, 2 * once.word)
    for joint in (0.0, 1.0):  # it is learned while the extractor learns alone, too
        torch.testing.assert_close(once.total(joint), without.total(joint) + once.word)
    alone = losses(tiny_model, batch, joint=False, word_weight=1.0)
    torch.testing.assert_close(alone.total(0.0), without.span + once.word)


@torch.no_grad()
def test_a_meta_step_has_it_on_query_sets_encoded_apart(tiny_model: SpanProto) -> None:
    objective = replace(tiny_model.config.objective, word_weight=1.0)
    model = tiny_model.with_settings(replace(tiny_model.config, objective=objective))
    parts = model.batch(synthetic.UNEVEN, "support"), model.batch(synthetic.UNEVEN, "query")
    torch.testing.assert_close(
        held_out_losses(model, *parts).word,
        loss_of(tiny_model, synthetic.UNEVEN),
        atol=1e-4,
        rtol=1e-4,
    )


def test_a_step_of_training_learns_it(tiny_model: SpanProto) -> None:
    objective = replace(tiny_model.config.objective, word_weight=0.5)
    model = tiny_model.with_settings(replace(tiny_model.config, objective=objective))
    terms = model.gradients(model.prepare(synthetic.UNEVEN, 1), 1, 0)
    model.zero_grad()
    assert terms["word"] > 0
    torch.testing.assert_close(terms["loss"], terms["span"] + terms["word"])  # T' has not passed


def test_a_negative_weight_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"objective\.word_weight must not be negative"):
        ObjectiveConfig(word_weight=-0.1)
