"""The `spanproto` command inside the test's own process, which spares importing torch each time."""

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from spanproto.cli.main import main


def spanproto(*arguments: object) -> "subprocess.CompletedProcess[str]":
    """Run the command as if typed, and return its exit code and what it printed."""
    argv = ["spanproto", *map(str, arguments)]
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with mock.patch.object(sys, "argv", argv), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    assert isinstance(code, int)
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())


def refused(done: "subprocess.CompletedProcess[str]") -> str:
    """The one sentence that a refused command leaves."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    return line
