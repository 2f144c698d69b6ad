"""What spans mean to the untouched encoder: by hand, and as evidence on spans."""

from dataclasses import replace

import pytest
import synthetic
import torch
from asking import TUNED, asking, everything, weighing
from test_prediction import assert_same
from torch import Tensor

from spanproto import meaning
from spanproto.balance import with_odds
from spanproto.batch import SpanPlaces
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DecisionConfig, log_odds
from spanproto.encoder import Encoder
from spanproto.judging import judge
from spanproto.meaning import (
    Meaning,
    alikeness,
    meaning_prototypes,
    query_vectors,
)
from spanproto.model import SpanProto
from spanproto.prediction import predict
from spanproto.support import support_prototypes

SENTENCES = [s.words for s in synthetic.corpus(4, 7)] + [("rivera",), ("the", "rivera", "toola")]
SPANS = [(0, 0, 2), (8, 1, 2), (7, 0, 1), (3, 1, 4), (0, 1, 2), (5, 2, 3), (8, 0, 3), (0, 0, 2)]


@pytest.fixture
def asked(pretrained: Encoder) -> Meaning:
    return Meaning(pretrained)


def unit(vector: Tensor) -> Tensor:
    return vector / vector.norm()


def mean_state(encoder: Encoder, words: tuple[str, ...], start: int, end: int) -> Tensor:
    """The unit vector of some words of one sentence, which is read by itself."""
    with torch.no_grad():
        first, last = encoder(encoder.words.batch([words]))
    return unit(sum(first[0, at] + last[0, at] for at in range(start, end)))


def two_vectors(encoder: Encoder, words: tuple[str, ...], start: int, end: int) -> Tensor:
    phrase = words[start:end]
    alone = mean_state(encoder, phrase, 0, len(phrase))
    return torch.stack((alone, mean_state(encoder, words, start, end)))


def examples_of(encoder: Encoder, episode: Episode, label: str) -> list[Tensor]:
    return [
        two_vectors(encoder, sentence.words, span.start, span.end)
        for sentence in episode.support
        for span in sentence.spans
        if span.label == label
    ]


def by_brute_force(encoder: Encoder, episode: Episode, row: int, place: tuple[int, int]) -> Tensor:
    """How alike words of a query sentence and the examples of each type are, one by one."""
    found = two_vectors(encoder, episode.query[row].words, *place)
    alike = []
    for label in episode.types:
        examples = examples_of(encoder, episode, label)
        if not examples:
            alike.append(torch.zeros(()))
            continue
        centres = [unit(sum(example[view] for example in examples)) for view in (0, 1)]
        alike.append(sum(found[view] @ centres[view] for view in (0, 1)) / 2)
    return torch.stack(alike)


# Names of types


def test_the_name_of_a_type_counts_beside_its_examples(asked: Meaning) -> None:
    episode = synthetic.UNEVEN[1]  # the last type has no examples
    encoder, words = asked.encoder, episode.query[0].words
    vectors = asked.vectors([words], [(0, 0, 1), (0, 1, 2)])
    plain, named = (
        alikeness(vectors, meaning_prototypes(asked, [synthetic.episode(2), episode], weight))
        for weight in (0.0, 1.5)
    )
    first = len(synthetic.episode(2).types)  # slot of the second episode
    called = {"river": ("river",), "tool": ("an", "old", "tool")}  # which has a description
    for row, place in enumerate(((0, 1), (1, 2))):
        alone = mean_state(encoder, words[slice(*place)], 0, 1)
        for at, label in enumerate(episode.types):
            more = torch.zeros(())
            if label in called:
                more = 1.5 * (alone @ mean_state(encoder, called[label], 0, len(called[label])))
            gained = named[row, first + at] - plain[row, first + at]
            torch.testing.assert_close(gained, more, atol=1e-5, rtol=1e-4)


def test_names_are_not_known_unless_they_are_weighed(
    eager_model: SpanProto, pretrained: Encoder
) -> None:
    episode = synthetic.episode(3)
    for weight in (0.0, 2.0):
        model = asking(eager_model, pretrained, names_in_meaning=weight)
        before, after = (
            support_prototypes(model, [e]).meanings for e in (episode, synthetic.renamed(episode))
        )
        assert torch.equal(before, after) == (weight == 0)


