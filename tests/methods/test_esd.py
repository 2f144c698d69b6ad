"""ESD by hand: attention that makes prototypes, scores, loss, and the spans found."""

from collections.abc import Mapping, Sequence
from math import exp, log, tanh
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import looked_up

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.extractor import NEVER
from spanproto.methods import esd
from spanproto.methods.esd import Esd, EsdConfig, SpanAttention, agreement, attended, span_scores


@pytest.fixture
def model(tiny_encoder: Path) -> Esd:
    torch.manual_seed(0)
    return Esd.from_config(EsdConfig(EncoderConfig(str(tiny_encoder)), size=8)).eval()


def with_spans(model: Esd, vectors: Mapping[str, Sequence[float]], monkeypatch) -> Esd:
    """The model with a span of words represented by the sum of theirs, and never enriched."""
    states_of = looked_up(model, vectors)

    def represent(batch):
        states = states_of(batch.sentences.words)
        places = zip(batch.spans.sentence, batch.spans.start, batch.spans.end, strict=True)
        return torch.stack([states[row, start:end].sum(0) for row, start, end in places])

    monkeypatch.setattr(model, "represent", represent)
    monkeypatch.setattr(model.across, "forward", lambda spans, others, exists=None: spans)
    return model


def test_a_span_is_its_first_words_start_and_its_last_words_end(model: Esd, monkeypatch) -> None:
    monkeypatch.setattr(model.in_sentence, "forward", lambda spans, others, exists=None: spans)
    batch = model.batch([synthetic.episode(1)])
    spans = model.represent(batch)
    start, end = model.encoder(batch.sentences.words)
    places = zip(batch.spans.sentence, batch.spans.start, batch.spans.end, strict=True)
    for found, (row, first, last) in zip(spans, places, strict=True):
        ends = model.start(start[row, first]) + model.end(end[row, last - 1])
        torch.testing.assert_close(found, model.joined(ends), atol=1e-5, rtol=1e-4)


def test_states_are_dropped_in_training(model: Esd, monkeypatch) -> None:
    dropped: list[torch.Tensor] = []

    def noting(states: torch.Tensor) -> torch.Tensor:
        dropped.append(states)
        return states

    monkeypatch.setattr(model.state_dropout, "forward", noting)
    model.represent(model.batch([synthetic.episode(1)]))
    assert len(dropped) == 2  # those of starts and of ends
    assert model.state_dropout.p == 0.5


def test_likeness_and_attention_by_hand() -> None:
    query, support = torch.tensor([[[1.0, 0]]]), torch.tensor([[[2.0, 0], [0, 1], [9, 9]]])
    assert agreement(query[0, 0], support[0]).tolist() == pytest.approx([tanh(2), 0, tanh(9)])
    of_kind = torch.tensor([[True, True, False], [False, False, True]])
    first = exp(tanh(2)) / (exp(tanh(2)) + 1)  # 0.7239
    means = attended(query, support, of_kind)[0, 0]
    torch.testing.assert_close(means, torch.tensor([[2 * first, 1 - first], [9.0, 9.0]]))


def test_scores_by_hand() -> None:
    """Two kinds of O, at (2, 0) and (0, 1), become one prototype; type 1 is at (1, 1)."""
    query = torch.tensor([[[1.0, 0]]])
    support = torch.tensor([[[2.0, 0], [0, 1], [1, 1]]])
    scores = span_scores(query, support, torch.tensor([0, 2, 3]), types=2)[0, 0]
    first = exp(tanh(2)) / (exp(tanh(2)) + 1)
    to_o = (1 - 2 * first) ** 2 + (1 - first) ** 2
    assert scores.tolist() == pytest.approx([-to_o, -1, NEVER])
    without_o = span_scores(query, support[:, 2:], torch.tensor([3]), types=1)[0, 0]
    assert without_o.tolist() == pytest.approx([NEVER, -1])


def plain_attention() -> SpanAttention:
    """Spans of two numbers plus their mean by attention, without projections, layers or norms."""
    attention = SpanAttention(2, 1, 0.0)
    with torch.no_grad():
        for parameter in attention.parameters():
            parameter.zero_()
        attention.attention.in_proj_weight.copy_(torch.eye(2).repeat(3, 1))
        attention.attention.out_proj.weight.copy_(torch.eye(2))
    attention.first_norm = attention.second_norm = torch.nn.Identity()
    return attention.eval()


def test_spans_hear_others_by_hand() -> None:
    attention = plain_attention()
    span, others = torch.tensor([[[2**0.5, 0]]]), torch.tensor([[[log(3), 5], [0, 1.0]]])
    # Products, over the root of 2, are log 3 and 0: three parts of the first and one of the other.
    heard = (2**0.5 + 0.75 * log(3), 4)
    assert attention(span, others)[0, 0].tolist() == pytest.approx(heard)
    # Normalised this is (-1, 1), to which the layers add 10 / 2 in the first place: (4, 1).
    with torch.no_grad():
        attention.layers[0].weight[0] = torch.tensor([-10.0, 0])
        attention.layers[3].weight[:, 0] = torch.tensor([0.5, 0])
    attention.first_norm = torch.nn.LayerNorm(2)
    assert attention(span, others)[0, 0].tolist() == pytest.approx((4, 1), rel=1e-4)
    attention.second_norm = torch.nn.LayerNorm(2)
    assert attention(span, others)[0, 0].tolist() == pytest.approx((1, -1), rel=1e-4)


