"""Where a result came from: enough to run it again and to know what it was run on."""

import hashlib
import importlib.util
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import spanproto
from spanproto.errors import DataError

COMMIT_VARIABLE = "SPANPROTO_COMMIT"
"""Environment variable that names the commit where the code runs without its checkout."""


def provenance(seed: int | None, data_files: Iterable[Path]) -> dict[str, Any]:
    """The command, code, seed, data and machine of this run, ready for JSON."""
    return {
        "command": command_line(),
        "commit": commit(),
        "seed": seed,
        "versions": {
            "spanproto": spanproto.__version__,
            "torch": _installed_version("torch"),
            "transformers": _installed_version("transformers"),
            "python": platform.python_version(),
        },
        "data": [{"name": path.name, "sha256": sha256(path)} for path in map(Path, data_files)],
        "hardware": {"cpu": _cpu_model(), "cores": _usable_cores(), "gpu": _gpu_name()},
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def command_line() -> str:
    """The command as typed, quoted for a shell; the program is named without its place on disk."""
    program, *arguments = sys.argv
    main_spec = getattr(sys.modules["__main__"], "__spec__", None)
    path = Path(program)
    if main_spec is not None and main_spec.name != "__main__":
        words = ["python", "-m", main_spec.name.removesuffix(".__main__")]
    elif path.name == "__main__.py":  # by its place, or a process beside one that had a name
        words = ["python", "-m", path.absolute().parent.name]
    elif main_spec is not None:  # the folder of a package
        words = ["python", "-m", path.absolute().name]
    elif path.suffix == ".py":
        words = ["python", path.name if path.is_absolute() else program]
    elif program in ("", "-c"):
        words = ["python"]
    else:
        words = [path.name.removesuffix(".exe")]
    return shlex.join([*words, *arguments])


def commit() -> str:
    """The commit of the checkout that the package runs from, "unknown" where there is none.

    "-dirty" is added when the package's own files differ from the commit: results and notes
    beside it may change without changing what was run.
    """
    named = os.environ.get(COMMIT_VARIABLE)
    if named:
        return named
    package = Path(spanproto.__file__).parent
    # A package installed inside another project's checkout is not tracked there.
    tracked = _git(package, "ls-files", "--error-unmatch", "__init__.py")
    head = _git(package, "rev-parse", "HEAD")
    if tracked is None or head is None:
        return "unknown"
    return f"{head}-dirty" if _git(package, "status", "--porcelain", "--", ".") else head


def sha256(path: Path) -> str:
    """The SHA-256 digest of a file's bytes, in hexadecimal."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None


def _git(folder: Path, *arguments: str) -> str | None:
    """What git prints, or None when it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gpu_name() -> str | None:
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None
