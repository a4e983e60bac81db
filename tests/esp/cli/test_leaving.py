"""A signal ends the process even where the exception that it raises is lost, and leaves the time to clean up."""

import subprocess
import sys

import pytest

HEAD = """import contextlib, os, signal, time
from esp.cli.leaving import leave_in_order
leave_in_order()
def kill():
    os.kill(os.getpid(), signal.{})
class Lost:
    def __del__(self):
        kill()
@contextlib.contextmanager
def cleaned():
    try:
        yield
    finally:
        try:
            raise OSError
        except OSError:
            time.sleep(0.4)
        time.sleep(0.4)
        print("cleaned", flush=True)
"""
LOST = {
    "in a callback of the collector": "Lost()\n",
    "swallowed": "try:\n    kill()\nexcept BaseException:\n    pass\n",
    "twice": "Lost()\ntry:\n    time.sleep(60)\nexcept BaseException:\n    pass\n",
}


def ended(text, name="SIGTERM"):
    words = [sys.executable, "-c", HEAD.format(name) + text]
    return subprocess.run(words, check=False, capture_output=True, text=True, timeout=50)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
@pytest.mark.parametrize("how", LOST)
def test_a_lost_exception_is_raised_again(how, name):
    assert ended(LOST[how] + "time.sleep(60)\n", name).returncode == {"SIGTERM": 143, "SIGHUP": 129}[name]


def test_cleaning_up_is_not_disturbed():
    run = ended("with cleaned():\n    kill()\n")
    assert run.returncode == 143
    assert run.stdout == "cleaned\n"
