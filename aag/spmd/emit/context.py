"""What all parts of emission share: names, mappings, storage, and what the main program must declare."""

from collections.abc import Iterator

from aag.diagnostics import Span
from aag.ir import statements as ir
from aag.ir.expressions import Expr, Var
from aag.ir.liveness import Liveness
from aag.ir.units import Type, line_in
from aag.ir.visitors import walk_statements
from aag.mapping.layout import Layout
from aag.spmd.emit.buffers import Buffers, redirected
from aag.spmd.emit.kinds import Kind, kind_of
from aag.spmd.emit.names import Names
from aag.spmd.emit.refusals import Refusals, refused
from aag.spmd.emit.storage import Width, storage
from aag.spmd.emit.tracing import aau_numbers, entered
from aag.spmd.nodes import Communicate, Index, Local, Nest, Node
from aag.spmd.program import NodeProgram
from aag.spmd.symbols import Symbols


class Context:
    """Grows while the program is emitted: declarations, internal procedures, the kinds of data that move."""

    def __init__(
        self, program: NodeProgram, *, poisons: bool = False, traces: bool = False, simulated: bool = False
    ) -> None:
        self.program = program
        self.poisons = poisons
        self.simulated = simulated
        self.numbers = aau_numbers(program.body) if traces else {}
        """id(node) -> its AAU, where the program says while it runs which one that is."""
        self.layouts = program.layouts
        own = frozenset(each.name for each in program.unit.contains if each.kind == "function")
        self.symbols = Symbols(program.unit, program.layouts.arrays, own)
        self.names = Names(program)
        self.live = Liveness(program.unit.body)
        self.statements = {_place(each): each for each in walk_statements(program.unit.body)}
        self.buffers = Buffers(program, dict(self.statements))
        self.widths = storage(program, self.buffers)
        self.names.packed = {
            (name, dim): self.names.fresh(f"at${name}${dim}", f"{self.names.of(name)}_at{dim + 1}")
            for name, widths in self.widths.items()
            for dim, width in enumerate(widths)
            if width.packed
        }
        self.refusals = Refusals()
        self.declarations: list[str] = []
        self.procedures: list[str] = []
        self.kinds: dict[str, Kind] = {}
        self.indices: dict[str, None] = {}
        self.helpers: set[str] = set()
        """Variables whose values serve emission alone: nothing of the program is computed with them."""
        self._filled: dict[int, str] = {}
        self._counts: dict[str, int] = {}

    # --- names ----------------------------------------------------------------------------------------------

    def numbered(self, stem: str) -> str:
        """The next of stem_1, stem_2, ..."""
        self._counts[stem] = number = self._counts.get(stem, 0) + 1
        return self.names.fresh(f"{stem}${number}$own", f"{stem}_{number}")

    def helper(self, stem: str) -> str:
        """The next of stem_1, stem_2, ..., which is a helper."""
        return self.helping(self.numbered(stem))

    def helping(self, name: str) -> str:
        """A name, noted as that of a helper."""
        self.helpers.add(name)
        return name

    def declare(self, declaration: str) -> None:
        """A declaration of the main program."""
        self.declarations.append(declaration)

    def index(self, name: str) -> str:
        """The Fortran name of a loop index, declared."""
        self.indices[name] = None
        return self.names.of(name)

    def map_of(self, array: str) -> str:
        """The variable that holds the mapping of an array."""
        return self.names.fresh(f"map${array}", f"map_{self.names.of(array)}")

    def bound_of(self, array: str, dim: int, side: str) -> str:
        """The variable that holds the first (lo) or last (hi) index of a dimension that this processor owns."""
        return self.names.fresh(f"{side}${array}${dim}", f"{self.names.of(array)}_{side}{dim + 1}")

    # --- arrays and types ----------------------------------------------------------------------------------

    def distributed(self, array: str) -> Layout | None:
        """The layout of an array that is distributed, else None."""
        layout = self.layouts.arrays.get(array)
        return layout if layout is not None and layout.rank and layout.is_distributed else None

    def holds_copies(self, array: str) -> bool:
        """Whether processors store elements of a distributed array that they do not own."""
        layout = self.distributed(array)
        if layout is None:
            return False
        dims = [axis.dim for axis in layout.axes if axis.role == "dim"]
        fixed = any(axis.role == "fixed" for axis in layout.axes)
        return fixed or any(self.widths[array][dim] not in (Width(), Width(packed=True)) for dim in dims)

    def kind(self, name: str, line: int) -> str:
        """The kind of run-time routine for the data of a variable."""
        kind = self.type_of(name)
        found = kind_of(kind)
        if found is None:
            raise refused(f"{name.partition('$')[0]} is {kind.base} of {kind.bytes} bytes, which cannot be sent", line)
        self.kinds[found.name] = found
        return found.name

    def type_of(self, name: str) -> Type:
        """The type of a variable."""
        return self.program.types[name]

    def declared(self, name: str, line: int) -> str:
        """The type of a variable as it stands in a declaration."""
        return self.kinds[self.kind(name, line)].declaration

    def buffer_of(self, node: Communicate) -> str:
        """The buffer (a name of the node program) that a communication fills."""
        if id(node) not in self._filled:
            array = node.operation.array
            self._counts[f"far${array}"] = number = self._counts.get(f"far${array}", 0) + 1
            self._filled[id(node)] = f"{array}$far{number}"
        return self._filled[id(node)]

    def reading(self, node: Nest | Local) -> Nest | Local:
        """The node with references to elements from afar as references to the buffers that hold them."""
        found = self.buffers.of_node.get(id(node))
        return redirected(node, {key: self.buffer_of(each) for key, each in found.items()}) if found else node

    def at(self, node: Node) -> Iterator[str]:
        """The line that says that time belongs to a node from now on, where somebody wants to know."""
        if id(node) in self.numbers:
            yield entered(self.numbers[id(node)], node)

    # --- text ----------------------------------------------------------------------------------------------

    def spell(self, expr: Expr, line: int) -> str:
        """An expression as standard Fortran."""
        return _written(self.names.spell(expr), line)

    def as_index(self, expr: Expr, line: int) -> str:
        """An integer expression of default kind, as the run-time library takes it."""
        return _written(self.names.as_index(expr), line)

    def do(self, index: Index, line: int, low: str = "", high: str = "") -> str:
        """The head of a loop over an index, its bounds perhaps narrowed."""
        lower = low or self.spell(index.lower, line)
        upper = high or self.spell(index.upper, line)
        step = "" if index.step is None else f", {self.spell(index.step, line)}"
        return f"do {self.index(index.name)} = {lower}, {upper}{step}"

    def source(self, span: Span) -> str:
        """A line of the source, for a comment; with its file where that is not the main one."""
        text = line_in(self.program, span.file, span.line).strip()
        return text if span.file in ("", self.program.file) else f"({span.file}) {text}"

    def statement(self, node_span: object) -> ir.Stmt | None:
        """The source statement at a span."""
        return self.statements.get((getattr(node_span, "line", 0), getattr(node_span, "column", 0)))


def _written(text: str, line: int) -> str:
    if "$" in text.replace("'$", ""):
        raise refused(f"this expression cannot be written: {text}", line)
    return text


def is_own(name: Expr) -> bool:
    """Whether lowering made this variable."""
    return isinstance(name, Var) and "$" in name.name


def _place(statement: ir.Stmt) -> tuple[int, int]:
    return statement.span.line, statement.span.column
