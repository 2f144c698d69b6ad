"""DecomMeta by hand: the losses and decisions of both stages, and how a step moves them."""

from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import looked_up

from spanproto.adaptation import adapt
from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.decommeta import (
    DecomMeta,
    DecomMetaConfig,
    detection_loss,
    legal_scores,
    similarity_scores,
)
from spanproto.methods.parts.viterbi import viterbi
from spanproto.training.optimization import make_optimizer
from spanproto.training.settings import TrainingConfig

CPU = torch.device("cpu")


@pytest.fixture
def model(tiny_encoder: Path) -> DecomMeta:
    torch.manual_seed(0)
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    return DecomMeta.from_config(DecomMetaConfig(encoder, dropout=0.0)).eval()


def test_the_detection_loss_of_two_episodes() -> None:
    # Losses of log 2 and log 3 in the first sentence, log 4 in the second, log 5 in the other
    # episode, which also has a row of padding.
    weights = torch.tensor([[2.0, 3], [4, 1], [5, 1], [1, 1]])
    logits = torch.stack((torch.zeros_like(weights), (weights - 1).log()), -1)
    tags = torch.tensor([[0, 0], [0, -1], [0, -1], [-1, -1]])
    found = detection_loss(logits, tags, torch.tensor([0, 0, 1, 1]), 2, worst_weight=2.0)
    first = (log(2) + log(3) + log(4)) / 3 + 2 * (log(3) + log(4)) / 2
    assert found.item() == pytest.approx((first + 3 * log(5)) / 2, rel=1e-5)


def test_no_words_are_no_trouble() -> None:
    for length in (0, 2):
        tags, number = torch.full((2, length), -1), torch.tensor([0, 1])
        assert detection_loss(torch.zeros(2, length, 5), tags, number, 2, 2.0) == 0


def test_types_by_hand() -> None:
    support = torch.tensor([[[1.0, 0], [3, 2], [0, 1]]])
    kind, query = torch.tensor([[0, 0, 2]]), torch.tensor([[[1.0, 2]]])
    # The prototypes are (2, 1) and (0, 1); the type between them has none.
    found = similarity_scores(support, kind, query, 3, scale=10.0)
    assert found[0, 0].tolist() == [20, -torch.inf, 10]


def test_only_legal_tags_are_found() -> None:
    torch.manual_seed(0)
    mask = torch.arange(6) < torch.randint(1, 7, (300,))[:, None]
    start, transitions, end = legal_scores(CPU)
    tags = viterbi(torch.randn(300, 6, 5), start, transitions, mask, end)
    legal = {"OO", "OB", "OS", "BI", "BE", "II", "IE", "EO", "EB", "ES", "SO", "SB", "SS"}
    seen = set()
    for row, size in zip(tags.tolist(), mask.sum(1).tolist(), strict=True):
        letters = "O" + "".join("OBIES"[tag] for tag in row[:size]) + "O"
        seen |= {letters[at : at + 2] for at in range(len(letters) - 1)}
    assert seen == legal


SUPPORT = (
    Sentence(("the", "seen", "seen"), (Span(1, 3, "y"),)),
    Sentence(("old",), (Span(0, 1, "x"),)),
)


@pytest.fixture
def by_hand(model: DecomMeta, monkeypatch: pytest.MonkeyPatch) -> DecomMeta:
    """Words' states are logits of O, B, I, E and S; the typing encoder has two other numbers.

    Normalising makes (1, -1) of those two where the first is larger, as in x, and else (-1, 1).
    """
    tags = {"the": (9, 0, 0, 0, 0), "old": (0, 9, 0, 0, 0), "near": (0, 0, 0, 9, 0)}
    tags["tool"] = (0, 8, 0, 0, 7)  # as one word S is best: a B has to be followed
    kinds = {"old": (1, 0), "near": (3, 0), "tool": (0, 1), "seen": (0, 5), "the": (0, 0)}
    states = looked_up(model, kinds)
    monkeypatch.setattr(model.encoder, "first_states", looked_up(model, tags))
    monkeypatch.setattr(model.typing_encoder, "forward", lambda words: (states(words),) * 2)
    model.detector = torch.nn.Identity()
    model.norm = torch.nn.LayerNorm(2)
    return model


def test_found_spans_are_typed(by_hand: DecomMeta) -> None:
    query = (Sentence(("tool", "the", "old", "near")), Sentence(("the",)))
    ((first, second),) = by_hand.predict([Episode(("z", "x", "y"), SUPPORT, query)])
    assert first.spans == [Span(0, 1, "y"), Span(2, 4, "x")]
    assert first.candidates == [(0, 1), (2, 4)]
    assert (second.spans, second.candidates) == ([], [])


