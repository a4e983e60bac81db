"""Graphs and machines made by hand, so that the engine can be tested without anything else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aag.diagnostics import Span
from aag.graph import aau as g
from aag.ir.expressions import Binary, Expr, IntLit, Var
from aag.ir.statements import Assign
from aag.spmd import nodes as n
from aag.spmd.partition import Segments, Trips
from aag.spmd.steps import CollectiveCall, Phase
from interpreter.application import Answers
from interpreter.engine import interpret_with
from interpreter.result import Result
from interpreter.setting import Setting
from interpreter.summary import About
from sag.machine import Collective, IoCosts, Machine, MessageRange, NetworkCosts, ProcessorCosts
from sag.topology import Hypercube

US = 1e-6
SHORT = (65 * US, 0.425 * US, 10 * US)
LONG = (147 * US, 0.390 * US, 30.5 * US)

COLLECTIVES = {
    "broadcast": "binomial",
    "reduction": "recursive_doubling",
    "concatenation": "recursive_doubling",
    "transpose": "pairwise",
    "gather": "binomial",
    "scatter": "binomial",
    "barrier": "recursive_doubling",
}
PRICES = {
    "op": US,
    "load": 0.05 * US,
    "store": 0.04 * US,
    "index.1d": 0.025 * US,
    "loop.setup": 0.0,
    "loop.iteration": 0.0,
    "guard": 0.0,
    "call": 0.0,
    "combine": 0.0,
}


def figure(value):
    return np.atleast_1d(np.asarray(value, dtype=np.float64))


def law(size, hops, *, bandwidth=1.0):
    a, b, c = SHORT if size <= 100 else LONG
    return a + b * size / bandwidth + c * hops


def machine(
    *,
    scenarios=1,
    prices=None,
    bandwidth=1.0,
    send="blocking",
    duplex="full",
    switching="circuit",
    exchange="sequential",
    factor=1.0,
    load=0.0,
    overlap=0.0,
    pack=0.0,
    receive=0.0,
    software=0.0,
    algorithms=None,
    topology=None,
    network=True,
    io=True,
    speed=1.0,
    call=1.0,
    guessed=False,
):
    """The iPSC/860 law. `bandwidth` and `speed` may be sequences: scenarios. `call`: share of start-up that is call
    overhead. `guessed`: whether packing is an estimate."""

    def message_range(upto, values):
        a, b, c = values
        return MessageRange(
            upto_bytes=upto,
            call_overhead_s=figure(a * call),
            startup_s=figure(a * (1 - call)),
            per_byte_s=b / figure(bandwidth) / (1 - figure(load)),
            per_hop_s=figure(c),
            receive_overhead_s=figure(receive),
            estimated=frozenset(),
        )

    costs = NetworkCosts(
        ranges=(message_range(100.0, SHORT), message_range(float("inf"), LONG)),
        topology=topology or Hypercube(),
        send_model=send,
        duplex=duplex,
        switching=switching,
        exchange=exchange,
        exchange_factor=figure(factor),
        load=figure(load),
        overlap=figure(overlap),
        pack_per_byte_s=figure(pack),
        copy_per_byte_s=figure(0.0),
        pack_estimated=guessed,
        collectives={
            name: Collective(algorithm=algorithm, stage_software_s=figure(software), estimated=False)
            for name, algorithm in {**COLLECTIVES, **(algorithms or {})}.items()
        },
    )
    table = {**PRICES, **(prices or {})}
    return Machine(
        name="by hand",
        scenarios=scenarios,
        default_processors=8,
        largest_built=128,
        processor=ProcessorCosts(
            time_s={name: time / figure(speed) for name, time in table.items()}, estimated=dict.fromkeys(table, False)
        ),
        memory=None,
        network=costs if network else None,
        io=IoCosts(
            host_latency_s=figure(4e-3),
            host_per_byte_s=figure(1.5 * US),
            format_item_s=figure(60 * US),
            load_s=figure(2.0),
            estimated=False,
        )
        if io
        else None,
        notes=(),
    )


@dataclass(eq=False)
class Hand:
    """Builds AAUs and answers the engine's questions about them."""

    procs: int
    grid: tuple[int, ...] = ()
    constants: Mapping[str, object] = field(default_factory=dict)
    initial: Mapping[str, object] = field(default_factory=dict)
    count: int = 0
    given: dict = field(default_factory=dict)
    answers: Answers = field(default_factory=Answers)

    def __post_init__(self):
        self.grid = self.grid or (self.procs,)
        self.critical = frozenset()

    def _id(self):
        self.count += 1
        return self.count - 1

    def _base(self, line, uses=(), defines=()):
        number = self._id()
        return {
            "id": number,
            "span": Span("hand.hpf", line or number + 1),
            "label": "",
            "uses": frozenset(uses),
            "defines": frozenset(defines),
        }

    # ------------------------------------------------------------------ AAUs

    def seq(self, ops=0.0, assigns=(), line=0, **more):
        work = g.Work(computation=(("op", float(ops)),) if ops else ())
        made = tuple(Assign(target=Var(name), value=value, span=Span("hand.hpf", line)) for name, value in assigns)
        return g.Seq(**self._base(line, defines=[name for name, _ in assigns]), work=work, assigns=made, **more)

    def compute(self, ops, line=0, uses=()):
        """Each processor works for so many operations; `ops` may be a function of the environment."""
        nest = n.Nest(span=Span("hand.hpf", line), indices=(), home=None, assigns=())
        self.given[id(nest)] = (nest, ops)
        return g.IterD(**self._base(line, uses=uses), nest=nest, work=g.Work(computation=(("op", 1.0),)))

    def nest(self, level, work, line=0, **more):
        node = n.Nest(span=Span("hand.hpf", line), indices=(), home=None, assigns=())
        self.given[id(node)] = (node, np.asarray(level))
        return g.IterD(**self._base(line), nest=node, work=work, **more)

    def comm(self, *steps, line=0, uses=(), pattern="overlap_shift"):
        operation = n.Exchange(array="a", needs=(), pattern=pattern)
        self.given[id(operation)] = (operation, steps)
        return g.Comm(**self._base(line, uses=uses), operation=operation)

    def host(self, kind, items, size, line=0):
        node = n.HostIo(
            span=Span("hand.hpf", line),
            kind=kind,
            items=IntLit(items),
            bytes=IntLit(size),
            shared=(n.SharedValues(values=(), bytes=IntLit(size)),) if kind == "read" else (),
        )
        return g.Comm(**self._base(line), host=node)

    def reduce(self, call, work=None, line=0, defines=()):
        home = n.Reference(array="a", subscripts=(), indices=())
        node = n.Combine(
            span=Span("hand.hpf", line), op="sum", home=home, axes=(0,), element_bytes=8, operation_class="combine"
        )
        self.given[id(node)] = (node, call)
        return g.SyncSeq(**self._base(line, defines=defines), combine=node, work=work or g.Work())

    def loop(self, var, upper, *body, line=0, lower=1, step=None, name=""):
        base = self._base(line)
        node = n.DoNode(
            span=base["span"],
            var=var,
            lower=lit(lower),
            upper=lit(upper),
            step=None if step is None else lit(step),
            body=(),
            name=name,
        )
        uses = frozenset().union(*(each.uses for each in body))
        defines = frozenset((var,)).union(*(each.defines for each in body))
        base.update(uses=uses, defines=defines)
        sync = any(isinstance(each, g.Comm | g.SyncSeq) for each in g.walk(body))
        return (g.IterSync if sync else g.IterD)(**base, loop=node, body=body)

    def while_(self, condition, *body, line=0, ops=0.0, name=""):
        work = g.Work(computation=(("op", float(ops)),) if ops else ())
        return g.IterND(
            **self._base(line, defines=frozenset().union(*(each.defines for each in body))),
            condition=condition,
            work=work,
            body=body,
            name=name,
        )

    def branch(self, *branches, line=0, ops=0.0):
        base = self._base(line)
        work = g.Work(computation=(("op", float(ops)),) if ops else ())
        made = tuple(
            g.AauBranch(
                condition=condition,
                work=work if condition is not None else g.Work(),
                body=tuple(body),
                span=base["span"],
            )
            for condition, body in branches
        )
        inside = [each for one in made for each in g.walk(one.body)]
        kind = g.CondtSync if any(isinstance(each, g.Comm | g.SyncSeq) for each in inside) else g.CondtD
        return kind(**base, branches=made)

    def owned(self, owner, count, messages, work, line=0):
        reference = n.Reference(array="a", subscripts=(), indices=())
        index = n.Index(name="i", lower=lit(1), upper=lit(sum(count)), step=None)
        node = n.OwnedLoop(span=Span("hand.hpf", line), index=index, home=reference, assigns=(), needs=())
        runs = Segments(np.asarray(owner), np.asarray(count), tuple(messages), int(sum(count)))
        self.given[id(node)] = (node, runs)
        return g.IterSync(**self._base(line), owned=node, work=work)

    def call(self, *body, ops=0.0, line=0):
        work = g.Work(computation=(("op", float(ops)),) if ops else ())
        return g.Call(**self._base(line), name="sub", work=work, body=body)

    # ------------------------------------------------------------------ answers

    def expect(self, name, values):
        """Nothing is asked in advance."""

    def trips(self, nest, env):
        ops = self.given[id(nest)][1]
        ops = np.asarray(ops(env) if callable(ops) else ops)
        if ops.ndim == 2:
            return Trips(ops, ops[:, -1])
        count = np.broadcast_to(ops, (self.procs,)).astype(np.float64)
        return Trips(np.zeros((self.procs, 0)), count)

    def steps(self, operation, env):
        return tuple(each(env) if callable(each) else each for each in self.given[id(operation)][1])

    def combine_call(self, combine, env):
        return self.given[id(combine)][1]

    def segments(self, owned, env):
        return self.given[id(owned)][1]

    def only_chooses_plane(self, node, name, values):
        return False

    def move_alike(self, nodes, name):
        return False

    def accesses(self, nest, env):
        return ()

    def is_array(self, _name):
        return False

    def classes(self):
        return np.arange(self.procs), np.arange(self.procs)

    def bytes_held(self):
        return np.zeros(self.procs, np.int64)

    def bytes_copied(self):
        return np.zeros(self.procs, np.int64)

    # ------------------------------------------------------------------ running

    def graph(self, *body, critical=()):
        start = g.Start(**self._base(1))
        end = g.End(**self._base(999))
        whole = (start, *body, end)
        return g.Graph(body=(g.Spawn(**self._base(1), body=whole),), count=self.count, critical=frozenset(critical))

    def run(self, *body, on=None, setting=None, critical=(), listener=None) -> Result:
        about = About(program="hand", file="hand.hpf", constants=dict(self.constants))
        return interpret_with(
            self,
            self.graph(*body, critical=critical),
            on or machine(),
            setting or Setting(),
            about,
            listener and (lambda: listener),
        )


