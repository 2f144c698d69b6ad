"""`spanproto fit`, `predict`, `explain`, `score` and `tune` as a user types them."""

import io
import json
import sys
from pathlib import Path

import pytest
import synthetic
from command import refused, spanproto

from spanproto import FewShotNER
from spanproto.data.formats import write_sentences

TEXT = "the animala seen near old fruitb fruitc"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, trained_model: Path) -> Path:
    """Labelled files, and a recogniser that the command has fitted."""
    folder = tmp_path_factory.mktemp("fit")
    types = ("animal", "fruit")
    for name, seed, size in (("examples", 1, 10), ("held-out", 2, 30)):
        write_sentences(folder / f"{name}.txt", synthetic.corpus(seed, size, types), "conll")
    done = spanproto(
        "fit", folder / "examples.txt", "-o", folder / "ner", "--model", trained_model, "--no-adapt"
    )
    assert done.returncode == 0, done.stderr
    assert "ner: finds animal, fruit; learnt from 10 examples" in done.stdout
    return folder


def predict(folder: Path, *arguments: object) -> str:
    done = spanproto("predict", folder / "ner", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_text_as_a_table(folder: Path) -> None:
    heading, first, second = predict(folder, "--text", TEXT).splitlines()
    assert heading.split() == ["document", "entity", "type", "start", "end", "score"]
    assert first.split()[:5] == ["0", "animala", "animal", "4", "11"]
    assert second.split()[1:6] == ["fruitb", "fruitc", "fruit", "26", "39"]
    with_others = predict(folder, "--text", TEXT, "--top-k", 1).splitlines()
    assert with_others[0].endswith("or")
    assert "fruit 0." in with_others[1]


def test_a_file_in_every_form(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(f"{TEXT}\r\n\r\nnothing here\n".encode())
    lines = [json.loads(line) for line in predict(folder, source, "--format", "jsonl").splitlines()]
    assert [line["text"] for line in lines] == [TEXT, "nothing here"]
    assert [entity["text"] for entity in lines[0]["entities"]] == ["animala", "fruitb fruitc"]
    assert lines[1]["entities"] == []
    assert "animala\tB-animal\n" in predict(folder, source, "--format", "conll")
    out = tmp_path / "out.html"
    assert predict(folder, source, "--format", "html", "-o", out) == ""
    assert "animala" in out.read_text()


def stdin(content: bytes) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content))


@pytest.mark.parametrize(
    ("per", "expected"), [("line", ["a b", "c", "d"]), ("paragraph", ["a b\nc", "d"])]
)
def test_lines_and_paragraphs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, per: str, expected: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", stdin(b"a b\nc\n\n\nd"))
    lines = predict(folder, "-", "--per", per, "--format", "jsonl").splitlines()
    assert [json.loads(line)["text"] for line in lines] == expected


def test_a_whole_file_and_a_file_of_data(folder: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.txt"
    source.write_bytes(b"a b\r\n\r\nc\r\n")
    (line,) = predict(folder, source, "--per", "file", "--format", "jsonl").splitlines()
    assert json.loads(line)["text"] == "a b\r\n\r\nc"
    lines = predict(
        folder, folder / "held-out.txt", "--input-format", "conll", "--format", "jsonl"
    ).splitlines()
    assert len(lines) == 30
    assert isinstance(json.loads(lines[0])["words"], list)


def test_thresholds_by_number_and_by_label(folder: Path) -> None:
    assert len(predict(folder, "--text", TEXT, "--threshold", 1).splitlines()) == 1
    only_fruit = predict(folder, "--text", TEXT, "--threshold", "animal=1").splitlines()
    assert [line.split()[1] for line in only_fruit[1:]] == ["fruitb"]


def test_an_explanation(folder: Path) -> None:
    done = spanproto("explain", folder / "ner", "--text", TEXT)
    assert done.returncode == 0, done.stderr
    heading, *rows = done.stdout.splitlines()
    assert heading.split()[:4] == ["span", "nearest", "score", "boundary"]
    assert "to animal" in heading
    assert any(row.startswith("animala") and row.endswith("kept") for row in rows)
    content = json.loads(spanproto("explain", folder / "ner", "--text", TEXT, "--json").stdout)
    assert set(content[0]["distances"]) == {"animal", "fruit"}


def test_scores_and_thresholds_from_labelled_data(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "confusion.svg"
    arguments = (folder / "ner", folder / "held-out.txt")
    done = spanproto("score", *arguments, "--confusion", picture)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[:4]] == [
        "type",
        "animal",
        "fruit",
        "all",
    ]
    assert "<svg" in picture.read_text()
    before = json.loads(spanproto("score", *arguments, "--json").stdout)
    done = spanproto("tune", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    tuning = json.loads(done.stdout)
    assert tuning["f1_before"] == pytest.approx(before["micro"]["f1"])
    after = json.loads(spanproto("score", *arguments, "--json").stdout)
    assert tuning["f1_after"] == pytest.approx(after["micro"]["f1"])
    assert FewShotNER.load(folder / "ner").thresholds == tuning["thresholds"]
    assert "before" in spanproto("tune", *arguments).stdout


def test_bad_bytes_on_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", stdin(b"a \xff"))
    assert "standard input: not valid UTF-8" in refused(spanproto("predict", folder / "ner", "-"))


def test_bad_input_is_one_sentence(folder: Path, trained_model: Path, tmp_path: Path) -> None:
    ner, examples = folder / "ner", folder / "examples.txt"

    def fit(*arguments: object) -> str:
        common = ("--model", trained_model, "-o", tmp_path / "out")
        return refused(spanproto("fit", *arguments, *common))

    assert "no such file" in fit(tmp_path / "none.txt")
    (tmp_path / "odd.xyz").write_text("{{{{")
    assert "no known format; name one of" in fit(tmp_path / "odd.xyz")
    assert "'frut' has no labelled span" in fit(examples, "--description", "frut=an apple")
    assert "write LABEL=VALUE" in fit(examples, "--description", "fruit")
    assert not (tmp_path / "out").exists()
    assert "either a file" in refused(spanproto("predict", ner))
    assert "either a file" in refused(spanproto("predict", ner, "-", "--text", "a"))
    assert "no such file" in refused(spanproto("predict", ner, tmp_path / "none.txt"))
    assert "not a number" in refused(
        spanproto("predict", ner, "--text", "a", "--threshold", "high")
    )
    assert "was not fitted" in refused(spanproto("predict", trained_model, "--text", "a"))
    assert "not a spanproto model" in refused(spanproto("explain", tmp_path, "--text", "a"))


def test_an_empty_file_gives_an_empty_result(folder: Path) -> None:
    (folder / "empty.txt").touch()
    assert predict(folder, folder / "empty.txt", "--format", "jsonl") == ""


def test_a_binary_file_is_told_which_formats_there_are(folder: Path) -> None:
    (folder / "some.bin").write_bytes(b"\xff\x00\x81\x00")
    message = refused(spanproto("fit", folder / "some.bin", "-o", folder / "never"))
    assert "a binary file in no known format; the formats are spacy, label-studio" in message
    assert "episodes" not in message
