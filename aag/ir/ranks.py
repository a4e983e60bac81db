"""How many dimensions the values of expressions have."""

from collections.abc import Callable, Mapping

from aag.ir.expressions import Call, Constructor, Element, Expr, Section, Var
from aag.ir.intrinsics import INTRINSICS
from aag.ir.units import Entity
from aag.ir.visitors import children


def is_array(expr: Expr, entities: Mapping[str, Entity]) -> bool:
    """Whether the value of an expression is an array."""
    return rank_of(expr, entities) > 0


def rank_of(expr: Expr, entities: Mapping[str, Entity]) -> int:
    """The number of dimensions of the value of an expression; a function that is not intrinsic returns a scalar."""
    match expr:
        case Var(name=name):
            return len(entities[name].shape or ()) if name in entities else 0
        case Element(subscripts=subscripts):
            return sum(isinstance(each, Section) or is_array(each, entities) for each in subscripts)
        case Constructor():
            return 1
        case Call(name=name) if name not in INTRINSICS:
            return 0
        case Call():
            return rank_of_call(expr, lambda each: rank_of(each, entities))
        case _:
            return max((rank_of(each, entities) for each in children(expr)), default=0)


def rank_of_call(call: Call, rank: Callable[[Expr], int]) -> int:
    """The same of a call of an intrinsic function; `rank`: of an argument."""
    row = INTRINSICS[call.name]
    given = dict(zip(row.arguments, call.args, strict=False)) | dict(call.keywords)
    ranks = {name: rank(each) for name, each in given.items()}
    first = ranks.get(row.arguments[0], 0) if row.arguments else 0
    along = "dim" in given and not ranks["dim"]
    match row.form:
        case "reduction" | "expanded" | "location" if along:
            return first - 1
        case "location":
            return 1
        case "expanded":
            return int(call.name == "findloc")
        case "bounds":
            return int(call.name == "shape" or (call.name != "size" and not along))
        case "reduction" | "type" | "scalar":
            return 0
        case "matmul":
            return sum(ranks.values()) - 2
        case "spread":
            return first + 1
        case "reshape":
            shape = given.get("shape")
            return len(shape.values) if isinstance(shape, Constructor) else 1
        case _:
            return max(ranks.values(), default=0)
