import pickle
import time
from collections import Counter
from itertools import islice

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spanproto.data.sampler import EpisodeSampler
from spanproto.data.types import Sentence, Span
from spanproto.errors import ConfigError, DataError


def sentence(name: str, *labels: str) -> Sentence:
    """A sentence of one-word entities with these labels, after a word that makes it unique."""
    spans = tuple(Span(place, place + 1, label) for place, label in enumerate(labels, start=1))
    return Sentence((name, *("word" for _ in labels)), spans)


def corpus(each: int = 40) -> list[Sentence]:
    """Four types, alone and in pairs, and sentences without entities."""
    types = ("ant", "bee", "cat", "dog")
    groups = [(label,) for label in types] + [("ant", "bee"), ("cat", "cat"), ("bee", "dog"), ()]
    return [sentence(f"{index}-{'-'.join(g)}", *g) for index in range(each) for g in groups]


@st.composite
def corpora(draw: st.DrawFn) -> list[Sentence]:
    labels = draw(
        st.lists(st.lists(st.sampled_from("abcdef"), max_size=5), min_size=20, max_size=120)
    )
    return [sentence(str(index % 100), *group) for index, group in enumerate(labels)]


def assert_obeys_the_rule(part: tuple[Sentence, ...], types: tuple[str, ...], shots: int) -> None:
    """Replays the sentences in order: each must have been acceptable when it came."""
    totals: Counter[str] = Counter()
    for accepted in part:
        counts = accepted.type_counts()
        assert counts.keys() <= set(types)
        assert any(totals[label] < shots for label in counts)
        totals += counts
        assert max(totals.values()) <= 2 * shots
    assert all(totals[label] >= shots for label in types)


