"""Words in one file and their tags in another, line by line."""

from pathlib import Path

import pytest

from spanproto.data.formats import Problem, detect_format, open_sentences, read_sentences
from spanproto.data.types import Sentence, Span
from spanproto.errors import DataError

WORDS = "play blue train\n\nhear nina simone now\n"
TAGS = "O B-track I-track\n\nO B-artist I-artist O\n"
PLAY = Sentence(("play", "blue", "train"), (Span(1, 3, "track"),))
HEAR = Sentence(("hear", "nina", "simone", "now"), (Span(1, 3, "artist"),))


def put(folder: Path, words: str = WORDS, tags: str = TAGS) -> Path:
    (folder / "seq.in").write_text(words, "utf-8")
    (folder / "seq.out").write_text(tags, "utf-8")
    return folder / "seq.out"


def test_either_file_stands_for_both(tmp_path: Path) -> None:
    tags = put(tmp_path)
    assert detect_format(tags) == "seq-in-out"
    assert read_sentences(tags) == [PLAY, HEAR]
    assert read_sentences(tmp_path / "seq.in") == [PLAY, HEAR]


def test_sentences_keep_their_lines(tmp_path: Path) -> None:
    assert [located.line for located in open_sentences(put(tmp_path)).items] == [1, 3]


def test_a_long_file_is_told_from_its_beginning(tmp_path: Path) -> None:
    path = put(tmp_path, "a b c d e f g\n" * 200, "O O O O O B-some_long_slot_name O\n" * 200)
    assert len(read_sentences(path)) == 200


def test_columns_whose_words_look_like_tags_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "corpus.conll"
    path.write_text("I-X\tB-PER\nO\tO\n")
    assert detect_format(path) == "conll"


def test_a_line_that_does_not_fit_is_named(tmp_path: Path) -> None:
    path = put(
        tmp_path, "play blue train\nstop\nhear nina simone now\n", TAGS.replace("\n\n", "\n")
    )
    with pytest.raises(DataError, match=r"seq\.out:2: 1 word\(s\) in the \.in file and 4 tag"):
        read_sentences(path)
    problems: list[Problem] = []
    assert [item for _, item in open_sentences(path, on_problem=problems.append).items] == [PLAY]
    assert [problem.line for problem in problems] == [2, 3]


def test_a_missing_half_is_named(tmp_path: Path) -> None:
    path = put(tmp_path)
    (tmp_path / "seq.in").unlink()
    with pytest.raises(DataError, match=r"seq\.in: no such file"):
        read_sentences(path)


def test_a_tag_that_is_none_is_named(tmp_path: Path) -> None:
    path = put(tmp_path, tags=TAGS.replace("I-artist", "artist"))
    with pytest.raises(DataError, match=r"seq\.out:3: word 2: tag 'artist'"):
        read_sentences(path, "seq-in-out")
