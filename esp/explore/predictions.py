"""Predictions of several choices or programs, and the intervals of those that could be the fastest, by several
processes. A prediction that is made for its own sizes is walked through the scenarios at once, while all its counts are
at hand; its interval then takes the other ways to compile it only (Def 19)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import inf
from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from esp.api import Prediction, Request, Source, interpret_stages, lower_source
from esp.explore.interval import Walk, cheap, interval_of, own_walk
from esp.explore.ties import FAR
from esp.explore.workers import Workers
from esp.prediction import Interval, first
from sag.unit import System

Question = tuple[int, tuple[tuple[str, int], ...]]
"""Number of the choice or program, and the values it has other than those asked for."""


class _Shortest(Struct):
    """The shortest time that a process has found so far."""

    time_s: float = inf


class _IntervalWish(Struct, frozen=True, eq=False):
    at: int
    walk: Walk | None
    made: Prediction | None
    """The prediction without an interval; None if there is a walk."""


_Answer = tuple[Prediction, Walk | None] | Interval


class Predictions:
    """Predictions of what is wanted on a machine. It is a context, at whose end its processes end, too."""

    def __init__(
        self, wanted: Sequence[tuple[Source, Request]], system: System, jobs: int = 1, *, intervals: bool = True
    ) -> None:
        """`intervals`: whether they will be asked for."""
        answer = partial(_answer, wanted, system, intervals, _Shortest())
        self._workers: Workers[Question | _IntervalWish, _Answer] = Workers(answer, jobs)
        self._walks: dict[int, Walk] = {}

    def __enter__(self) -> Self:
        self._workers.__enter__()
        return self

    def __exit__(self, *why: object) -> None:
        self._workers.__exit__(*why)

    def ahead(self, questions: Iterable[Question]) -> None:
        """Predictions that will be asked for, in this order."""
        self._workers.ahead(questions)

    def __call__(self, question: Question) -> Prediction:
        """A prediction; raises what it raises."""
        found = self._workers(question)
        assert not isinstance(found, Interval)
        made, walk = found
        if walk is not None:
            self._walks[question[0]] = walk
        return made

    def with_intervals(self, done: Mapping[int, Prediction], which: Sequence[int]) -> Iterator[tuple[int, Prediction]]:
        """Predictions with their intervals; `which`: numbers of them."""
        walks = [self._walks.get(at) for at in which]
        wishes = [_IntervalWish(at, walk, None if walk else done[at]) for at, walk in zip(which, walks, strict=True)]
        self._workers.ahead(wishes)
        for wish in wishes:
            found = self._workers(wish)
            assert isinstance(found, Interval)
            yield wish.at, replace(done[wish.at], interval=found)


def _answer(
    wanted: Sequence[tuple[Source, Request]],
    system: System,
    intervals: bool,
    shortest: _Shortest,
    question: Question | _IntervalWish,
) -> _Answer:
    if isinstance(question, _IntervalWish):
        source, request = wanted[question.at]
        return interval_of(source, system, request, question.walk, made=question.made)
    at, others = question
    source, request = wanted[at]
    request = replace(request, values={**request.values, **dict(others)})
    stages = lower_source(source, system, request)
    made = interpret_stages(stages, system, request)
    if others or not intervals:
        return made, None
    near = cheap(made) and first(made.time_s) <= FAR * shortest.time_s
    shortest.time_s = min(shortest.time_s, first(made.time_s))
    return made, own_walk(stages, system, request, made=made) if near else None
