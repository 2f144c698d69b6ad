"""The demonstration, cut short: what it says, what it leaves behind, and that its commands work."""

import shlex
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from command import spanproto

from spanproto.data.types import Sentence
from spanproto.data.words import sentence_of
from spanproto.demo import Paragraph, next_commands, run_demo
from spanproto.entity import Entity
from spanproto.evaluation.by_type import TypeReport
from spanproto.examples import read_examples
from spanproto.explanation import Explanation
from spanproto.output import Document
from spanproto.samples import EXAMPLES, PAGE

TEXT = "Ada Lovelace met Bob Lee in York at noon"


class Shown(NamedTuple):
    """A demonstration that was run."""

    output: Path
    said: str
    report: TypeReport


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    output, said = tmp_path_factory.mktemp("work") / "demo", list[str]()
    report = run_demo(output, said.append, steps=1)
    return Shown(output, "\n".join(said), report)


def test_it_shows_what_was_learnt_found_and_rejected(shown: Shown) -> None:
    assert "found the [Rosetta Stone | artefact] in a wall" in shown.said
    places = [shown.said.index(part) for part in ("\nA PAGE", "\nFOUND", "\nREJECTED", "\nTRY")]
    assert places == sorted(places)
    counts = shown.report.micro
    table = shown.said[places[1] : places[2]].splitlines()[4:]
    assert sum(line.endswith("right") for line in table) == counts.correct
    assert f"{counts.correct} of the {counts.gold} entities" in shown.said
    assert "is below the threshold" in shown.said[places[2] : places[3]]


def test_it_says_the_score_that_the_command_gives(shown: Shown) -> None:
    assert f"F1 {shown.report.micro.f1:.0f})" in shown.said
    assert f"{shown.report.micro.f1:.1f}" in ran(f"spanproto score {shown.output} {PAGE}")


def test_the_commands_to_try_next_work_as_printed(
    shown: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    predict, explain, fit = next_commands(shown.output, "spanproto")
    assert all(f"  {command}\n" in shown.said for command in (predict, explain, fit))
    assert "Mortimer Wheeler" in ran(predict)
    assert "kept" in ran(explain)
    assert "learnt from 10 examples" in ran(f"{fit} --steps 1")
    assert (tmp_path / "my-ner" / "ner.json").is_file()


def ran(command: str) -> str:
    """What a command prints that must work."""
    done = spanproto(*shlex.split(command)[1:])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_passes_its_options_on(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[Path, bool]] = []
    monkeypatch.setattr(
        "spanproto.demo.run_demo",
        lambda output, say, colour, program: calls.append((output, colour)),
    )
    ran("spanproto demo")
    ran("spanproto demo --output here")
    assert calls == [(Path("runs/demo"), False), (Path("here"), False)]


def paragraph(*found: str, refused: dict[str, float] | None = None) -> Paragraph:
    """A text whose entities are `Ada Lovelace`, `Bob Lee` (person) and `York` (place)."""
    right = {place("Ada Lovelace"): "person", place("Bob Lee"): "person", place("York"): "place"}
    entities = [Entity(text, "person", *place(text), 0.9) for text in found]
    rejected = [
        Explanation(text, "person", *place(text), 0.1, boundary, {}, {}, "unlikely", "low")
        for text, boundary in (refused or {}).items()
    ]
    return Paragraph(Document(TEXT, entities), rejected, right)


def place(text: str) -> tuple[int, int]:
    return TEXT.index(text), TEXT.index(text) + len(text)


def test_each_verdict() -> None:
    judged = paragraph("Bob Lee", "Ada")
    for text, label, verdict in (
        ("Bob Lee", "person", "right"),
        ("York", "person", "wrong: place"),
        ("Ada", "person", "wrong: other words"),
        ("noon", "person", "wrong: none of these"),
        ("noon", None, "right"),
        ("York", None, "wrong: place"),
    ):
        assert judged.verdict(*place(text), label) == verdict
    assert judged.missed() == ["Ada Lovelace", "York"]


def test_of_rejected_spans_that_overlap_the_likeliest_is_shown() -> None:
    refused = {"Bob": 0.9, "in York": 0.2, "York": 0.4, "noon": 0.6}
    clear = paragraph("Bob Lee", refused=refused).clear_rejections()
    assert [one.text for one in clear] == ["noon", "York"]


def test_the_examples_and_the_page_are_what_is_said_of_them() -> None:
    examples, page = read_examples(EXAMPLES), read_examples(PAGE)
    counts = Counter(span.label for sentence in examples for span in sentence.spans)
    assert sorted(counts.items()) == [
        (label, 3) for label in ("artefact", "museum", "people", "person", "site")
    ]
    assert sum(not sentence.spans for sentence in examples) == 2
    marked = {text for sentence in page for text in texts(sentence)}
    assert len(marked) > 20
    assert marked.isdisjoint(text for sentence in examples for text in texts(sentence))
    assert all(sentence.words == sentence_of(sentence.text or "").words for sentence in page)


def texts(sentence: Sentence) -> list[str]:
    return [" ".join(sentence.words[span.start : span.end]) for span in sentence.spans]