# The vectors of spans


def test_vectors_are_mean_states_of_length_one(asked: Meaning) -> None:
    found = asked.vectors(SENTENCES, SPANS)
    assert found.shape == (len(SPANS), 2, asked.encoder.hidden_size)
    torch.testing.assert_close(found.norm(dim=-1), torch.ones(len(SPANS), 2))
    for vectors, (number, start, end) in zip(found, SPANS, strict=True):
        expected = two_vectors(asked.encoder, SENTENCES[number], start, end)
        torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(found[0, 0], found[0, 1], atol=1e-3)


@pytest.mark.parametrize("at_once", [1, 3])
def test_vectors_do_not_depend_on_what_is_read_with_them(
    asked: Meaning, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    whole = asked.vectors(SENTENCES, SPANS)
    last = len(SENTENCES) - 1
    turned = asked.vectors(SENTENCES[::-1], [(last - n, s, e) for n, s, e in SPANS[::-1]])
    torch.testing.assert_close(turned.flip(0), whole, atol=1e-5, rtol=1e-4)
    alone = [asked.vectors([SENTENCES[n]], [(0, s, e)])[0] for n, s, e in SPANS]
    torch.testing.assert_close(torch.stack(alone), whole, atol=1e-5, rtol=1e-4)
    monkeypatch.setattr(meaning, "TEXTS_AT_ONCE", at_once)
    torch.testing.assert_close(asked.vectors(SENTENCES, SPANS), whole, atol=1e-5, rtol=1e-4)


def test_a_phrase_by_itself_is_the_same_in_all_sentences(asked: Meaning) -> None:
    sentences = [("the", "rivera", "toola"), ("rivera", "toola", "was", "seen", "today")]
    one, other = asked.vectors(sentences, [(0, 1, 3), (1, 0, 2)])
    assert torch.equal(one[0], other[0])
    assert not torch.allclose(one[1], other[1], atol=1e-3)


def test_no_spans_and_no_sentences(asked: Meaning) -> None:
    nothing = (0, 2, asked.encoder.hidden_size)
    assert asked.vectors(SENTENCES, []).shape == nothing
    assert asked.vectors([], []).shape == nothing


def test_the_encoder_that_is_asked_learns_nothing(pretrained: Encoder) -> None:
    asked = Meaning(pretrained.train())
    assert not any(module.training for module in asked.encoder.modules())
    assert not any(parameter.requires_grad for parameter in asked.encoder.parameters())
    assert not asked.vectors(SENTENCES, SPANS).requires_grad


# Prototypes and alikeness


def test_prototypes_by_hand(asked: Meaning) -> None:
    found = meaning_prototypes(asked, synthetic.UNEVEN)
    slots = [(episode, label) for episode in synthetic.UNEVEN for label in episode.types]
    assert found.shape == (len(slots), 2, asked.encoder.hidden_size)
    for centre, (episode, label) in zip(found, slots, strict=True):
        examples = examples_of(asked.encoder, episode, label)
        if examples:
            expected = torch.stack([unit(view) for view in sum(examples)])
            torch.testing.assert_close(centre, expected, atol=1e-5, rtol=1e-4)
        else:
            assert label == "fruit"
            assert not centre.any()


def test_alikeness_by_hand(tiny_model: SpanProto, asked: Meaning) -> None:
    episodes = synthetic.UNEVEN
    known = meaning_prototypes(asked, episodes)
    query = tiny_model.batch(episodes, "query")
    places = [(0, 0, 0, 2), (2, 0, 0, 1), (1, 1, 0, 2), (1, 0, 1, 2), (0, 2, 1, 3)]
    first = [0, len(episodes[0].query), len(episodes[0].query) + len(episodes[1].query)]
    columns = [torch.tensor(column) for column in zip(*places, strict=True)]
    rows = torch.tensor([first[number] + row for number, row, _, _ in places])
    vectors = query_vectors(asked, episodes, query, SpanPlaces(rows, *columns[2:]))
    alike = alikeness(vectors, known)
    assert alike.shape == (len(places), 7)
    assert alike.abs().max() <= 1 + 1e-6
    slots = [slice(0, 3), slice(3, 6), slice(6, 7)]
    for values, (number, row, *place) in zip(alike, places, strict=True):
        expected = by_brute_force(asked.encoder, episodes[number], row, tuple(place))
        torch.testing.assert_close(values[slots[number]], expected, atol=1e-5, rtol=1e-4)


def test_what_is_the_same_is_as_alike_as_can_be(tiny_model: SpanProto, asked: Meaning) -> None:
    shown = Sentence(("the", "rivera", "was", "seen"), (Span(1, 2, "river"),))
    tool = Sentence(("toola",), (Span(0, 1, "tool"),))
    episode = Episode(("river", "tool"), (shown, tool), (shown.unlabelled(),))
    spans = SpanPlaces(torch.tensor([0]), torch.tensor([1]), torch.tensor([2]))
    known = meaning_prototypes(asked, [episode])
    query = tiny_model.batch([episode], "query")
    alike = alikeness(query_vectors(asked, [episode], query, spans), known)[0].tolist()
    assert alike[0] == pytest.approx(1, abs=1e-5)
    assert -1 <= alike[1] < 0.999
    opposite = alikeness(query_vectors(asked, [episode], query, spans), -known)[0].tolist()
    assert opposite == pytest.approx([-value for value in alike])


def test_no_candidates(tiny_model: SpanProto, pretrained: Encoder) -> None:
    empty = SpanPlaces(*(torch.zeros(0, dtype=torch.long) for _ in range(3)))
    model = asking(tiny_model, pretrained, meaning_weight=1.0)
    episodes = synthetic.UNEVEN
    known = meaning_prototypes(model.meaning, episodes)
    query = model.batch(episodes, "query")
    assert alikeness(query_vectors(model.meaning, episodes, query, empty), known).shape == (0, 7)
    decision = replace(model.config.decision, floor=1.0)
    silent = model.with_settings(replace(model.config, decision=decision))
    assert everything(judge(silent, episodes)) == []


# Types nearer to what they mean


def test_types_are_moved_by_hand() -> None:
    log_p = torch.tensor([[0.2, 0.3, 0.0], [0.5, 0.5, 0.0]]).log()  # 0.5 and 0 are left for none
    change = torch.tensor([[3.0, 1.0, 2.0], [1.0, 1.0, 9.0]]).log()
    moved = with_odds(log_p, change).exp()
    # 0.2 * 3 and 0.3 * 1 are 6 to 3, of the 0.5 that they had together
    torch.testing.assert_close(moved, torch.tensor([[1 / 3, 1 / 6, 0.0], [0.5, 0.5, 0.0]]))


def test_none_is_as_probable_as_before() -> None:
    torch.manual_seed(0)
    log_p = torch.randn(50, 5).log_softmax(-1)[:, :4]
    change = 12 * torch.rand(50, 4)
    moved = with_odds(log_p, change)
    torch.testing.assert_close(moved.exp().sum(1), log_p.exp().sum(1))
    torch.testing.assert_close(
        (moved - log_p).diff(dim=1), change.diff(dim=1), atol=1e-4, rtol=1e-4
    )
    torch.testing.assert_close(with_odds(log_p, torch.zeros(50, 4)), log_p)
    torch.testing.assert_close(with_odds(log_p, torch.full((50, 4), 7.0)), log_p)
    assert with_odds(log_p[:0], change[:0]).shape == (0, 4)


def test_candidates_have_what_they_mean(tiny_model: SpanProto, pretrained: Encoder) -> None:
    judged = judge(asking(tiny_model, pretrained), synthetic.UNEVEN)
    compared = 0
    for episode, sentences in zip(synthetic.UNEVEN, judged, strict=True):
        for row, candidates in enumerate(sentences):
            for candidate in candidates:
                place = candidate.start, candidate.end
                expected = by_brute_force(pretrained, episode, row, place).tolist()
                assert candidate.meanings == pytest.approx(expected, abs=1e-4)
                assert all(-1 <= value <= 1 + 1e-6 for value in candidate.meanings)
                compared += 1
    assert compared > 30


def test_type_probabilities_follow_what_spans_mean(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    plain = everything(judge(weighing(tiny_model), synthetic.UNEVEN))
    model = asking(tiny_model, pretrained, meaning_in_type=20.0)
    found = everything(judge(model, synthetic.UNEVEN))
    for before, after in zip(plain, found, strict=True):
        assert (before.start, before.end) == (after.start, after.end)
        assert sum(after.type_probabilities) == pytest.approx(sum(before.type_probabilities))
        log_p = torch.tensor([before.type_probabilities]).log()
        moved = with_odds(log_p, 20 * torch.tensor([after.meanings])).exp()[0]
        assert after.type_probabilities == pytest.approx(moved.tolist(), abs=1e-3)
        assert after.distances == pytest.approx(before.distances, abs=1e-4)
    assert [c.label for c in found] != [c.label for c in plain]


def test_scores_count_what_spans_mean(tiny_model: SpanProto, pretrained: Encoder) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=1.5, type_weight=0.3)
    for candidate in everything(judge(model, synthetic.UNEVEN)):
        odds = log_odds(
            torch.tensor(candidate.boundary_score),
            torch.tensor(candidate.type_probabilities).log(),
            torch.zeros(()),
            model.config.decision,
            meaning=torch.tensor(candidate.meanings),
        )
        assert candidate.scores == pytest.approx(odds.sigmoid().tolist(), abs=1e-4)


def test_a_type_without_support_stays_out(tiny_model: SpanProto, pretrained: Encoder) -> None:
    for weight in (-9.0, 9.0):
        model = asking(tiny_model, pretrained, meaning_weight=weight)
        for candidate in everything(judge(model, synthetic.UNEVEN)[1:2]):
            assert candidate.meanings[2] == 0
            assert candidate.scores[2] == candidate.type_probabilities[2] == 0
            assert candidate.label != "fruit"


def test_old_odds_are_the_same_to_the_last_bit() -> None:
    torch.manual_seed(0)
    f, p, d, b, n = torch.randn(5, 100, 4)
    config = DecisionConfig("joint", 0.5, 0.05, 0.7, 1.3, -0.4, 0.2, -0.9, 0.6, bias=0.3)
    before = 0.7 * f + 1.3 * p + -0.4 * d + 0.2 * b + -0.9 * n + 0.6 * f + 0.3
    for meant in (0.0, p):
        found = log_odds(f, p, d, config, before=b, log_length=n, words=f, meaning=meant)
        assert torch.equal(found, before)


@pytest.mark.parametrize("adapted", [False, True])
def test_without_any_weight_it_is_as_if_nobody_was_asked(
    eager_model: SpanProto, pretrained: Encoder, adapted: bool
) -> None:
    episodes = synthetic.UNEVEN
    silent = asking(eager_model, pretrained, meaning_in_type=0.0, meaning_weight=0.0)
    assert eager_model.meaning is None
    pair = [weighing(eager_model), silent]
    if adapted:
        pair = [model.adapted(episodes, replace(TUNED, recall=True)) for model in pair]
    plain, found = (judge(model, episodes) for model in pair)
    for before, after in zip(everything(plain), everything(found), strict=True):
        assert before[:4] == after[:4]
        assert before.scores == pytest.approx(after.scores, abs=1e-4)
        assert after.meanings
        assert not before.meanings
    predictions = [predict(model, episodes) for model in pair]
    assert any(sentence.mentions for sentences in predictions[0] for sentence in sentences)
    assert_same(*predictions)


def test_nobody_is_asked_by_default(tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("asked though there is nobody to ask")

    monkeypatch.setattr("spanproto.support.meaning_prototypes", never)
    monkeypatch.setattr("spanproto.judging.alikeness", never)
    assert support_prototypes(tiny_model, synthetic.UNEVEN).meanings is None
    found = everything(judge(weighing(tiny_model), synthetic.UNEVEN))
    assert found
    assert not any(candidate.meanings for candidate in found)


def test_the_gold_spans_of_the_released_rule_have_a_meaning(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    model = asking(tiny_model, pretrained)
    judged = judge(model, synthetic.UNEVEN, "released")
    for episode, sentences in zip(synthetic.UNEVEN, judged, strict=True):
        for sentence, found in zip(episode.query, sentences, strict=True):
            places = {(c.start, c.end): c for c in found}
            for span in sentence.spans:
                assert len(places[span.start, span.end].meanings) == len(episode.types)
