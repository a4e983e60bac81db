"""Lowering by owner-computes: statements of a program unit -> nodes of the node program (hpf.md's lowering).

Array syntax and WHERE become FORALL form (`elementwise`), the processor that owns the left-hand side computes
(`partition`), communication stands right before the statement that needs it (`needs`); `optimize` moves and drops it
afterwards. DO loops over distributed data are in `loops`, reductions in `reductions`.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatchmethod
from types import MappingProxyType

from msgspec.structs import replace

from aag.diagnostics import Diagnostic, SourceError, Span
from aag.ir import statements as ir
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Section, Unary, Var
from aag.ir.storage import sharing
from aag.ir.units import Program, Unit
from aag.ir.visitors import map_expression
from aag.mapping.layout import Layouts
from aag.spmd import hostio, loops, masks, reductions
from aag.spmd.aliasing import mapped_members, with_aliases
from aag.spmd.calls import lower_intrinsic
from aag.spmd.elementwise import Elementwise, Position
from aag.spmd.hostinput import lower_input
from aag.spmd.leaves import both
from aag.spmd.names import calls_any, comm_names, impure_functions, nest_names, scalars, user_functions, whole_functions
from aag.spmd.needs import Use, operations
from aag.spmd.nests import conflicts, inner_loops, uses_of
from aag.spmd.nodes import (
    CallNode,
    Communicate,
    DoNode,
    IfNode,
    Index,
    Leave,
    Local,
    Nest,
    Node,
    NodeBranch,
    Reference,
    Unmodelled,
    WhileNode,
)
from aag.spmd.order import in_order
from aag.spmd.program import NodeProgram, Options
from aag.spmd.reach import Reach
from aag.spmd.symbols import Mismatch, Symbols, Unsupported, assigned, check_arguments, result_type


def lower(program: Program, unit: Unit, layouts: Layouts, options: Options) -> NodeProgram:
    """The node program of a unit, communication right before each statement that needs it."""
    return Lowering(program, unit, layouts, options).run()


class Lowering:
    """Lowers one program unit; holds what grows on the way: temporaries, notes, the nodes of the statement."""

    def __init__(self, program: Program, unit: Unit, layouts: Layouts, options: Options) -> None:
        self.program = program
        self.unit = unit
        self.options = options
        self.arrays = dict(layouts.arrays)
        self.layouts = replace(layouts, arrays=MappingProxyType(self.arrays))
        self.env = layouts.environment
        self.symbols = Symbols(unit, self.arrays, whole_functions(program, unit))
        self.elementwise = Elementwise(self.symbols, self.env, lambda call: reductions.extract(self, call))
        self.sharing = sharing(unit)
        self.impure = impure_functions(program, unit)
        self.notes: list[Diagnostic] = []
        self.errors: list[Diagnostic] = []
        self.complete = program.complete
        self.span = unit.span
        self.reach = Reach()
        self._nodes: list[Node] = []

    def run(self) -> NodeProgram:
        """Lower the whole unit.

        Raises:
            SourceError: statements contradict their declarations; all of them at once.
        """
        body = with_aliases(self.body(self.unit.body), self.unit)
        for each in mapped_members(self.unit, self.arrays):
            self.complete = False
            self.notes.append(each)
        for name, span in user_functions(self.program, self.unit):
            self.complete, self.span = False, span
            self.note("W206", f"the body of the function {name} is not interpreted: only its calls are charged")
        if self.errors:
            raise SourceError(dict.fromkeys(self.errors))
        return NodeProgram(
            unit=self.unit,
            layouts=self.layouts,
            types=MappingProxyType(self.symbols.types()),
            body=body,
            options=self.options,
            file=self.program.file,
            lines=self.program.lines,
            notes=tuple(dict.fromkeys(self.notes)),
            complete=self.complete,
        )

    # --- collecting nodes -------------------------------------------------------------------------------------

    def body(self, statements: Sequence[ir.Stmt]) -> tuple[Node, ...]:
        """The nodes of a statement list."""
        with self._collecting() as nodes:
            for statement in statements:
                self.statement(statement)
        return tuple(nodes)

    @contextmanager
    def _collecting(self) -> Iterator[list[Node]]:
        outer, self._nodes = self._nodes, []
        try:
            yield self._nodes
        finally:
            self._nodes = outer

    def emit(self, node: Node) -> None:
        """Append a node to the statement list that is being lowered."""
        self._nodes.append(node)

    @property
    def pending(self) -> tuple[Node, ...]:
        """The nodes emitted so far for the statement (or attempt) that is being lowered."""
        return tuple(self._nodes)

    def attempt(self, lower: Callable[[], None]) -> str:
        """Try a way of lowering: its nodes and notes stay only where it does not raise `Unsupported`. Returns why it
        did, or nothing."""
        notes = len(self.notes)
        with self._collecting() as nodes:
            try:
                lower()
            except Unsupported as problem:
                del self.notes[notes:]
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
        text = self.program.lines[statement.span.line - 1].strip() if self.program.lines else ""
        self.note("W201", f"this statement is not modelled and costs nothing here: {reason}")
        self.emit(Unmodelled(span=statement.span, text=text, reason=reason))

    def statement(self, statement: ir.Stmt) -> None:
        """Lower one statement."""
        outer, self.span = self.span, statement.span
        with self._collecting() as nodes:
            try:
                check_arguments(statement, self.symbols)
                self._lower(statement)
            except Unsupported as error:
                nodes.clear()
                self.refuse(statement, str(error))
            except Mismatch as error:
                self.errors.append(error.finding(statement.span))
        self._nodes += nodes
        self.span = outer

    # --- statements -------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _lower(self, statement: ir.Stmt) -> None:
        self.refuse(statement, f"{type(statement).__name__} is not modelled")

    @_lower.register
    def _(self, statement: ir.Continue) -> None:
        pass

    @_lower.register
    def _(self, statement: ir.Allocate) -> None:
        self.emit(Local(span=statement.span, assigns=()))

    @_lower.register
    def _(self, statement: ir.Opaque) -> None:
        self.refuse(statement, statement.reason)

    @_lower.register
    def _(self, statement: ir.Remap) -> None:
        self.refuse(statement, "REALIGN and REDISTRIBUTE are not lowered yet: the mapping stays as declared")

    @_lower.register
    def _(self, statement: ir.Stop) -> None:
        self._leave(Leave(span=statement.span, kind="stop"))

    @_lower.register
    def _(self, statement: ir.Return) -> None:
        self._leave(Leave(span=statement.span, kind="return"))

    @_lower.register
    def _(self, statement: ir.Exit) -> None:
        self._leave(Leave(span=statement.span, kind="exit", name=statement.name))

    @_lower.register
    def _(self, statement: ir.Cycle) -> None:
        self._leave(Leave(span=statement.span, kind="cycle", name=statement.name))

    @_lower.register
    def _(self, statement: ir.Assign) -> None:
        target = statement.target
        if not isinstance(target, Var | Element):
            raise Unsupported("assignment to a component of a derived type")
        self.symbols.check_variable(target)
        shape = self.symbols.shape(target)
        if shape:
            indices, positions = self.elementwise.context(shape)
            self.forall(indices, None, target, self._called(statement.value), positions)
        elif isinstance(target, Element) and self.is_distributed(target.name):
            self.forall((), None, target, self._called(statement.value), ())
        else:
            self._scalar_assign(target, statement.value)

    @_lower.register
    def _(self, statement: ir.Forall) -> None:
        indices = tuple(self.index(each.name, each.lower, each.upper, each.step) for each in statement.indices)
        self._forall_body(indices, statement.mask, statement.body)

    @_lower.register
    def _(self, statement: ir.Where) -> None:
        self._where(statement, (), None)

    @_lower.register
    def _(self, statement: ir.Do) -> None:
        if not lower_input(self, statement):
            loops.lower_do(self, statement)

    @_lower.register
    def _(self, statement: ir.DoWhile) -> None:
        condition = None
        before: tuple[Node, ...] = ()
        if statement.condition is not None:
            with self._collecting() as nodes:
                condition = self.replicated(statement.condition)
            before = tuple(nodes)
        for node in before:
            self.emit(node)
        with self.reach.perhaps():
            body = self.body(statement.body) + before
        self.emit(
            WhileNode(
                span=statement.span,
                condition=condition,
                body=body,
                name=statement.name,
                uses=scalars(self.symbols, condition),
            )
        )

    @_lower.register
    def _(self, statement: ir.If) -> None:
        with self.reach.perhaps():
            branches = tuple(
                NodeBranch(
                    condition=None if each.condition is None else self.replicated(each.condition),
                    body=self.body(each.body),
                    span=each.span,
                )
                for each in statement.branches
            )
        self._branches(statement.span, branches)

    @_lower.register
    def _(self, statement: ir.SelectCase) -> None:
        selector = self.replicated(statement.selector)
        with self.reach.perhaps():
            branches = tuple(
                NodeBranch(
                    condition=None if case.values is None else _any_of(selector, case.values),
                    body=self.body(case.body),
                    span=case.span,
                )
                for case in sorted(statement.cases, key=lambda case: case.values is None)
            )
        self._branches(statement.span, branches)

    @_lower.register
    def _(self, statement: ir.CallStmt) -> None:
        if lower_intrinsic(self, statement):
            return
        self.complete = False
        assumption = f"the body of {statement.name} is not interpreted: only its call is charged"
        self.note("W202", assumption)
        self.emit(
            CallNode(span=statement.span, name=statement.name, arguments=len(statement.args), assumption=assumption)
        )

    @_lower.register
    def _(self, statement: ir.Io) -> None:
        hostio.lower_io(self, statement)

    def has_procedure(self, name: str) -> bool:
        """Whether the source has a procedure of this name, which hides an intrinsic one."""
        units = (*self.program.units, *self.unit.contains)
        return any(each.name == name for each in units)

    # --- parts shared by statements ---------------------------------------------------------------------------

    def is_distributed(self, name: str) -> bool:
        """Whether some processor may lack some element of the array."""
        layout = self.arrays.get(name)
        return layout is not None and layout.rank > 0 and layout.is_distributed

    def replicated(self, expr: Expr) -> Expr:
        """A scalar expression that every processor evaluates, its distributed operands brought to all."""
        element = self.elementwise.element(expr, (), frozenset())
        self.communicate(uses_of(element, (), self.symbols), None)
        return element

    def communicate(self, uses: Sequence[Use], home: Reference | None) -> None:
        """Emit the communication that a statement with these references needs."""
        coalesce = self.options.on("coalesce")
        for operation in operations(uses, home, self.layouts, self.env, coalesce=coalesce):
            node = Communicate(span=self.span, operation=operation, uses=comm_names(self.symbols, operation))
            self.emit(node)

    def _called(self, value: Expr) -> Expr:
        """The value with functions that may have side effects called beforehand: every processor calls them once."""
        if not calls_any(value, self.impure):
            return value

        def computed(each: Expr) -> Expr:
            if not isinstance(each, Call) or each.name not in self.impure:
                return each
            name = self.elementwise.fresh(each.name)
            self.symbols.declare(name, result_type(self.impure[each.name], each, self.symbols))
            self._scalar_assign(Var(name), each)
            return Var(name)

        return map_expression(value, computed)

    def _scalar_assign(self, target: Var | Element, value: Expr) -> None:
        same = self.symbols.type_of(value) == self.symbols.type_of(target)  # else partial results would be converted
        if same and isinstance(target, Var) and isinstance(value, Call) and reductions.is_full(self, value):
            reductions.extract(self, value, into=target.name)
            return
        element = self.replicated(value)
        assign = ir.Assign(span=self.span, target=target, value=element)
        self.emit(Local(span=self.span, assigns=(assign,), defines=frozenset((target.name,))))

    def forall(
        self,
        indices: tuple[Index, ...],
        mask: Expr | None,
        target: Var | Element,
        value: Expr,
        positions: Sequence[Position] = (),
    ) -> None:
        """One assignment for all combinations of the indices: communication, then the nest."""
        names = frozenset(index.name for index in indices)
        element = assigned(self.elementwise.element(target, positions, names), target.span)
        computed = self.elementwise.element(value, positions, names)
        condition = None if mask is None else self.elementwise.element(mask, positions, names)
        home = Reference(array=element.name, subscripts=element.subscripts, indices=indices)
        indices, inner, outer = inner_loops(self, element, computed, indices)
        uses = [use for assign in inner for use in uses_of(assign.value, indices, self.symbols)]
        for depth, assigns in enumerate(outer, start=1):
            uses += [use for assign in assigns for use in uses_of(assign.value, indices[:depth], self.symbols)]
        uses += uses_of(condition, indices, self.symbols) if condition is not None else []
        distributed = self.is_distributed(element.name)
        self.communicate(uses, home if distributed else None)
        nest = Nest(
            span=self.span,
            indices=indices,
            home=home if distributed else None,
            assigns=inner,
            outer=outer,
            leading=tuple(min(1, len(level)) for level in outer),
            mask=condition,
            copies=conflicts(home, uses, self.env) or self._shares(element.name, uses),
        )
        nest = in_order(nest, home, self.options)
        self.emit(replace(nest, uses=nest_names(self.symbols, nest)))

    def _shares(self, array: str, uses: Sequence[Use]) -> bool:
        """Whether an array is read by another name of its storage."""
        return any(use.element.name != array for use in uses if use.element.name in self.sharing.get(array, ()))

    def _forall_body(self, indices: tuple[Index, ...], mask: Expr | None, body: Sequence[ir.Stmt]) -> None:
        for statement in body:
            self.span = statement.span
            match statement:
                case ir.Assign(target=Var() | Element() as target, value=value):
                    shape = self.symbols.shape(target)
                    inner, positions = self.elementwise.context(shape)
                    self.forall(indices + inner, mask, target, value, positions)
                case ir.Forall(indices=more, mask=own, body=nested):
                    added = tuple(self.index(each.name, each.lower, each.upper, each.step) for each in more)
                    self._forall_body(indices + added, both(mask, own), nested)
                case ir.Where():
                    self._where(statement, indices, mask)
                case _:
                    raise Unsupported(f"{type(statement).__name__} inside FORALL")

    def _where(self, statement: ir.Where, indices: tuple[Index, ...], mask: Expr | None) -> None:
        before: Expr | None = None
        for number, branch in enumerate(statement.branches):
            own = branch.mask
            if own is not None and masks.must_be_kept(own, statement.branches[number:]):
                own = self._kept(own, statement, indices)
            condition = both(before, own)
            for each in branch.body:
                self.span = each.span
                match each:
                    case ir.Assign(target=Var() | Element() as target, value=value):
                        inner, positions = self.elementwise.context(self.symbols.shape(target))
                        self.forall(indices + inner, both(mask, condition), target, value, positions)
                    case ir.Where():
                        self._where(each, indices, both(mask, condition))
                    case _:
                        raise Unsupported(f"{type(each).__name__} inside WHERE")
            if own is not None:
                before = both(before, Unary(".not.", own))

    def _kept(self, mask: Expr, statement: ir.Where, indices: tuple[Index, ...]) -> Expr:
        """A mask computed into a temporary before anything that it reads can change."""
        like = masks.first_target(statement.branches)
        if indices or like is None:
            raise Unsupported("a WHERE inside FORALL that changes its own mask")
        kept = masks.temporary(self, like)
        inner, positions = self.elementwise.context(self.symbols.shape(kept))
        self.forall(inner, None, kept, mask, positions)
        return kept

    def _leave(self, node: Leave) -> None:
        self.reach.left()
        self.emit(node)

    def _branches(self, span: Span, branches: tuple[NodeBranch, ...]) -> None:
        uses = frozenset().union(*(scalars(self.symbols, each.condition) for each in branches))
        self.emit(IfNode(span=span, branches=branches, uses=uses))

    def do_node(self, statement: ir.Do) -> None:
        """A counted loop that every processor runs."""
        with self.reach.inside(statement, self.env):
            body = self.body(statement.body)
        self.emit(
            DoNode(
                span=statement.span,
                var=statement.var,
                lower=self.replicated(statement.lower),
                upper=self.replicated(statement.upper),
                step=None if statement.step is None else self.replicated(statement.step),
                body=body,
                name=statement.name,
                uses=scalars(self.symbols, statement.lower, statement.upper, statement.step),
                defines=frozenset((statement.var,)),
            )
        )


def _any_of(selector: Expr, values: Sequence[Expr]) -> Expr:
    condition: Expr | None = None
    for value in values:
        if isinstance(value, Section):
            lower = None if value.lower is None else Binary(">=", selector, value.lower)
            upper = None if value.upper is None else Binary("<=", selector, value.upper)
            test = both(lower, upper)
        else:
            test = Binary("==", selector, value)
        if test is not None:
            condition = test if condition is None else Binary(".or.", condition, test)
    return condition or LogicalLit(False)
