"""The command as a user types it: a process of its own."""

import os
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def esp(tmp_path_factory):
    """`esp("run", "laplace.hpf")` in an empty folder -> the finished process, its output as text."""
    folder = tmp_path_factory.mktemp("somewhere")

    def run(*words, stdin="", **environment):
        return subprocess.run(
            [sys.executable, "-m", "esp", *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": _root(), **environment},
            timeout=120,
        )

    return run


def _root():
    import esp

    return os.path.dirname(os.path.dirname(os.path.abspath(esp.__file__)))  # noqa: PTH120, PTH100 (text for a path)
