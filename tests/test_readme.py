"""What README.md and docs/ show: Python that runs, data that reads, commands that exist."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spanproto.cli.main import app
from spanproto.data.formats import FORMATS, detect_format, read_episodes, read_sentences
from spanproto.demo import DemoConfig, run_demo

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(language: str) -> list[tuple[str, str]]:
    """The code blocks of a language, each with a name for it."""
    fence = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [
        (f"{page.name}-{number}", code)
        for page in PAGES
        for number, code in enumerate(fence.findall(page.read_text("utf-8")))
    ]


def named(found: list[tuple[str, str]]) -> dict[str, object]:
    return {"argvalues": [code for _, code in found], "ids": [name for name, _ in found]}


@pytest.fixture(scope="module")
def after_the_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demonstration was run, much shortened."""
    folder = tmp_path_factory.mktemp("work")
    run_demo(DemoConfig(folder / "runs" / "demo", 3, 10, 2, 2, 2), lambda text: None)
    return folder


@pytest.mark.parametrize("code", **named(blocks("python")))
def test_python_runs(code: str, after_the_demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(after_the_demo)
    exec(compile(code, "example", "exec"), {})


def test_every_format_has_an_example_that_reads(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "data.md").read_text("utf-8")
    entry = r"^\*\*`([\w-]+)`\*\*(?:(?!^\*\*`).)*?^```\w+\n(.*?)^```"
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
        command
        for _, code in blocks("bash")
        for line in code.splitlines()
        if (command := line.partition("#")[0].strip()).startswith("spanproto ")
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_and_options_exist(command: str) -> None:
    words = shlex.split(command)[1:]
    names = [word for word in words[:2] if re.fullmatch(r"[a-z]+", word)]
    names = names[: 2 if names[0] == "data" else 1]
    shown = CliRunner().invoke(app, [*names, "--help"], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, command
    for option in (word for word in words if word.startswith("-")):
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown.stdout), option
