"""Predictions made by several processes: the same answers and errors, and no process left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from esp.explore.compare import compare
from esp.explore.workers import Workers

LAPLACE = "benchmarks_hpf/laplace_bb.hpf"


def where(number: int) -> tuple[int, int]:
    """A square, and the process that computed it."""
    if number < 0:
        raise ValueError(f"{number} has no root")
    return number * number, os.getpid()


def test_prepared_answers_come_from_as_many_other_processes() -> None:
    def together(number: int) -> tuple[int, int]:
        time.sleep(0.05)  # so that no worker can answer all before the other begins
        return where(number)

    with Workers(together, jobs=2) as answer:
        answer.ahead(range(6))
        found = [answer(number) for number in range(6)]
    assert [square for square, _ in found] == [0, 1, 4, 9, 16, 25]
    assert len({process for _, process in found} - {os.getpid()}) == 2


def test_a_single_question_has_a_worker_where_there_is_other_work_meanwhile() -> None:
    for jobs, meanwhile, elsewhere in ((2, True, True), (2, False, False), (1, True, False)):
        with Workers(where, jobs, meanwhile=meanwhile) as answer:
            answer.ahead([3])
            assert (answer(3)[1] != os.getpid()) == elsewhere


def test_an_answer_that_cannot_be_sent_is_found_here() -> None:
    def nested(depth: int) -> list[object]:
        found: list[object] = []
        for _ in range(depth):
            found = [found]
        return found

    with Workers(nested, jobs=2) as answer:
        answer.ahead((100_000, 1, 2))
        deep = answer(100_000)
        assert [answer(1), answer(2)] == [[[]], [[[]]]]
    for _ in range(100_000):
        (deep,) = deep
    assert deep == []


def test_what_was_not_prepared_is_answered_here_and_once() -> None:
    asked = []

    def counted(number: int) -> int:
        asked.append(number)
        return -number

    with Workers(counted, jobs=2) as answer:
        assert [answer(3), answer(3), answer(4)] == [-3, -3, -4]
    assert asked == [3, 4]


def test_one_process_prepares_nothing() -> None:
    with Workers(where) as answer:
        answer.ahead(range(3))
        assert {answer(number)[1] for number in range(3)} == {os.getpid()}


def test_a_process_with_threads_is_not_forked() -> None:
    done = threading.Event()
    beside = threading.Thread(target=done.wait)
    beside.start()
    try:
        with Workers(where, jobs=2) as answer:
            answer.ahead(range(3))
            assert {answer(number)[1] for number in range(3)} == {os.getpid()}
    finally:
        done.set()
        beside.join()


def test_an_error_is_raised_where_its_question_is_asked() -> None:
    with Workers(where, jobs=2) as answer:
        answer.ahead((2, -1, 3))
        assert answer(2)[0] == 4
        with pytest.raises(ValueError, match="-1 has no root"):
            answer(-1)
        assert answer(3)[0] == 9


def test_a_worker_that_is_killed_loses_nothing() -> None:
    parent = os.getpid()

    def mortal(number: int) -> int:
        if number == 1 and os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with Workers(mortal, jobs=2) as answer:
        answer.ahead(range(8))
        assert [answer(number) for number in range(8)] == list(range(8))


def test_workers_end_with_their_context() -> None:
    def slow(number: int) -> int:
        time.sleep(600)
        return number

    before = _children(os.getpid())
    with Workers(slow, jobs=2) as answer:
        answer.ahead(range(4))
        workers = _children(os.getpid()) - before
        assert len(workers) == 2
    deadline = time.monotonic() + 60
    while _running(workers) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _running(workers)
    with Workers(where, jobs=2) as answer:  # by now the system has been asked for their end
        answer.ahead(range(2))
        assert not _children(os.getpid()) & workers


def test_workers_end_when_their_process_is_killed() -> None:
    code = """
import os, sys, time
from esp.explore.workers import Workers
def answer(number):
    time.sleep(600 * number)
    return number
with Workers(answer, jobs=2) as workers:
    workers.ahead(range(2))  # one of them is busy when the end comes, the other is not
    print(workers(0), flush=True)
    time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        left = _children(process.pid)
        assert len(left) == 2
        process.kill()
        assert process.stdout.read() == ""  # which ends when the last of them has closed it


@pytest.mark.parametrize("size", [None, "n=16:48:16"])
def test_a_comparison_is_the_same_with_processes(size: str | None) -> None:
    alone, together = (compare(LAPLACE, procs=8, size=size, n=64, jobs=jobs) for jobs in (1, 2))
    assert str(together) == str(alone)
    assert [each.time_s for each in together.ranked] == [each.time_s for each in alone.ranked]
    assert [each.prediction.lines for each in together.ranked] == [each.prediction.lines for each in alone.ranked]
    assert (together.crossover, together.scan) == (alone.crossover, alone.scan)


def test_what_is_impossible_is_told_in_the_same_words() -> None:
    formats = ["(BLOCK,*)", "(BLOCK(2),*)", "(*,BLOCK)"]
    alone, together = (compare(LAPLACE, procs=8, distribute=formats, n=64, jobs=jobs) for jobs in (1, 2))
    assert together.impossible == alone.impossible
    assert together.impossible


def _running(processes: set[str]) -> set[str]:
    """Those of some children that have not ended."""
    found = set()
    for each in processes:
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended, and is no longer listed
            state = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
            found |= {each} if state not in "ZX" else set()
    return found


def _children(process: int) -> set[str]:
    return set(Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8").split())