def test_the_likeliest_tags_are_those_of_the_largest_product(
    by_hand: DecomMeta, monkeypatch: pytest.MonkeyPatch
) -> None:
    # S O has 0.3 * 0.42, and B E 0.6 * 0.15, though the sum of these two is larger.
    shares = torch.tensor([[0.09, 0.6, 0.005, 0.005, 0.3], [0.42, 0.0001, 0.4298, 0.15, 0.0001]])
    monkeypatch.setattr(by_hand, "detect", lambda words: shares.log()[None])
    query = (Sentence(("old", "tool")),)
    ((found,),) = by_hand.predict([Episode(("x", "y"), SUPPORT, query)])
    assert found.candidates == [(0, 1)]


def test_the_typing_loss_by_hand(by_hand: DecomMeta) -> None:
    torch.nn.init.constant_(by_hand.norm.weight, 0.2)
    # The products of (0.2, -0.2) with both prototypes are 0.08 and -0.08, times 10 / 2. One span
    # is where its type is, the other where the other type is.
    query = (Sentence(("old", "tool"), (Span(0, 1, "x"), Span(1, 2, "x"))),)
    episode = Episode(("x", "y"), SUPPORT, query)
    support, asked = (by_hand.batch([episode], part, False) for part in ("support", "query"))
    typing = by_hand.losses(support, asked, 0.0).typing
    assert typing.item() == pytest.approx((log(1 + exp(-0.8)) + log(1 + exp(0.8))) / 2, rel=1e-4)


def test_the_gradient_is_that_of_the_query_loss_at_the_adapted_weights(model: DecomMeta) -> None:
    model.train()
    episode = synthetic.episode(5)
    batch = model.prepare([episode], 1)
    terms = model.gradients(batch, 1, seed=0)
    inner = model.adaptation({"steps": 2, "learning_rate": 3e-5, "seed": 0})
    assert not inner.decay
    copy = adapt(model, [episode], inner).train()
    copy.zero_grad(set_to_none=True)
    expected = copy.losses(batch.support, batch.query, worst_weight=2.0)
    expected.total.backward()
    assert terms["detection"] == expected.detection
    assert terms["typing"] == expected.typing
    stacked = dict(copy.named_parameters())
    for name, parameter in model.named_parameters():
        if "embeddings" in name:
            assert parameter.grad is None
        else:
            torch.testing.assert_close(parameter.grad, stacked[name].grad[0])


def test_fine_tuning_cares_more_for_the_worst_words(model: DecomMeta) -> None:
    batch = model.support_batch([synthetic.episode(1)])
    with torch.no_grad():
        fine_tuning = model.support_loss(batch, model.adaptation({}))
        five, none = (model.losses(batch, batch, weight) for weight in (5.0, 0.0))
    assert fine_tuning == five.total
    assert five.detection > none.detection
    assert five.typing == none.typing


def test_the_stages_share_nothing_and_the_typing_network_is_trained_faster(
    model: DecomMeta,
) -> None:
    first, second = (
        next(encoder.transformer.parameters()) for encoder in (model.encoder, model.typing_encoder)
    )
    assert torch.equal(first, second)
    assert first.data_ptr() != second.data_ptr()
    groups = make_optimizer(model, TrainingConfig(learning_rate=3e-5)).param_groups
    rates = {id(p): group["base_lr"] for group in groups for p in group["params"]}
    for name, parameter in model.named_parameters():
        faster = name.startswith(("typing_encoder.", "norm."))
        assert rates[id(parameter)] == pytest.approx(1e-4 if faster else 3e-5)


def test_both_stages_drop_states_in_training(model: DecomMeta) -> None:
    model.dropout.p = 0.9
    batch = model.batch([synthetic.episode(1)], "support", even=False)
    for asked in (lambda: model.detect(batch.sentences.words), lambda: model.represent(batch)):
        model.eval()
        plain = asked()
        assert torch.equal(asked(), plain)
        model.dropout.train()
        assert not torch.allclose(asked(), plain, atol=1e-3)


def test_settings_that_make_no_sense_are_refused() -> None:
    wrongs = ({"dropout": 1.0}, {"worst_weight": -1.0}, {"inner_steps": 0})
    for wrong in wrongs:
        with pytest.raises(ConfigError, match=f"model.{next(iter(wrong))}"):
            DecomMetaConfig(**wrong)
