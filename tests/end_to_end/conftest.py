"""The command as a user types it: in this process, or in one of its own where that is what matters."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout

import pytest

from esp.cli.main import main


@pytest.fixture
def esp(tmp_path, monkeypatch):
    """`esp("run", "laplace.hpf")` in an empty folder -> the finished command, its output as text."""

    def run(*words, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with chdir(tmp_path), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
            code = main(list(words))
        return subprocess.CompletedProcess(words, code, out.getvalue(), errors.getvalue())

    return run


@pytest.fixture
def process(tmp_path, root):
    """As `esp`, in a process with an environment."""

    def run(*words, **environment):
        return subprocess.run(
            [sys.executable, "-m", "esp", *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(root), **environment},
            timeout=120,
        )

    return run