@settings(max_examples=150, deadline=None)
@given(corpora(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.integers(0, 10**9))
def test_every_episode_obeys_the_rule(
    sentences: list[Sentence], ways: int, shots: int, query_shots: int, index: int
) -> None:
    try:
        sampler = EpisodeSampler(sentences, ways, shots, query_shots, skip_rare=True)
        episode = sampler[index]
    except DataError:
        assume(False)
    assert len(episode.types) == ways
    assert set(episode.types) <= set(sampler.types)
    assert_obeys_the_rule(episode.support, episode.types, shots)
    assert_obeys_the_rule(episode.query, episode.types, query_shots)
    chosen = [sentence.words for sentence in episode.support + episode.query]
    assert len(set(chosen)) == len(chosen)


@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_an_episode_depends_on_corpus_settings_seed_and_index_alone(seed: int, index: int) -> None:
    first = EpisodeSampler(corpus(), 3, 2, seed=seed)
    second = EpisodeSampler(iter(corpus()), 3, 2, seed=seed, types=["dog", "cat", "bee", "ant"])
    _ = first[7]
    assert pickle.dumps(first[index]) == pickle.dumps(second[index])
    assert first[index] == pickle.loads(pickle.dumps(first))[index]


def test_the_stream_is_the_same_in_every_version() -> None:
    episode = EpisodeSampler(corpus(), 2, 1, seed=12)[3]
    assert episode.types == ("ant", "bee")
    assert [item.words[0] for item in episode.support] == ["13-ant", "8-ant-bee"]
    assert [item.words[0] for item in episode.query] == ["8-bee", "24-ant-bee"]


def test_indices_and_seeds_give_different_episodes() -> None:
    many = list(EpisodeSampler(corpus(), 3, 2, seed=1).take(50))
    others = list(EpisodeSampler(corpus(), 3, 2, seed=2).take(50))
    assert len({pickle.dumps(episode) for episode in many + others}) == 100


def test_streams_resume_and_split_over_workers() -> None:
    sampler = EpisodeSampler(corpus(), 2, 1)
    whole = list(islice(sampler, 6))
    assert list(islice(sampler.stream(start=4), 2)) == whole[4:]
    workers = [list(islice(sampler.stream(start=worker, step=2), 3)) for worker in range(2)]
    assert [episode for pair in zip(*workers, strict=True) for episode in pair] == whole


def test_negative_indices_are_refused() -> None:
    with pytest.raises(IndexError, match="numbered from 0"):
        EpisodeSampler(corpus(), 2, 1)[-1]


def test_every_type_and_every_sentence_can_be_drawn() -> None:
    episodes = list(EpisodeSampler(corpus(each=3), 2, 1).take(400))
    types = Counter(label for episode in episodes for label in episode.types)
    assert set(types) == {"ant", "bee", "cat", "dog"}
    assert max(types.values()) < 1.3 * min(types.values())
    seen = {item for episode in episodes for item in episode.support + episode.query}
    assert seen == {item for item in corpus(each=3) if item.spans}


def test_sentences_are_drawn_evenly() -> None:
    """One type, one shot: each of ten sentences is the support a tenth of the time."""
    sampler = EpisodeSampler([sentence(str(index), "ant") for index in range(10)], 1, 1)
    first = Counter(episode.support[0].words[0] for episode in sampler.take(5000))
    assert len(first) == 10
    assert all(420 < times < 580 for times in first.values())  # 500 +- 4 standard deviations


def test_types_limit_the_draw_and_exclude_sentences_with_others() -> None:
    sampler = EpisodeSampler(corpus(), 2, 2, types=["ant", "dog"])
    for episode in sampler.take(20):
        assert episode.types == ("ant", "dog")
        for item in episode.support + episode.query:
            assert item.type_counts().keys() <= {"ant", "dog"}


def test_query_shots_default_to_shots() -> None:
    assert EpisodeSampler(corpus(), 2, 3).query_shots == 3


def test_the_same_words_are_never_in_support_and_query() -> None:
    twice = [sentence(str(index % 3), "ant") for index in range(6)]
    for episode in EpisodeSampler(twice, 1, 1).take(50):
        assert episode.support[0].words != episode.query[0].words


def test_a_rare_type_is_named_with_its_counts_and_the_remedy() -> None:
    rare = [*corpus(), sentence("one", "emu"), sentence("two", "emu", "emu")]
    with pytest.raises(
        DataError, match=r"2 support and 2 query.*: emu \(3 entities in 2 usable sent.*skip"
    ):
        EpisodeSampler(rare, 2, 2)
    sampler = EpisodeSampler(rare, 2, 2, skip_rare=True)
    assert sampler.types == ("ant", "bee", "cat", "dog")


def test_all_entities_in_one_sentence_cannot_fill_support_and_query() -> None:
    with pytest.raises(DataError, match=r"emu \(2 entities in 1 usable sentences\)"):
        EpisodeSampler([*corpus(), sentence("both", "emu", "emu")], 2, 1)


@pytest.mark.parametrize("labels", [("emu",) * 3, ("emu", "ant", "bee")])
def test_sentences_that_no_episode_can_hold_do_not_count(labels: tuple[str, ...]) -> None:
    """Three entities of a type pass 2K, three types pass N."""
    crowded = [sentence(f"crowded {index}", *labels) for index in range(9)]
    with pytest.raises(DataError, match=r"emu \(0 entities in 0 usable sentences\)"):
        EpisodeSampler([*corpus(), *crowded], 2, 1)


def test_sentences_with_a_skipped_type_no_longer_count_for_the_others() -> None:
    """Fox has enough entities only together with emu, which is too rare."""
    paired = [sentence("one", "emu", "fox"), sentence("two", "emu", "fox"), sentence("3", "fox")]
    with pytest.raises(DataError, match=r": emu \(2 entities in 2 usable sentences\); "):
        EpisodeSampler([*corpus(), *paired], 2, 2, query_shots=1)
    sampler = EpisodeSampler([*corpus(), *paired], 2, 2, query_shots=1, skip_rare=True)
    assert sampler.types == ("ant", "bee", "cat", "dog")


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(DataError, match=r"yak \(0 entities in 0 usable sentences\)"):
        EpisodeSampler(corpus(), 2, 1, types=["ant", "bee", "yak"])


def test_fewer_types_than_ways_is_refused() -> None:
    with pytest.raises(DataError, match="4 types can fill an episode and 5-way episodes need 5"):
        EpisodeSampler(corpus(), 5, 1)


@pytest.mark.parametrize("setting", ["ways", "shots", "query_shots"])
def test_settings_below_one_are_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=f"{setting}=0"):
        EpisodeSampler(corpus(), **({"ways": 2, "shots": 1} | {setting: 0}))


def test_types_that_cannot_be_completed_end_quickly_with_their_names() -> None:
    """Each gnu brings three hens, of which an episode may have four: no second gnu ever fits."""
    both = [sentence(f"gnu {index}", "gnu", "hen", "hen", "hen") for index in range(500)]
    hens = [sentence(f"hen {index}", "hen") for index in range(500)]
    started = time.perf_counter()
    with pytest.raises(DataError, match=r"200 draws.*: gnu \(200 times\)"):
        EpisodeSampler(both + hens, 2, 2)[0]
    assert time.perf_counter() - started < 5


def test_an_unlucky_draw_of_types_is_replaced() -> None:
    """Owl and pig exist only together: a draw of one without the other cannot be completed."""
    together = [sentence(f"pair {index}", "owl", "pig") for index in range(30)]
    sampler = EpisodeSampler([*corpus(), *together], 3, 1)
    types = Counter(episode.types for episode in sampler.take(200))
    assert all(("owl" in drawn) == ("pig" in drawn) for drawn in types)
    assert any("owl" in drawn for drawn in types)
