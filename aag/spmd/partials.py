"""Partial results of reductions in loops, and how processors combine them."""

from msgspec import Struct

from aag.ir import statements as ir
from aag.ir.expressions import Expr, Var
from aag.ir.intrinsics import REDUCTIONS
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Combine, Local, Reference


class Partial(Struct, frozen=True):
    """A reduction among other assignments: a processor reduces into `name`, and in the end `into` = `update`."""

    name: str
    into: str
    operation: str
    update: Expr

    @classmethod
    def of(cls, lowering: Lowering, target: Var, operation: str) -> "Partial":
        """A variable for the partial results of a reduction."""
        name = lowering.elementwise.fresh(target.name)
        lowering.symbols.declare(name, lowering.symbols.type_of(target))
        return cls(name, target.name, operation, REDUCTIONS[operation].combined(target, Var(name)))

    def begin(self, lowering: Lowering) -> None:
        """Set the partial result before the loop."""
        _set(
            lowering,
            self.name,
            REDUCTIONS[self.operation].start(Var(self.into), lowering.symbols.type_of(Var(self.into)), some=True),
        )

    def end(self, lowering: Lowering, home: Reference | None) -> None:
        """Combine the partial results after it."""
        combine(lowering, home, self.operation, Var(self.name))
        _set(lowering, self.into, self.update)


def combine(lowering: Lowering, home: Reference | None, operation: str, result: Expr, *, named: bool = True) -> None:
    """The global half of a reduction that iterations at a home have begun. `named`: their nest does not say what they
    reduce into."""
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
            result=result.name if named and isinstance(result, Var) else "",
        )
    )


def _set(lowering: Lowering, name: str, value: Expr) -> None:
    assign = ir.Assign(span=lowering.span, target=Var(name), value=value)
    lowering.emit(Local(span=lowering.span, assigns=(assign,), defines=frozenset((name,))))
