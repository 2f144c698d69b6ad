"""CONTaiNER by hand: distances of Gaussians, the contrast, its end, and the nearest direction."""

from dataclasses import replace
from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import with_states
from torch import nn
from torch.distributions import Normal, kl_divergence

from spanproto.adaptation import adapt, predict_adapted
from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.container import (
    Container,
    ContainerConfig,
    contrastive_losses,
    gaussian_distances,
)
from spanproto.methods.parts.transitions import count_transitions

VECTORS = {"the": (1, 0), "of": (1, -5), "old": (0, 2), "seen": (3, 2.9), "near": (1, 1)}


@pytest.fixture
def model(tiny_encoder: Path) -> Container:
    torch.manual_seed(0)
    return Container.from_config(ContainerConfig(EncoderConfig(str(tiny_encoder), dropout=0.0)))


def test_the_distance_of_two_gaussians() -> None:
    mean, variance = torch.tensor([[[0.0, 7], [2, 7]]]), torch.tensor([[[1.0, 3], [4, 3]]])
    # One way (1/4 + 4/4 - 1 + log 4) / 2, the other (4 + 4/1 - 1 - log 4) / 2; half of the sum.
    expected = [[0, 1.8125], [1.8125, 0]]
    assert gaussian_distances(mean, variance)[0].tolist() == expected


def test_distances_agree_with_the_divergences() -> None:
    torch.manual_seed(0)
    mean, variance = torch.randn(2, 6, 128), torch.rand(2, 6, 128) + 1e-3
    spread = variance.sqrt()
    one = Normal(mean[:, :, None], spread[:, :, None])
    other = Normal(mean[:, None], spread[:, None])
    both = (kl_divergence(one, other) + kl_divergence(other, one)).sum(-1) / 2
    torch.testing.assert_close(gaussian_distances(mean, variance), both)


def test_the_contrast_of_words() -> None:
    far = 9.0
    distances = torch.tensor([[[0, 1, 2, far], [1, 0, 3, far], [2, 3, 0, far], [far] * 4]])
    losses = contrastive_losses(distances, torch.tensor([[0, 0, 1, -1]]))
    # e^-1 of e^-1 + e^-2, and of e^-1 + e^-3; the third word is alone, the fourth is padding.
    assert losses.tolist() == pytest.approx([(log(1 + exp(-1)) + log(1 + exp(-2))) / 2])
    # The like count by their mean: one of two in the sum, at one distance from each other.
    assert contrastive_losses(torch.ones(1, 3, 3), torch.zeros(1, 3)).tolist() == pytest.approx(
        [log(2)]
    )


def test_a_word_alone_has_no_loss_and_clean_gradients() -> None:
    distances = torch.ones(2, 2, 2, requires_grad=True)
    losses = contrastive_losses(distances, torch.tensor([[0, 1], [0, -1]]))
    assert losses.tolist() == [0, 0]
    losses.sum().backward()
    assert distances.grad.eq(0).all()


def test_the_loss_of_sentences(model: Container, monkeypatch) -> None:
    with_states(model.eval(), VECTORS, monkeypatch)
    model.mean, model.variance = nn.Linear(2, 2), nn.Linear(2, 2)
    with torch.no_grad():
        model.mean.weight.copy_(torch.eye(2))
        for zero in (model.mean.bias, model.variance.weight, model.variance.bias):
            zero.zero_()
    sentences = [Sentence(("the", "old"), (Span(1, 2, "x"),)), Sentence(("of",))]
    # Variances are ELU(0) + 1 = 1, so distances are halves of squared ones of the means (1, 0) for
    # both O words, negative states being cut, and (0, 2): 0 between the two and 2.5 to x.
    loss = model.loss(model.prepare(sentences, 1))
    assert loss.item() == pytest.approx(log(1 + exp(-2.5)), rel=1e-4)
    plain = [sentence.unlabelled() for sentence in sentences]  # a batch may have no entity
    assert model.loss(model.prepare(plain, 1)).item() == pytest.approx(log(2), rel=1e-4)


