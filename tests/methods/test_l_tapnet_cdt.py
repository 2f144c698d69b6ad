"""L-TapNet+CDT by hand: the space of an episode, the loss, the tags, and the vectors of labels."""

from dataclasses import replace
from math import exp, log
from pathlib import Path

import pytest
import synthetic
import torch
from by_hand import looked_up

from spanproto.data.types import Episode, Sentence, Span
from spanproto.encoder import EncoderConfig
from spanproto.errors import ConfigError
from spanproto.methods.l_tapnet_cdt import (
    LTapNetCdt,
    LTapNetCdtConfig,
    similarity_beside,
    tag_names,
    task_directions,
)
from spanproto.methods.parts.pairs import one_query_each

# Where the three tags O, B and I have these labels, of mean 0, and the words below as prototypes,
# the normalised differences are (0.6, -0.6, 0, 0), (0.6, 0, -0.6, 0) and (-1, -1, 0, 0): the last
# dimension alone is left. There the references are 0.3 * 8 + 0.7 * 0.8 = 2.96 for O, -2.96 for B
# and 0 for I, to be multiplied with the last number of a query word.
LABELS = torch.tensor([[0.6, 0, 0, 0.8], [0.6, 0, 0, -0.8], [-1.2, 0, 0, 0]])
VECTORS = {
    "the": (0, 6, 0, 8),
    "old": (0, 0, 6, -8),
    "tool": (0, 5, 0, 0),
    "near": (9, 9, 9, 0.5),
    "seen": (9, 9, 9, -0.5),
}
SUPPORT = (Sentence(("the", "old", "tool"), (Span(1, 3, "x"),)),)


@pytest.fixture
def model(tiny_encoder: Path) -> LTapNetCdt:
    torch.manual_seed(0)
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    return LTapNetCdt.from_config(LTapNetCdtConfig(encoder, pairwise=False)).eval()


@pytest.fixture
def given(model: LTapNetCdt, monkeypatch: pytest.MonkeyPatch) -> LTapNetCdt:
    """The model with these labels and words, and no transition better than another."""
    states = looked_up(model, VECTORS)
    monkeypatch.setattr(model, "embed", lambda batch: states(batch.tagged.sentences.words))
    monkeypatch.setattr(
        model, "label_vectors", lambda batch: LABELS.expand(len(batch.tagged.allowed), -1, -1)
    )
    with torch.no_grad():
        for parameter in model.transitions.parameters():
            parameter.zero_()
    return model


def episode(*query: Sentence) -> Episode:
    return Episode(("x",), SUPPORT, query)


def test_the_space_beside_two_differences() -> None:
    labels = torch.tensor([[[1.0, 0, 0], [-1, 0, 0]]])
    centres = torch.tensor([[[0.0, 5, 0], [0, 0, 2]]])
    basis = task_directions(labels, centres, torch.ones(1, 2, dtype=torch.bool))
    # The differences (1, -1, 0) and (-1, 0, -1) leave (1, 1, -1) / sqrt(3).
    words, references = torch.tensor([[[1.0, 2, 0]]]), torch.tensor([[[0.0, 1, 1], [3, 0, 0]]])
    found = similarity_beside(words, references, basis)
    assert found[0, 0].tolist() == pytest.approx([0, 3], abs=1e-5)


def test_the_space_is_that_of_the_other_singular_vectors() -> None:
    torch.manual_seed(0)
    labels, centres = torch.randn(2, 5, 12), torch.randn(2, 5, 12)
    words, references = torch.randn(2, 7, 12), torch.randn(2, 5, 12)
    allowed = torch.tensor([[True] * 5, [True, False, False, True, True]])
    found = similarity_beside(words, references, task_directions(labels, centres, allowed))
    for at in range(2):
        own, means = labels[at, allowed[at]], centres[at, allowed[at]]
        others = torch.stack([torch.cat((own[:i], own[i + 1 :])).mean(0) for i in range(len(own))])
        normal = torch.nn.functional.normalize
        errors = normal(own - others, dim=1) - normal(means, dim=1)
        space = torch.linalg.svd(errors, full_matrices=True).Vh[len(own) :].T
        assert (errors @ space).abs().max() < 1e-5
        expected = (words[at] @ space) @ (references[at] @ space).T
        torch.testing.assert_close(found[at], expected, atol=1e-4, rtol=1e-4)


def test_the_loss_of_one_episode(given: LTapNetCdt) -> None:
    query = (
        Sentence(("near", "seen"), (Span(1, 2, "x"),)),
        Sentence(("near",), (Span(0, 1, "x"),)),
    )
    loss = given.loss(given.prepare([episode(*query)], 1))
    right = log(exp(1.48) + exp(-1.48) + 1) - 1.48
    assert loss.item() == pytest.approx((2 * right + (right + 2.96)) / 2, rel=1e-4)


def test_words_are_read_in_pairs(tiny_encoder: Path) -> None:
    encoder = EncoderConfig(str(tiny_encoder), dropout=0.0)
    model = LTapNetCdt.from_config(LTapNetCdtConfig(encoder)).eval()
    batch = model.batch(one_query_each([synthetic.episode(1, query=2)]))
    assert batch.pairs is not None
    expected = batch.pairs.rows(model.encoder.first_states(batch.pairs.words))
    torch.testing.assert_close(model.embed(batch), expected)


def test_emissions_are_scaled(given: LTapNetCdt) -> None:
    batch = given.batch([episode(Sentence(("near", "seen")))])
    before, _ = given.emissions(batch)
    with torch.no_grad():
        given.scale.log.add_(log(3))
    after, _ = given.emissions(batch)
    torch.testing.assert_close(after, 3 * before)


