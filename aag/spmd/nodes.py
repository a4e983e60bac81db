"""The node program as data: what every processor runs after lowering (SPMD, loosely synchronous).

    node = Local(assigns)                        replicated scalar work, done by every processor
         | Nest(indices, home, ...)              a parallel loop nest; each processor runs its share
         | Communicate(operation)                data movement between processors
         | Combine(op, ...)                      the global half of a reduction
         | HostIo(kind, ...)                     PRINT, WRITE, READ through the host
         | DoNode(var, ..., body)                a counted loop that every processor runs
         | OwnedLoop(index, ..., body)           a sequential DO over distributed data (Def 16)
         | WhileNode(condition, body) | IfNode(branches) | CallNode(name, arguments)
         | ClockMark                             a call of SYSTEM_CLOCK and the like (Def 5)
         | Leave(kind)                           EXIT, CYCLE, STOP, RETURN
         | Unmodelled(reason)                    an Opaque statement: no cost can be charged
    operation = Exchange(references, ...)        point-to-point, named by pattern
              | Multicast(references, ...)       broadcast along grid axes (after a shift, if any)
              | Concatenate(references, ...)     all-gather into a replicated array
              | Gather(array)                    to the processor that does I/O
              | Redistribute(array, old, new)

A node keeps the span of the statement it came from (a time that cannot be traced to a line is a bug) and the
scalar names it `uses` (their values decide what it does) and `defines`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Span
from aag.ir.expressions import Element, Expr, IntLit, Var
from aag.ir.statements import Assign, Do
from aag.ir.visitors import elements_in, names_in

Pattern = Literal[
    "overlap_shift",
    "temporary_shift",
    "transfer",
    "multicast",
    "multicast_shift",
    "concatenation",
    "transpose",
    "gather",
    "scatter",
    "redistribution",
]
"""The vocabulary of the Fortran 90D run-time library (Bozkus, Choudhary, Fox, Haupt, Ranka, 1993)."""


class Index(Struct, frozen=True, kw_only=True, dict=True):
    """One index of a nest: name = lower : upper : step."""

    name: str
    lower: Expr
    upper: Expr
    step: Expr | None

    @property
    def ends(self) -> tuple[Expr, Expr, Expr | None]:
        """Its bounds and its step."""
        return self.lower, self.upper, self.step

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names in its bounds and its step."""
        return names_in(*self.bounds)

    @property
    def bounds(self) -> tuple[Expr, ...]:
        """Its bounds, and its step where it has one."""
        return (self.lower, self.upper) if self.step is None else (self.lower, self.upper, self.step)


def deciding_indices(indices: Sequence[Index], names: frozenset[str]) -> tuple[Index, ...]:
    """The indices that some names depend on: those among the names, and those in the bounds of such indices."""
    kept: list[Index] = []
    for index in reversed(indices):
        if index.name in names:
            kept.insert(0, index)
            names |= index.reads
    return tuple(kept)


class Reference(Struct, frozen=True, kw_only=True, dict=True):
    """A reference to an array inside the index space `indices` of the statement that makes it."""

    array: str
    subscripts: tuple[Expr, ...]
    indices: tuple[Index, ...]

    @cached_property
    def reads(self) -> frozenset[str]:
        """The names that decide what it touches, its own indices not among them."""
        names = names_in(*self.subscripts).union(*[index.reads for index in self.indices])
        return names.difference([index.name for index in self.indices])

    @cached_property
    def is_indirect(self) -> bool:
        """Whether a subscript goes through another array."""
        return bool(elements_in(*self.subscripts))

    @cached_property
    def is_scattered(self) -> bool:
        """Whether index arrays decide where an iteration lives, for each anew."""
        return bool(names_in(*elements_in(*self.subscripts)) & {index.name for index in self.indices})


class Need(Struct, frozen=True, kw_only=True):
    """Who needs what: the iterations of `reference.indices` run where `home` lives and read `reference`.

    `home` None: every processor runs every iteration (a replicated left-hand side).
    """

    reference: Reference
    home: Reference | None