def test_the_nearest_direction_decides(model: Container, monkeypatch) -> None:
    with_states(model, VECTORS, monkeypatch)
    support = (Sentence(("the", "old"), (Span(1, 2, "x"),)),)
    episode = Episode(("x",), support, (Sentence(("seen", "near", "old")),))
    # "seen" leans to O, though nearer to x by length; "near" leans to neither.
    model.transitions.copy_(torch.tensor([[9, 1, 0], [9, 1, 0], [9, 1, 0]]))
    assert model.predict([episode])[0][0].spans == [Span(2, 3, "x")]
    model.transitions.copy_(torch.tensor([[9, 1, 0], [1, 9, 0], [1, 9, 0]]))
    assert model.predict([episode])[0][0].spans == [Span(1, 3, "x")]
    # In the temperature of 0.01 transitions weigh little, so that "seen" stays O; not in that of 1.
    model.config = replace(model.config, temperature=1.0)
    model.transitions.copy_(torch.tensor([[1, 9, 0], [1, 9, 0], [1, 9, 0]]))
    assert model.predict([episode])[0][0].spans == [Span(0, 3, "x")]


def test_every_copy_is_tuned_until_its_loss_has_risen(model: Container) -> None:
    episodes = [synthetic.episode(2, synthetic.TYPES[:ways]) for ways in (1, 5)]
    config = model.adaptation({"steps": 30, "learning_rate": 0.03, "dropout": False})
    together = support_losses(model.adapted(episodes, config), episodes)
    ends = []
    for episode, loss in zip(episodes, together, strict=True):
        losses: list[float] = []

        def note(step: int, copy: Container, losses: list[float] = losses) -> bool:
            losses.append(copy.support_losses.item())
            return len(losses) < 2 or losses[-1] <= losses[-2]

        alone = adapt(model, [episode], config, note)
        assert support_losses(alone, [episode]) == pytest.approx([loss], rel=1e-3)
        ends.append(len(losses))
    assert ends[0] != ends[1]
    assert max(ends) < config.steps


def test_every_copy_has_the_weights_of_its_own_end(model: Container) -> None:
    episodes = [synthetic.episode(2, synthetic.TYPES[:ways]) for ways in (1, 5)]
    config = model.adaptation({"steps": 30, "learning_rate": 0.03, "dropout": False})
    seen: list[tuple[list[float], list[torch.Tensor]]] = []  # losses before a step, weights after

    def note(step: int, copies: Container) -> bool:
        seen.append((copies.support_losses.tolist(), [each.clone() for each in tuned(copies)]))
        return True

    adapt(model, episodes, config, note)
    adapted = tuned(model.adapted(episodes, config))
    ends = set()
    for number in range(2):
        losses = [before[number] for before, _ in seen]
        end = next(step for step in range(1, len(losses)) if losses[step] > losses[step - 1])
        for weight, then in zip(adapted, seen[end][1], strict=True):
            assert torch.equal(weight[number], then[number])
        ends.add(end)
    assert len(ends) == 2


def test_transitions_are_those_of_the_training_data(model: Container) -> None:
    sentences = synthetic.corpus(1, 12)
    assert not model.transitions.any()
    model.begin_training(iter(sentences), steps=1)
    assert torch.equal(model.transitions, count_transitions(sentences))
    assert model.transitions.any()


def test_its_end_is_not_replaced_by_another_rule(model: Container) -> None:
    config = model.adaptation({"early_stopping": True})
    with pytest.raises(ConfigError, match=r"CONTaiNER ends its .*early_stopping=false"):
        predict_adapted(model, [synthetic.episode(2)], config)


def tuned(model: Container) -> list[torch.Tensor]:
    return [weight.detach() for weight in model.parameters() if weight.requires_grad]


def support_losses(model: Container, episodes: list[Episode]) -> list[float]:
    with torch.no_grad():
        batch = model.support_batch(episodes)
        return model.losses(batch.sentences.words, batch.support).tolist()


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"size": 0}, {"dropout": 1.0}, {"temperature": 0.0}):
        with pytest.raises(ConfigError, match=f"model.{next(iter(wrong))}"):
            ContainerConfig(**wrong)
