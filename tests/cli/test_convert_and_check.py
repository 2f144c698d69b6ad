import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy

from spanproto.data.formats import read_episodes, read_sentences, write_episodes, write_sentences
from spanproto.data.types import Episode, Sentence, Span

ANNA = Sentence(("Anna", "met", "Bob"), (Span(0, 1, "PER"), Span(2, 3, "PER")))
EPISODE = Episode(("PER",), (ANNA,), (ANNA, ANNA))
NESTED = Sentence(("Bank", "of", "Spain"), (Span(0, 3, "ORG"), Span(2, 3, "LOC")))


def spanproto(*arguments: object) -> "subprocess.CompletedProcess[str]":
    program = "from spanproto.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONUTF8": "1"},
    )


def assert_refused(ran: "subprocess.CompletedProcess[str]", *parts: str) -> None:
    assert ran.returncode == 2, ran
    assert ran.stdout == ""
    assert ran.stderr.startswith("error: ")
    assert len(ran.stderr.splitlines()) == 1, ran.stderr
    for part in parts:
        assert part in ran.stderr


@pytest.mark.parametrize("name", ["out.conll", "out.jsonl", "out.json"])
def test_sentences_are_converted(tmp_path: Path, name: str) -> None:
    write_sentences(tmp_path / "in.txt", [ANNA], "fewnerd")
    ran = spanproto("convert", tmp_path / "in.txt", tmp_path / "deep" / name)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    (sentence,) = read_sentences(tmp_path / "deep" / name)
    assert (sentence.words, sentence.spans) == (ANNA.words, ANNA.spans)


def test_episodes_are_converted(tmp_path: Path) -> None:
    write_episodes(tmp_path / "in.jsonl", [EPISODE], "fewnerd-episodes")
    assert spanproto("convert", tmp_path / "in.jsonl", tmp_path / "out.json").returncode == 0
    assert read_episodes(tmp_path / "out.json", "crossdomain") == [EPISODE]


