"""What a run trains on: numbered, reproducible, and distinct within a step."""

from pathlib import Path

import pytest
import synthetic

from spanproto.data.formats import write_episodes, write_sentences
from spanproto.data.types import Sentence
from spanproto.errors import ConfigError
from spanproto.training.settings import DataConfig
from spanproto.training.source import Shuffled, TrainingData


def sentences_of(file: Path, types: str | None = None) -> list[Sentence]:
    return list(TrainingData(DataConfig(train=[str(file)], train_types=types)).sentences())


def test_items_are_shuffled_anew_each_time_and_reproducible() -> None:
    source, again = Shuffled("abcdefg", seed=3), Shuffled("abcdefg", seed=3)
    order = [source[i] for i in range(21)]
    assert [again[i] for i in reversed(range(21))] == order[::-1]
    passes = [order[i : i + 7] for i in (0, 7, 14)]
    assert all(sorted(part) == list("abcdefg") for part in passes)
    assert passes[0] != passes[1]


def test_the_items_of_a_step_are_distinct() -> None:
    source = Shuffled(range(10), seed=0, per_step=4)
    steps = [[source[4 * step + i] for i in range(4)] for step in range(30)]
    assert all(len(set(step)) == 4 for step in steps)
    assert {item for step in steps for item in step} == set(range(10))
    few = Shuffled(range(3), seed=0, per_step=4)
    assert sorted(few[i] for i in range(3)) == [0, 1, 2]


def test_sentences_of_files_and_of_episodes_are_taken_once(tmp_path: Path) -> None:
    corpus = synthetic.corpus(1, 5)
    write_sentences(tmp_path / "corpus.json", [*corpus, corpus[0].unlabelled()], "token-json")
    assert sentences_of(tmp_path / "corpus.json") == corpus
    episodes = [synthetic.episode(1), synthetic.episode(2), synthetic.episode(1)]
    write_episodes(tmp_path / "episodes.jsonl", episodes, "token-episodes")
    found = sentences_of(tmp_path / "episodes.jsonl")
    expected = [s for e in episodes[:2] for s in (*e.support, *e.query)]
    assert found == expected


@pytest.mark.parametrize(("types", "kept"), [(None, 2), ("river", 1)])
def test_sentences_are_those_of_the_types_to_train_on(tmp_path: Path, types, kept) -> None:
    sentences = [synthetic.episode(1, [label]).support[0] for label in ("river", "tool")]
    write_sentences(tmp_path / "corpus.json", sentences, "token-json")
    assert sentences_of(tmp_path / "corpus.json", types) == sentences[:kept]


def test_a_share_of_the_training_sentences_is_the_same_whenever_it_is_drawn(tmp_path: Path) -> None:
    corpus = synthetic.corpus(1, 20)
    for name in ("one.json", "other.json"):
        write_sentences(tmp_path / name, corpus, "token-json")
        corpus = synthetic.corpus(2, 7)
    files = [str(tmp_path / "one.json"), str(tmp_path / "other.json")]

    def shared(share: float) -> list[Sentence]:
        return list(TrainingData(DataConfig(train=files, train_share=share)).sentences())

    everything, half = shared(1.0), shared(0.5)
    assert half == shared(0.5)
    assert half == [sentence for sentence in everything if sentence in half]
    assert len(everything) == 27
    assert len(half) == 14  # of each file
    assert len(shared(0.001)) == 2  # and never none


def test_a_share_of_given_episodes(tmp_path: Path) -> None:
    episodes = [synthetic.episode(number) for number in range(8)]
    write_episodes(tmp_path / "episodes.jsonl", episodes, "token-episodes")
    config = DataConfig(train=[str(tmp_path / "episodes.jsonl")], train_share=0.25)
    source = TrainingData(config).episodes(seed=1)
    seen = [source[number] for number in range(4)]
    assert len({repr(episode) for episode in seen}) == 2
    assert all(episode in episodes for episode in seen)


def test_each_file_of_episodes_gives_its_share(tmp_path: Path) -> None:
    few, many = ([synthetic.episode(n) for n in numbers] for numbers in (range(2), range(5, 25)))
    for name, episodes in (("many.jsonl", many), ("few.jsonl", few)):
        write_episodes(tmp_path / name, episodes, "token-episodes")
    files = [str(tmp_path / name) for name in ("many.jsonl", "few.jsonl")]
    source = TrainingData(DataConfig(train=files, train_share=0.1)).episodes(seed=1)
    seen = [source[number] for number in range(3)]
    assert sum(episode in many for episode in seen) == 2
    assert sum(episode in few for episode in seen) == 1  # and never none


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5])
def test_a_share_is_more_than_nothing_and_no_more_than_all(share: float) -> None:
    with pytest.raises(ConfigError, match=r"data\.train_share"):
        DataConfig(train_share=share)
