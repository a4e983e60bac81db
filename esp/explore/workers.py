"""Predictions that do not depend on each other, made by several processes of this computer.

The processes are started only when more than two seconds of work are left, which is judged by the predictions made so
far; the first of them imports what all need, which is taken off. Their results are the same as those of this process:
where a process fails for whatever reason, this one repeats its work, and raises what the work raises.
"""

import copyreg
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from aag.guard import end_with_parent

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

WORTH_S = 2.0
"""Processor time left that is worth more processes; each of them takes about half a second to start."""

FIRST_S = 1.0
"""What the first prediction may take for its imports."""

Question = TypeVar("Question")
Answer = TypeVar("Answer")


def processors() -> int:
    """Those of this computer that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers(Generic[Question, Answer]):
    """A function whose results can be computed ahead by `jobs` processes. It is a context; at its end they end, too.

    The function, its argument and its result can be pickled, and the argument be the key of a dictionary.
    """

    def __init__(self, answer: Callable[[Question], Answer], jobs: int = 1) -> None:
        self._answer = answer
        self._jobs = jobs
        self._waiting: dict[Question, None] = {}
        self._made: list[float] = []
        self._pool: ProcessPoolExecutor | None = None
        self._begun: dict[Question, Future[Answer]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is None:
            return
        for each in [*self._pool._processes.values()]:  # they may be in the middle of long work
            each.terminate()
        self._pool.shutdown(cancel_futures=True)

    def ahead(self, questions: Iterable[Question]) -> None:
        """Questions that will be asked, in this order."""
        self._waiting.update(dict.fromkeys(each for each in questions if each not in self._begun))
        if self._pool is not None:
            self._begin(self._pool)

    def __call__(self, question: Question) -> Answer:
        """The answer, computed ahead or not; what the function raises is raised here."""
        self._waiting.pop(question, None)
        began = self._begun.pop(question, None)
        if began is not None:
            try:
                return began.result()
            except Exception:  # noqa: BLE001, S110 (the same is met and raised below, unless it was the process)
                pass
        since = time.process_time()
        try:
            return self._answer(question)
        finally:
            self._made.append(time.process_time() - since)
            self._start()

    def _start(self) -> None:
        """The processes, where they are worth it."""
        if self._jobs < 2 or self._pool is not None or len(self._waiting) < 2:
            return
        made = self._made[1:] or [max(0.0, self._made[0] - FIRST_S)]
        if len(self._waiting) * sum(made) / len(made) < WORTH_S:
            return
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        # Spawned processes are safe with threads, and the same on all systems.
        number = min(self._jobs, len(self._waiting))
        self._pool = ProcessPoolExecutor(number, get_context("spawn"), _begin_process, (self._answer,))
        self._begin(self._pool)

    def _begin(self, pool: "ProcessPoolExecutor") -> None:
        from concurrent.futures import BrokenExecutor

        with _undisturbed():
            try:
                for each in self._waiting:
                    self._begun[each] = pool.submit(_work, each)
            except (BrokenExecutor, OSError):  # a process was killed, or there can be no more
                pass
        self._waiting.clear()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach: they inherit that it is ignored, and this one ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- in the processes ---

_function: Callable[[Any], Any]


def _begin_process(function: Callable[[Any], Any]) -> None:
    from multiprocessing import parent_process

    global _function  # noqa: PLW0603 (a process works for one function)
    _function = function
    end_with_parent()
    parent = parent_process()
    if parent is None or not parent.is_alive():  # it ended before the line above
        os._exit(0)


def _work(question: Any) -> Any:
    return _function(question)


def _read_only(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)


copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))