def test_spans_hear_those_of_their_own_sentence(model: Esd, monkeypatch) -> None:
    size = (2**0.5 * log(3)) ** 0.5  # its square, over the root of 2, is log 3
    states = looked_up(model, {"the": (0, 0), "old": (size, 0), "near": (0, 3)})
    monkeypatch.setattr(model.encoder, "forward", lambda words: (states(words), 0 * states(words)))
    model.start = model.end = model.joined = torch.nn.Identity()
    model.in_sentence = plain_attention()
    model.config = EsdConfig(model.config.encoder, longest=1)
    support = (Sentence(("the", "old"), (Span(1, 2, "x"),)),)
    batch = model.batch([Episode(("x",), support, (Sentence(("near",)),))])
    places = zip(batch.spans.sentence.tolist(), batch.spans.start.tolist(), strict=True)
    found = dict(zip(places, model.represent(batch).tolist(), strict=True))
    assert found[0, 0] == pytest.approx((size / 2, 0))  # half of itself, half of "old"
    assert found[0, 1] == pytest.approx((1.75 * size, 0))  # a quarter of "the", the rest of itself
    assert found[1, 0] == pytest.approx((0, 6))  # nothing but itself


def test_query_and_support_spans_hear_each_other(model: Esd, monkeypatch) -> None:
    far = 2**0.5 * log(3)
    with_spans(model, {"the": (0, 0), "old": (0, far), "near": (0, 1)}, monkeypatch)
    model.across = plain_attention()
    model.config = EsdConfig(model.config.encoder, longest=1)
    query = (Sentence(("near",), (Span(0, 1, "x"),)),)
    loss = model.loss(model.prepare([Episode(("x",), SUPPORT, query)], 1))
    # The query span hears a quarter of O and three of x, and lies at 1 + 0.75 far; both of those
    # hear it, and lie at 1 and 1 + far. The squares differ by (0.75^2 - 0.25^2) far^2 = log(3)^2.
    assert loss.item() == pytest.approx(log(1 + exp(-(log(3) ** 2))), rel=1e-5)


VECTORS = {"the": (0, 0), "old": (0, 2), "near": (0, 0.5), "seen": (0, 1.5), "today": (3, 0)}
# Spans of one word: O lies at (0, 0), the one type at (0, 2).
SUPPORT = (Sentence(("the", "old"), (Span(1, 2, "x"),)),)


def test_the_loss_of_an_episode(model: Esd, monkeypatch) -> None:
    with_spans(model, VECTORS, monkeypatch)
    model.config = EsdConfig(model.config.encoder, longest=1)
    query = (Sentence(("near", "seen"), (Span(1, 2, "x"),)), Sentence(("seen",)))
    loss = model.loss(model.prepare([Episode(("x",), SUPPORT, query)], 1))
    # near: distances 0.25 to O and 2.25 to x; seen: 2.25 and 0.25.
    right, wrong = log(1 + exp(-2)), log(1 + exp(2))
    assert loss.item() == pytest.approx((right + right + wrong) / 3, rel=1e-5)


def test_episodes_with_few_types_learn_beside_one_with_many(model: Esd) -> None:
    types = tuple("abcdef")
    first = Sentence(("one", "two"), (Span(0, 1, "f"),))  # the first span has the last type
    many = Episode(types, (first,), (first,))
    few = Episode(
        ("a",),
        (Sentence(("one", "two", "three"), (Span(1, 2, "a"),)),),
        (Sentence(("one",), ()), Sentence(("one", "two", "three", "four"), (Span(0, 1, "a"),))),
    )
    with torch.no_grad():
        alone = [model.loss(model.batch([episode])) for episode in (many, few)]
        together = model.loss(model.batch([many, few]))
    assert together.item() == pytest.approx(sum(alone).item() / 2, rel=1e-4)


def test_what_is_found_and_how_conflicts_end(model: Esd, monkeypatch) -> None:
    """Kinds of O are at (0, 0) and, for the two words together, at (0, 2), where x is too."""
    with_spans(model, VECTORS | {"of": (0, -2)}, monkeypatch)
    query = (Sentence(("near", "seen", "near", "today")), Sentence(("of", "the")))
    support = (Sentence(("the", "of"), ()), Sentence(("old",), (Span(0, 1, "x"),)))
    model.config = EsdConfig(model.config.encoder, longest=2)
    ((one, two),) = model.predict([Episode(("x",), support, query)])
    # "near seen", "seen near" and "seen" are nearest to x, the first two at no distance.
    assert [span.label for span in one.spans] == ["x"]
    assert one.spans[0] in (Span(0, 2, "x"), Span(1, 3, "x"))
    assert two.spans == []
    assert one.candidates is None


def test_spans_hear_only_spans_that_exist() -> None:
    torch.manual_seed(0)
    attention = SpanAttention(8, 2, 0.0).eval()
    spans, others = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    exists = torch.tensor([[True, True, False, False]]).expand(2, -1)
    torch.testing.assert_close(
        attention(spans, others, exists), attention(spans, others[:, :2], None)
    )
    assert attention(spans, others, torch.zeros(2, 4).bool()).isfinite().all()


def test_small_parts_change_nothing(model: Esd, monkeypatch) -> None:
    episodes = [synthetic.episode(1, query=4), synthetic.episode(2, synthetic.TYPES[1:6])]
    results = []
    for values in (esd.VALUES_AT_ONCE, 1):
        monkeypatch.setattr(esd, "VALUES_AT_ONCE", values)
        model.zero_grad()
        loss = model.loss(model.prepare(episodes, 1))
        loss.backward()
        results.append((loss.detach(), model.start.weight.grad.clone()))
    torch.testing.assert_close(*results)


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"longest": 0}, {"size": 0}, {"heads": 3}, {"dropout": 1.0}):
        with pytest.raises(ConfigError, match=r"model\.(longest|size|dropout)"):
            EsdConfig(**wrong)
