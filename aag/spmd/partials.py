"""Partial results of reductions in loops, and how processors combine them."""

from msgspec import Struct

from aag.ir import statements as ir
from aag.ir.expressions import Element, Expr, Var
from aag.ir.intrinsics import REDUCTIONS
from aag.spmd.foralls import forall
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Combine, Index, Local, Reference
from aag.spmd.reductions import result_layout
from aag.spmd.symbols import Unsupported


class Partial(Struct, frozen=True):
    """A reduction among other assignments: a processor reduces into `name`, and in the end `into` is combined with it.
    Of an array that every processor has, `kept` are the indices of all elements."""

    name: str
    into: Var | Element
    operation: str
    kept: tuple[Index, ...] = ()

    @classmethod
    def of(cls, lowering: Lowering, target: Var | Element, operation: str) -> "Partial":
        """A variable, or an array, for the partial results of a reduction.

        Raises:
            Unsupported: the array is distributed.
        """
        name = lowering.elementwise.fresh(target.name)
        kind = lowering.symbols.type_of(target)
        lowering.symbols.declare(name, kind)
        if not lowering.symbols.is_array(target.name):
            return cls(name, target, operation)
        if lowering.is_distributed(target.name):
            raise Unsupported("a reduction into a distributed array, among other assignments")
        kept, whole = lowering.elementwise.context(lowering.symbols.shape(Var(target.name)))
        lowering.arrays[name] = result_layout(name, None, kept, kind, lowering)
        return cls(name, Element(target.name, tuple(each.at for each in whole)), operation, kept)

    @property
    def result(self) -> Var | Element:
        """The partial result, or an element of it."""
        return Element(self.name, tuple(Var(index.name) for index in self.kept)) if self.kept else Var(self.name)

    def begin(self, lowering: Lowering, home: Reference | None) -> None:
        """Set the partial result before the loop."""
        kind = lowering.symbols.type_of(Var(self.into.name))
        if self.kept:
            lowering.arrays[self.name] = result_layout(self.name, home, self.kept, kind, lowering)
        self._set(lowering, self.result, REDUCTIONS[self.operation].start(self.into, kind, some=True))

    def end(self, lowering: Lowering, home: Reference | None) -> None:
        """Combine the partial results after it."""
        own, kept = self.result, None
        if isinstance(own, Element):
            kept = Reference(array=self.name, subscripts=own.subscripts, indices=self.kept)
        combine(lowering, home, self.operation, own, kept=kept)
        self._set(lowering, self.into, REDUCTIONS[self.operation].combined(self.into, own))

    def _set(self, lowering: Lowering, target: Var | Element, value: Expr) -> None:
        if self.kept:
            forall(lowering, self.kept, None, target, value)
            return
        assign = ir.Assign(span=lowering.span, target=target, value=value)
        names = frozenset((target.name,))  # the serial program reduces into its own variable at once
        lowering.emit(Local(span=lowering.span, assigns=(assign,), defines=names, overhead=True))


def combine(
    lowering: Lowering,
    home: Reference | None,
    operation: str,
    result: Expr,
    *,
    named: bool = True,
    kept: Reference | None = None,
) -> None:
    """The global half of a reduction that iterations at a home have begun. `named`: their nest does not say what they
    reduce into; `kept`: the elements of an array into which they do."""
    if home is None:
        return
    layout = lowering.arrays[home.array]
    axes = tuple(axis for axis, meaning in enumerate(layout.axes) if meaning.role != "replicated")
    if all(layout.grid.shape[axis] == 1 for axis in axes):
        return
    kind = lowering.symbols.type_of(result)
    lowering.emit(
        Combine(
            span=lowering.span,
            op=operation,
            home=home,
            axes=axes,
            element_bytes=kind.bytes,
            operation_class=REDUCTIONS[operation].step_class(kind),
            kept=kept,
            result=result.name if named and isinstance(result, Var) else "",
        )
    )
