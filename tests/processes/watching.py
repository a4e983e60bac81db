"""Processes below a command and the files that they leave, found through a mark in their environment."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

MARK = "ESP_TEST_MARK"


def names_in(folder):
    """What is in a folder."""
    return {each.name for each in folder.iterdir()}


def marked(mark):
    """Process -> its command, for all that have this setting in their environment."""
    found = {}
    for each in filter(str.isdigit, names_in(Path("/proc"))):
        place = Path("/proc", each)
        try:
            environment = (place / "environ").read_bytes()
            if mark.encode() in environment.split(b"\0"):
                found[int(each)] = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


class Watched:
    """A command whose processes, in whatever session, carry a mark, and whose temporary files go to a folder."""

    def __init__(self, words, folder, **environment):
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self.mark = f"{MARK}={folder}"
        told = {**os.environ, "TMPDIR": str(self.temporary), MARK: str(folder), **environment}
        self.process = subprocess.Popen(
            [sys.executable, *words],
            cwd=folder,
            env=told,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def alive(self):
        """Process -> its command, for all that carry the mark."""
        return marked(self.mark)

    def runs(self, name):
        """Whether a program of this name is among them."""
        return any(Path(command.split(" ")[0]).name == name for command in self.alive().values())

    def until(self, condition, limit_s=30.0):
        """Whether a condition holds within a time."""
        end = time.monotonic() + limit_s
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def left(self):
        """What of it is left: processes and temporary files."""
        return [*self.alive().values(), *map(str, self.temporary.iterdir())]

    def close(self):
        """End what a test that fails leaves behind."""
        for each in self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        self.process.wait()
