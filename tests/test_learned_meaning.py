"""What tells types apart in what spans mean: learned from some types, it holds for others."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import synthetic
import torch
import torch.nn.functional as F
from asking import everything, weighing
from torch import Tensor

from spanproto import learned_meaning
from spanproto.data.types import Sentence, Span
from spanproto.decision import DecisionConfig
from spanproto.encoder import Encoder
from spanproto.errors import ConfigError, DataError
from spanproto.judging import Candidate, judge
from spanproto.learned_meaning import (
    MapConfig,
    MeaningMap,
    label_groups,
    learn_map,
    read_layers,
)
from spanproto.meaning import Meaning, alikeness
from spanproto.model import ModelConfig, SpanProto

HIDDEN, VIEWS, TELLING = 24, 4, 4
LAYERS = (2, 3)
QUICK = MapConfig(steps=60, ways=6, weight_decay=0.1, dropout=0.1, learning_rate=3e-3)


def mentions(types: int, each: int, seed: int) -> tuple[Tensor, list[str]]:
    """Views of which a few numbers tell the type, drowned in others that vary by themselves."""
    generator = torch.Generator().manual_seed(seed)
    views = torch.randn(types, each, VIEWS, HIDDEN, generator=generator)
    kinds = 1.0 * torch.randn(types, 1, VIEWS, TELLING, generator=generator)
    noise = 0.4 * torch.randn(types, each, VIEWS, TELLING, generator=generator)
    views[..., :TELLING] = kinds + noise
    return views.flatten(0, 1), [f"t{number}" for number in range(types) for _ in range(each)]


def learned_from(
    views: Tensor, labels: list[str], config: MapConfig = QUICK, seed: int = 0
) -> MeaningMap:
    return learn_map(views, labels, [set(labels)], LAYERS, config, seed)


def told_by(vectors: Tensor, labels: list[str]) -> float:
    """The share of mentions (M, V, h) told right by the cosine with the first of each type."""
    types = sorted(set(labels))
    known = torch.stack([vectors[labels.index(name)] for name in types])
    found = torch.einsum("mvh,svh->ms", vectors, known).argmax(1).tolist()
    return sum(types[at] == label for at, label in zip(found, labels, strict=True)) / len(labels)


def test_what_is_learned_from_some_types_tells_others_apart() -> None:
    longer = replace(QUICK, steps=150, learning_rate=1e-2)
    learned = learned_from(*mentions(60, 12, seed=0), longer, seed=1)
    views, labels = mentions(6, 20, seed=9)  # types of their own
    by_cosines = told_by(F.normalize(views, dim=-1), labels)
    as_learned = told_by(learned(views)[:, None], labels)
    assert by_cosines < 0.75
    assert as_learned > 0.9
    assert not any(parameter.requires_grad for parameter in learned.parameters())


def test_the_same_seed_gives_the_same_map_whatever_was_drawn_before() -> None:
    views, labels = mentions(8, 6, seed=0)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    one = learned_from(views, labels, seed=3)
    assert torch.equal(state, torch.get_rng_state())
    torch.manual_seed(2)
    again = learned_from(views, labels, seed=3)
    other = learned_from(views, labels, seed=4)
    assert torch.equal(one.linear.weight, again.linear.weight)
    assert not torch.equal(one.linear.weight, other.linear.weight)


def test_the_map_by_hand() -> None:
    learned = MeaningMap((1,), 2)
    learned.centre = torch.tensor([[0.6, 0.0], [0.0, 0.0]])
    learned.linear.weight.data = torch.tensor([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 0.0]])
    # Directions (0.6, 0.8) and (0, 1); from the centre (0, 0.8) and (0, 1); mapped (2, 0.8).
    found = learned(torch.tensor([[[3.0, 4.0], [0.0, 5.0]]]))
    assert torch.allclose(found, torch.tensor([[2.0, 0.8]]) / (4 + 0.64) ** 0.5)


def test_rare_types_are_learned_from_as_far_as_they_go() -> None:
    views, labels = mentions(4, 9, seed=0)
    kept = [number for number, label in enumerate(labels) if label != "t3"]
    kept += [number for number, label in enumerate(labels) if label == "t3"][:2]
    rare = [labels[number] for number in kept]
    assert Counter(rare)["t3"] == 2
    learned = learned_from(views[kept], rare)
    assert learned.linear.weight.isfinite().all()


@pytest.mark.parametrize("labels", [["a"] * 5, ["a", "a", "a", "a", "b"], []])
def test_types_that_cannot_be_told_apart_are_complained_of(labels: list[str]) -> None:
    with pytest.raises(DataError, match="two types or more with two mentions each"):
        learned_from(torch.randn(len(labels), VIEWS, HIDDEN), labels)


def test_the_layers_that_are_read_are_spread_over_the_upper_two_thirds() -> None:
    assert read_layers(12, 5) == (4, 6, 8, 10, 12)
    assert read_layers(6, 5) == (2, 3, 4, 5, 6)
    assert read_layers(2, 5) == (1, 2)
    assert read_layers(12, 1) == (12,)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("steps", 0, "steps of the map must be positive"),
        ("first_scale", 0.0, "first_scale of the map must be positive"),
        ("ways", 1, "ways of the map must be at least 2"),
        ("weight_decay", -1.0, "weight_decay of the map must not be negative"),
        ("dropout", 1.0, "dropout of the map is a share"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str, value: float, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        MapConfig(**{name: value})


def test_types_are_told_from_those_of_corpora_that_label_alike() -> None:
    def corpus(*labels: str) -> list[Sentence]:
        spans = (Span(at, at + 1, label) for at, label in enumerate(labels))
        return [Sentence(("word",) * len(labels), tuple(spans))] if labels else []

    corpora = [corpus("PER", "LOC"), corpus("person"), corpus("LOC", "ORG"), corpus(), corpus("x")]
    groups = label_groups([*corpora, corpus("person", "x")])
    assert sorted(map(sorted, groups)) == [[], ["LOC", "ORG", "PER"], ["person", "x"]]


def test_types_of_other_groups_are_not_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    views, labels = mentions(4, 6, seed=0)
    together: list[set[str]] = []
    scales: list[float] = []
    compared = learned_meaning._episode_loss

    def noting(learned: MeaningMap, views: Tensor, drawn: Any, *how: float) -> Tensor:
        together.append({labels[n] for pair in drawn for part in pair for n in part})
        scales.append(how[0])
        return compared(learned, views, drawn, *how)

    monkeypatch.setattr(learned_meaning, "_episode_loss", noting)
    learn_map(views, labels, [{"t0", "t1"}, {"t2", "t3"}], LAYERS, QUICK, seed=0)
    assert all(one in ({"t0", "t1"}, {"t2", "t3"}) for one in together)
    assert together.count({"t0", "t1"}) > 0 < together.count({"t2", "t3"})
    assert scales[0] == QUICK.first_scale
    assert scales == sorted(scales, reverse=True)
    assert scales[-1] == pytest.approx(QUICK.last_scale, rel=0.05)


def test_the_states_of_layers_are_those_of_the_encoder(pretrained: Encoder) -> None:
    pretrained.eval()
    words = pretrained.words.batch([("the", "rivera", "toola")])  # by itself in its row
    with torch.no_grad():
        states = pretrained.states_of(words, range(1, pretrained.layer_count + 1))
        own = pretrained(words)
        read = {"attention_mask": words.attention_mask, "output_hidden_states": True}
        hidden = pretrained.transformer(words.input_ids, **read).hidden_states
    assert all(torch.equal(one, other) for one, other in zip(states[-1], own, strict=True))
    for (first, last), layer in zip(states, hidden[1:], strict=True):
        assert torch.allclose(first[0], layer[0, words.first[0]], atol=1e-5)
        assert torch.allclose(last[0], layer[0, words.last[0]], atol=1e-5)


def test_a_learned_map_is_a_third_vector_beside_the_two(pretrained: Encoder) -> None:
    sentences = synthetic.corpus(4, 40)
    asked = Meaning(pretrained)
    texts = [sentence.words for sentence in sentences]
    spans = [(at, s.start, s.end) for at, sentence in enumerate(sentences) for s in sentence.spans]
    before = asked.vectors(texts, spans)
    assert before.shape[1] == 2
    quick = MapConfig(steps=5, mentions=50)
    asked.learned = asked.learn([sentences], quick, seed=2)
    after = asked.vectors(texts, spans)
    assert after.shape == (len(spans), 3, pretrained.hidden_size)
    assert torch.allclose(after[:, :2], before, atol=1e-5)
    assert torch.allclose(after.norm(dim=-1), torch.ones(len(spans), 3), atol=1e-5)
    twin = Meaning(pretrained, asked.learn([sentences[:20], sentences], quick, seed=2))
    assert torch.equal(twin.vectors(texts, spans), after)  # a mention counts but once


def test_what_is_learned_is_added_to_the_mean_of_the_two_cosines() -> None:
    vectors = torch.tensor([[[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]])
    known = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.8, 0.6]]])
    assert alikeness(vectors, known).item() == pytest.approx((1.0 + 0.6 + 0.6) / 2)
    half = alikeness(vectors, known, learned=0.5)
    assert half.item() == pytest.approx((1.0 + 0.6 + 0.3) / 2)
    assert alikeness(vectors[:, :2], known[:, :2]).item() == pytest.approx((1.0 + 0.6) / 2)


def test_a_model_that_learned_it_judges_by_it(tiny_model: SpanProto, pretrained: Encoder) -> None:
    episodes = [synthetic.episode(2)]

    def found(learned: float = 1.0) -> list[Candidate]:
        return everything(judge(asking.with_settings(weight_of(asking, learned)), episodes))

    asking = weighing(tiny_model, meaning_weight=2.0)
    asking.ask_meaning(pretrained)
    plain = found()
    learned = Meaning(pretrained).learn([synthetic.corpus(5, 40)], seed=1)
    asking.ask_meaning(pretrained, learned)
    assert [candidate.span[:2] for candidate in plain] == [c.span[:2] for c in found()]
    for one, whole, half, none in zip(plain, found(), found(0.5), found(0.0), strict=True):
        assert one.meanings != whole.meanings
        assert one.meanings == pytest.approx(none.meanings, abs=1e-5)
        middle = [(a + b) / 2 for a, b in zip(whole.meanings, none.meanings, strict=True)]
        assert half.meanings == pytest.approx(middle, abs=1e-5)


def test_what_was_told_with_a_map_is_not_compared_without_it() -> None:
    with_map, without = torch.ones(1, 3, 2), torch.ones(1, 2, 2)
    for spans, examples in ((with_map, without), (without, with_map)):
        with pytest.raises(DataError, match="ask the same as in the fit, or fit the model again"):
            alikeness(spans, examples)


def weight_of(model: SpanProto, learned: float) -> ModelConfig:
    decision = replace(model.config.decision, learned_in_meaning=learned)
    return replace(model.config, decision=decision)


def test_the_map_weighs_no_less_than_nothing() -> None:
    with pytest.raises(ConfigError, match=r"decision\.learned_in_meaning must not be negative"):
        DecisionConfig(learned_in_meaning=-0.5)
