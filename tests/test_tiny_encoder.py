"""The encoder made on the spot: its vocabulary, and that it can be made again."""

from pathlib import Path

import pytest
from transformers import AutoConfig, AutoTokenizer

from spanproto.tiny_encoder import build_tiny_encoder, word_pieces


def test_letters_come_first_and_then_what_saves_most() -> None:
    # "abab" saves 3 letters twice, "##bab" and "aba" 2 twice, "ab" 1 in each of 2 + 3 words.
    pieces = word_pieces({"abab": 2, "ab": 3}, size=7)
    assert pieces == ["##a", "##b", "a", "abab", "ab", "##bab", "aba"]
    assert word_pieces({"abab": 2, "ab": 3}, size=1) == ["##a", "##b", "a"]


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
