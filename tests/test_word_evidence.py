"""What single words are taken for: by hand, by brute force, and as evidence for the decision."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic
import torch
from torch import Tensor
from waiting import NoWaiting

from spanproto import FewShotNER, observation
from spanproto import support as support_sets
from spanproto.adaptation import AdaptationConfig
from spanproto.batch import SpanPlaces
from spanproto.calibration import decision_of, fit_decision, gather_evidence
from spanproto.checkpoint import load_model
from spanproto.data.types import Episode, Sentence, Span
from spanproto.decision import DEFAULT_EVIDENCE, DecisionConfig, log_odds
from spanproto.errors import DataError
from spanproto.experiments.choices import CHOSEN_ON, choice_cells
from spanproto.judging import Candidate, judge
from spanproto.model import SpanProto
from spanproto.support import support_prototypes
from spanproto.word_evidence import (
    LEAST_LOG_PROBABILITY,
    WordPrototypes,
    word_evidence,
    word_prototypes,
    word_totals,
)

TUNED = AdaptationConfig(steps=3, learning_rate=3e-3, dropout=False)
WITH_WORDS = (*DEFAULT_EVIDENCE, "words")


def weighing(model: SpanProto, weight: float, **settings: float) -> SpanProto:
    decision = replace(
        model.config.decision, rule="joint", floor=0.0, words_weight=weight, **settings
    )
    return model.with_settings(replace(model.config, decision=decision))


def by_brute_force(
    model: SpanProto, episodes: list[Episode], number: int, place: tuple[int, int, int]
) -> list[float]:
    """The evidence on words `start` to `end` of a query sentence, one word at a time."""
    episode = episodes[number]
    row, start, end = place

    def states(words: tuple[str, ...]) -> Tensor:
        batch = model.encoder.words.batch([words])
        return model.encoder(batch)[0][0]

    by_type: dict[str | None, list[Tensor]] = {label: [] for label in (*episode.types, None)}
    described = [
        Sentence(tuple(text.split()), (Span(0, len(text.split()), label),))
        for label, text in episode.descriptions
    ]
    for sentence in (*episode.support, *described):
        for at, state in enumerate(states(sentence.words)):
            labels = [span.label for span in sentence.spans if span.start <= at < span.end]
            for label in labels or [None]:
                by_type[label].append(state)
    centres = {label: torch.stack(found).mean(0) for label, found in by_type.items() if found}
    means = []
    for label in episode.types:
        found = []
        for state in states(episode.query[row].words)[start:end]:
            distances = {name: (state - c).square().sum().item() for name, c in centres.items()}
            total = math.log(sum(math.exp(-d) for d in distances.values()))
            log_p = -distances.get(label, math.inf) - total
            found.append(max(log_p, LEAST_LOG_PROBABILITY))
        means.append(sum(found) / len(found))
    return means


def test_by_hand(tiny_model: SpanProto) -> None:
    episode = Episode(
        ("river", "tool"),
        (Sentence(("a", "b", "c", "d"), (Span(0, 2, "river"), Span(3, 4, "tool"))),),
        (Sentence(("e", "f")),),
    )
    support = torch.tensor([[[0.0, 0.0], [2.0, 0.0], [0.0, 4.0], [0.0, 1.0]]])
    batch = tiny_model.batch([episode], "support")
    known = word_prototypes([word_totals(batch, support, 1)], 2)
    assert known.types.tolist() == [[1, 0], [0, 1]]  # the mean of the first two, and the last
    assert known.none.tolist() == [[0, 4]]
    assert known.has_none.tolist() == [True]
    query = torch.tensor([[[1.0, 0.0], [0.0, 3.0]]])
    # Squared distances to river, tool and none: 1st word 0, 2, 17; 2nd word 10, 4, 1.
    first = math.log(1 + math.exp(-2) + math.exp(-17))
    second = math.log(math.exp(-10) + math.exp(-4) + math.exp(-1))
    spans = SpanPlaces(torch.tensor([0, 0]), torch.tensor([0, 0]), torch.tensor([1, 2]))
    found = word_evidence(tiny_model.batch([episode], "query"), query, spans, known)
    expected = [[-first, -2 - first], [(-first - 10 - second) / 2, (-6 - first - second) / 2]]
    torch.testing.assert_close(found, torch.tensor(expected))


def test_all_at_once_is_as_word_by_word(tiny_model: SpanProto) -> None:
    model = weighing(tiny_model, 0.5)
    compared = 0
    for number, sentences in enumerate(judge(model, synthetic.UNEVEN)):
        for row, candidates in enumerate(sentences):
            for candidate in candidates:
                place = (row, candidate.start, candidate.end)
                expected = by_brute_force(model, synthetic.UNEVEN, number, place)
                assert candidate.words == pytest.approx(expected, abs=1e-3)
                compared += 1
    assert compared > 30


def test_scores_count_the_words(tiny_model: SpanProto) -> None:
    model = weighing(tiny_model, 0.5, type_weight=0.3)
    for sentences in judge(model, synthetic.UNEVEN):
        for candidate in (each for sentence in sentences for each in sentence):
            odds = log_odds(
                torch.tensor(candidate.boundary_score),
                torch.tensor(candidate.type_probabilities).log(),
                torch.zeros(()),
                model.config.decision,
                words=torch.tensor(candidate.words),
            )
            assert candidate.scores == pytest.approx(odds.sigmoid().tolist(), abs=1e-4)


def test_a_type_without_support_stays_out(tiny_model: SpanProto) -> None:
    for weight in (-3.0, 3.0):
        for sentence in judge(weighing(tiny_model, weight), synthetic.UNEVEN)[1]:
            for candidate in sentence:
                assert candidate.words[2] == LEAST_LOG_PROBABILITY
                assert candidate.scores[2] == 0
                assert candidate.label != "fruit"


def test_nobody_waits_for_the_device(tiny_model: SpanProto) -> None:
    support, query = (tiny_model.batch(synthetic.UNEVEN, part) for part in ("support", "query"))
    spans = SpanPlaces(torch.tensor([0, 3]), torch.tensor([1, 0]), torch.tensor([3, 2]))
    with torch.no_grad():
        states, asked = (tiny_model.encode(batch).start for batch in (support, query))
        with NoWaiting():
            known = word_prototypes([word_totals(support, states, 3)], 7)
            word_evidence(query, asked, spans, known)


def without_words(judged: list[list[list[Candidate]]]) -> list[list[list[Candidate]]]:
    return [[[c._replace(words=()) for c in found] for found in sentences] for sentences in judged]


def test_by_default_nothing_changes_and_nothing_is_computed(
    tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = weighing(tiny_model, 0.0)
    asked = judge(model, synthetic.UNEVEN, words=True)
    assert all(c.words for sentences in asked for found in sentences for c in found)

    def never(*_: object) -> None:
        raise AssertionError("computed though it has no weight")

    monkeypatch.setattr(support_sets, "word_totals", never)
    monkeypatch.setattr(observation, "word_evidence", never)
    assert judge(model, synthetic.UNEVEN) == without_words(asked)


def test_old_odds_are_the_same_to_the_last_bit() -> None:
    torch.manual_seed(0)
    f, p, d, b, n = torch.randn(5, 100, 4)
    config = DecisionConfig("joint", 0.5, 0.05, 0.7, 1.3, -0.4, 0.2, -0.9, bias=0.3)
    before = 0.7 * f + 1.3 * p + -0.4 * d + 0.2 * b + -0.9 * n + 0.3
    assert torch.equal(log_odds(f, p, d, config, before=b, log_length=n), before)
    assert torch.equal(log_odds(f, p, d, config, before=b, log_length=n, words=p), before)


def test_a_default_fit_has_the_old_evidence(trained_model: Path) -> None:
    model = load_model(trained_model)
    episodes = [synthetic.varied_episode(seed) for seed in range(900, 904)]
    fitted = fit_decision(model, episodes)
    assert fitted.words_weight == 0
    gathered = gather_evidence(model, episodes, words=True)
    assert decision_of(gathered, model.config.decision) == fitted
    assert decision_of(gathered, model.config.decision, WITH_WORDS).words_weight != 0
    assert fit_decision(model, episodes, evidence=("words",)).boundary_weight == 0


def test_words_that_were_not_gathered_are_not_fitted(trained_model: Path) -> None:
    model = load_model(trained_model)
    gathered = gather_evidence(model, [synthetic.varied_episode(900)])
    counting = replace(model.config.decision, words_weight=0.5)
    for decision, evidence in ((model.config.decision, ("words",)), (counting, ())):
        with pytest.raises(DataError, match="gather the evidence with words=True"):
            decision_of(gathered, decision, evidence)
    asked = weighing(model, 0.5)
    scaled = fit_decision(asked, [synthetic.varied_episode(900)], evidence=())
    assert scaled.words_weight == pytest.approx(scaled.boundary_weight / 2)


def assert_same_words(one: list[list[Candidate]], other: list[list[Candidate]]) -> None:
    for some, others in zip(one, other, strict=True):
        assert [c[:4] for c in some] == [c[:4] for c in others]
        for a, b in zip(some, others, strict=True):
            assert a.words == pytest.approx(b.words, abs=2e-3)
            assert a.scores == pytest.approx(b.scores, abs=2e-3)


@pytest.mark.parametrize("recall", [False, True])
def test_stacked_is_as_one_by_one(tiny_model: SpanProto, recall: bool) -> None:
    model, tuned = weighing(tiny_model, 0.5), replace(TUNED, recall=recall)
    stacked = judge(model.adapted(synthetic.UNEVEN, tuned), synthetic.UNEVEN)
    for episode, found in zip(synthetic.UNEVEN, stacked, strict=True):
        (alone,) = judge(model.adapted([episode], tuned), [episode])
        assert_same_words(found, alone)


def test_what_is_recalled_has_half_the_say(tiny_model: SpanProto) -> None:
    model, episodes = weighing(tiny_model, 0.5), synthetic.UNEVEN[:1]
    (before,), (after,), (both,) = (
        judge(each, episodes)
        for each in (
            model,
            model.adapted(episodes, TUNED),
            model.adapted(episodes, replace(TUNED, recall=True)),
        )
    )
    compared = 0
    for first, second, mean in zip(before, after, both, strict=True):
        said = [{(c.start, c.end): c.words for c in found} for found in (first, second)]
        for candidate in mean:
            place = candidate.start, candidate.end
            if place in said[0] and place in said[1]:
                halves = [(a + b) / 2 for a, b in zip(*(each[place] for each in said), strict=True)]
                assert candidate.words == pytest.approx(halves, abs=1e-3)
                compared += said[0][place] != said[1][place]
    assert compared > 10


def test_a_support_set_in_parts(tiny_model: SpanProto, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = tuple(sentence.unlabelled() for sentence in synthetic.corpus(2, 5))
    support = (*synthetic.corpus(1, 7), *plain)
    episode = Episode(tuple(synthetic.TYPES), support, ())
    whole = support_prototypes(tiny_model, [episode], words=True).words
    monkeypatch.setattr(support_sets, "SENTENCES_AT_ONCE", 2)
    parts = support_prototypes(tiny_model, [episode], words=True).words
    assert isinstance(whole, WordPrototypes)
    torch.testing.assert_close(parts, whole, atol=1e-4, rtol=1e-4)


def test_names_of_types_are_no_support_words(eager_model: SpanProto) -> None:
    named = replace(eager_model.config.classifier, names_weight=0.5)
    with_names = eager_model.with_settings(replace(eager_model.config, classifier=named))
    plain, told = (
        support_prototypes(model, synthetic.UNEVEN[:1], words=True).words
        for model in (eager_model, with_names)
    )
    torch.testing.assert_close(plain, told, atol=1e-4, rtol=1e-4)


def test_a_saved_recogniser_has_its_word_prototypes(trained_model: Path, tmp_path: Path) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    text = "the animala was seen near the old fruitb"
    model = weighing(load_model(trained_model), 0.5)
    ner = FewShotNER(model).fit(shown, adapt=False)
    ner.save(tmp_path / "ner")
    loaded = FewShotNER.load(tmp_path / "ner")
    assert loaded.predict(text) == ner.predict(text)
    assert loaded.explain(text) == ner.explain(text)
    ignoring = FewShotNER(weighing(model, 0.0)).fit(shown, adapt=False)
    assert ignoring.explain(text) != ner.explain(text)


def test_word_prototypes_that_are_not_there_are_asked_for(
    trained_model: Path, tmp_path: Path
) -> None:
    shown = synthetic.corpus(1, 8, ("animal", "fruit"))
    ner = FewShotNER(load_model(trained_model)).fit(shown, adapt=False)
    ner.save(tmp_path)
    settings = tmp_path / "spanproto.json"
    text = settings.read_text()
    assert '"words_weight": 0.0' in text
    settings.write_text(text.replace('"words_weight": 0.0', '"words_weight": 0.5'))
    with pytest.raises(DataError, match="no prototypes of words; fit the model to the examples"):
        FewShotNER.load(tmp_path).predict("the animala")
    settings.write_text(text.replace('"words_weight": 0.0,', ""))  # as it was saved earlier
    assert FewShotNER.load(tmp_path).explain("the animala") == ner.explain("the animala")


@pytest.mark.parametrize("column", CHOSEN_ON)
def test_choices_that_count_the_words(column: str) -> None:
    scorings = {s.name: s for own in choice_cells(column, 12) for s in own.cell.scorings}
    assert scorings["with-words"].evidence == ("boundary", "type", "words")
    usual = scorings["tables"].evidence or DEFAULT_EVIDENCE
    assert len(usual) == (2 if column == "news-1" else 5)
    for name in ("tables", "tables-fitted"):
        counting = scorings[f"{name}-words"]
        assert counting.evidence == (*usual, "words")
        assert replace(counting, name=name, evidence=scorings[name].evidence) == scorings[name]
