"""A recogniser fitted to a few examples, as a user meets it."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate, count, islice, pairwise
from pathlib import Path

import pytest
import synthetic
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spanproto import Entity, FewShotNER, Sentence, Span
from spanproto.checkpoint import load_model
from spanproto.errors import DataError, SpanProtoError
from spanproto.passages import windows_of

SHOWN = ("animal", "colour", "fruit")
TEXT = "the animala seen near old fruitb fruitc and coloura today"


def examples(seed: int = 1, size: int = 12, types: tuple[str, ...] = SHOWN) -> list[Sentence]:
    return synthetic.corpus(seed, size, types)


def texts(found: list[Entity]) -> list[tuple[str, str]]:
    return [(entity.text, entity.label) for entity in found]


@pytest.fixture(scope="module")
def fitted(trained_model: Path, quick_fitting: None) -> FewShotNER:
    """For tests that leave it as it is."""
    return FewShotNER.from_pretrained(trained_model).fit(examples())


@pytest.fixture
def fresh(trained_model: Path, quick_fitting: None) -> FewShotNER:
    return FewShotNER.from_pretrained(trained_model)


def test_it_finds_what_it_was_shown(fitted: FewShotNER) -> None:
    assert fitted.labels == tuple(dict.fromkeys(s.label for e in examples() for s in e.spans))
    found = fitted.predict(TEXT)
    assert texts(found) == [
        ("animala", "animal"),
        ("fruitb fruitc", "fruit"),
        ("coloura", "colour"),
    ]
    assert all(TEXT[entity.start : entity.end] == entity.text for entity in found)
    assert all(0.5 <= entity.score <= 1 for entity in found)
    assert fitted.evaluate(examples(7, 30)).micro.f1 > 90


def test_it_says_when_there_is_nothing(fitted: FewShotNER) -> None:
    assert fitted.predict("the old and near today was seen") == []
    for empty in ("", " \r\n\t", "\u200b", Sentence(())):
        assert fitted.predict(empty) == []
        assert fitted.explain(empty) == []
    assert list(fitted.predict(["", TEXT, " ", []]))[::2] == [[], []]
    assert list(fitted.predict([])) == []


def test_words_give_positions_of_words(fitted: FewShotNER) -> None:
    words = TEXT.split()
    expected = [(1, 2, "animala"), (5, 7, "fruitb fruitc"), (8, 9, "coloura")]
    for given_words in (words, tuple(words), Sentence(tuple(words))):
        (found,) = fitted.predict([given_words])
        assert [(e.start, e.end, e.text) for e in found] == expected
    assert fitted.predict(Sentence(tuple(words))) == found
    assert texts(found) == texts(fitted.predict(TEXT))


def test_one_example_of_one_type_is_enough(fresh: FewShotNER) -> None:
    fresh.fit([{"text": "the rivera was seen", "entities": [(4, 10, "river")]}])
    assert ("riverb", "river") in texts(fresh.predict("near riverb and the old"))


def test_the_given_model_stays_as_it_is(trained_model: Path, quick_fitting: None) -> None:
    model = load_model(trained_model)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    ner = FewShotNER(model).fit(examples())
    assert all(torch.equal(before[name], t) for name, t in model.state_dict().items())
    assert any(not torch.equal(before[name], t) for name, t in ner.model.state_dict().items())
    assert set(ner.model.state_dict()) == set(before)
    plain = FewShotNER(model).fit(examples(), adapt=False)
    assert all(torch.equal(before[name], t) for name, t in plain.model.state_dict().items())


def test_the_same_seed_gives_the_same(fresh: FewShotNER, fitted: FewShotNER) -> None:
    torch.manual_seed(123)
    assert fresh.fit(examples()).predict(TEXT) == fitted.predict(TEXT)
    assert fresh.fit(examples()).predict(TEXT) == fitted.predict(TEXT)  # not from where it is


def test_types_are_added_and_removed_without_forgetting_the_others(fresh: FewShotNER) -> None:
    held_out = examples(9, 30)
    fresh.fit(examples())
    assert fresh.evaluate(held_out).micro.f1 > 90
    fresh.add(examples(5, 5, ("river",)), descriptions={"river": "rivera riverb"})
    assert set(fresh.labels) == {*SHOWN, "river"}
    assert fresh.evaluate(examples(6, 10, ("river",))).micro.f1 > 80
    assert fresh.evaluate(held_out).micro.f1 > 85
    fresh.remove("fruit")
    assert set(fresh.labels) == {"animal", "colour", "river"}
    assert "fruit" not in {entity.label for entity in fresh.predict(TEXT)}
    rest = [s.with_spans(p for p in s.spans if p.label != "fruit") for s in held_out]
    assert fresh.evaluate([s for s in rest if s.spans]).micro.recall > 85


def test_only_named_labels_are_looked_for(fresh: FewShotNER) -> None:
    fresh.fit(examples(), labels=["fruit"], descriptions={"fruit": "fruita"})
    assert fresh.labels == ("fruit",)
    assert ("fruitb fruitc", "fruit") in texts(fresh.predict(TEXT))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda ner: ner.fit([]), "no examples"),
        (lambda ner: ner.fit([Sentence(("the",))]), "none of the 1 examples has a labelled span"),
        (lambda ner: ner.fit(examples(), labels=["river"]), "'river' has no labelled span"),
        (lambda ner: ner.fit(examples(), labels=[]), "no label is named"),
        (lambda ner: ner.fit(examples(), descriptions={"frut": "x"}), "did you mean 'fruit'?"),
        (lambda ner: ner.fit(examples(), descriptions={"fruit": " "}), "description of 'fruit'"),
        (lambda ner: ner.fit(examples(), steps=0), "steps must be positive"),
        (lambda ner: ner.predict(TEXT), "no types have been learnt yet; call fit"),
        (lambda ner: ner.predict([TEXT]), "no types have been learnt yet; call fit"),
        (lambda ner: ner.add(examples()), "no types have been learnt yet; call fit"),
        (lambda ner: ner.save("x"), "no types have been learnt yet; call fit"),
    ],
)
def test_errors_before_a_fit(fresh: FewShotNER, call, words: str) -> None:
    with pytest.raises(SpanProtoError, match=words.replace("?", r"\?")):
        call(fresh)
    assert fresh.labels == ()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda ner: ner.remove("animl"), "did you mean 'animal'"),
        (lambda ner: ner.predict(TEXT, threshold=1.5), r"a number in \[0, 1\]"),
        (lambda ner: ner.predict(TEXT, threshold={"river": 0.5}), "'river', which is no label"),
        (lambda ner: list(ner.predict([TEXT, 5])), "input 1 is a int"),
        (lambda ner: list(ner.predict([["a", 5]])), "input 0 is a list"),
        (lambda ner: ner.tune(examples(types=("river",))), "no span of"),
    ],
)
def test_errors_after_a_fit(fitted: FewShotNER, call, words: str) -> None:
    with pytest.raises(DataError, match=words):
        call(fitted)


def test_the_last_label_stays(fresh: FewShotNER) -> None:
    fresh.fit(examples(types=("fruit",)), adapt=False)
    with pytest.raises(DataError, match="'fruit' is the only label"):
        fresh.remove("fruit")
    assert fresh.labels == ("fruit",)


def test_a_higher_threshold_keeps_a_part(fitted: FewShotNER) -> None:
    text = " ".join(" ".join(sentence.words) for sentence in examples(8, 10))
    previous = fitted.predict(text, threshold=0.0)
    assert fitted.predict(text) == fitted.predict(text, threshold=0.5)
    for least in (0.3, 0.6, 0.9, 0.99):
        found = fitted.predict(text, threshold=least)
        assert set(found) <= set(previous)
        assert all(entity.score >= least for entity in found)
        previous = found
    one = fitted.predict(text, threshold={"fruit": 1.0})
    assert {entity.label for entity in one} == {"animal", "colour"}


def test_alternatives_are_the_other_types_best_first(fitted: FewShotNER) -> None:
    assert all(entity.alternatives == () for entity in fitted.predict(TEXT))
    for asked, given_back in ((1, 1), (2, 2), (9, 2)):
        for entity in fitted.predict(TEXT, top_k=asked):
            labels = [label for label, _ in entity.alternatives]
            scores = [entity.score, *(score for _, score in entity.alternatives)]
            assert len(labels) == given_back
            assert entity.label not in labels
            assert scores == sorted(scores, reverse=True)


def test_many_texts_come_as_they_are_taken(fitted: FewShotNER) -> None:
    taken = []

    def endless() -> Iterator[str]:
        for number in count():
            taken.append(number)
            yield f"{'the ' * (number % 7)}{TEXT}"

    found = fitted.predict(endless())
    assert taken == []
    first = list(islice(found, 3))
    assert len(taken) <= 100
    for number, entities in enumerate(first):
        assert [e.text for e in entities] == [e.text for e in fitted.predict(TEXT)]
        assert entities[0].start == 4 * number + 4


def assert_same(left: list[Entity], right: list[Entity]) -> None:
    """The same but for what rounding does in batches of other sizes."""
    assert [replace(e, score=0) for e in left] == [replace(e, score=0) for e in right]
    assert [e.score for e in left] == pytest.approx([e.score for e in right], abs=1e-3)


def test_a_text_has_the_same_entities_alone_and_among_others(fitted: FewShotNER) -> None:
    many = [" ".join(s.words) for s in synthetic.corpus(4, 80)]
    rng = random.Random(0)
    many = ["the " * rng.randint(0, 30) + text for text in many]
    for text, found in zip(many, fitted.predict(many), strict=True):
        assert_same(found, fitted.predict(text))


ODD = st.text() | st.lists(
    st.sampled_from(
        [
            "animala",
            "fruitb",
            "coloura",
            "the",
            "\r\n",
            "👩‍👧",
            "é",
            "e\u0301",
            "東京",
            "مرحبا",
            ".",
            "🇩🇪",
            "\ud800",
        ]
    )
).flatmap(lambda words: st.sampled_from([" ", "", "\u200f", "\n\n"]).map(lambda by: by.join(words)))


@given(text=ODD)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_offsets_are_into_the_text_as_it_was_given(fitted: FewShotNER, text: str) -> None:
    for threshold in (None, 0.0):
        found = fitted.predict(text, threshold=threshold, allow_nested=True)
        assert all(text[entity.start : entity.end] == entity.text for entity in found)
        assert all(entity.text.strip() for entity in found)
        assert found == sorted(found, key=lambda entity: (entity.start, entity.end))


def test_a_long_text_has_the_entities_of_its_sentences(fitted: FewShotNER) -> None:
    sentences = [f"{' '.join(s.words).capitalize()}." for s in examples(3, 40)]
    text = "\r\n\r\n".join(sentences)
    expected, position = [], 0
    for sentence, found in zip(sentences, fitted.predict(sentences), strict=True):
        expected += [replace(e, start=e.start + position, end=e.end + position) for e in found]
        position += len(sentence) + 4
    assert_same(fitted.predict(text), expected)


def test_a_text_without_end_is_read_in_windows(fitted: FewShotNER, monkeypatch) -> None:
    """No mark ends a sentence, so the windows cut where they must."""
    small = partial(windows_of, limit=24, overlap=10)
    monkeypatch.setattr("spanproto.documents.windows_of", small)
    sentences = examples(3, 100)
    starts = accumulate((len(sentence.words) for sentence in sentences), initial=0)
    gold = Sentence(
        tuple(word for sentence in sentences for word in sentence.words),
        tuple(
            Span(at + span.start, at + span.end, span.label)
            for at, sentence in zip(starts, sentences, strict=False)
            for span in sentence.spans
        ),
    )
    assert len(small(gold)) > 30
    found = fitted.predict(gold)
    assert all(one.end <= other.start for one, other in pairwise(found))
    cuts = {place for window in small(gold) for place in (window.start, window.end)}
    cut = [span for span in gold.spans if cuts.intersection(range(span.start + 1, span.end))]
    assert len(cut) > 5
    for spans in (gold.spans, cut):
        right = {(e.start, e.end, e.label) for e in found}.intersection(spans)
        assert len(right) > 0.8 * len(spans)


def test_nested_entities_are_found_where_they_are_allowed(
    trained_model: Path, quick_fitting: None
) -> None:
    words = ("the", "animala", "animalb", "was", "seen")
    shown = Sentence(words, (Span(1, 3, "animal"), Span(1, 2, "head")))
    ner = FewShotNER.from_pretrained(trained_model).fit([shown], steps=60)
    text = " ".join(words)
    flat, nested = ner.predict(text), ner.predict(text, allow_nested=True)
    assert len(flat) == 1
    assert {entity.text for entity in nested} == {"animala animalb", "animala"}
    for found in (flat, ner.predict(text, threshold=0.0)):
        assert all(a.end <= b.start for a, b in pairwise(found))


def test_every_candidate_is_explained(fitted: FewShotNER) -> None:
    explained = fitted.explain(TEXT)
    kept = [one for one in explained if one.outcome == "kept"]
    assert [(e.text, e.label, e.start, e.end, e.score) for e in kept] == [
        (e.text, e.label, e.start, e.end, e.score) for e in fitted.predict(TEXT)
    ]
    for one in explained:
        assert TEXT[one.start : one.end] == one.text
        assert set(one.distances) == set(one.scores) == set(fitted.labels)
        assert one.scores[one.label] == one.score
        assert one.distances[one.label] == min(one.distances.values())
        assert 0 <= one.boundary_probability <= 1
        assert (one.reason == "kept") is (one.outcome == "kept")
    everything = fitted.explain(TEXT, threshold=0.0)
    clashing = [one for one in everything if one.outcome == "overlap"]
    assert clashing
    better = {repr(one.text) for one in everything if one.outcome == "kept"}
    assert all(one.reason.removeprefix("overlaps a better span ") in better for one in clashing)
    strict = fitted.explain(TEXT, threshold=1.0)
    assert all("is below the threshold 1.0" in one.reason for one in strict)
    assert json.dumps([one.to_dict() for one in explained])


def test_the_report_counts_each_type_and_what_was_confused(
    fitted: FewShotNER, tmp_path: Path
) -> None:
    gold = examples(7, 20, (*SHOWN, "metal"))
    report = fitted.evaluate(gold)
    labelled = sum(span.label == "metal" for s in gold for span in s.spans)
    assert report.types["metal"].gold == labelled
    assert report.types["metal"].predicted == 0
    confusion = report.confusion
    assert sum(map(sum, confusion.rows())) - sum(confusion.rows()[-1]) == report.micro.gold
    assert confusion.count("fruit", "fruit") == report.types["fruit"].correct
    assert report.to_dict()["confusion"]["metal"]["metal"] == 0
    assert "metal" in report.to_table()
    report.save_confusion(tmp_path / "confusion.png")
    assert (tmp_path / "confusion.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(DataError, match="as doc; name it"):
        report.save_confusion(tmp_path / "confusion.doc")


def test_thresholds_are_tuned_and_kept(fresh: FewShotNER, tmp_path: Path) -> None:
    fresh.fit(examples())
    gold = examples(11, 40, (*SHOWN, "metal"))  # metal is taken for others, less surely
    before = fresh.evaluate(gold).micro.f1
    tuning = fresh.tune(gold)
    assert tuning.f1_before == pytest.approx(before)
    assert tuning.f1_after >= before
    assert fresh.thresholds == tuning.thresholds
    assert fresh.evaluate(gold).micro.f1 == pytest.approx(tuning.f1_after)
    fresh.save(tmp_path / "tuned")
    assert FewShotNER.load(tmp_path / "tuned").thresholds == tuning.thresholds
    fresh.add(examples(5, 5, ("river",)), adapt=False)
    assert fresh.thresholds == {**tuning.thresholds, "river": 0.5}


def test_importing_is_quick_and_brings_no_torch() -> None:
    code = "import sys, spanproto; spanproto.Entity; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
    own = next(line for line in done.stderr.splitlines() if line.endswith("| spanproto"))
    assert int(own.split("|")[1]) < 500_000  # microseconds
    assert "FewShotNER" in __import__("spanproto").__all__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        __import__("spanproto").nothing  # noqa: B018
