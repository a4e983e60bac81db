"""Predictions that do not depend on each other, made by all processors of this computer.

A worker is a fork of this process: it has the program read and everything imported when it begins, which is what a
small prediction waits for otherwise. Forks are only made where they are safe, by a process without threads on Linux;
elsewhere, and where a worker fails for whatever reason, the question is answered in this process, as it would be
without workers. So the answers, and the errors, are the same.

`multiprocessing` would do the same, but takes as long to import as the command line, and that with nothing beside it.
"""

import atexit
import contextlib
import os
import pickle
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, Generic, NoReturn, Self, TypeVar

from aag.guard import end_with_parent

_killed: list[int] = []
"""Workers that were told to end, until the system says that they have: that takes a moment nobody needs to wait for."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def processors() -> int:
    """Those of this computer that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Worker:
    """A process, and the pipes to it and from it."""

    def __init__(self, process: int, questions: BinaryIO, answers: BinaryIO) -> None:
        self.process = process
        self.questions = questions
        self.answers = answers

    def close(self) -> None:
        """Of this end of the pipes; a worker that waits for a question ends."""
        for each in (self.questions, self.answers):
            with contextlib.suppress(OSError):  # a question that could not be sent
                each.close()


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
        self._busy: dict[_Worker, Question] = {}
        self._idle: list[_Worker] = []
        self._started = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (*self._idle, *self._busy):
            self._end(each)
        self._idle.clear()
        self._busy.clear()
        _bury()

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
        if self._started or number < self._fewest or sys.platform != "linux" or threading.active_count() > 1:
            return
        self._started = True
        _bury()
        for _ in range(number):
            try:
                self._idle.append(_fork(self._answer, self._idle))
            except OSError:  # no more processes, pipes or memory
                break

    def _feed(self) -> None:
        while self._idle and self._waiting:
            worker, question = self._idle.pop(), self._waiting.popleft()
            try:
                worker.questions.write(pickle.dumps(question))
                worker.questions.flush()
            except OSError:  # this worker is gone
                self._end(worker)
                self._waiting.appendleft(question)
            else:
                self._busy[worker] = question

    def _collect(self) -> None:
        """Wait for a worker, and give it the next question."""
        poll = select.poll()
        for worker in self._busy:
            poll.register(worker.answers, select.POLLIN)
        ready = {number for number, _ in poll.poll()}
        for worker in [each for each in self._busy if each.answers.fileno() in ready]:
            question = self._busy.pop(worker)
            try:
                answers: list[Answer] = pickle.load(worker.answers)  # noqa: S301 (both ends are ours)
            except (EOFError, OSError, pickle.UnpicklingError):
                self._end(worker)
                continue
            self._idle.append(worker)
            if answers:
                self._answers[question] = answers[0]
        self._feed()

    @staticmethod
    def _end(worker: _Worker) -> None:
        worker.close()
        with contextlib.suppress(ProcessLookupError):  # it is gone, and somebody has asked for its end
            os.kill(worker.process, signal.SIGKILL)
        _killed.append(worker.process)


def _bury(options: int = os.WNOHANG) -> None:
    """Ask the system for the end of workers that have ended, so that it forgets them."""
    for each in _killed.copy():
        try:
            ended = os.waitpid(each, options)[0] == each
        except ChildProcessError:  # somebody else has asked
            ended = True
        if ended:
            _killed.remove(each)


atexit.register(_bury, 0)  # now for the end itself: not everything that adopts processes asks for theirs


def _fork(answer: Callable[[Question], Answer], others: Sequence[_Worker]) -> _Worker:
    """A worker, beside `others`.

    Raises:
        OSError: there can be no more.
    """
    parent = os.getpid()
    ends = [*os.pipe()]
    try:
        ends += os.pipe()
        process = os.fork()
    except OSError:
        for each in ends:
            os.close(each)
        raise
    if not process:
        _work(answer, ends, others, parent)
    asked, asking, answering, answered = ends
    os.close(asked)
    os.close(answered)
    return _Worker(process, os.fdopen(asking, "wb"), os.fdopen(answering, "rb"))


def _work(
    answer: Callable[[Question], Answer], ends: Sequence[int], others: Sequence[_Worker], parent: int
) -> NoReturn:
    """Answer until the other end is closed; with its process a worker ends at once, whatever it is busy with. Nothing
    that happens to it may lead back to where it was forked."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asked, asking, answering, answered = ends
        for end in (asking, answering):
            os.close(end)
        questions, answers = os.fdopen(asked, "rb"), os.fdopen(answered, "wb")
        end_with_parent()
        for each in others:  # or this worker would keep them open
            each.close()
        while os.getppid() == parent:
            _answer_one(answer, pickle.load(questions), answers)  # noqa: S301 (both ends are ours)
    finally:
        os._exit(0)  # nothing that was begun before the fork is ended, or written, twice


def _answer_one(answer: Callable[[Question], Answer], question: Question, answers: BinaryIO) -> None:
    try:
        found = [answer(question)]
    except Exception:  # noqa: BLE001 (the process that asks will meet it again, and raise it)
        found = []
    try:
        pickled = pickle.dumps(found)
    except RecursionError:  # nested too deeply to be sent
        pickled = pickle.dumps([])
    answers.write(pickled)
    answers.flush()