class Held(Struct, frozen=True, kw_only=True, dict=True):
    """What an earlier communication brought (`need`), and the writes to the array since: they made parts stale."""

    need: Need
    stale: tuple[Reference, ...] = ()

    @cached_property
    def reads(self) -> frozenset[str]:
        """All names that decide what it is, those of arrays and of the indices of the need among them."""
        home = self.need.home
        return self.need.reference.reads.union(home.reads if home else (), *[write.reads for write in self.stale])


class Node(Struct, frozen=True, kw_only=True, eq=False):
    """Base of all nodes."""

    span: Span
    uses: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()


class Local(Node, frozen=True, kw_only=True, eq=False):
    """Assignments to replicated scalars or to elements of replicated arrays: every processor computes them.

    `overhead`: the serial program does not compute them (Def 2).
    """

    assigns: tuple[Assign, ...]
    overhead: bool = False


class Nest(Node, frozen=True, kw_only=True, eq=False):
    """A parallel loop nest, outermost loop first. Owner-computes: an iteration runs where `home` lives.

    `assigns` run in the innermost loop, `outer[d]` in each iteration of loop d besides, the first `leading[d]` of them
    before the loop inside it and the others after it.
    `reduce` is the operation of a reduction (a key of `aag.ir.intrinsics.REDUCTIONS`): then `assigns` holds one Assign
    whose value is accumulated into its target; `continues`: into the value that it has before. `copies`: a FORALL that
    reads what it writes goes through a temporary (all right-hand sides first). `near`: all that it reads counts as an
    own element, as nearly all of it is.
    `guarded`: assignments that choose between a new value and the old one have conditions of their own
    (`aag.spmd.branches`); then there is no `mask`.
    """

    indices: tuple[Index, ...]
    home: Reference | None
    assigns: tuple[Assign, ...]
    outer: tuple[tuple[Assign, ...], ...] = ()
    leading: tuple[int, ...] = ()
    mask: Expr | None = None
    reduce: str = ""
    continues: bool = False
    copies: bool = False
    near: bool = False
    guarded: bool = False

    def around(self, depth: int) -> tuple[tuple[Assign, ...], tuple[Assign, ...]]:
        """The assignments inside `depth` loops that run before and after the next loop."""
        if not 0 < depth <= len(self.outer):
            return (), ()
        assigns, leading = self.outer[depth - 1], self.leading[depth - 1]
        return assigns[:leading], assigns[leading:]


class Exchange(Struct, frozen=True, kw_only=True, eq=False):
    """Point-to-point movement of the union of `needs`, less what is already valid (`held`), one array (Def 9, 10).

    processor p          processor p+1
    [ . . . . o ]  --->  [ x . . . . ]        o read by the message, x received into the overlap area
    """

    array: str
    needs: tuple[Need, ...]
    pattern: Pattern
    held: tuple[Held, ...] = ()


class Multicast(Struct, frozen=True, kw_only=True, eq=False):
    """Along `axes` of the array's grid the owner's data go to every coordinate; other axes may shift first.

    o . . .   --->   o x x x
    """

    array: str
    needs: tuple[Need, ...]
    axes: tuple[int, ...]
    pattern: Pattern
    held: tuple[Held, ...] = ()


class Concatenate(Struct, frozen=True, kw_only=True, eq=False):
    """Along `axes` every processor gets all that `needs` reads (all-gather into a replicated array)."""

    array: str
    needs: tuple[Need, ...]
    axes: tuple[int, ...]
    pattern: Pattern = "concatenation"
    held: tuple[Held, ...] = ()


class Gather(Struct, frozen=True, kw_only=True, eq=False):
    """All that `needs` reads goes to linear rank 0, which does the I/O (Def 15)."""

    array: str
    needs: tuple[Need, ...]
    pattern: Pattern = "gather"
    held: tuple[Held, ...] = ()


