"""The thirteen classes of Application Abstraction Units (AAU) and the graph they form (AAG).

Source: Parashar and Hariri, "Interpretive Performance Prediction for Parallel Application Development", Table 1.
AAUs are a tree of plain frozen objects; the engine walks it. An AAU knows nothing of seconds: it knows how many
operations of which class one iteration does (`Work`), and which node of the node program decides its extent.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import CallSite, Span
from aag.ir.expressions import Expr
from aag.ir.statements import Assign
from aag.spmd.nodes import Charge, Combine, DoNode, HostIo, Nest, Operation, OwnedLoop, assigns_of
from aag.spmd.touches import AccessSweep

Counts = tuple[tuple[str, float], ...]
"""Operation class -> how often, sorted by class: for example (("load", 4.0), ("r8.add", 3.0))."""


class Work(Struct, frozen=True, kw_only=True):
    """What one execution (one innermost iteration) does. `computation`: what the serial program also does;
    `overhead`: what only the node program does (Def 2)."""

    computation: Counts = ()
    overhead: Counts = ()


class GuardedWork(Struct, frozen=True, kw_only=True, eq=False):
    """A branch under a condition of its own inside a nest (`aag.spmd.branches`): `work` is what it does once where
    it is taken, `test` its test once where an earlier branch of its chain comes first (the test of the first branch
    belongs to the loop around). `span`: of its first assignment."""

    span: Span
    test: Work
    work: Work


class WorkShare(Struct, frozen=True, kw_only=True, eq=False):
    """What the statements of one call (None: of the main program) do in an AAU, and how many calls they stand for: one
    entry for each level of a nest, beginning before its loops, and one for each of `IterD.conditional`."""

    site: CallSite | None
    works: tuple[Work, ...]
    calls: tuple[int, ...]


class AAU(Struct, frozen=True, kw_only=True, eq=False):
    """Base: `id` counts in program order from 0; `uses` and `defines` are scalar names, bodies included.

    `span.call` is the call through which it is reached. `shares` divide the work among calls, where statements of
    several are one AAU or stand for calls themselves; what they leave belongs to `span.call`."""

    id: int
    span: Span
    label: str
    shares: tuple[WorkShare, ...] = ()
    uses: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()


class Start(AAU, frozen=True, kw_only=True, eq=False):
    """The beginning of the application."""


class End(AAU, frozen=True, kw_only=True, eq=False):
    """The end of an independent flow of control; waits for the last processor (Def 3)."""


class Spawn(AAU, frozen=True, kw_only=True, eq=False):
    """The host program forks the node programs (its cost is `load_s`, Def 1)."""

    body: tuple[AAU, ...]


class Seq(AAU, frozen=True, kw_only=True, eq=False):
    """Consecutive replicated statements. `assigns` are interpreted functionally where their values matter.
    `clock_mark`: it reads the clock (Def 5). `leave`: it ends a loop or the program (EXIT, CYCLE, STOP)."""

    work: Work
    assigns: tuple[Assign, ...] = ()
    clock_mark: bool = False
    leave: str = ""
    leave_name: str = ""
    unmodelled: str = ""


class IterD(AAU, frozen=True, kw_only=True, eq=False):
    """Deterministic loop without communication: either a parallel `nest` with the `work` of one innermost
    iteration (`masked`: what it does more where its mask holds; `guarded`: under conditions of their own; `outer`: of
    one iteration of each enclosing level, outermost first; `setup`: once, by every processor, before the loops;
    `tested`: the loop in which its mask is), or a
    counted `loop` with a `body`, of which each processor runs its own iterations where the loop has a home (`setup`:
    its bounds and finding these iterations). What the loop and those inside touch in memory are its `sweeps`, whose
    sources are ids of AAUs in the body; `unswept` tells of what is not among them."""

    nest: Nest | None = None
    work: Work = Work()
    masked: Work = Work()
    guarded: tuple[GuardedWork, ...] = ()
    tested: int = 0
    outer: tuple[Work, ...] = ()
    setup: Work = Work()
    loop: DoNode | None = None
    body: tuple[AAU, ...] = ()
    sweeps: tuple[AccessSweep, ...] = ()
    unswept: tuple[tuple[str, Span], ...] = ()

    @property
    def conditional(self) -> tuple[Work, ...]:
        """What is done under conditions: where the mask holds, then each guarded branch's test and its work."""
        return (self.masked, *(work for each in self.guarded for work in (each.test, each.work)))