def metrics(prediction: Result, aau):
    """The metrics of an AAU."""
    return next(each for each in prediction.aaus if each.id == aau.id)


def lit(value) -> Expr:
    return value if isinstance(value, Expr) else IntLit(value)


def phase(
    source: Sequence[int], destination: Sequence[int], elements, *, element_bytes=8, contiguous=True, name="shift"
):
    source = np.asarray(source, dtype=np.int64)
    return Phase(
        source=source,
        destination=np.asarray(destination, dtype=np.int64),
        elements=np.broadcast_to(np.asarray(elements, dtype=np.int64), source.shape).copy(),
        element_bytes=element_bytes,
        name=name,
        strided=None if contiguous else (np.ones(len(source), np.bool_), np.ones(len(source), np.bool_)),
    )


def collective(kind, procs, elements, *, root=0, element_bytes=1, groups=1, contiguous=True):
    members = np.arange(procs * groups).reshape(groups, procs)
    return CollectiveCall(
        kind=kind,
        members=members,
        root=np.full(groups, root),
        elements=np.broadcast_to(np.asarray(elements), members.shape).copy(),
        element_bytes=element_bytes,
        name=kind,
        strided=None if contiguous else (np.ones(members.shape, np.bool_), np.ones(members.shape, np.bool_)),
    )


def plus(name, step):
    return Binary("+", Var(name), IntLit(step))


def additive(prediction: Result, rel=1e-9, *, region=False):
    """Def 3 and 4: categories add up to time_s on every processor, lines and AAUs add up to the whole."""
    each = prediction.per_processor
    total = each.computation_s + each.communication_s + each.overhead_s + each.waiting_s
    time = prediction.time_s
    np.testing.assert_allclose(total, np.broadcast_to(time[:, None], total.shape), rtol=rel, atol=1e-18)
    np.testing.assert_allclose(prediction.parts.time_s, time, rtol=rel, atol=1e-18)
    np.testing.assert_allclose(sum(line.parts.time_s for line in prediction.lines), time, rtol=rel, atol=1e-18)
    np.testing.assert_allclose(sum(aau.parts.time_s for aau in prediction.aaus), time, rtol=rel, atol=1e-18)
    assert region or (each.waiting_s >= -1e-15).all()
    assert sum(line.messages for line in prediction.lines) == prediction.messages
