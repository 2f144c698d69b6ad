"""The code blocks of README.md and docs/, and how they are run.

A block with a title is a file that the page shows: it is written under that name. Python blocks of
a page run in order and share their names; `spanproto` commands run in this process. An `output`
block is what the Python block before it prints. A block that cannot run has a comment before it:
`<!-- not run: why -->`.
"""

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from command import spanproto

from spanproto.demo import run_demo

ROOT = Path(__file__).parents[1]
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
_BLOCK = re.compile(
    r'^(?:<!-- not run: (?P<why>.+?) -->\n+)?```(?P<language>\w+)(?: title="(?P<title>.+?)")?\n'
    r"(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LEFT_TO_READERS = (["pip", "install"], ["make", "test"])  # done before any test runs


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    code: str
    why_not_run: str | None

    def commands(self) -> list[list[str]]:
        """The words of each line of a shell block."""
        if self.language != "bash":
            return []
        lines = self.code.replace("\\\n", " ").splitlines()
        return [words for line in lines if (words := shlex.split(line, comments=True))]


def blocks(page: Path) -> list[Block]:
    """The blocks of a page in order."""
    return [
        Block(found["language"], found["title"], found["code"], found["why"])
        for found in _BLOCK.finditer(page.read_text("utf-8"))
    ]


def run_page(page: Path) -> None:
    """Do in the current folder what the page says."""
    names: dict[str, Any] = {}
    printed = ""
    for block in blocks(page):
        if block.why_not_run is not None:
            continue
        if block.title is not None:
            Path(block.title).write_text(block.code, "utf-8")
        elif block.language == "python":
            with redirect_stdout(io.StringIO()) as out:
                exec(compile(block.code, page.name, "exec"), names)
            printed = out.getvalue()
        elif block.language == "output":
            assert alike(block.code, printed), printed
        for command in block.commands():
            _run(command)


def alike(shown: str, printed: str) -> bool:
    """Whether the words are the same, and the decimals nearly: those depend on the machine."""
    decimal = re.compile(r"\b\d+\.\d+\b")
    pairs = zip(decimal.findall(shown), decimal.findall(printed), strict=False)
    return decimal.sub("#", shown) == decimal.sub("#", printed) and all(
        abs(float(one) - float(other)) <= 0.05 for one, other in pairs
    )


def _run(command: list[str]) -> None:
    if command == ["make", "run"]:  # shortened
        run_demo(Path("runs/demo"), lambda text: None, steps=1)
    elif command[0] == "spanproto":
        done = spanproto(*command[1:])
        assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
    else:
        assert command[:2] in _LEFT_TO_READERS, f"no test runs {shlex.join(command)!r}; mark it"