class IterSync(AAU, frozen=True, kw_only=True, eq=False):
    """Deterministic loop with communication inside: a counted `loop` with a `body`, or an `owned` loop, whose
    `work` is that of one iteration on its owner (guards, run by all, are its overhead), `guarded` what it does under
    conditions of their own; `setup`: what its bounds cost, once for each execution."""

    loop: DoNode | None = None
    body: tuple[AAU, ...] = ()
    owned: OwnedLoop | None = None
    work: Work = Work()
    guarded: tuple[GuardedWork, ...] = ()
    setup: Work = Work()
    unswept: tuple[tuple[str, Span], ...] = ()


class IterND(AAU, frozen=True, kw_only=True, eq=False):
    """Non-deterministic loop; `condition` None is left by EXIT only. `work` is one evaluation of the condition."""

    condition: Expr | None
    work: Work
    body: tuple[AAU, ...]
    name: str = ""
    unswept: tuple[tuple[str, Span], ...] = ()


class AauBranch(Struct, frozen=True, kw_only=True, eq=False):
    """One branch of a conditional: `work` is the test of its condition (None: ELSE)."""

    condition: Expr | None
    work: Work
    body: tuple[AAU, ...]
    span: Span


class CondtD(AAU, frozen=True, kw_only=True, eq=False):
    """Conditional without communication in any branch."""

    branches: tuple[AauBranch, ...]


class CondtSync(AAU, frozen=True, kw_only=True, eq=False):
    """Conditional with communication in some branch."""

    branches: tuple[AauBranch, ...]


class Comm(AAU, frozen=True, kw_only=True, eq=False):
    """Explicit communication between processors (`operation`) or with the host (`host`)."""

    operation: Operation | None = None
    host: HostIo | None = None


class SyncSeq(AAU, frozen=True, kw_only=True, eq=False):
    """A Seq that needs synchronisation: the global half of a reduction; `work` is one combination of a value."""

    combine: Combine
    work: Work


class Call(AAU, frozen=True, kw_only=True, eq=False):
    """Invocation of a procedure; `assumption` says what was assumed where its body is not known. `charges`: what it
    costs besides `work`, in the values of scalars when it is called."""

    name: str
    work: Work
    body: tuple[AAU, ...]
    assumption: str = ""
    charges: tuple[Charge, ...] = ()


class CommEdge(Struct, frozen=True, kw_only=True):
    """A communication edge of the SAAG: AAU `source` produces what AAU `comm` moves for AAU `target`."""

    comm: int
    source: int | None
    target: int
    array: str
    pattern: str


class Graph(Struct, frozen=True, kw_only=True, eq=False):
    """The AAG (`root` is the Spawn's body between Start and End) and, once synchronised, its `edges` (SAAG)."""

    body: tuple[AAU, ...]
    count: int
    edges: tuple[CommEdge, ...] = ()
    critical: frozenset[str] = frozenset()
    """Scalar names whose values decide the flow (loop bounds, conditions, subscripts, section bounds; D8)."""
    untraced: frozenset[str] = frozenset()
    """Scalar names that share storage with others (EQUIVALENCE): their values are not followed."""
    unknown: Mapping[str, str] = {}
    """Arrays in bounds of loops and in subscripts whose contents cannot be computed, and why."""


def last_line(aau: AAU) -> int:
    """The line of the last statement of a nest; of other AAUs their own."""
    nest = aau.nest if isinstance(aau, IterD) else None
    spans = [each.span for each in assigns_of(nest)] if nest is not None else []
    place = aau.span.file, aau.span.call
    return max((each.line for each in spans if (each.file, each.call) == place), default=aau.span.line)


def children(aau: AAU) -> tuple[AAU, ...]:
    """The AAUs directly inside a compound AAU, in program order."""
    match aau:
        case Spawn(body=body) | IterD(body=body) | IterSync(body=body) | IterND(body=body) | Call(body=body):
            return body
        case CondtD(branches=branches) | CondtSync(branches=branches):
            return tuple(each for branch in branches for each in branch.body)
        case _:
            return ()


def mapped(aau: AAU, function: Callable[[tuple[AAU, ...]], tuple[AAU, ...]]) -> AAU:
    """A compound AAU with each body replaced by `function(body)`; another one as it is."""
    match aau:
        case Spawn(body=body) | IterD(body=body) | IterSync(body=body) | IterND(body=body) | Call(body=body):
            return replace(aau, body=function(body))
        case CondtD(branches=branches) | CondtSync(branches=branches):
            return replace(aau, branches=tuple(replace(each, body=function(each.body)) for each in branches))
        case _:
            return aau


def walk(body: tuple[AAU, ...]) -> Iterator[AAU]:
    """All AAUs, parents before children, in program order."""
    for aau in body:
        yield aau
        yield from walk(children(aau))
