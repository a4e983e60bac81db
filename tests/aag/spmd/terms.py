"""Values of expressions over vectors, written apart from `aag`: what the oracles believe an expression means."""

import numpy as np

from aag.ir import expressions as e


def is_integer(value):
    return np.issubdtype(np.asarray(value).dtype, np.integer)


def _divide(a, b):
    if is_integer(a) and is_integer(b):
        quotient = np.abs(a) // np.abs(b)
        return np.where((np.asarray(a) < 0) == (np.asarray(b) < 0), quotient, -quotient)
    return a / b


def _power(a, b):
    return np.asarray(a) ** np.asarray(b)


BINARY = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "**": _power,
    "==": np.equal,
    "/=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    ".and.": np.logical_and,
    ".or.": np.logical_or,
    ".eqv.": np.equal,
    ".neqv.": np.not_equal,
}


def _least(*values):
    result = values[0]
    for each in values[1:]:
        result = np.minimum(result, each)
    return result


def _most(*values):
    result = values[0]
    for each in values[1:]:
        result = np.maximum(result, each)
    return result


def _within(place, lo, hi):
    return (lo <= place) & (place <= hi)


def _mod(a, b):
    return a - b * _divide(a, b) if is_integer(a) and is_integer(b) else np.fmod(a, b)


ELEMENTAL = {
    "huge": lambda _: 1.0e300,
    "infinity$": lambda *_: np.inf,
    "abs": np.abs,
    "exp": np.exp,
    "sign": np.copysign,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "atan": np.arctan,
    "dble": lambda a: np.asarray(a, dtype=np.float64),
    "real": lambda a, *_: np.asarray(a, dtype=np.float64),
    "float": lambda a: np.asarray(a, dtype=np.float64),
    "int": lambda a: np.trunc(a).astype(np.int64),
    "mod": _mod,
    "modulo": np.mod,
    "min": _least,
    "max": _most,
    "dmax1": _most,
    "merge": lambda a, b, mask: np.where(mask, a, b),
    "cshift$": lambda i, s, lo, hi: lo + (np.asarray(i) - lo + s) % np.maximum(1, np.asarray(hi) - lo + 1),
    "eoshift$": lambda i, s, lo, hi: np.where(_within(np.asarray(i) + s, lo, hi), np.asarray(i) + s, -(2**26)),
    "merge$eoshift": lambda value, other, place, lo, hi: np.where(_within(np.asarray(place), lo, hi), value, other),
}


def evaluate(expr, variable, element, call=None):
    """The value of `expr`.

    `variable(name)` and `element(name, expr)` answer for names; `call(expr)` for functions that are not elemental,
    None where it does not know one.
    """

    def value(each):
        return evaluate(each, variable, element, call)

    match expr:
        case e.IntLit(value=number) | e.RealLit(value=number) | e.LogicalLit(value=number):
            return np.asarray(number)[()]
        case e.Var(name=name):
            return variable(name)
        case e.Element():
            return element(expr)
        case e.Unary(op="-", operand=operand):
            return -value(operand)
        case e.Unary(op="+", operand=operand):
            return value(operand)
        case e.Unary(op=".not.", operand=operand):
            return np.logical_not(value(operand))
        case e.Binary(op=op, left=left, right=right):
            return BINARY[op](value(left), value(right))
        case e.Call(name=name, args=args):
            found = None if call is None else call(expr)
            return ELEMENTAL[name](*(value(arg) for arg in args)) if found is None else found
    raise AssertionError(f"no value for {expr}")


def combinations(indices, variable):
    """All iterations of a loop nest, one after the other: {index name: vector}."""
    rows = [{}]
    for index in indices:

        def here(name):
            return row[name] if name in row else variable(name)  # noqa: B023  # called before `row` moves on

        grown = []
        for row in rows:
            first, last = int(evaluate(index.lower, here, None)), int(evaluate(index.upper, here, None))
            step = 1 if index.step is None else int(evaluate(index.step, here, None))
            stop = last + (1 if step > 0 else -1)
            grown += [{**row, index.name: at} for at in range(first, stop, step)]
        rows = grown
    return {index.name: np.array([row[index.name] for row in rows], dtype=np.int64) for index in indices}, len(rows)


def array_elements(expr, arrays):
    """All elements of arrays in an expression."""
    match expr:
        case e.Element(name=name, subscripts=subscripts):
            inner = [each for part in subscripts for each in array_elements(part, arrays)]
            return [expr, *inner] if name in arrays else inner
        case e.Unary(operand=operand):
            return array_elements(operand, arrays)
        case e.Binary(left=left, right=right):
            return array_elements(left, arrays) + array_elements(right, arrays)
        case e.Call(args=args):
            return [each for part in args for each in array_elements(part, arrays)]
        case _:
            return []


def names_of(expr):
    match expr:
        case e.Var(name=name):
            return {name}
        case e.Element(subscripts=parts) | e.Call(args=parts):
            return set().union(*map(names_of, parts))
        case e.Unary(operand=operand):
            return names_of(operand)
        case e.Binary(left=left, right=right):
            return names_of(left) | names_of(right)
        case _:
            return set()
