"""The state of a lowering: what grows while the statements of a program unit become nodes.

Every kind of statement has a module of its own that works on this state; `lower` chooses between them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType

from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir import statements as ir
from aag.ir.expressions import Call, Constructor, Expr
from aag.ir.liveness import Liveness
from aag.ir.storage import sharing
from aag.ir.units import Program, Unit, line_in
from aag.ir.visitors import calls_used
from aag.mapping.layout import Layouts
from aag.spmd.elementwise import Elementwise
from aag.spmd.names import comm_names, impure_functions, read_by_functions, scalars, whole_functions
from aag.spmd.needs import ANYWHERE, Use, deciding, operations, uses_of
from aag.spmd.nodes import Communicate, IfNode, Index, Nest, Node, NodeBranch, Reference, Unmodelled
from aag.spmd.program import LoopFinding, Options
from aag.spmd.reach import Reach
from aag.spmd.symbols import Symbols, Unsupported


class Lowering:
    """The lowering of one program unit: temporaries, notes and errors, the nodes of the statement."""

    def __init__(
        self,
        program: Program,
        unit: Unit,
        layouts: Layouts,
        options: Options,
        extract: Callable[["Lowering", Call | Constructor], Expr],
    ) -> None:
        """`extract` computes a reduction or a vector beforehand; it returns what holds its result."""
        self.program = program
        self.unit = unit
        self.options = options
        self.arrays = dict(layouts.arrays)
        self.layouts = replace(layouts, arrays=MappingProxyType(self.arrays))
        self.env = layouts.environment
        self._extract = extract
        self.results: dict[Expr, Expr] = {}
        """What holds the results that are computed before the statement."""
        self.symbols = Symbols(unit, self.arrays, whole_functions(program, unit))
        self.elementwise = Elementwise(self.symbols, self.env, self._computed)
        self.sharing = sharing(unit)
        self.live = Liveness(unit.body)
        self.impure = impure_functions(program, unit)
        self._read_by = read_by_functions(program, unit)
        self.notes: list[Diagnostic] = []
        self.loops: list[LoopFinding] = []
        self.errors: list[Diagnostic] = []
        self.complete = program.complete
        self.span = unit.span
        self.reach = Reach()
        self.is_alone = False
        """Whether a processor runs by itself what is lowered: an iteration of a loop that lives with it."""
        self.partials: Mapping[str, str] = {}
        """Scalars that a loop around reduces into -> what holds the part of a processor."""
        self._nodes: list[Node] = []

    @contextmanager
    def reducing(self, partials: Mapping[str, str]) -> Iterator[None]:
        """While a loop is lowered that reduces into these, besides those of the loops around it."""
        outer = self.partials
        self.partials = {**outer, **partials}
        try:
            yield
        finally:
            self.partials = outer

    @contextmanager
    def alone(self, home: Reference | None) -> Iterator[None]:
        """While iterations that live at a home are lowered, if there is one."""
        outer = self.is_alone
        self.is_alone = outer or home is not None
        try:
            yield
        finally:
            self.is_alone = outer

    @contextmanager
    def collecting(self) -> Iterator[list[Node]]:
        """While nodes go to a list of their own."""
        outer, self._nodes = self._nodes, []
        try:
            yield self._nodes
        finally:
            self._nodes = outer

    @contextmanager
    def only_if(self, condition: Expr | None) -> Iterator[None]:
        """While what is computed beforehand is wanted, or has a value at all, only where a condition holds."""
        with self.collecting() as nodes:
            yield
        if nodes and condition is not None:
            branch = NodeBranch(condition=condition, body=tuple(nodes), span=self.span)
            nodes = [IfNode(span=self.span, branches=(branch,), uses=scalars(self.symbols, condition))]
        self._nodes += nodes

    def _computed(self, call: Call | Constructor) -> Expr:
        self.results[call] = found = self._extract(self, call)
        return found

    def emit(self, node: Node) -> None:
        """Append a node to the statement list that is being lowered."""
        self._nodes.append(node)

    @property
    def pending(self) -> tuple[Node, ...]:
        """The nodes emitted so far for the statement (or attempt) that is being lowered."""
        return tuple(self._nodes)

    def attempt(self, lower: Callable[[], None]) -> str:
        """Try a way of lowering: its nodes, notes and findings stay only where it does not raise `Unsupported`. Returns
        why it did, or nothing."""
        notes, loops = len(self.notes), len(self.loops)
        with self.collecting() as nodes:
            try:
                lower()
            except Unsupported as problem:
                del self.notes[notes:], self.loops[loops:]
                return str(problem)
        self._nodes += nodes
        return ""

    def index(self, name: str, lower: Expr, upper: Expr, step: Expr | None) -> Index:
        """A loop index; array inquiries and reductions in its bounds are computed before."""
        first, last = (self.elementwise.element(each, (), frozenset()) for each in (lower, upper))
        stride = None if step is None else self.elementwise.element(step, (), frozenset())
        return Index(name=name, lower=first, upper=last, step=stride)

    def note(self, code: str, message: str, hint: str = "") -> None:
        """Note an assumption or warning about the current statement."""
        self.notes.append(Diagnostic(code=code, message=message, span=self.span, hint=hint))

    def refuse(self, statement: ir.Stmt, reason: str) -> None:
        """A statement that is not modelled: named with its line, never silently dropped."""
        self.complete = False
        text = line_in(self.program, statement.span.file, statement.span.line).strip()
        self.note("W201", f"this statement is not modelled and costs nothing here: {reason}")
        self.emit(Unmodelled(span=statement.span, text=text, reason=reason))

    def has_procedure(self, name: str) -> bool:
        """Whether the source has a procedure of this name, which hides an intrinsic one."""
        units = (*self.program.units, *self.unit.contains)
        return any(each.name == name for each in units)

    def read_by_calls(self, *exprs: Expr | None) -> frozenset[str]:
        """The variables that the functions that expressions call read besides their arguments."""
        calls = frozenset(name for each in exprs if each is not None for name in calls_used(each))
        return frozenset(name for each in calls for name in self._read_by.get(each, ()))

    def is_distributed(self, name: str) -> bool:
        """Whether some processor may lack some element of the array, and needs it."""
        layout = self.arrays.get(name)
        return not self.is_alone and layout is not None and layout.rank > 0 and layout.is_distributed

    def replicated(self, expr: Expr) -> Expr:
        """A scalar expression that every processor evaluates, its distributed operands brought to all."""
        element = self.elementwise.element(expr, (), frozenset())
        self.communicate(uses_of(element, (), self.symbols), None)
        return element

    def bring(self, nest: Nest, uses: Sequence[Use]) -> None:
        """Emit the communication that a nest with these references needs, that of its index arrays first."""
        everywhere, own = deciding(nest, self.symbols)
        if nest.home is not None and nest.home.is_scattered:
            self.note(
                "W213", f"an index array decides who assigns to {nest.home.array}: each processor tests all iterations"
            )
        self.communicate(everywhere, None)
        self.communicate([*own, *uses], nest.home)

    def communicate(self, uses: Sequence[Use], home: Reference | None) -> None:
        """Emit the communication that a statement with these references needs."""
        if self.is_alone:
            return
        coalesce = self.options.on("coalesce")
        for operation in operations(uses, home, self.layouts, self.env, coalesce=coalesce):
            indices = [index for each in operation.needs for index in each.reference.indices]
            if any(index.name.startswith(ANYWHERE) for index in indices):
                read = f"an index array decides which elements of {operation.array} are read"
                self.note("W212", f"{read}: processors receive all that it may choose")
            node = Communicate(span=self.span, operation=operation, uses=comm_names(self.symbols, operation))
            self.emit(node)