Operation = Exchange | Multicast | Concatenate | Gather


class Communicate(Node, frozen=True, kw_only=True, eq=False):
    """Data movement before the statement at `span` (the first that needs it, Def 4)."""

    operation: Operation


class Combine(Node, frozen=True, kw_only=True, eq=False):
    """The global half of a reduction of what lives where `home` lives, over grid axes `axes` of its layout: partial
    results are combined with `op`; the result is on all processors of those axes afterwards.

    A full reduction combines one value; with DIM= all elements that a processor has of the array of results, `kept`.
    `result` is the scalar that is reduced, where the nest before it does not say so. `prefix`: each processor gets the
    combination of what those before it have along the axis, in the direction ``up`` or ``down`` of coordinates."""

    op: str
    home: Reference
    axes: tuple[int, ...]
    element_bytes: int
    operation_class: str
    kept: Reference | None = None
    result: str = ""
    prefix: Literal["", "up", "down"] = ""


class Value(Struct, frozen=True, kw_only=True):
    """A replicated scalar, or the elements of a replicated array in the space of `indices`."""

    element: Var | Element
    indices: tuple[Index, ...]


class SharedValues(Struct, frozen=True, kw_only=True):
    """What one broadcast from rank 0 brings to all processors, and its bytes in memory."""

    values: tuple[Value, ...]
    bytes: Expr


class HostIo(Node, frozen=True, kw_only=True, eq=False):
    """PRINT, WRITE (``write``: rank 0 formats and sends to the host), READ (``read``: rank 0 receives, Def 15), a READ
    or WRITE of an internal file (``format``: by every processor), or another I/O statement (``control``).

    `bytes`: characters on the host link; `records`: how many statements are executed; `shared`: what goes to all
    processors afterwards; `nest`: the loops of READs that this stands for; `listed`: the items, with variables for
    what is computed before.
    """

    kind: Literal["write", "read", "format", "control"]
    items: Expr
    bytes: Expr
    records: Expr = IntLit(1)
    shared: tuple[SharedValues, ...] = ()
    nest: Do | None = None
    listed: tuple[Expr, ...] = ()


class DoNode(Node, frozen=True, kw_only=True, eq=False):
    """A counted loop run by every processor; where it has a `home`, each runs the iterations that live with it, by
    itself."""

    var: str
    lower: Expr
    upper: Expr
    step: Expr | None
    body: tuple[Node, ...]
    name: str = ""
    home: Reference | None = None

    @property
    def index(self) -> Index:
        """Its variable and range."""
        return Index(name=self.var, lower=self.lower, upper=self.upper, step=self.step)


class CarriedScalar(Struct, frozen=True, kw_only=True):
    """A scalar whose value goes from one iteration to the next, and how many bytes it has."""

    name: str
    bytes: int


class OwnedLoop(Node, frozen=True, kw_only=True, eq=False):
    """A sequential DO whose iterations read what earlier ones wrote: owners run their iterations in order, a
    message goes at the iteration that crosses, and every processor tests the guard of every iteration (Def 16).

    `assigns` are to scalars, and to elements of distributed arrays whose subscripts are affine in the loop index.
    """

    index: Index
    home: Reference
    assigns: tuple[Assign, ...]
    needs: tuple[Need, ...]
    carried: tuple[CarriedScalar, ...] = ()
    """Scalars that an iteration reads as the one before left them: the next owner gets them from the one before.
    Before the loop all processors have them, and after it nobody reads them."""
    guarded: bool = False
    """Whether assignments that choose between a new value and the old one have conditions of their own
    (`aag.spmd.branches`)."""

    @property
    def own_part(self) -> Nest:
        """What a processor does in its turns, all of them together."""
        return Nest(
            span=self.span,
            uses=self.uses,
            defines=self.defines,
            indices=(self.index,),
            home=self.home,
            assigns=self.assigns,
            guarded=self.guarded,
        )


