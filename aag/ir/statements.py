"""Executable statements: frozen, compared by identity (two equal lines are two statements).

stmt = Assign(target, value) | Do | DoWhile | If(branches) | SelectCase(selector, cases)
     | Forall(indices, mask, body) | Where(branches) | CallStmt | Enter | Io | Allocate | Point | Remap(directive)
     | Restore(array)
     | Stop | Return | Exit | Cycle | Continue | Opaque(text)
"""

from typing import Literal

from msgspec import Struct

from aag.diagnostics import Span
from aag.ir.costs import CallCost
from aag.ir.directives import Align, Distribute, Independent
from aag.ir.expressions import Element, Expr, Var


class Stmt(Struct, frozen=True, kw_only=True, eq=False):
    """Base of all statements. A statement belongs to its first line (Def 4)."""

    span: Span
    label: str = ""


class Assign(Stmt, frozen=True, kw_only=True, eq=False):
    """target = value; the target is a scalar, a whole array, an element or a section."""

    target: Var | Element | Expr
    value: Expr


class Do(Stmt, frozen=True, kw_only=True, eq=False):
    """A counted DO loop. `name` is the construct name, `end` the place of END DO."""

    var: str
    lower: Expr
    upper: Expr
    step: Expr | None
    body: tuple[Stmt, ...]
    independent: Independent | None = None
    name: str = ""
    end: Span


RETURNED = "return$"
"""Begin of the variable of a loop with one iteration that stands for a procedure, so that RETURN leaves it."""


def is_block(statement: "Stmt") -> bool:
    """Whether a loop stands for a procedure that RETURN leaves."""
    return isinstance(statement, Do) and statement.var.startswith(RETURNED)


class DoWhile(Stmt, frozen=True, kw_only=True, eq=False):
    """DO WHILE (condition); a condition of None is DO without control (left by EXIT)."""

    condition: Expr | None
    body: tuple[Stmt, ...]
    name: str = ""
    end: Span


class Branch(Struct, frozen=True, kw_only=True, eq=False):
    """One branch of IF: a condition of None is ELSE."""

    condition: Expr | None
    body: tuple[Stmt, ...]
    span: Span


class If(Stmt, frozen=True, kw_only=True, eq=False):
    """IF statement or construct."""

    branches: tuple[Branch, ...]


def guarded(condition: Expr, body: tuple[Stmt, ...], span: Span, label: str = "") -> If:
    """An IF without ELSE around some statements."""
    return If(branches=(Branch(condition=condition, body=body, span=span),), span=span, label=label)


class Case(Struct, frozen=True, kw_only=True, eq=False):
    """One CASE: values and Sections (ranges); None is CASE DEFAULT."""

    values: tuple[Expr, ...] | None
    body: tuple[Stmt, ...]
    span: Span


class SelectCase(Stmt, frozen=True, kw_only=True, eq=False):
    """SELECT CASE."""

    selector: Expr
    cases: tuple[Case, ...]


class ForallIndex(Struct, frozen=True, kw_only=True):
    """One index of FORALL: name = lower : upper : step."""

    name: str
    lower: Expr
    upper: Expr
    step: Expr | None = None


class Forall(Stmt, frozen=True, kw_only=True, eq=False):
    """FORALL statement or construct; the body holds Assign, Forall and Where."""

    indices: tuple[ForallIndex, ...]
    mask: Expr | None
    body: tuple[Stmt, ...]
    independent: Independent | None = None


class WhereBranch(Struct, frozen=True, kw_only=True, eq=False):
    """WHERE (mask) or ELSEWHERE [(mask)]: a mask of None is the last ELSEWHERE."""

    mask: Expr | None
    body: tuple[Stmt, ...]
    span: Span


class Where(Stmt, frozen=True, kw_only=True, eq=False):
    """WHERE statement or construct."""

    branches: tuple[WhereBranch, ...]


class CallStmt(Stmt, frozen=True, kw_only=True, eq=False):
    """CALL name(args).

    `cost`: what it costs, where the source lacks its procedure; it has no keywords then. `into`: the variable that is
    assigned what it returns, where it is a function."""

    name: str
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...] = ()
    reason: str = ""
    """Why its procedure is not interpreted, where the source has it, or its cost is not known."""
    cost: CallCost | None = None
    into: Var | None = None


class Enter(Stmt, frozen=True, kw_only=True, eq=False):
    """A call whose procedure follows as statements."""

    name: str
    arguments: int


class Io(Stmt, frozen=True, kw_only=True, eq=False):
    """PRINT, WRITE or READ with its item list; other I/O statements (OPEN, CLOSE, ...) have no items.

    `group`: the names of a NAMELIST as the source declares them; the items are its variables. `known`: scalars that are
    read, and whose values the user gives: assignments that follow have them.
    """

    kind: Literal["print", "write", "read", "open", "close", "inquire", "rewind", "backspace", "flush"]
    items: tuple[Expr, ...]
    control: str = ""
    group: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()


class Allocate(Stmt, frozen=True, kw_only=True, eq=False):
    """ALLOCATE or DEALLOCATE."""

    items: tuple[Expr, ...]
    deallocate: bool = False


class Point(Stmt, frozen=True, kw_only=True, eq=False):
    """pointer => target, or NULLIFY(pointer): a target of None. It becomes other statements before lowering."""

    pointer: Expr
    target: Expr | None


class Remap(Stmt, frozen=True, kw_only=True, eq=False):
    """REALIGN or REDISTRIBUTE: the data move here, if they are still needed.

    `keeps`: the mapping of a dummy argument; the mapping before is kept under this name, and nothing else moves.
    """

    directive: Align | Distribute
    copies: bool = True
    keeps: str = ""


class Restore(Stmt, frozen=True, kw_only=True, eq=False):
    """The end of a procedure: an array gets the mapping back that was `kept`, and its values if they are new."""

    array: str
    kept: str
    copies: bool


class Stop(Stmt, frozen=True, kw_only=True, eq=False):
    """STOP or ERROR STOP."""


class Return(Stmt, frozen=True, kw_only=True, eq=False):
    """RETURN."""


class Exit(Stmt, frozen=True, kw_only=True, eq=False):
    """EXIT [name]."""

    name: str = ""


class Cycle(Stmt, frozen=True, kw_only=True, eq=False):
    """CYCLE [name]."""

    name: str = ""


class Continue(Stmt, frozen=True, kw_only=True, eq=False):
    """CONTINUE."""


class Opaque(Stmt, frozen=True, kw_only=True, eq=False):
    """A statement that cannot be read or is not modelled; `reason` says why, `hint` what to write instead. `entry`: the
    name of an ENTRY. Worst-case effects, never silence."""

    text: str
    reason: str
    hint: str = ""
    entry: str = ""
