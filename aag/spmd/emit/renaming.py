"""Other names for loop indices that are called like a scalar that is used beside them."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from aag.ir.expressions import Expr, Var
from aag.ir.statements import Assign
from aag.ir.visitors import map_expression
from aag.spmd.nodes import Index, Need, Nest, Reference


class Renaming:
    """New names for some indices."""

    def __init__(self, clashing: Iterable[str]) -> None:
        self._clashing = frozenset(clashing)

    def _new(self, expr: Expr) -> Expr:
        return Var(f"{expr.name}$own") if isinstance(expr, Var) and expr.name in self._clashing else expr

    def _expression(self, expr: Expr) -> Expr:
        return map_expression(expr, self._new)

    def _index(self, index: Index) -> Index:
        return replace(
            index,
            name=f"{index.name}$own" if index.name in self._clashing else index.name,
            lower=self._expression(index.lower),
            upper=self._expression(index.upper),
            step=None if index.step is None else self._expression(index.step),
        )

    def reference(self, reference: Reference) -> Reference:
        """A reference with its loops."""
        subscripts = tuple(map(self._expression, reference.subscripts))
        return replace(reference, subscripts=subscripts, indices=tuple(map(self._index, reference.indices)))

    def need(self, need: Need) -> Need:
        """A need."""
        home = None if need.home is None else self.reference(need.home)
        return replace(need, reference=self.reference(need.reference), home=home)

    def _assigns(self, assigns: Sequence[Assign]) -> tuple[Assign, ...]:
        return tuple(
            replace(each, target=self._expression(each.target), value=self._expression(each.value)) for each in assigns
        )

    def nest(self, node: Nest) -> Nest:
        """A nest: the indices of a FORALL are its own, a DO loop around may have the same."""
        return replace(
            node,
            indices=tuple(map(self._index, node.indices)),
            home=None if node.home is None else self.reference(node.home),
            assigns=self._assigns(node.assigns),
            outer=tuple(map(self._assigns, node.outer)),
            mask=None if node.mask is None else self._expression(node.mask),
        )


def own_names(need: Need, scalars: frozenset[str]) -> Need:
    """The need with other names for indices that are called like one of the scalars."""
    clashing = {index.name for index in need.reference.indices} & scalars
    return Renaming(clashing).need(need) if clashing else need


def own_names_of(reference: Reference, scalars: frozenset[str]) -> Reference:
    """The same for a reference."""
    clashing = {index.name for index in reference.indices} & scalars
    return Renaming(clashing).reference(reference) if clashing else reference
