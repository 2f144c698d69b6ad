import hashlib
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

import spanproto
from spanproto.errors import DataError
from spanproto.provenance import command_line, commit, provenance


def type_command(monkeypatch: pytest.MonkeyPatch, module: str | None, *argv: str) -> str:
    spec = None if module is None else SimpleNamespace(name=module)
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(__spec__=spec))  # type: ignore
    monkeypatch.setattr(sys, "argv", list(argv))
    return command_line()


@pytest.mark.parametrize(
    ("module", "argv", "command"),
    [
        (None, ["/opt/env/bin/spanproto", "train", "a b.yaml"], "spanproto train 'a b.yaml'"),
        (None, ["C:/env/spanproto.exe", "train"], "spanproto train"),
        (None, ["/opt/code/speed.py", "--all"], "python speed.py --all"),
        (None, ["benchmarks/speed.py"], "python benchmarks/speed.py"),
        ("tool.__main__", ["/opt/tool/__main__.py", "x"], "python -m tool x"),
        ("spanproto.run", ["/opt/spanproto/run.py"], "python -m spanproto.run"),
        (None, ["/opt/tool/__main__.py", "x"], "python -m tool x"),
        (None, ["src/tool/__main__.py", "x"], "python -m tool x"),
        ("__main__", ["src/tool", "x"], "python -m tool x"),
        (None, ["-c", "x"], "python x"),
    ],
)
def test_the_command_is_as_typed_and_names_no_place_on_disk(
    monkeypatch: pytest.MonkeyPatch, module: str | None, argv: list[str], command: str
) -> None:
    assert type_command(monkeypatch, module, *argv) == command


def test_a_process_beside_the_command_knows_it_too(tmp_path: Path) -> None:
    tool = tmp_path / "src" / "tool"
    tool.mkdir(parents=True)
    (tool / "__main__.py").write_text(
        "from spanproto.experiments.workers import side_by_side\n"
        "from tool.work import said\n"
        "if __name__ == '__main__':\n"
        "    for workers in (1, 2):\n"
        "        print(*(done.result for done in side_by_side(said, [0], workers)))\n"
    )
    (tool / "work.py").write_text(
        "from spanproto.provenance import command_line\n"
        "def said(item: int) -> str:\n"
        "    return command_line()\n"
    )
    package = Path(spanproto.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-m", "tool", "a b"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", str(package)])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["python -m tool 'a b'"] * 2


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package folder in a fresh repository, standing in for the running one."""
    folder = tmp_path / "src" / "spanproto"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(tmp_path, "init", "-q")
    monkeypatch.setattr(spanproto, "__file__", str(folder / "__init__.py"))
    monkeypatch.delenv("SPANPROTO_COMMIT", raising=False)
    return folder


def test_the_commit_is_marked_when_the_package_changed(package: Path) -> None:
    git(package, "add", ".")
    git(package, "commit", "-q", "-m", "one")
    head = git(package, "rev-parse", "HEAD")
    assert commit() == head
    (package.parent / "notes.txt").write_text("beside the package")
    assert commit() == head
    (package / "new.py").write_text("")
    assert commit() == f"{head}-dirty"


def test_the_environment_names_the_commit(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(package, "add", ".")
    git(package, "commit", "-q", "-m", "one")
    monkeypatch.setenv("SPANPROTO_COMMIT", "abc")
    assert commit() == "abc"


def test_a_package_that_its_repository_does_not_track_has_no_commit(package: Path) -> None:
    (package.parent / "other.txt").write_text("")
    git(package.parent, "add", "other.txt")
    git(package.parent, "commit", "-q", "-m", "another project")
    assert commit() == "unknown"


def test_without_git_the_commit_is_unknown(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(package, "add", ".")
    git(package, "commit", "-q", "-m", "one")
    monkeypatch.setenv("PATH", "")
    assert commit() == "unknown"


def test_the_record_is_complete_and_ready_for_json(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_bytes(b"some data")
    before = datetime.now(UTC).replace(microsecond=0)
    record = json.loads(json.dumps(provenance(42, [data])))
    assert record["seed"] == 42
    assert record["data"] == [
        {"name": "data.txt", "sha256": hashlib.sha256(b"some data").hexdigest()}
    ]
    assert record["versions"]["spanproto"] == spanproto.__version__
    assert record["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert all(record["versions"].values())
    assert record["hardware"]["cpu"]
    assert record["hardware"]["cores"] >= 1
    assert "gpu" in record["hardware"]
    assert before <= datetime.fromisoformat(record["time"]) <= datetime.now(UTC)
    assert record["command"]
    assert record["commit"]


def test_a_missing_data_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.txt: cannot be read"):
        provenance(0, [tmp_path / "gone.txt"])
