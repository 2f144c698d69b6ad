"""Varied episodes: from one corpus each, with entities of other types left in."""

from pathlib import Path

import pytest
import synthetic

from spanproto.data.few_shot import few_shot_support
from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Episode, Sentence, Span
from spanproto.errors import DataError
from spanproto.training.mixture import MixedEpisodes
from spanproto.training.settings import DataConfig
from spanproto.training.source import TrainingData, corpora_of


def corpora() -> list[list[Sentence]]:
    fine = [
        sentence.with_spans(span._replace(label=f"thing-{span.label}") for span in sentence.spans)
        for sentence in synthetic.corpus(2, 40, synthetic.TYPES[3:])
    ]
    return [synthetic.corpus(1, 40, synthetic.TYPES[:3]), fine]


def test_episodes_are_a_function_of_seed_and_number() -> None:
    one, other = (MixedEpisodes(corpora(), 3, 2, 2, seed=7) for _ in range(2))
    assert [one[i] for i in range(20)] == [other[i] for i in reversed(range(20))][::-1]
    assert [one[i] for i in range(20)] != [
        MixedEpisodes(corpora(), 3, 2, 2, 8)[i] for i in range(20)
    ]


def test_episodes_vary_within_their_limits() -> None:
    mixture = MixedEpisodes(corpora(), ways=3, shots=2, queries=2, seed=0)
    drawn = [mixture[i] for i in range(200)]
    assert {len(episode.types) for episode in drawn} == {1, 2, 3}
    assert any(episode.descriptions for episode in drawn)
    assert not all(episode.descriptions for episode in drawn)
    families = {frozenset(label.split("-")[0] for label in e.types) for e in drawn}
    assert frozenset({"thing"}) in families
    assert any(episode.types == ("thing",) for episode in drawn)  # the coarse type
    for episode in drawn:
        thing = [label.startswith("thing") for label in episode.types]
        assert all(thing) or not any(thing)
        assert episode.supported_types() == episode.types
        shown = {sentence.words for sentence in episode.support}
        assert not shown & {sentence.words for sentence in episode.query}


def test_entities_of_other_types_stay_to_be_rejected() -> None:
    mixture = MixedEpisodes(corpora(), ways=1, shots=1, queries=2, seed=0)
    originals = {s.words: {(p.start, p.end) for p in s.spans} for c in corpora() for s in c}
    found_others = False
    for episode in (mixture[i] for i in range(50)):
        for sentence in (*episode.support, *episode.query):
            typed = {(span.start, span.end) for span in sentence.spans}
            assert typed | set(sentence.others) == originals[sentence.words]
            assert {span.label for span in sentence.spans} <= set(episode.types)
            found_others |= bool(sentence.others)
    assert found_others


def test_a_handful_of_examples_has_every_type_often_enough() -> None:
    pool = synthetic.corpus(3, 80)
    for shots in (1, 3):
        support = few_shot_support(pool, shots, seed=1)
        counts = sum(
            (sentence.type_counts() for sentence in support), start=type(pool[0].type_counts())()
        )
        assert set(counts) == set(synthetic.TYPES)
        assert min(counts.values()) >= shots
        assert support == few_shot_support(pool, shots, seed=1)
        assert support != few_shot_support(pool, shots, seed=2)
    rare = [Sentence(("a",), (Span(0, 1, "once"),)), Sentence(("b",), (Span(0, 1, "twice"),))]
    assert len(few_shot_support(rare, 5, seed=0)) == 2


def test_episodes_of_the_same_types_are_a_corpus_to_draw_others_from(tmp_path: Path) -> None:
    given = [synthetic.episode(seed, types=synthetic.TYPES[:3]) for seed in range(3)]
    given += [synthetic.episode(seed, types=synthetic.TYPES[3:6]) for seed in range(3, 6)]
    corpora = corpora_of(given)
    assert [{span.label for s in corpus for span in s.spans} for corpus in corpora] == [
        set(synthetic.TYPES[:3]),
        set(synthetic.TYPES[3:6]),
    ]
    words = [sentence.words for corpus in corpora for sentence in corpus]
    assert len(words) == len(set(words))
    path = tmp_path / "episodes.jsonl"
    write_episodes(path, given, "token-episodes")
    config = DataConfig(train=[str(path)], mixed=True, ways=2)
    drawn = TrainingData(config).episodes(0)
    assert {len(drawn[number].types) for number in range(20)} == {1, 2}
    known = set(words)
    for number in range(20):
        assert {s.words for s in (*drawn[number].support, *drawn[number].query)} <= known


def test_varied_episodes_know_the_types_of_the_split_alone(tmp_path: Path) -> None:
    path = tmp_path / "sentences.conll"
    write_sentences(path, synthetic.corpus(1, 60), "conll")
    types = ",".join(synthetic.TYPES[:3])
    drawn = TrainingData(DataConfig(train=[str(path)], mixed=True, train_types=types)).episodes(0)
    assert {label for number in range(40) for label in drawn[number].types} == set(
        synthetic.TYPES[:3]
    )


def test_an_odd_episode_is_no_corpus(tmp_path: Path) -> None:
    odd = synthetic.episode(1, types=synthetic.TYPES[3:6])
    plain = (Sentence(("nothing", "here"), ()),)
    odd = Episode(odd.types, odd.support[:1], plain)
    assert corpora_of([odd]) == []
    assert len(corpora_of([odd, synthetic.episode(2)])) == 1
    path = tmp_path / "episodes.jsonl"
    write_episodes(path, [odd], "token-episodes")
    with pytest.raises(DataError, match="no type is in two sentences"):
        TrainingData(DataConfig(train=[str(path)], mixed=True))
