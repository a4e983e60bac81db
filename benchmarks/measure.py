"""Medians of processor time, of calls and of whole processes, and the table they go into."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
LAPLACE = ROOT / "benchmarks_hpf" / "laplace_bb.hpf"


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table: what was measured, in which unit, and what it may be at most (None: for information)."""

    name: str
    value: float
    unit: str
    bound: float | None = None

    @property
    def verdict(self) -> str:
        """PASS or over; nothing where there is no bound."""
        if self.bound is None:
            return ""
        return "PASS" if self.value <= self.bound else "over"

    def __str__(self) -> str:
        bound = "" if self.bound is None else f"<= {_short(self.bound)}"
        return f"{self.name:58} {_short(self.value):>9} {self.unit:3} {bound:>9}  {self.verdict}".rstrip()


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class Spent:
    """What a process took: processor seconds, seconds on the wall, and the most memory it held."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


def process(*arguments: str) -> Spent:
    """Run ``python arguments`` with its compiled files in place. NumPy starts no threads, as under the command `esp`,
    so that what is compared with it is not burdened with them.

    Raises:
        RuntimeError: it failed; the message is what it said.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    began = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    assert child.stderr is not None
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {said.decode(errors='replace')}")
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss * unit)


def processes(runs: int, *commands: tuple[str, ...]) -> list[Spent]:
    """The median of each command, run in turn `runs` times after one run that warms the caches of files."""
    for command in commands:
        process(*command)
    found: list[list[Spent]] = [[] for _ in commands]
    for _ in range(runs):
        for command, spent in zip(commands, found, strict=True):
            spent.append(process(*command))
    return [
        Spent(
            median(each.cpu_s for each in spent),
            median(each.wall_s for each in spent),
            max(each.peak_bytes for each in spent),
        )
        for spent in found
    ]


def calls(runs: int, *actions: Callable[[], object]) -> list[float]:
    """The median processor seconds of each action, called in turn `runs` times after one call that warms up."""
    for action in actions:
        action()
    found: list[list[float]] = [[] for _ in actions]
    for _ in range(runs):
        for action, seconds in zip(actions, found, strict=True):
            began = time.process_time()
            action()
            seconds.append(time.process_time() - began)
    return [median(seconds) for seconds in found]