class WhileNode(Node, frozen=True, kw_only=True, eq=False):
    """DO WHILE; a condition of None is left by EXIT only."""

    condition: Expr | None
    body: tuple[Node, ...]
    name: str = ""


class NodeBranch(Struct, frozen=True, kw_only=True, eq=False):
    """One branch of `IfNode`; a condition of None is ELSE."""

    condition: Expr | None
    body: tuple[Node, ...]
    span: Span


class IfNode(Node, frozen=True, kw_only=True, eq=False):
    """IF or SELECT CASE in the scalar (replicated) part of the program."""

    branches: tuple[NodeBranch, ...]


class Charge(Struct, frozen=True, kw_only=True):
    """`times` * `amount` operations of a class, or seconds, or bytes (`aag.ir.costs`)."""

    operation: str
    times: float
    amount: Expr


class LibraryCall(Struct, frozen=True, kw_only=True, eq=False):
    """A call of a procedure without source whose cost is known: every processor does it with data of its own.

    `into`: the variable that gets the result of a function. `changes`: the variables that it may change. `text`: the
    cost as written, by a table or an option.
    """

    args: tuple[Expr, ...]
    into: Var | None
    charges: tuple[Charge, ...]
    changes: tuple[str, ...]
    text: str
    origin: Literal["option", "table"]


class CallNode(Node, frozen=True, kw_only=True, eq=False):
    """A call of a procedure. `entered`: its statements follow, so that the call by itself does nothing. `library`: what
    is known of it where the source lacks it; else all may change."""

    name: str
    arguments: int
    assumption: str = ""
    entered: bool = False
    library: LibraryCall | None = None


class ClockMark(Node, frozen=True, kw_only=True, eq=False):
    """A call that reads the clock: two of them bracket the timed region (Def 5)."""


class Leave(Node, frozen=True, kw_only=True, eq=False):
    """EXIT, CYCLE, STOP or RETURN; `name` is the construct name."""

    kind: Literal["exit", "cycle", "stop", "return"]
    name: str = ""


class Unmodelled(Node, frozen=True, kw_only=True, eq=False):
    """A statement that no cost can be charged for; the prediction says so and is not complete."""

    text: str
    reason: str


def bodies(node: Node) -> tuple[tuple[Node, ...], ...]:
    """The bodies of a compound node, in program order; none for another one."""
    match node:
        case DoNode(body=body) | WhileNode(body=body):
            return (body,)
        case IfNode(branches=branches):
            return tuple(branch.body for branch in branches)
        case _:
            return ()


def walk(body: Iterable[Node]) -> Iterator[Node]:
    """All nodes of a body and of the bodies inside, parents first, in program order."""
    for node in body:
        yield node
        for inner in bodies(node):
            yield from walk(inner)


def mapped(node: Node, function: Callable[[Sequence[Node]], tuple[Node, ...]]) -> Node:
    """A compound node with each body replaced by `function(body)`; another node as it is."""
    match node:
        case DoNode(body=body) | WhileNode(body=body):
            return replace(node, body=function(body))
        case IfNode(branches=branches):
            return replace(node, branches=tuple(replace(each, body=function(each.body)) for each in branches))
        case _:
            return node


def assigns_of(node: Node) -> tuple[Assign, ...]:
    """The assignments of a node itself, those of the outer loops of a nest last."""
    match node:
        case Nest(assigns=assigns, outer=outer):
            return (*assigns, *(each for level in outer for each in level))
        case Local(assigns=assigns) | OwnedLoop(assigns=assigns):
            return assigns
        case _:
            return ()


def written(body: Iterable[Node]) -> set[str]:
    """Arrays and scalars that some nodes and those inside them may change."""
    found: set[str] = set()
    for node in walk(body):
        found |= node.defines
        found |= {each.target.name for each in assigns_of(node) if isinstance(each.target, Var | Element)}
        if isinstance(node, DoNode):
            found.add(node.var)
    return found