def test_schemes_and_columns(tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_text("Anna NNP B-PER\nBob NNP B-PER\n")
    options = ["--from", "conll", "--to", "conll", "--label-column", "-1", "--from-scheme", "bio"]
    assert spanproto("convert", source, target, *options, "--scheme", "bilou").returncode == 0
    assert target.read_text() == "Anna\tU-PER\nBob\tU-PER\n"


def test_a_file_can_be_converted_onto_itself(tmp_path: Path) -> None:
    file = tmp_path / "file.conll"
    file.write_text("Anna\tPER\nBob\tO\n")
    assert spanproto("convert", file, file).returncode == 0
    assert file.read_text() == "Anna\tB-PER\nBob\tO\n"


def test_touching_entities_need_merge_for_io(tmp_path: Path) -> None:
    source, target = tmp_path / "in.conll", tmp_path / "out.txt"
    source.write_text("Anna\tB-PER\nBob\tB-PER\n")
    assert_refused(spanproto("convert", source, target, "--to", "fewnerd"), "sentence 0", "touch")
    assert not target.exists()
    assert spanproto("convert", source, target, "--to", "fewnerd", "--merge").returncode == 0
    assert target.read_text() == "Anna\tPER\nBob\tPER\n"


BAD_INPUTS = {
    "empty": (b"", "the file is empty"),
    "blank": (b" \n\n", "the file is empty"),
    "unknown scheme": (
        b"Anna\tB_PER\nBob\tI_PER\nx\tO\n",
        "bad:1: tag 'B_PER' is of no known scheme",
    ),
    "bad UTF-8": (b"Anna\tB-PER\nJos\xe9\tO\n", "invalid UTF-8 at byte offset 14"),
    "bad UTF-8 after a mark": (b"\xef\xbb\xbfa\tO\n\xff\tO\n", "invalid UTF-8 at byte offset 7"),
    "unknown format": (b"Prose.\nMore of this prose.\n", "in no known format"),
    "no JSON": (b'[{"tokens": ["a"], "entities": []}, {"tok', "bad:1: expected valid JSON"),
}
BAD_PLACES = {
    "ragged columns": (
        b"Anna\tB-PER\nBob\nx\tO\n",
        2,
        "the line has 1 column(s) where others have 2",
    ),
    "stray tag": (b"Anna\tB-PER\nBob\tI-PER\nx\tPER\n", 3, "tag 'PER' is not of the scheme bio"),
    "words out of range": (
        b'[\n{"tokens": ["a"], "entities": [{"start": 0, "end": 2, "type": "X"}]}\n]\n',
        2,
        "does not lie within the 1 words",
    ),
    "characters out of range": (
        b'{"text": "Anna", "entities": [{"start": 0, "end": 9, "label": "X"}]}\n',
        1,
        "does not lie within the 4 characters",
    ),
    "no word boundary": (
        b'{"text": "a", "entities": []}\n'
        b'{"text": "Anna", "entities": [{"start": 0, "end": 2, "label": "X"}]}\n',
        2,
        "does not begin and end at a word",
    ),
    "type not in the episode": (
        b'{"types": ["A"], "support": {"word": [["x"]], "label": [["B"]]}, '
        b'"query": {"word": [["x"]], "label": [["O"]]}}\n',
        1,
        "not among the episode's types",
    ),
}


@pytest.mark.parametrize("command", [["convert"], ["data", "check"]])
@pytest.mark.parametrize("case", BAD_INPUTS)
def test_unusable_input(tmp_path: Path, command: list[str], case: str) -> None:
    content, message = BAD_INPUTS[case]
    source = tmp_path / "bad"
    source.write_bytes(content)
    target = [tmp_path / "out.json"] if command == ["convert"] else []
    assert_refused(spanproto(*command, source, *target), str(source), message)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("case", BAD_PLACES)
def test_a_bad_place_ends_convert_and_is_listed_by_check(tmp_path: Path, case: str) -> None:
    content, line, message = BAD_PLACES[case]
    source = tmp_path / "bad"
    source.write_bytes(content)
    assert_refused(
        spanproto("convert", source, tmp_path / "out.json"), f"{source}:{line}: ", message
    )
    assert list(tmp_path.iterdir()) == [source]
    ran = spanproto("data", "check", source, "--json")
    assert (ran.returncode, ran.stderr) == (1, "")
    (problem,) = json.loads(ran.stdout)["problems"]
    assert problem["line"] == line
    assert message in problem["message"]


def test_missing_file(tmp_path: Path) -> None:
    missing = tmp_path / "missing.conll"
    assert_refused(spanproto("convert", missing, tmp_path / "out.json"), "no such file")
    assert_refused(spanproto("data", "check", missing), "no such file")
    assert list(tmp_path.iterdir()) == []


def test_what_the_output_cannot_hold(tmp_path: Path) -> None:
    source, target = tmp_path / "in.json", tmp_path / "out.conll"
    target.write_text("old")
    write_sentences(source, [ANNA, NESTED], "token-json")
    assert_refused(spanproto("convert", source, target), "sentence 1", "share a word")
    assert target.read_text() == "old"
    write_episodes(source, [EPISODE], "token-episodes")
    ran = spanproto("convert", source, target, "--to", "conll")
    assert_refused(ran, "holds sentences and episodes are needed")
    assert_refused(spanproto("convert", source, target, "--scheme", "bio"), "no tag scheme")


CUT = {"text": "Ada Lovelace wrote", "label": [[0, 10, "PER"], [12, 13, "X"]]}


def test_entities_that_cut_words(tmp_path: Path) -> None:
    source, target = tmp_path / "export.jsonl", tmp_path / "out.conll"
    source.write_text(json.dumps(CUT) + "\n")
    message = f"{source}:1: entity [0, 10) 'Ada Lovela'"
    assert_refused(spanproto("convert", source, target), message)
    assert_refused(
        spanproto("convert", source, target, "--boundaries", "widen"), "choose refuse or snap"
    )
    ran = spanproto("convert", source, target, "--boundaries", "snap")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == (
        f"warning: {source}:1: entity [12, 13) ' ' of type 'X' touches no word and was left out\n"
    )
    assert target.read_text() == "Ada\tB-PER\nLovelace\tI-PER\nwrote\tO\n"


def test_check_with_boundaries(tmp_path: Path) -> None:
    source = tmp_path / "export.jsonl"
    source.write_text(json.dumps(CUT) + "\n")
    ran = spanproto("data", "check", source, "--json")
    assert (ran.returncode, len(json.loads(ran.stdout)["problems"])) == (1, 1)
    ran = spanproto("data", "check", source, "--json", "--boundaries", "snap")
    report = json.loads(ran.stdout)
    assert (ran.returncode, report["format"], report["entities"]) == (0, "doccano", 1)
    assert [warning["line"] for warning in report["warnings"]] == [1]


def test_binary_files(tmp_path: Path) -> None:
    source = tmp_path / "corpus.spacy"
    write_sentences(tmp_path / "in.txt", [ANNA], "fewnerd")
    assert spanproto("convert", tmp_path / "in.txt", source).returncode == 0
    ran = spanproto("data", "check", source)
    assert ran.returncode == 0
    assert "format               spacy" in ran.stdout
    assert spanproto("convert", source, tmp_path / "out.conll").returncode == 0
    assert read_sentences(tmp_path / "out.conll") == [ANNA]
    (tmp_path / "picture").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    for command in (["convert"], ["data", "check"]):
        target = [tmp_path / "out.json"] if command == ["convert"] else []
        assert_refused(spanproto(*command, tmp_path / "picture", *target), "a binary file")


def test_problems_without_a_line(tmp_path: Path) -> None:
    source = tmp_path / "corpus.spacy"
    docs = [spacy.blank("en")(text) for text in ("Ada", " ")]
    spacy.tokens.DocBin(docs=docs).to_disk(source)
    ran = spanproto("data", "check", source)
    assert ran.returncode == 1
    assert "\n  document 1: the sentence has no words; leave it out\n" in ran.stdout
    (problem,) = json.loads(spanproto("data", "check", source, "--json").stdout)["problems"]
    assert problem["line"] is None


def test_formats_that_are_only_read(tmp_path: Path) -> None:
    write_sentences(tmp_path / "in.txt", [ANNA], "fewnerd")
    ran = spanproto("convert", tmp_path / "in.txt", tmp_path / "out.jsonl", "--to", "prodigy")
    assert_refused(ran, "the format prodigy is only read")


def test_many_warnings_are_counted(tmp_path: Path) -> None:
    source = tmp_path / "in.conll"
    source.write_text("a\tB-X\n\nb\tI-X\n\nc\tI-X\n")
    ran = spanproto("convert", source, tmp_path / "out.json")
    assert ran.returncode == 0
    assert ran.stderr.startswith(f"warning: {source}:3: tag 'I-X' breaks")
    assert ran.stderr.endswith("(and 1 more: spanproto data check)\n")


def test_check_of_a_clean_file(tmp_path: Path) -> None:
    file = tmp_path / "clean.conll"
    write_sentences(file, [ANNA], "conll")
    ran = spanproto("data", "check", file)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[0] == str(file)
    assert "tag scheme           bio" in ran.stdout
    ran = spanproto("data", "check", file, "--json", "--format", "conll", "--scheme", "bio")
    assert json.loads(ran.stdout)["types"] == {"PER": {"entities": 2, "sentences": 1}}


def test_warnings_are_not_problems(tmp_path: Path) -> None:
    file = tmp_path / "lenient.conll"
    file.write_text("a\tB-X\n\nb\tI-X\n")
    ran = spanproto("data", "check", file)
    assert ran.returncode == 0
    assert "line 3: tag 'I-X'" in ran.stdout


def test_torch_is_not_imported() -> None:
    program = (
        "import sys; import spanproto.cli.convert, spanproto.cli.data_check; "
        "import spanproto.data.check; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
