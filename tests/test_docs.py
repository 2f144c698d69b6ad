"""What README.md and docs/ show: code and commands that run, and data that reads."""

import re
import shlex
from pathlib import Path

import pytest
from pages import PAGES, ROOT, blocks, run_page
from typer.testing import CliRunner

from spanproto.cli.main import app
from spanproto.data.formats import FORMATS, detect_format, read_episodes, read_sentences


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if blocks(page)])
def test_a_page_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(PAGES[name])


def test_every_block_is_found() -> None:
    for page in PAGES.values():
        fences = re.findall(r"^\s*```\w", page.read_text("utf-8"), re.MULTILINE)
        assert len(fences) == len(blocks(page)), page


def test_every_format_has_an_example_that_reads(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "data.md").read_text("utf-8")
    entry = r"^\*\*`([\w-]+)`\*\*(?:(?!^\*\*`).)*?^```\w+[^\n]*\n(.*?)^```"
    examples = dict(re.findall(entry, text, re.M | re.S))
    assert examples.keys() == {name for name, form in FORMATS.items() if form.sniff is not None}
    assert all(f"**`{name}`**" in text for name in FORMATS)
    for name, example in examples.items():
        path = tmp_path / name
        path.write_text(example, "utf-8")
        assert detect_format(path) == name
        read = read_episodes if FORMATS[name].holds == "episodes" else read_sentences
        assert len(read(path)) == 1


COMMANDS = sorted(
    {
        shlex.join(command)
        for page in PAGES.values()
        for block in blocks(page)
        if block.why_not_run is not None
        for command in block.commands()
        if command[0] == "spanproto"
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_is_not_run_has_its_options(command: str) -> None:
    words = shlex.split(command)[1:]
    names = words[: 2 if words[0] == "data" else 1]
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, command
    for option in (word for word in words if word.startswith("-")):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown.stdout), option
