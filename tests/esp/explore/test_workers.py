"""Predictions made by several processes: the same results and errors, and no process left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from esp.explore import workers
from esp.explore.compare import compare
from esp.explore.workers import Workers
from tests.esp.explore.working import mortal, slow, unsendable, where

LAPLACE = "benchmarks_hpf/laplace_bb.hpf"


@pytest.fixture
def eager(monkeypatch):
    """All work is worth a process."""
    monkeypatch.setattr(workers, "WORTH_S", 0.0)


def test_all_but_the_first_are_computed_by_as_many_other_processes(eager):
    with Workers(where, jobs=2) as work:
        work.ahead(range(8))
        found = [work(number) for number in range(8)]
    assert [square for square, _ in found] == [number * number for number in range(8)]
    assert found[0][1] == os.getpid()
    assert len({process for _, process in found[1:]} - {os.getpid()}) == 2


@pytest.mark.parametrize(("jobs", "worth_s"), [(1, 0.0), (2, 10.0)])
def test_little_work_and_one_process_stay_here(jobs, worth_s, monkeypatch):
    monkeypatch.setattr(workers, "WORTH_S", worth_s)
    with Workers(where, jobs) as work:
        work.ahead(range(4))
        assert {work(number)[1] for number in range(4)} == {os.getpid()}


def test_work_that_comes_later_is_computed_ahead_as_well(eager):
    with Workers(where, jobs=2) as work:
        work.ahead(range(3))
        work(0)
        work.ahead([5])
        assert work(5)[1] != os.getpid()


def test_a_process_with_threads_may_have_workers(eager):
    done = threading.Event()
    beside = threading.Thread(target=done.wait)
    beside.start()
    try:
        with Workers(where, jobs=2) as work:
            work.ahead(range(3))
            assert len({work(number)[1] for number in range(3)}) > 1
    finally:
        done.set()
        beside.join()


def test_an_error_is_raised_where_its_question_is_asked(eager):
    with Workers(where, jobs=2) as work:
        work.ahead((1, 2, -1, 3))
        assert [work(1)[0], work(2)[0]] == [1, 4]
        with pytest.raises(ValueError, match="-1 has no root"):
            work(-1)
        assert work(3)[0] == 9


def test_a_result_that_cannot_be_sent_is_computed_here(eager):
    with Workers(unsendable, jobs=2) as work:
        work.ahead(range(3))
        assert [work(number)() for number in range(3)] == [0, 1, 2]


def test_a_worker_that_is_killed_loses_nothing(eager):
    with Workers(partial(mortal, os.getpid()), jobs=2) as work:
        work.ahead(range(8))
        assert [work(number) for number in range(8)] == list(range(8))
        work.ahead(range(8, 10))
        assert [work(8), work(9)] == [8, 9]


def test_workers_end_with_their_context(eager):
    with Workers(slow, jobs=2) as work:
        work.ahead(range(4))
        work(0)
        processes = {str(each) for each in work._pool._processes}
        assert len(_running(processes)) == 2
    assert not _running(processes)


SCRIPT = """\
import sys, time
from esp.explore import workers
from tests.esp.explore.working import slow

if __name__ == "__main__":
    workers.WORTH_S = 0.0
    with workers.Workers(slow, jobs=2) as work:
        work.ahead(range(4))
        work(0)
        print(*work._pool._processes, flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_process(kill, tmp_path, root):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment) as process:
        left = set(process.stdout.readline().split())
        assert len(_running(left)) == 2
        process.send_signal(kill)
        assert process.stdout.read() == ""  # which ends when the last of them has closed it
    deadline = time.monotonic() + 60
    while _running(left) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _running(left)


@pytest.mark.parametrize("size", [None, "n=16:32:16"])
def test_a_comparison_is_the_same_with_processes(size, eager):
    formats = ["(BLOCK,*)", "(*,BLOCK)", "(BLOCK,BLOCK)", "(CYCLIC,*)"]
    asked = {"procs": 8, "distribute": formats, "size": size, "n": 32}
    alone, together = (compare(LAPLACE, **asked, jobs=jobs) for jobs in (1, 2))
    assert str(together) == str(alone)
    assert [each.time_s for each in together.ranked] == [each.time_s for each in alone.ranked]
    assert [each.prediction.lines for each in together.ranked] == [each.prediction.lines for each in alone.ranked]
    assert (together.crossover, together.scan) == (alone.crossover, alone.scan)


def test_what_is_impossible_is_told_in_the_same_words(eager):
    formats = ["(BLOCK,*)", "(BLOCK(2),*)", "(*,BLOCK)"]
    alone, together = (compare(LAPLACE, procs=8, distribute=formats, n=32, jobs=jobs) for jobs in (1, 2))
    assert together.impossible == alone.impossible
    assert together.impossible


def _running(processes):
    """Those of some children that have not ended."""
    found = set()
    for each in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended, and is no longer listed
            state = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            found |= {each} if state not in "ZX" else set()
    return found
