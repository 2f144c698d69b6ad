"""What spans mean to the untouched encoder: by hand, as evidence, and kept out of the model."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from command import refused, spanproto
from test_prediction import assert_same
from torch import Tensor

from spanproto import FewShotNER, meaning
from spanproto.adaptation import AdaptationConfig
from spanproto.batch import SpanPlaces
from spanproto.calibration import decision_of, fit_decision, gather_evidence
from spanproto.checkpoint import load_model, save_model
from spanproto.data.formats import write_episodes
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DEFAULT_EVIDENCE, DecisionConfig, log_odds
from spanproto.encoder import Encoder, EncoderConfig
from spanproto.errors import DataError
from spanproto.judging import Candidate, _towards, judge
from spanproto.meaning import Meaning, alikeness, meaning_prototypes, query_vectors
from spanproto.methods import method_named
from spanproto.model import SpanProto
from spanproto.prediction import predict
from spanproto.support import Prototypes, support_prototypes

TUNED = AdaptationConfig(steps=3, learning_rate=3e-3, dropout=False)
WITH_MEANING = (*DEFAULT_EVIDENCE, "meaning")
SENTENCES = [s.words for s in synthetic.corpus(4, 7)] + [("rivera",), ("the", "rivera", "toola")]
SPANS = [(0, 0, 2), (8, 1, 2), (7, 0, 1), (3, 1, 4), (0, 1, 2), (5, 2, 3), (8, 0, 3), (0, 0, 2)]


@pytest.fixture
def pretrained(tiny_encoder: Path) -> Encoder:
    """The encoder as it was, an object of its own."""
    return Encoder.from_pretrained(EncoderConfig(name=str(tiny_encoder)))


@pytest.fixture
def asked(pretrained: Encoder) -> Meaning:
    return Meaning(pretrained)


def weighing(model: SpanProto, **settings: float) -> SpanProto:
    decision = replace(model.config.decision, rule="joint", floor=0.0, **settings)
    return model.with_settings(replace(model.config, decision=decision))


def asking(model: SpanProto, encoder: Encoder, **settings: float) -> SpanProto:
    twin = weighing(model, **settings)
    twin.ask_meaning(encoder)
    return twin


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


def by_brute_force(encoder: Encoder, episode: Episode, row: int, place: tuple[int, int]) -> Tensor:
    """How alike words of a query sentence and the examples of each type are, one by one."""
    found = two_vectors(encoder, episode.query[row].words, *place)
    alike = []
    for label in episode.types:
        examples = [
            two_vectors(encoder, sentence.words, span.start, span.end)
            for sentence in episode.support
            for span in sentence.spans
            if span.label == label
        ]
        if not examples:
            alike.append(torch.zeros(()))
            continue
        centres = [unit(sum(example[view] for example in examples)) for view in (0, 1)]
        alike.append(sum(found[view] @ centres[view] for view in (0, 1)) / 2)
    return torch.stack(alike)


def everything(judged: list[list[list[Candidate]]]) -> list[Candidate]:
    return [c for sentences in judged for found in sentences for c in found]


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
        examples = [
            two_vectors(asked.encoder, sentence.words, span.start, span.end)
            for sentence in episode.support
            for span in sentence.spans
            if span.label == label
        ]
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
    alike = alikeness(query_vectors(asked, episodes, query, SpanPlaces(rows, *columns[2:])), known)
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
    moved = _towards(log_p, change).exp()
    # 0.2 * 3 and 0.3 * 1 are 6 to 3, of the 0.5 that they had together
    torch.testing.assert_close(moved, torch.tensor([[1 / 3, 1 / 6, 0.0], [0.5, 0.5, 0.0]]))


def test_none_is_as_probable_as_before() -> None:
    torch.manual_seed(0)
    log_p = torch.randn(50, 5).log_softmax(-1)[:, :4]
    change = 12 * torch.rand(50, 4)
    moved = _towards(log_p, change)
    torch.testing.assert_close(moved.exp().sum(1), log_p.exp().sum(1))
    torch.testing.assert_close(
        (moved - log_p).diff(dim=1), change.diff(dim=1), atol=1e-4, rtol=1e-4
    )
    torch.testing.assert_close(_towards(log_p, torch.zeros(50, 4)), log_p)
    torch.testing.assert_close(_towards(log_p, torch.full((50, 4), 7.0)), log_p)
    assert _towards(log_p[:0], change[:0]).shape == (0, 4)


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
        moved = _towards(log_p, 20 * torch.tensor([after.meanings])).exp()[0]
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


# Fine-tuned and trained models


@pytest.mark.parametrize("recall", [False, True])
def test_stacked_is_as_one_by_one(tiny_model: SpanProto, pretrained: Encoder, recall: bool) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5)
    tuned = replace(TUNED, recall=recall)
    stacked = judge(model.adapted(synthetic.UNEVEN, tuned), synthetic.UNEVEN)
    for episode, found in zip(synthetic.UNEVEN, stacked, strict=True):
        alone = judge(model.adapted([episode], tuned), [episode])
        for one, other in zip(everything([found]), everything(alone), strict=True):
            assert one[:4] == other[:4]
            assert one.meanings == pytest.approx(other.meanings, abs=1e-4)
            assert one.scores == pytest.approx(other.scores, abs=2e-3)


def test_fine_tuning_changes_no_meaning(tiny_model: SpanProto, pretrained: Encoder) -> None:
    model = asking(tiny_model, pretrained)
    before, tuned = (
        {(c.start, c.end, c.meanings): c.boundary_score for c in everything(judge(each, [episode]))}
        for episode in synthetic.UNEVEN[:1]
        for each in (model, model.adapted([episode], TUNED))
    )
    shared = before.keys() & tuned.keys()
    assert len(shared) > 10
    assert all(before[place] != pytest.approx(tuned[place], abs=1e-6) for place in shared)


def test_training_leaves_the_asked_encoder_alone(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    kept = {name: tensor.clone() for name, tensor in pretrained.state_dict().items()}
    keys = list(tiny_model.state_dict())
    parameters = [name for name, _ in tiny_model.named_parameters()]
    own = tiny_model.encoder.transformer.get_input_embeddings().weight
    first = own.detach().clone()
    tiny_model.ask_meaning(pretrained)
    model = tiny_model.train()
    assert not pretrained.training
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in (1, 2):
        model.gradients(model.prepare(synthetic.UNEVEN, step), step, 0)
        optimizer.step()
    assert not torch.equal(own, first)
    model.adapted(synthetic.UNEVEN, TUNED)
    assert list(model.state_dict()) == keys
    assert [name for name, _ in model.named_parameters()] == parameters
    for name, tensor in pretrained.state_dict().items():
        assert torch.equal(tensor, kept[name])


def test_a_model_is_saved_and_loaded_without_it(
    tiny_model: SpanProto, pretrained: Encoder, tmp_path: Path
) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5, meaning_in_type=3.0)
    save_model(model, tmp_path / "asking")
    save_model(weighing(tiny_model), tmp_path / "plain")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("asking", "plain")]
    assert sizes[0] == sizes[1]
    loaded = load_model(tmp_path / "asking")
    assert loaded.meaning is None
    assert loaded.config.decision == model.config.decision
    with pytest.raises(DataError, match="is not at hand"):
        judge(loaded, synthetic.UNEVEN)
    loaded.ask_meaning(pretrained)
    assert judge(loaded, synthetic.UNEVEN) == judge(model, synthetic.UNEVEN)


def test_a_model_saved_before_there_were_meanings(tiny_model: SpanProto, tmp_path: Path) -> None:
    save_model(weighing(tiny_model), tmp_path)
    path = tmp_path / "spanproto.json"
    content = json.loads(path.read_text())
    for name in ("meaning_weight", "meaning_in_type"):
        del content["model"]["decision"][name]
    path.write_text(json.dumps(content))
    assert load_model(tmp_path).config == weighing(tiny_model).config


# Decisions that weigh it


def test_a_decision_without_the_encoder_is_refused(tiny_model: SpanProto) -> None:
    model = weighing(tiny_model, meaning_weight=0.5)
    with pytest.raises(DataError) as refusal:
        judge(model, synthetic.UNEVEN)
    assert str(refusal.value) == (
        "the decision counts what spans mean to the pretrained encoder, which is not at hand; "
        "name it (evaluate --meaning ENCODER, or model.ask_meaning in Python), or fit without it"
    )


def test_prototypes_without_meanings_are_refused(
    tiny_model: SpanProto, pretrained: Encoder
) -> None:
    model = asking(tiny_model, pretrained, meaning_weight=0.5)
    known = support_prototypes(model, synthetic.UNEVEN)
    judged = judge(model, synthetic.UNEVEN, prototypes=known)
    assert judged == judge(model, synthetic.UNEVEN)
    with pytest.raises(DataError, match="is not at hand"):
        judge(model, synthetic.UNEVEN, prototypes=known._replace(meanings=None))


def told_apart(size: int = 400) -> list[tuple[Sentence, list[Candidate]]]:
    """Sentences of a word each, of which what it means alone tells whether it is an entity."""
    torch.manual_seed(0)
    noise = torch.randn(size, 3)
    judged = []
    for at, (boundary, distance, chance) in enumerate(noise.tolist()):
        right = at % 3 == 0
        alike = (0.8 if right else 0.5) + 0.1 * chance
        candidate = Candidate(
            0,
            1,
            "b",
            "kept",
            boundary,
            (5.0, distance),
            (0.4, 0.6),
            (0.5, 0.5),
            0.0,
            (),
            (0, alike),
        )
        spans = (Span(0, 1, "b"),) if right else ()
        judged.append((Sentence(("x",), spans), [candidate]))
    return judged


def test_what_tells_right_from_wrong_gets_a_weight() -> None:
    decision = DecisionConfig("joint", floor=0.0)
    fitted = decision_of(told_apart(), decision, WITH_MEANING)
    assert fitted.meaning_weight > 10
    assert abs(fitted.boundary_weight) < 1
    assert abs(fitted.distance_weight) < 1
    assert fitted.meaning_in_type == decision.meaning_in_type
    assert 0.1 < fitted.threshold < 0.9
    alone = decision_of(told_apart(), decision, ("meaning",))
    assert alone.meaning_weight > 10
    assert alone.boundary_weight == alone.type_weight == 0
    assert decision_of(told_apart(), decision).meaning_weight == 0


def test_a_weight_keeps_its_proportion() -> None:
    given = DecisionConfig("joint", floor=0.0, type_weight=0.0, meaning_weight=4.0)
    fitted = decision_of(told_apart(), given, ())
    assert fitted.boundary_weight > 0
    assert fitted.meaning_weight == pytest.approx(4 * fitted.boundary_weight)


def test_a_decision_is_fitted_to_what_spans_mean(trained_model: Path, pretrained: Encoder) -> None:
    model = load_model(trained_model)
    model.ask_meaning(pretrained)
    episodes = [synthetic.varied_episode(seed) for seed in range(900, 904)]
    fitted = fit_decision(model, episodes, evidence=WITH_MEANING)
    assert fitted.rule == "joint"
    assert fitted.meaning_weight != 0
    assert fit_decision(model, episodes).meaning_weight == 0
    assert fit_decision(model, episodes, TUNED, WITH_MEANING).meaning_weight != 0
    gathered = gather_evidence(model, episodes)
    assert all(candidate.meanings for _, found in gathered for candidate in found)
    assert decision_of(gathered, model.config.decision, WITH_MEANING) == fitted


def test_meanings_that_were_not_gathered_are_not_fitted(trained_model: Path) -> None:
    model = load_model(trained_model)
    gathered = gather_evidence(model, [synthetic.varied_episode(900)])
    counting = replace(model.config.decision, meaning_weight=0.5)
    for decision, evidence in ((model.config.decision, WITH_MEANING), (counting, ())):
        with pytest.raises(DataError, match="let the model ask it"):
            decision_of(gathered, decision, evidence)
    assert decision_of(gathered, counting).meaning_weight == 0


# Recognisers


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("meant", [False, True])
def test_prototypes_come_back_from_their_tensors(
    tiny_model: SpanProto, pretrained: Encoder, words: bool, meant: bool
) -> None:
    model = asking(tiny_model, pretrained) if meant else tiny_model
    known = support_prototypes(model, synthetic.UNEVEN, words)
    tensors = known.to_tensors()
    assert ("meanings" in tensors) == meant == (known.meanings is not None)
    for again in (Prototypes.of_tensors(tensors), known.to(torch.device("cpu"))):
        assert again.to_tensors().keys() == tensors.keys()
        assert all(torch.equal(again.to_tensors()[name], tensors[name]) for name in tensors)
        assert (again.words is None) == (not words)
        assert (again.meanings is None) == (not meant)


@pytest.mark.parametrize("adapt", [False, True])
@pytest.mark.parametrize("weight", [0.0, 0.5])  # without one it still has a say in types
def test_a_saved_recogniser_has_its_meanings(
    trained_model: Path, pretrained: Encoder, tmp_path: Path, adapt: bool, weight: float
) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    text = "the animala was seen near the old fruitb"
    model = asking(load_model(trained_model), pretrained, meaning_weight=weight)
    ner = FewShotNER(model).fit(shown, adapt=adapt, steps=2)
    plain = FewShotNER(weighing(load_model(trained_model))).fit(shown, adapt=adapt, steps=2)
    assert ner.explain(text) != plain.explain(text)
    ner.save(tmp_path)
    loaded = FewShotNER.load(tmp_path)
    with pytest.raises(DataError, match=r"or model\.ask_meaning in Python"):
        loaded.predict(text)
    loaded.model.ask_meaning(pretrained)
    assert loaded.predict(text) == ner.predict(text)
    assert loaded.explain(text) == ner.explain(text)


def test_a_saved_recogniser_that_asks_nobody(trained_model: Path, tmp_path: Path) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    text = "the animala was seen near the old fruitb"
    ner = FewShotNER(load_model(trained_model)).fit(shown, adapt=False)
    ner.save(tmp_path)
    assert FewShotNER.load(tmp_path).explain(text) == ner.explain(text)


# On the command line


@pytest.fixture
def episodes_file(tmp_path: Path) -> Path:
    path = tmp_path / "test.jsonl"
    write_episodes(path, [synthetic.varied_episode(s) for s in range(900, 903)], "token-episodes")
    return path


def test_evaluate_asks_the_encoder_that_is_named(
    trained_model: Path, tiny_encoder: Path, episodes_file: Path
) -> None:
    command = ("evaluate", trained_model, episodes_file, "--protocol", "fewnerd", "--json")
    asked = ("--meaning", tiny_encoder)
    contents = []
    for arguments in ((), asked, (*asked, "--fit-decision", episodes_file)):
        done = spanproto(*command, *arguments)
        assert done.returncode == 0, done.stderr
        contents.append(json.loads(done.stdout))
    plain, meant, fitted = contents
    assert plain["meaning"] is None
    assert meant["meaning"] == fitted["meaning"] == str(tiny_encoder)
    weights = [each["model"]["config"]["decision"]["meaning_weight"] for each in contents]
    assert weights[:2] == [0, 0]
    assert weights[2] != 0
    still = json.loads(
        spanproto(*command, *asked, "--configure", "decision.meaning_in_type=0").stdout
    )
    assert still["micro"] == plain["micro"]


def test_evaluate_refuses_what_it_cannot_ask(
    trained_model: Path, tiny_encoder: Path, episodes_file: Path, tmp_path: Path
) -> None:
    command = ("evaluate", trained_model, episodes_file, "--protocol", "fewnerd")
    line = refused(spanproto(*command, "--configure", "decision.meaning_weight=1"))
    assert "name it (evaluate --meaning ENCODER, or" in line
    line = refused(spanproto(*command, "--meaning", tmp_path / "none"))
    assert "no such directory" in line
    method = method_named("protobert")
    other = method.from_config(method.Config(encoder=EncoderConfig(name=str(tiny_encoder))))
    save_model(other, tmp_path / "other")
    command = ("evaluate", tmp_path / "other", episodes_file, "--protocol", "fewnerd")
    line = refused(spanproto(*command, "--meaning", tiny_encoder))
    assert "weighs no evidence on spans; drop --meaning" in line
