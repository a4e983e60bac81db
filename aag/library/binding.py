"""The cost of a procedure in the names of one call."""

from collections.abc import Callable, Mapping, Sequence

from aag.ir.costs import CallCost, CostTerm, RoutineCost
from aag.ir.expressions import Binary, Call, Element, Expr, LogicalLit, Section, StringLit, Substring, Var
from aag.ir.nearest import did_you_mean
from aag.ir.visitors import map_operands
from aag.wording import plural


class NotBound(Exception):
    """A cost that says nothing of this call; the text says why."""

    def __init__(self, why: str, hint: str = "") -> None:
        self.hint = hint
        super().__init__(why)


Arguments = tuple[Sequence[Expr], Sequence[tuple[str, Expr]]]


def bound(
    cost: RoutineCost, given: Arguments, is_array: Callable[[str], bool], visible: frozenset[str] | None
) -> tuple[CallCost, tuple[Expr, ...]]:
    """The cost of one call, and all its arguments by position.

    Args:
        cost: The cost of the procedure.
        given: The arguments, and those with keywords.
        is_array: Whether a name is that of an array there.
        visible: The variables that the call sees; None: not all are known.

    Raises:
        NotBound: the arguments are others than the cost says, or it uses what is not among them.
    """
    args = _placed(cost, *given)
    dummies = dict(zip(cost.dummies or (), args, strict=False))
    terms = []
    for term in cost.terms:
        amount = _actual(term.amount, dummies)
        for name in sorted(_plain_names(term.amount) - dummies.keys()):
            if visible is not None and name not in visible:
                hint = did_you_mean(name, sorted(visible | dummies.keys()))
                raise NotBound(f"it uses {name}, which is neither an argument of the cost nor a variable here", hint)
        _check(amount, is_array)
        terms.append(CostTerm(unit=term.unit, amount=amount, factor=term.factor))
    names = cost.dummies or ()
    changed = range(len(args)) if cost.changes is None else (names.index(each) for each in cost.changes)
    changes = tuple(at for at in changed if at < len(args) and isinstance(args[at], Var | Element | Substring))
    made = CallCost(
        terms=tuple(terms),
        changes=changes,
        effect=_effect(cost),
        text=cost.text,
        origin=cost.origin,
        source=cost.source,
        kind=cost.kind,
        has_sequence=cost.has_sequence,
    )
    return made, args


def _effect(cost: RoutineCost) -> str:
    if cost.changes is None:
        return "may change all its arguments"
    return f"changes {', '.join(cost.changes) or 'nothing'}"


def _placed(cost: RoutineCost, args: Sequence[Expr], keywords: Sequence[tuple[str, Expr]]) -> tuple[Expr, ...]:
    """All arguments by position."""
    names = cost.dummies or ()
    count = len(args) + len(keywords)
    if cost.dummies is not None and (count < len(names) or (cost.origin == "table" and count > len(names))):
        raise NotBound(f"it has {plural(len(names), 'argument')}, and the call {count}")
    if not keywords:
        return tuple(args)
    places = dict(enumerate(args))
    for key, value in keywords:
        if key not in names:
            hint = f"list them in their order: {cost.name}({key}, ...) = ..."
            raise NotBound(f"the call names its argument {key}, whose place the cost does not give", hint)
        places[names.index(key)] = value
    if sorted(places) != list(range(count)):
        raise NotBound("the call leaves out arguments")
    return tuple(places[at] for at in range(count))


def _actual(expr: Expr, dummies: Mapping[str, Expr]) -> Expr:
    """An amount with the actual arguments; what letters decide is chosen."""
    match expr:
        case Call(name="merge", args=(one, other, Binary(op="==", left=Var(name=name), right=StringLit(value=letter)))):
            text = dummies.get(name)
            if not isinstance(text, StringLit):
                raise NotBound(f"its argument {name} is not a literal")
            return _actual(one if text.value[:1].lower() == letter.lower() else other, dummies)
        case Var(name=name) if name in dummies:
            return dummies[name]
        case _:
            return map_operands(expr, lambda part: _actual(part, dummies))


def _plain_names(expr: Expr) -> frozenset[str]:
    """The variables of an amount before arguments take their places."""
    found: set[str] = set()

    def one(part: Expr) -> Expr:
        if isinstance(part, Var):
            found.add(part.name)
        return map_operands(part, one)

    one(expr)
    return frozenset(found)


def _check(amount: Expr, is_array: Callable[[str], bool]) -> None:
    """An amount is computed from scalars."""

    def one(part: Expr) -> Expr:
        match part:
            case Var(name=name) if is_array(name):
                raise NotBound(f"it uses {name}, which is an array", "use scalars")
            case Element(name=name, subscripts=subscripts) if any(isinstance(each, Section) for each in subscripts):
                raise NotBound(f"it uses {name}, which is an array", "use scalars")
            case StringLit() | LogicalLit():
                raise NotBound("it uses an argument that is not a number")
        return map_operands(part, one)

    one(amount)
