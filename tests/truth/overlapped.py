"""Def 6 walked by hand: what a program takes if a fraction of each transmission is hidden behind computation.

SimGrid has no equivalent of overlap. So this walks the messages of a program one by one, by the words of Def 6 and the
rule of links that SimGrid follows (`simgrid/circuit.py`), and shares nothing with how esp does that. What a processor
does between its messages is the prediction's. Without overlap SimGrid finds the same times, which the test asks for.
"""

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from esp.api import Request, Stages, interpreted
from esp.validate.simgrid import place_of
from interpreter.engine import interpret
from interpreter.listeners import Correctable, Latest
from interpreter.metrics import COMMUNICATION, WAITING
from interpreter.setting import Setting
from sag.machine import Machine, MessageRange

GRAIN_S = 1e-12
"""Events that are closer happen at once: the lower rank comes first."""


class Event(Struct, frozen=True, kw_only=True):
    """A message as its sender or its receiver meets it."""

    partner: int
    sends: bool
    size_bytes: int
    stage: int
    """Of an operation: all send, then all receive."""
    before_s: float
    """Computation since the event before."""
    packing_s: float
    """The part of it that belongs to this communication."""
    busy_s: float
    """How long a send keeps its caller without overlap."""


class Recorder(Correctable):
    """Writes down the events of a walk without overlap."""

    def __init__(self, procs: int) -> None:
        self.procs = procs
        self.pending, self.packing = np.zeros(procs), np.zeros(procs)
        self.events: list[list[Event]] = [[] for _ in range(procs)]
        self.aau, self.stage, self.receiving = -1, 0, False

    def spent(self, aau, category, began, seconds, ranks, traffic, weight):
        """Add up, or write down messages."""
        assert weight == 1.0
        if category == WAITING:
            return
        where = slice(None) if ranks is None else ranks
        if traffic is None or traffic.partner is None:
            if aau != self.aau or category == COMMUNICATION:  # run-time software comes before packing
                self.packing[:], self.aau = 0.0, aau
            if category != COMMUNICATION:
                self.packing[where] += seconds[0]
            self.pending[where] += seconds[0]
            return
        sends = traffic.kind == "send"
        self.stage += sends and self.receiving
        self.receiving = not sends
        who = np.arange(self.procs)[where]
        columns = (traffic.partner, traffic.size_bytes, seconds[0])
        for rank, partner, size, busy in zip(who, *(np.broadcast_to(each, who.shape) for each in columns), strict=True):
            event = Event(
                partner=int(partner),
                sends=sends,
                size_bytes=int(size),
                stage=self.stage,
                before_s=float(self.pending[rank]),
                packing_s=float(self.packing[rank]) if sends else 0.0,
                busy_s=float(busy),
            )
            self.events[rank].append(event)
        self.pending[who] = self.packing[who] = 0.0


class Message(Struct, kw_only=True):
    """One that is under way: seconds after the call of its send, and when that and its start were."""

    source: int
    target: int
    call_s: float
    enters_s: float
    ready_s: float
    hold_s: float
    route: tuple[int, ...]
    sent_s: float = 0.0
    late_s: float | None = None
    """By how much it starts later than it was ready; None: it has not started."""

    def arrival_s(self, f: float, came_s: float) -> float:
        """When its receiver goes on, which came to the communication at `came_s`: a fraction of what then is left of
        the transmission is hidden, nothing of the waiting for links."""
        assert self.late_s is not None
        begins = self.sent_s + self.call_s + self.late_s
        transmission = self.ready_s + self.hold_s - self.call_s
        return begins + (1.0 - f) * transmission + f * max(0.0, came_s - begins)


