"""Requests in domains, read from the common files, and episodes of one domain."""

from pathlib import Path

import pytest
import synthetic

from spanproto.data.formats import write_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError
from spanproto.experiments.domains import domain_episode, read_domains
from spanproto.samples import SLOTS


def put_slots(folder: Path, labels: str, words: str = "play jazz\nstop\nbook lunch\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "seq.in").write_text(words)
    (folder / "seq.out").write_text("O B-genre\nO\nO B-meal\n")
    (folder / "label").write_text(labels)


def test_intents_are_domains_over_all_parts_of_a_corpus(tmp_path: Path) -> None:
    put_slots(tmp_path / "train", "music\nmusic\nfood\n")
    put_slots(tmp_path / "test", "music\nmusic\nfood\n", "play soul\nstop\nbook dinner\n")
    found = read_domains(tmp_path)
    assert list(found) == ["food", "music"]
    assert [sentence.words for sentence in found["music"]] == [
        ("play", "soul"),
        ("stop",),  # once, though both parts have it
        ("play", "jazz"),
    ]
    assert found["food"][0] == Sentence(("book", "dinner"), (Span(1, 2, "meal"),))


def test_column_files_are_named_after_their_domains(tmp_path: Path) -> None:
    for name in ("music.conll", "food/train.tsv", "food/test.tsv"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        write_sentences(path, [Sentence((name,), (Span(0, 1, "x"),))], "conll")
    (tmp_path / "README.md").write_text("no data")
    assert {name: len(found) for name, found in read_domains(tmp_path).items()} == {
        "food": 2,
        "music": 1,
    }


def test_what_has_no_domains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no files"):
        read_domains(tmp_path)
    for part in ("train", "test"):
        write_sentences(tmp_path / f"{part}.conll", [Sentence((part,))], "conll")
    with pytest.raises(DataError, match="test, train are parts of one corpus and no domains"):
        read_domains(tmp_path)
    write_sentences(tmp_path / "chat.conll", [Sentence(("hello",))], "conll")
    write_sentences(tmp_path / "music.conll", [Sentence(("jazz",), (Span(0, 1, "x"),))], "conll")
    with pytest.raises(DataError, match="nothing is labelled in the domain 'chat'"):
        read_domains(tmp_path)
    put_slots(tmp_path, "music\nmusic\n")
    with pytest.raises(DataError, match="label:3: no label for the sentence on this line"):
        read_domains(tmp_path)


def test_an_episode_has_every_type_and_other_sentences_to_ask_about() -> None:
    sentences = synthetic.corpus()
    episode = domain_episode(sentences, shots=2, queries=7, seed=3)
    assert episode.types == episode.supported_types() == tuple(sorted(synthetic.TYPES))
    for label in episode.types:
        assert sum(sentence.type_counts()[label] for sentence in episode.support) >= 2
    assert len(episode.query) == 7
    assert not {s.words for s in episode.support} & {s.words for s in episode.query}
    assert episode == domain_episode(sentences, shots=2, queries=7, seed=3)
    assert episode != domain_episode(sentences, shots=2, queries=7, seed=4)


def test_a_domain_that_its_examples_use_up_is_refused() -> None:
    with pytest.raises(DataError, match=r"3 sentence\(s\) of the domain 'news' leave none"):
        domain_episode(synthetic.corpus(size=3), shots=9, queries=1, seed=0, domain="news")


def test_the_sample_has_intents_with_slots_to_spare() -> None:
    domains = read_domains(SLOTS)
    assert {name: len(sentences) for name, sentences in domains.items()} == dict.fromkeys(
        ("book_table", "order_groceries", "plan_trip", "play_music"), 14
    )
    for sentences in domains.values():
        assert len(domain_episode(sentences, shots=2, queries=3, seed=0).query) == 3