def test_the_scale_begins_where_words_can_be_told_apart(model: LTapNetCdt) -> None:
    model.begin_training(iter(synthetic.corpus(1, 12)), steps=1)
    words = model.encoder.words.batch([sentence.words for sentence in synthetic.corpus(1, 12)])
    states = model.encoder.first_states(words)[words.word_mask]
    assert model.scale(states @ states.mT).std().item() == pytest.approx(model.config.spread)


def test_the_space_is_not_learned_through(
    given: LTapNetCdt, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []

    def directions(labels: torch.Tensor, centres: torch.Tensor, allowed: torch.Tensor):
        seen.extend((labels.requires_grad, centres.requires_grad))
        return task_directions(labels, centres, allowed)

    monkeypatch.setattr("spanproto.methods.l_tapnet_cdt.task_directions", directions)
    embed = given.embed
    monkeypatch.setattr(given, "embed", lambda batch: embed(batch).clone().requires_grad_())
    learned = LABELS.clone().requires_grad_()
    monkeypatch.setattr(given, "label_vectors", lambda batch: learned.expand(1, -1, -1))
    given.loss(given.batch([episode(Sentence(("near",)))])).backward()
    assert seen == [False, False]
    assert learned.grad is not None


def test_the_best_tags(given: LTapNetCdt) -> None:
    def found(*words: str) -> list[Span]:
        return given.predict([episode(Sentence(words))])[0][0].spans

    assert found("near", "seen", "seen") == [Span(1, 2, "x"), Span(2, 3, "x")]
    with torch.no_grad():
        given.transitions.table[1, 2] = 9.0  # I after B of the same type
    assert found("near", "seen", "seen") == [Span(1, 3, "x")]
    with torch.no_grad():
        given.transitions.end[2] = -99.0
    assert found("near", "seen", "seen", "near") == [Span(1, 3, "x")]
    assert found("near", "seen", "seen") != [Span(1, 3, "x")]


def test_sentences_with_unknown_types_and_no_words_have_no_part_in_the_loss(
    given: LTapNetCdt,
) -> None:
    one = replace(episode(Sentence(("near",))), types=("x",))
    more = Sentence(("seen", "seen"), (Span(0, 1, "y"),))
    labels = torch.cat((LABELS, torch.ones(2, 4)))  # of a type without support
    alone = given.loss(given.prepare([one], 1))
    given.label_vectors = lambda batch: labels[None]
    both = Episode(("x", "y"), SUPPORT, (*one.query, more, Sentence(())))
    assert given.loss(given.prepare([both], 1)).item() == pytest.approx(alone.item(), rel=1e-4)


def test_names_of_tags(model: LTapNetCdt) -> None:
    two = Episode(
        ("person-actor", "city"), (Sentence(("a",), (Span(0, 1, "city"),)),), (Sentence(("a",)),)
    )
    names, row = tag_names([two, episode()], model.encoder.words)
    assert row.tolist() == [[0, 3, 4, 1, 2], [0, 5, 6, 0, 0]]
    assert names.word_mask.sum(1).tolist() == [1, 2, 2, 3, 3, 2, 2]


@pytest.mark.parametrize(("spelled_out", "person"), [(True, "person"), (False, "per")])
def test_abbreviations_are_written_out(
    model: LTapNetCdt, monkeypatch, spelled_out: bool, person: str
) -> None:
    read: list[tuple[str, ...]] = []
    batch = model.encoder.words.batch
    monkeypatch.setattr(
        model.encoder.words, "batch", lambda names: read.extend(names) or batch(names)
    )
    some = Episode(("PER", "event"), (Sentence(("a",), (Span(0, 1, "PER"),)),), (Sentence(("a",)),))
    tag_names([some], model.encoder.words, spelled_out)
    assert [" ".join(name) for name in read] == [
        "ordinary",
        f"begin {person}",
        f"inner {person}",
        "begin event",
        "inner event",
    ]


def test_a_label_is_half_its_name_and_half_an_anchor(model: LTapNetCdt) -> None:
    batch = model.batch([synthetic.episode(1), synthetic.episode(2)])
    with torch.no_grad():
        vectors = model.label_vectors(batch)
        named = model.encoder.opening_states(batch.names)[batch.name]
        torch.testing.assert_close(vectors, (named + model.anchors[:7]) / 2)
        first, second = (2 * model.train().label_vectors(batch) - named for _ in range(2))
    assert not torch.allclose(first, second)  # in training anchors are dealt out by chance
    near = (first[:, :, None] - model.anchors).norm(dim=-1) < 1e-4  # (E, T, A)
    assert near.any(2).all()
    assert (near.sum(1) <= 1).all()  # no two tags of an episode have the same


def test_more_tags_than_anchors_share_them(model: LTapNetCdt) -> None:
    few = LTapNetCdt(model.encoder, replace(model.config, anchors=2)).eval()
    batch = few.batch([synthetic.episode(1)])
    with torch.no_grad():
        named = few.encoder.opening_states(batch.names)[batch.name]
        mixed = 2 * few.label_vectors(batch) - named
    torch.testing.assert_close(mixed[0], few.anchors.detach()[[0, 1, 0, 1, 0, 1, 0]])


def test_settings_that_make_no_sense_are_refused() -> None:
    for wrong in ({"anchors": 0}, {"anchor_share": 1.5}, {"prototype_share": -0.1}):
        with pytest.raises(ConfigError, match=f"model.{next(iter(wrong))}"):
            LTapNetCdtConfig(**wrong)
