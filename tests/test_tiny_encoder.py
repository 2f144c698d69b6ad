"""The encoder made on the spot: its vocabulary, and that it can be made again."""

from pathlib import Path

import pytest
from tiny_encoder import build_tiny_encoder, word_pieces
from transformers import AutoConfig, AutoTokenizer


def test_letters_come_first_and_then_the_most_frequent_pairs() -> None:
    # Pairs by letters: t-##h 5, ##h-##e 4, ##a-##t 3; then th-##e 4, and of c-##at and th-##at 3.
    counts = {"the": 4, "that": 1, "cat": 2}
    letters = ["##a", "##e", "##h", "##t", "c", "t"]
    assert word_pieces(counts, 9) == [*letters, "th", "the", "##at"]
    assert word_pieces(counts, 99) == [*letters, "th", "the", "##at", "cat", "that"]
    assert word_pieces(counts, 1) == letters


@pytest.mark.parametrize(("rotary", "kind"), [(False, "bert"), (True, "roformer")])
def test_the_same_words_give_the_same_files(rotary: bool, kind: str, tmp_path: Path) -> None:
    words = ["Ada", "wrote", "ada", "tea", "tee", "rote"] * 3
    for name in ("first", "again"):
        build_tiny_encoder(words, tmp_path / name, vocabulary=40, seed=1, rotary=rotary)
    assert AutoConfig.from_pretrained(tmp_path / "first").model_type == kind
    for path in (tmp_path / "first").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_case_is_kept_when_asked(tmp_path: Path) -> None:
    build_tiny_encoder(["Ada", "ada"], tmp_path, lowercase=False)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.tokenize("Ada ada") == ["Ada", "ada"]
