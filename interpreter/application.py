"""What an interpretation reads of the application: how often loops run, what moves, which memory they refer to.

`Application` answers for a node program on its processors. An answer depends on the environment only through the names
that a node uses, never on a machine or a scenario, and is not changed once it was given. So `Answers` holds answers by
these values for as long as the program lives: whoever interprets it again, on another network for example, finds them.
Where a loop is about to give a scalar one value after the other (`expect`), the first question that depends on it is
answered for many of them at once, in closed form or by vectors. Nests and operations that are alike but for the names
of indices and arrays (`aag.spmd.likeness`) share their answers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from aag.ir.evaluate import Environment, Unknown, Value
from aag.ir.expressions import Expr
from aag.ir.storage import member_names
from aag.ir.values import ArrayValues
from aag.ir.visitors import names_in
from aag.mapping.constants import initial_values
from aag.spmd.access import ArrayAccess, accesses
from aag.spmd.branches import conditions_of, has_conditions, tests_of
from aag.spmd.communication import combine_call, steps
from aag.spmd.crossing import may_move
from aag.spmd.emit.copies import bytes_copied
from aag.spmd.formulas import Known, formulas_at
from aag.spmd.likeness import Likeness, likeness_of_nest, likeness_of_operation
from aag.spmd.local_parts import AccessParts
from aag.spmd.nodes import Combine, Exchange, Nest, Operation, OwnedLoop
from aag.spmd.partition import Segments, Trips, levels_along, segments, shape_classes, trips
from aag.spmd.planes import move_alike, only_chooses_plane
from aag.spmd.program import NodeProgram
from aag.spmd.steps import CollectiveCall, Step
from aag.spmd.stream import Stream, stream_of
from aag.spmd.touches import AccessSweep, touches_of_memory
from aag.spmd.vector import Along, TooLarge
from interpreter import shared

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Answer = TypeVar("Answer")
Key = tuple[object, ...]
Asked = TypeVar("Asked", bound=Nest | Operation)
Ask = Callable[[Environment, Along | None], tuple[Answer, ...]]
"""A question about some values of scalars, one of them with several values."""

AT_ONCE = 128
"""Values of a scalar for which a question is asked at once."""

CELLS = 1 << 17
"""Values x processors for which it is."""

RUN = 1 << 20
"""The same for numbers that nobody keeps."""

ROOM = 96_000_000
"""Bytes of answers that are kept of a program, about."""


class Answers(Struct):
    """Answers about a program by their keys, up to a size; what finds no room is computed again."""

    known: dict[Key, object] = field(default_factory=dict)
    latest: dict[Key, Mapping[Any, object]] = field(default_factory=dict)
    """Question -> values -> answers that were given together and found no room."""
    room: int = ROOM

    def find(self, key: Key) -> object:
        """The answer, or None."""
        found = self.known.get(key)
        return self.latest.get(key[:-1], {}).get(key[-1]) if found is None and self.latest else found

    def keep(self, key: Key, answer: object, nbytes: int) -> None:
        """Remember an answer that takes so many bytes."""
        if nbytes <= self.room and key not in self.known:
            self.room -= nbytes
            self.known[key] = answer

    def keep_together(self, question: Key, answers: Mapping[Any, object], nbytes: int) -> None:
        """Remember answers to a question for several values, each of about so many bytes; where there is no room for
        all, until the next."""
        self.latest.pop(question, None)
        if len(answers) * nbytes > self.room:
            self.latest[question] = answers
            return
        for values, answer in answers.items():
            self.keep((*question, values), answer, nbytes)


_PROGRAMS: WeakKeyDictionary[NodeProgram, Answers] = WeakKeyDictionary()


class Application(Struct, frozen=True, dict=True):
    """A node program on its processors. Questions raise `Unknown` where a value is missing."""

    program: NodeProgram
    coming: dict[str, Sequence[int]] = field(default_factory=dict)
    """The values that loops are giving to scalars."""
    reach: dict[Key, int] = field(default_factory=dict)
    """For how many values at once a question about a node can be asked."""
    latest_streams: dict[Nest, tuple[Key, tuple[Stream, ...]]] = field(default_factory=dict)
    """The references of nests one by one, and the values for which they hold."""

    @property
    def procs(self) -> int:
        """P."""
        return self.program.layouts.procs

    @property
    def grid(self) -> tuple[int, ...]:
        """Extents of the first processor grid; P processors in a row where it is scalar."""
        return self.program.layouts.grid.shape or (self.procs,)

    @property
    def constants(self) -> Mapping[str, Value]:
        """PARAMETER values."""
        return self.program.layouts.constants

    @property
    def initial(self) -> Mapping[str, Value | ArrayValues]:
        """What scalar variables hold when the program starts, and index arrays when they are first used."""
        return {**initial_values(self.program.unit, self.constants), **self.program.layouts.contents}

    @cached_property
    def answers(self) -> Answers:
        """Answers that outlive an interpretation; they are forgotten with the program."""
        return _PROGRAMS.setdefault(self.program, Answers())

    def expect(self, name: str, values: Sequence[int]) -> None:
        """Announce the values that a loop is about to give to a scalar, one after the other."""
        self.coming[name] = values

    def trips(self, nest: Nest, env: Environment) -> Trips:
        """Iterations of each processor."""
        return self._shared(nest, lambda one: self._trips(one, env))[0]

    def _trips(self, nest: Nest, env: Environment) -> Trips:
        return self._answer(
            ("trips", nest),
            nest.uses,
            env,
            lambda values, along: trips(nest, self.program.layouts, values, self._known(nest), along),
            lambda found: found.level.nbytes + 2 * found.count.nbytes,
        )

    def levels_along(self, nest: Nest, env: Environment, along: Along) -> Iterator[Ints]:
        """For each value of `along`, in runs (K, P, D + 1): whether a processor takes part at all, and the iterations
        of each of the D loops of a nest without conditions."""
        at, reach = 0, max(1, RUN // self.procs)
        while at < along.values.size:
            some = Along(along.name, along.values[at : at + reach])
            try:
                yield levels_along(nest, self.program.layouts, some.without(env), some)
            except (Unknown, TooLarge) as cause:
                if reach > 1:
                    reach = 1 if isinstance(cause, Unknown) else max(1, reach // 8)
                    continue
                found = self.trips(nest, {**env, along.name: int(some.values[0])})
                entered = np.ones_like(found.count) if found.entered is None else found.entered
                yield np.column_stack([entered, found.level])[None]
            at += some.values.size

    def holding(self, nest: Nest, condition: Expr, depth: int, env: Environment) -> Ints | None:
        """(P,) how many iterations of the `depth` outer loops of a nest there are for which a condition holds; None:
        data decide it."""
        loops = replace(nest, indices=nest.indices[:depth], mask=condition, assigns=(), outer=(), leading=(), reduce="")
        return self._answer(
            ("holding", nest, condition, depth),
            nest.uses,
            env,
            lambda values, along: trips(loops, self.program.layouts, values, self._known(nest), along),
            lambda found: found.level.nbytes + 2 * found.count.nbytes,
        ).masked

    def _known(self, nest: Nest) -> Known:
        """What is known of data when a nest is reached."""
        node = nest.loop if isinstance(nest, AccessSweep) else nest
        if node is None or (isinstance(node, Nest) and not has_conditions(node)):
            return {}
        key = ("formulas",)
        found = self.answers.find(key)
        if not isinstance(found, dict):
            found = formulas_at(self.program)
            self.answers.keep(key, found, 0)
        return found.get(id(node), {})

    def segments(self, owned: OwnedLoop, env: Environment) -> Segments:
        """Runs of an owned loop."""
        return segments(owned, self.program.layouts, env)

    def is_array(self, name: str) -> bool:
        """Whether a name is one of an array of the program."""
        return name in self.program.layouts.arrays

    def classes(self) -> tuple[Ints, Ints]:
        """Processors with equal local shapes: class of each (P,), and one rank of each class (C,)."""
        return self._classes

    @cached_property
    def _classes(self) -> tuple[Ints, Ints]:
        found = shape_classes(self.program.layouts)
        return found.class_of, found.representative

    def accesses(self, nest: Nest, env: Environment) -> tuple[ArrayAccess, ...]:
        """Array references of a nest on the representatives of the classes."""
        found, names = self._shared(nest, lambda one: self._accesses(one, env))
        if not names:
            return found
        own = touches_of_memory(nest, self.program.layouts)
        return tuple(
            replace(each, array=_renamed(each.array, names), touch=touch)
            for each, touch in zip(found, own, strict=True)
        )

    def _accesses(self, nest: Nest, env: Environment) -> tuple[ArrayAccess, ...]:
        layouts, parts = self.program.layouts, self._parts
        return self._answer(
            ("accesses", nest),
            nest.uses,
            env,
            lambda values, along: accesses(nest, layouts, values, parts, along),
            lambda found: sum(
                each.start_bytes.nbytes + each.strides_bytes.nbytes + each.local_bytes.nbytes for each in found
            ),
        )

    def streams(
        self, nest: Nest, env: Environment, ranks: Ints, budget: int, shares: tuple[float | None, ...]
    ) -> tuple[Stream, ...]:
        """The references of a nest one by one on some processors; a DO nest is the same on all. `shares`: of its
        iterations for which its conditions hold, where data decide them."""
        layouts = self.program.layouts
        if isinstance(nest, AccessSweep):
            tested = (
                each.condition for node in tests_of(nest.loop) for each in node.branches if each.condition is not None
            )
            known = {test: share for test, share in zip(tested, shares, strict=True) if share is not None}
            return (stream_of(nest, layouts, env, int(ranks[0]), budget, self._known(nest), known),) * ranks.size
        found, names = self._shared(nest, lambda one: self._streams(one, env, ranks, budget // ranks.size, shares))
        if not names:
            return found
        return tuple(
            replace(
                each,
                arrays=tuple(_renamed(name, names) for name in each.arrays),
                anywhere=tuple(_renamed(name, names) for name in each.anywhere),
            )
            for each in found
        )

    def _streams(
        self, nest: Nest, env: Environment, ranks: Ints, budget: int, shares: tuple[float | None, ...]
    ) -> tuple[Stream, ...]:
        """Of each nest those for the latest values: they are large, and few loops come back to earlier values."""
        values = (shares, *(env.get(name) for name in sorted(nest.uses)))
        known = self.latest_streams.get(nest)
        if known is None or known[0] != values:
            layouts, formulas = self.program.layouts, self._known(nest)
            holding = {
                test: share for test, share in zip(conditions_of(nest), shares, strict=True) if share is not None
            }
            found = tuple(stream_of(nest, layouts, env, int(rank), budget, formulas, holding) for rank in ranks)
            known = self.latest_streams[nest] = values, found
        return known[1]

    def steps(self, operation: Operation, env: Environment) -> tuple[Step, ...]:
        """What a communication does."""
        return self._shared(operation, lambda one: self._steps(one, env))[0]

    def _steps(self, operation: Operation, env: Environment) -> tuple[Step, ...]:
        layouts = self.program.layouts
        return self._answer(
            ("steps", operation),
            self._names(operation),
            env,
            lambda values, along: steps(operation, layouts, values, along),
            lambda found: sum(3 * each.elements.nbytes for each in found),
        )

    def may_move(self, exchange: Exchange, env: Environment, along: Along) -> Bools:
        """For each value of a loop variable, whether an exchange may move anything."""
        return may_move(exchange, self.program.layouts, along.without(env), along)

    def only_chooses_plane(self, node: Nest | OwnedLoop | Operation, name: str, values: range) -> bool:
        """Whether the answers about a node are the same for all these values of a scalar, but for accesses."""
        return only_chooses_plane(node, name, (values[0], values[-1]), self.program.layouts)

    def move_alike(self, nodes: Iterable[Nest | OwnedLoop], name: str) -> bool:
        """Whether nests find the same in a cache, whatever a scalar is that only chooses planes."""
        return move_alike(nodes, name, self.program.layouts)

    def combine_call(self, combine: Combine, env: Environment) -> CollectiveCall | None:
        """The global half of a reduction."""
        return combine_call(combine, self.program.layouts, env)

    @cached_property
    def _parts(self) -> AccessParts:
        """Of all arrays, on the representatives of the classes."""
        return AccessParts(self.classes()[1])

    def bytes_held(self) -> Ints:
        """Bytes of data that each processor holds. Of the names of an EQUIVALENCE the largest counts."""
        held = {name: layout.bytes_held() for name, layout in self.program.layouts.arrays.items()}
        for joined in self.program.unit.equivalences:
            names = [name for name in member_names(joined.members) if name in held]
            largest = max(names, key=lambda name: held[name].max(initial=0), default="")
            for name in {*names} - {largest}:
                held[name] = np.zeros(self.procs, np.int64)
        return sum(held.values(), np.zeros(self.procs, np.int64))

    def bytes_copied(self) -> Ints:
        """Bytes of overlap areas, and of buffers for what messages bring, on each processor."""
        key = ("copied",)
        found = self.answers.find(key)
        if not isinstance(found, np.ndarray):
            found = bytes_copied(self.program, self.program.layouts.environment)
            self.answers.keep(key, found, found.nbytes)
        return found

    def _names(self, operation: Operation) -> frozenset[str]:
        key = ("names", operation)
        found = self.answers.find(key)
        if not isinstance(found, frozenset):
            found = scalars_of(operation)
            self.answers.keep(key, found, 0)
        return found

    def _shared(self, node: Asked, ask: Callable[[Asked], Answer]) -> tuple[Answer, Mapping[str, str]]:
        """The answer about the first node that is like this one, and its names with those of this node instead. Where
        there is none, this node is asked, so that what is raised has its names."""
        first, names = self._first_like(node)
        if first is not node:
            with suppress(Unknown, TooLarge):
                return ask(first), names
        return ask(node), {}

    def _first_like(self, node: Asked) -> tuple[Asked, Mapping[str, str]]:
        key = ("first like", node)
        found: Any = self.answers.find(key)
        if found is None:
            found, alike = (node, {}), self._likeness(node)
            if alike is not None:
                question = ("alike", alike.shape)
                first: Any = self.answers.find(question)
                if first is None:
                    self.answers.keep(question, (node, alike.names), 0)
                else:
                    found = first[0], dict(zip(first[1], alike.names, strict=True))
            self.answers.keep(key, found, 0)
        return found  # type: ignore[no-any-return]  # keys of different questions are different

    def _likeness(self, node: Nest | Operation) -> Likeness | None:
        if isinstance(node, Nest):
            return likeness_of_nest(node, self.program.layouts, self._known(node))
        return likeness_of_operation(node, self.program.layouts)

    def _answer(
        self, question: Key, names: frozenset[str], env: Environment, ask: Ask[Answer], nbytes: Callable[[Answer], int]
    ) -> Answer:
        """An answer that was given before, or a new one, together with those for the values that are still to come.

        Args:
            question: What is asked of which node.
            names: The scalars on which the answer depends.
            env: The values of scalars.
            ask: Answers for these values, or for several values of a scalar; raises where it cannot.
            nbytes: How much memory an answer takes.
        """
        if self.procs >= shared.MANY:
            return ask(env, None)[0]
        order = sorted(names)
        values = tuple([env.get(name) for name in order])
        known = self.answers.find((*question, values))
        if known is None:
            found = self._several(question, order, env, values, ask)
            known = found[values]
            self.answers.keep_together(question, found, nbytes(found[values]) + 200)  # of the others, too, about
        return known  # type: ignore[return-value]  # keys of different questions are different

    def _several(
        self,
        question: Key,
        order: list[str],
        env: Environment,
        values: tuple[Value | ArrayValues | None, ...],
        ask: Ask[Answer],
    ) -> dict[Key, Answer]:
        """Answers by the values for which they hold."""
        for place, name in enumerate(order):
            whole, value = self.coming.get(name, ()), env.get(name)
            if isinstance(value, bool) or not isinstance(value, int) or value not in whole:
                continue
            at = whole.index(value)
            while True:
                some = whole[at : at + self.reach.setdefault(question, min(AT_ONCE, max(1, CELLS // self.procs)))]
                if len(some) < 2:
                    break
                try:
                    along = Along(name, np.array(some, np.int64))
                    found = ask(along.without(env), along)
                except TooLarge:
                    self.reach[question] //= 8
                except Unknown:
                    self.reach[question] = 1
                else:
                    return {
                        (*values[:place], each, *values[place + 1 :]): answer
                        for each, answer in zip(some, found, strict=True)
                    }
        return {values: ask(env, None)[0]}


def _renamed(name: str, names: Mapping[str, str]) -> str:
    """The name of an array, or of a buffer for what comes from afar (`aag.spmd.access.buffer_of`)."""
    array, far, buffer = name.rpartition("$far")
    return f"{names[array]}{far}{buffer}" if far else names[name]


def scalars_of(operation: Operation) -> frozenset[str]:
    """The names on which it depends what an operation moves, those of its own indices among them."""
    needs = [*operation.needs, *(each.need for each in operation.held)]
    references = [each.reference for each in needs] + [each.home for each in needs if each.home is not None]
    references += [write for each in operation.held for write in each.stale]
    indices = [index for each in references for index in each.indices]
    subscripts = [part for each in references for part in each.subscripts]
    return names_in(*subscripts).union(*[index.reads for index in indices])
