"""Walks over the ir: children, all descendants, and rebuilding with a function.

A new node class is added here once; a class that is missing raises `TypeError` with its name instead of being
passed over in silence.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from msgspec import structs

from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.directives import Align, Distribute, Star

Body = tuple[s.Stmt, ...]


def children(expr: e.Expr) -> tuple[e.Expr, ...]:
    """The direct operands of an expression, in the order of the text; absent parts are left out."""
    match expr:  # what is frequent comes first
        case e.Var() | e.IntLit():
            return ()
        case e.Binary(left=left, right=right):
            return (left, right)
        case e.Element(subscripts=parts) | e.Constructor(values=parts):
            return parts
        case e.RealLit() | e.LogicalLit() | e.StringLit() | e.OpaqueExpr():
            return ()
        case e.ComplexLit(real=real, imag=imag):
            return (real, imag)
        case e.Section(lower=lower, upper=upper, step=step):
            return _present(lower, upper, step)
        case e.Call(args=args, keywords=keywords):
            return args + tuple(value for _, value in keywords)
        case e.Unary(operand=operand):
            return (operand,)
        case e.ImpliedDo(values=values, lower=lower, upper=upper, step=step):
            return values + _present(lower, upper, step)
        case e.Component(base=base, subscripts=subscripts):
            return (base, *subscripts)
        case e.Substring(base=base, lower=lower, upper=upper):
            return _present(base, lower, upper)
    raise TypeError(f"children: unknown expression class {type(expr).__name__} at {expr.span}")


def map_expression(expr: e.Expr, function: Callable[[e.Expr], e.Expr]) -> e.Expr:
    """`expr` rebuilt from its leaves upwards, each node replaced by `function(node)`; spans are kept."""
    return function(map_operands(expr, lambda part: map_expression(part, function)))


def map_operands(expr: e.Expr, go: Callable[[e.Expr], e.Expr]) -> e.Expr:
    """`expr` with `go(operand)` in place of each operand."""
    match expr:
        case e.ComplexLit(real=real, imag=imag):
            return replace(expr, real=go(real), imag=go(imag))
        case e.Section(lower=lower, upper=upper, step=step):
            return replace(
                expr,
                lower=None if lower is None else go(lower),
                upper=None if upper is None else go(upper),
                step=None if step is None else go(step),
            )
        case e.Element(subscripts=subscripts):
            return replace(expr, subscripts=tuple(go(each) for each in subscripts))
        case e.Constructor(values=values):
            return replace(expr, values=tuple(go(each) for each in values))
        case e.Call(args=args, keywords=keywords):
            pairs = tuple((key, go(value)) for key, value in keywords)
            return replace(expr, args=tuple(go(each) for each in args), keywords=pairs)
        case e.Unary(operand=operand):
            return replace(expr, operand=go(operand))
        case e.Binary(left=left, right=right):
            return replace(expr, left=go(left), right=go(right))
        case e.ImpliedDo(values=values, lower=lower, upper=upper, step=step):
            return replace(
                expr,
                values=tuple(go(each) for each in values),
                lower=go(lower),
                upper=go(upper),
                step=None if step is None else go(step),
            )
        case e.Component(base=base, subscripts=subscripts):
            return replace(expr, base=go(base), subscripts=tuple(go(each) for each in subscripts))
        case e.Substring(base=base, lower=lower, upper=upper):
            text = go(base)
            if not isinstance(text, e.Var | e.Element):  # a value has taken the place of the name
                return e.OpaqueExpr("a substring of a value", span=expr.span)
            first, last = (None if each is None else go(each) for each in (lower, upper))
            return replace(expr, base=text, lower=first, upper=last)
    if children(expr):  # also refuses a class that nobody knows
        raise TypeError(f"map_operands: {type(expr).__name__} has operands that are not rebuilt")
    return expr


def own_expressions(stmt: s.Stmt) -> tuple[e.Expr, ...]:
    """The expressions of a statement itself, without those of the statements in its bodies."""
    match stmt:
        case s.Assign(target=target, value=value):
            return (target, value)
        case s.Do(lower=lower, upper=upper, step=step):
            return _present(lower, upper, step)
        case s.DoWhile(condition=condition):
            return _present(condition)
        case s.If(branches=branches):
            return _present(*(branch.condition for branch in branches))
        case s.SelectCase(selector=selector, cases=cases):
            return (selector, *(value for case in cases for value in case.values or ()))
        case s.Forall(indices=indices, mask=mask):
            bounds = (part for index in indices for part in (index.lower, index.upper, index.step))
            return _present(*bounds, mask)
        case s.Where(branches=masks):
            return _present(*(branch.mask for branch in masks))
        case s.CallStmt(args=args, keywords=keywords, cost=cost, into=into):
            amounts = () if cost is None else tuple(each.amount for each in cost.terms)
            return (*args, *(value for _, value in keywords), *_present(into), *amounts)
        case s.Io(items=items) | s.Allocate(items=items):
            return items
        case s.Point(pointer=pointer, target=target):
            return _present(pointer, target)
        case s.Remap(directive=Align(subscripts=subscripts)):
            return tuple(each for each in subscripts or () if not isinstance(each, Star))
        case s.Remap(directive=Distribute(formats=formats)):
            return _present(*(each.size for each in formats or ()))
        case s.Stop() | s.Return() | s.Exit() | s.Cycle() | s.Continue() | s.Enter() | s.Restore() | s.Opaque():
            return ()
    raise TypeError(f"own_expressions: unknown statement class {type(stmt).__name__} at {stmt.span}")


def bodies(stmt: s.Stmt) -> tuple[Body, ...]:
    """The bodies of a compound statement, in the order of the text; none for a simple statement."""
    match stmt:
        case s.Do(body=body) | s.DoWhile(body=body) | s.Forall(body=body):
            return (body,)
        case s.If(branches=branches):
            return tuple(branch.body for branch in branches)
        case s.SelectCase(cases=cases):
            return tuple(case.body for case in cases)
        case s.Where(branches=masks):
            return tuple(branch.body for branch in masks)
    return ()


def mapped(stmt: s.Stmt, function: Callable[[Body], Body]) -> s.Stmt:
    """A compound statement with each body replaced by `function(body)`; another one as it is."""
    match stmt:
        case s.Do(body=body) | s.DoWhile(body=body) | s.Forall(body=body):
            return structs.replace(stmt, body=function(body))
        case s.If(branches=branches) | s.Where(branches=branches):
            made = tuple(structs.replace(each, body=function(each.body)) for each in branches)
            return structs.replace(stmt, branches=made)
        case s.SelectCase(cases=cases):
            return structs.replace(stmt, cases=tuple(structs.replace(each, body=function(each.body)) for each in cases))
    return stmt


def map_own(stmt: s.Stmt, go: Callable[[e.Expr], e.Expr]) -> s.Stmt:
    """A statement with `go(expression)` in place of each of its own expressions; bodies are kept."""

    def some(expr: e.Expr | None) -> e.Expr | None:
        return None if expr is None else go(expr)

    match stmt:
        case s.Assign(target=target, value=value):
            return structs.replace(stmt, target=go(target), value=go(value))
        case s.Do(lower=lower, upper=upper, step=step):
            return structs.replace(stmt, lower=go(lower), upper=go(upper), step=some(step))
        case s.DoWhile(condition=condition):
            return structs.replace(stmt, condition=some(condition))
        case s.If(branches=branches):
            tested = tuple(structs.replace(each, condition=some(each.condition)) for each in branches)
            return structs.replace(stmt, branches=tested)
        case s.SelectCase(selector=selector, cases=cases):
            chosen = (None if each.values is None else tuple(map(go, each.values)) for each in cases)
            made = tuple(structs.replace(each, values=values) for each, values in zip(cases, chosen, strict=True))
            return structs.replace(stmt, selector=go(selector), cases=made)
        case s.Forall(indices=indices, mask=mask):
            ranges = tuple(
                structs.replace(each, lower=go(each.lower), upper=go(each.upper), step=some(each.step))
                for each in indices
            )
            return structs.replace(stmt, indices=ranges, mask=some(mask))
        case s.Where(branches=masks):
            masked = tuple(structs.replace(each, mask=some(each.mask)) for each in masks)
            return structs.replace(stmt, branches=masked)
        case s.CallStmt(args=args, keywords=keywords, cost=cost, into=into):
            pairs = tuple((key, go(value)) for key, value in keywords)
            if cost is not None:
                terms = tuple(structs.replace(each, amount=go(each.amount)) for each in cost.terms)
                cost = structs.replace(cost, terms=terms)
            result = some(into)
            assert result is None or isinstance(result, e.Var)  # lowering made this variable: it stays a scalar
            return structs.replace(stmt, args=tuple(map(go, args)), keywords=pairs, cost=cost, into=result)
        case s.Io(items=items) | s.Allocate(items=items):
            return structs.replace(stmt, items=tuple(map(go, items)))
        case s.Point(pointer=pointer, target=target):
            return structs.replace(stmt, pointer=go(pointer), target=some(target))
        case s.Remap(directive=Align(subscripts=subscripts) as align):
            placed = subscripts and tuple(each if isinstance(each, Star) else go(each) for each in subscripts)
            return structs.replace(stmt, directive=structs.replace(align, subscripts=placed))
        case s.Remap(directive=Distribute(formats=formats) as distribute):
            sized = formats and tuple(structs.replace(each, size=some(each.size)) for each in formats)
            return structs.replace(stmt, directive=structs.replace(distribute, formats=sized))
    if own_expressions(stmt):  # also refuses a class that nobody knows
        raise TypeError(f"map_own: {type(stmt).__name__} has expressions that are not rebuilt")
    return stmt


def walk_statements(body: Iterable[s.Stmt]) -> Iterator[s.Stmt]:
    """All statements of a body and of the bodies inside, in the order of the text."""
    for stmt in body:
        yield stmt
        for inner in bodies(stmt):
            yield from walk_statements(inner)


def walk_expressions(node: e.Expr | s.Stmt | Iterable[s.Stmt]) -> Iterator[e.Expr]:
    """All expressions below (and including) an expression, a statement or a body, parents first."""
    if isinstance(node, e.Expr):
        pending = [node]
        while pending:
            part = pending.pop()
            yield part
            pending += children(part)[::-1]
        return
    for stmt in walk_statements((node,) if isinstance(node, s.Stmt) else node):
        for expr in own_expressions(stmt):
            yield from walk_expressions(expr)


def elements_in(*parts: e.Expr | None) -> list[e.Element]:
    """All array elements in expressions, outermost first, those in subscripts included."""
    return [
        each for part in parts if part is not None for each in walk_expressions(part) if isinstance(each, e.Element)
    ]


def names_in(*parts: e.Expr | s.Stmt | Iterable[s.Stmt] | None) -> frozenset[str]:
    """Names of variables and arrays that occur as `Var` or `Element` (functions are not among them)."""
    found = set()
    for part in parts:
        for each in () if part is None else walk_expressions(part):
            if isinstance(each, (e.Var, e.Element)):  # a tuple is faster than a union here
                found.add(each.name)
    return frozenset(found)


def backward_slice(names: Iterable[str], assigns: Iterable[s.Assign]) -> frozenset[str]:
    """The names, and those from which assignments compute them (design decision D8)."""
    sources: dict[str, set[str]] = {}
    for each in assigns:
        if isinstance(each.target, (e.Var, e.Element)):
            sources.setdefault(each.target.name, set()).update(names_in(each.value))
    found, pending = set(), list(names)
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += sources.get(name, ())
    return frozenset(found)


def calls_used(node: e.Expr | s.Stmt | Iterable[s.Stmt]) -> frozenset[str]:
    """Names of the functions and subroutines that are called, intrinsic or not."""
    found = {each.name for each in walk_expressions(node) if isinstance(each, e.Call)}
    if not isinstance(node, e.Expr):
        stmts = walk_statements((node,) if isinstance(node, s.Stmt) else node)
        found |= {stmt.name for stmt in stmts if isinstance(stmt, s.CallStmt)}
    return frozenset(found)


def _present(*parts: e.Expr | None) -> tuple[e.Expr, ...]:
    return tuple(part for part in parts if part is not None)
