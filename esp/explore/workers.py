"""Predictions that do not depend on each other, made by all processors of this computer.

A worker is a fork of this process: it has the program read and everything imported when it begins, which is what a
small prediction waits for otherwise. Forks are only made where they are safe, by a process without threads on Linux;
elsewhere, and where a worker fails for whatever reason, the question is answered in this process, as it would be
without workers. So the answers, and the errors, are the same.
"""

import ctypes
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, Self, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

_PARENT_DEATH_SIGNAL = 1
"""prctl(2)."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def processors() -> int:
    """Those of this computer that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers(Generic[Question, Answer]):
    """A function whose answers can be prepared. It is a context; at its end the workers end, too.

    Questions and answers can be pickled, and a question be the key of a dictionary. `meanwhile`: this process has other
    work until it asks, so that even a single question is worth a worker.
    """

    def __init__(self, answer: Callable[[Question], Answer], jobs: int = 1, *, meanwhile: bool = False) -> None:
        self._answer = answer
        self._jobs = jobs
        self._fewest = 1 if meanwhile and jobs > 1 else 2
        self._answers: dict[Question, Answer] = {}
        self._waiting: deque[Question] = deque()
        self._busy: dict[Connection, Question] = {}
        self._idle: list[Connection] = []
        self._processes: list[ForkProcess] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._processes:
            each.kill()
        for each in self._processes:
            each.join()
        for connection in (*self._idle, *self._busy):
            connection.close()

    def ahead(self, questions: Iterable[Question]) -> None:
        """Begin with questions that will be asked, in this order."""
        new = [each for each in questions if each not in self._answers and each not in self._busy.values()]
        self._waiting = deque(dict.fromkeys((*new, *self._waiting)))
        self._start(min(self._jobs, len(self._waiting)))
        self._feed()

    def __call__(self, question: Question) -> Answer:
        """The answer, prepared or not; what the function raises is raised here."""
        while self._busy and (question in self._waiting or question in self._busy.values()):
            self._collect()
        if question not in self._answers:
            if question in self._waiting:
                self._waiting.remove(question)
            self._answers[question] = self._answer(question)
        return self._answers[question]

    def _start(self, number: int) -> None:
        """So many workers, where there are none yet and they are of use."""
        if self._processes or number < self._fewest or sys.platform != "linux" or threading.active_count() > 1:
            return
        sys.stdout.flush()  # what is buffered is written once, by this process
        context = multiprocessing.get_context("fork")
        for _ in range(number):
            mine, its = context.Pipe()
            process = context.Process(target=_work, args=(self._answer, its, (mine, *self._idle)), daemon=True)
            try:
                process.start()
            except OSError:  # no more processes, or no memory
                mine.close()
                break
            finally:
                its.close()
            self._processes.append(process)
            self._idle.append(mine)

    def _feed(self) -> None:
        while self._idle and self._waiting:
            connection, question = self._idle.pop(), self._waiting.popleft()
            try:
                connection.send(question)
            except OSError:  # this worker is gone
                connection.close()
                self._waiting.appendleft(question)
            else:
                self._busy[connection] = question

    def _collect(self) -> None:
        """Wait for a worker, and give it the next question."""
        ready = wait(list(self._busy))
        for connection in [each for each in self._busy if each in ready]:
            question = self._busy.pop(connection)
            try:
                answers: list[Answer] = connection.recv()
            except (EOFError, OSError):
                connection.close()
                continue
            self._idle.append(connection)
            if answers:
                self._answers[question] = answers[0]
        self._feed()


def _work(answer: Callable[[Question], Answer], questions: "Connection", others: "Sequence[Connection]") -> None:
    """Answer until the other end is closed; with its process a worker ends at once, whatever it is busy with."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    for each in others:  # or this worker would keep them open
        each.close()
    while True:
        try:
            question = questions.recv()
        except EOFError:
            return
        try:
            found = [answer(question)]
        except Exception:  # noqa: BLE001 (the process that asks will meet it again, and raise it)
            found = []
        try:
            questions.send(found)
        except RecursionError:  # nested too deeply to be sent
            questions.send([])
        except OSError:
            return