class Walk:
    """All processors with the messages between them, for one overlap factor."""

    def __init__(self, recorder: Recorder, machine: Machine, stages: Stages, f: float) -> None:
        network = machine.network
        assert network is not None
        self.network, self.f = network, f
        self.node, self.size = place_of(network, stages)
        self.todo = [deque(each) for each in recorder.events]
        self.clock, self.came = [0.0] * recorder.procs, [0.0] * recorder.procs
        self.stage = [-1] * recorder.procs
        self.pairs: defaultdict[tuple[int, int], deque[Message]] = defaultdict(deque)
        self.busy: set[int] = set()
        self.waiting: list[tuple[tuple[int, int, int], Message]] = []
        self.heap: list[tuple[int, int, tuple[int, ...], float, Message]] = []
        self.count = 0

    def end_s(self, rest_s: Sequence[float]) -> float:
        """When the last processor is done, each of which computes `rest_s` after its last message."""
        for rank in range(len(self.todo)):
            self.advance(rank)
        while self.heap:
            _, arrives, order, now, message = heappop(self.heap)
            if not arrives:
                self.waiting.append((order, message))
                self.start(message, now)
                continue
            for link in message.route:
                self.busy.remove(link)
                for _, other in sorted(self.waiting, key=lambda each: each[0]):
                    if link in other.route:
                        self.start(other, now)
        assert not any(self.todo)
        return max(clock + rest for clock, rest in zip(self.clock, rest_s, strict=True))

    def advance(self, rank: int) -> None:
        """Let a processor go on until it has to wait."""
        while self.todo[rank]:
            event = self.todo[rank][0]
            messages = self.pairs[event.partner, rank]
            came = self.clock[rank] + event.before_s - event.packing_s
            if not event.sends and (not messages or messages[0].late_s is None):
                return
            if event.stage != self.stage[rank]:
                self.stage[rank], self.came[rank] = event.stage, came
            self.clock[rank] += event.before_s
            self.todo[rank].popleft()
            if event.sends:
                self.send(rank, event)
            else:
                arrival = messages.popleft().arrival_s(self.f, self.came[rank])
                overhead = self.range_of(event.size_bytes).receive_overhead_s[0]
                self.clock[rank] = max(self.clock[rank], arrival) + float(overhead)

    def send(self, rank: int, event: Event) -> None:
        """Let a processor send."""
        message = self.message(rank, event)
        self.pairs[rank, event.partner].append(message)
        self.push(message.sent_s + message.ready_s, message, arrives=False)
        self.clock[rank] += message.call_s + (1.0 - self.f) * (event.busy_s - message.call_s)

    def message(self, rank: int, event: Event) -> Message:
        """By the point-to-point law."""
        law = self.range_of(event.size_bytes)
        ends = self.node[[rank]], self.node[[event.partner]]
        links = self.network.topology.routes(*ends, self.size)
        if self.network.duplex == "half":
            links = self.network.topology.undirected(links, self.size)
        enters = float(law.call_overhead_s[0] + law.startup_s[0])
        return Message(
            source=rank,
            target=event.partner,
            call_s=float(law.call_overhead_s[0]),
            enters_s=enters,
            ready_s=enters + float(law.per_hop_s[0]) * int(self.network.topology.hops(*ends, self.size)[0]),
            hold_s=float(law.per_byte_s[0]) * event.size_bytes,
            route=tuple(link for link in links[0].tolist() if link >= 0),
            sent_s=self.clock[rank],
        )

    def range_of(self, size_bytes: int) -> MessageRange:
        """The figures for a size."""
        return next(each for each in self.network.ranges if size_bytes <= each.upto_bytes)

    def start(self, message: Message, now: float) -> None:
        """Let a message take its links if all are free."""
        if not self.busy.isdisjoint(message.route):
            return
        self.waiting = [each for each in self.waiting if each[1] is not message]
        self.busy.update(message.route)
        message.late_s = now - message.sent_s - message.ready_s
        self.push(now + message.hold_s, message, arrives=True)
        self.advance(message.target)

    def push(self, when: float, message: Message, *, arrives: bool) -> None:
        """Remember what happens. Messages that are ready at the same time start in the order in which they entered,
        then by rank. Messages that arrive at the same time leave in the order in which they started."""
        self.count += 1
        entered = round((message.sent_s + message.enters_s) / GRAIN_S)
        order = (self.count,) if arrives else (entered, message.source, self.count)
        heappush(self.heap, (round(when / GRAIN_S), int(arrives), order, when, message))


def overlapped(stages: Stages, machine: Machine, request: Request, factors: Sequence[float]) -> np.ndarray:
    """The time of a program for each overlap factor. `machine`: without overlap."""

    def attempt(setting: Setting) -> Recorder:
        recorder = Latest(lambda: Recorder(stages.node_program.layouts.procs))
        interpret(stages.node_program, stages.graph, machine, replace(setting, io=False, force_unroll=True), recorder)
        return recorder.made

    recorder, _ = interpreted(stages, request, attempt)
    rest = recorder.pending.tolist()
    return np.array([Walk(recorder, machine, stages, f).end_s(rest) for f in factors])
