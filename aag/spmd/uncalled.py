"""Calls that stay calls: what a prediction says of their procedures, and how to avoid them."""

import re
from collections.abc import Iterator

from aag.diagnostics import Diagnostic
from aag.ir import statements as ir
from aag.ir.nearest import did_you_mean
from aag.ir.units import Program, Unit, shown_procedure
from aag.ir.visitors import walk_statements
from aag.source.files import WITHOUT_MPI

_MISSING = re.compile(r"found no (?:subroutine|function) (\w+)")

_ADD = "correct the name, add the file that defines it, or give what a call costs: ‹cost {}='2*n flop'›"

_BY_REASON = {
    "it calls itself through": "write them as one loop, with an array for the values that wait",
    "it is recursive": "write it as a loop, with an array for the values that wait",
    "alternate return": "return an INTEGER, and test it behind the call",
    "is an ENTRY of": "make it a procedure of its own: declarations, and the statements behind ENTRY",
    "EXTRINSIC(HPF_SERIAL)": "pass all that it uses as arguments, or leave EXTRINSIC(HPF_SERIAL) out",
    "HPF_LOCAL": "write INDEPENDENT loops over the whole arrays in its place, or make it EXTRINSIC(HPF_SERIAL)",
    "another language": "write it in HPF or make it EXTRINSIC(HPF_SERIAL), or leave it out and give its ‹cost›",
    "points to a part of": "use the array and its subscripts in place of the pointer",
    "points to nothing here": "let it point to an array, or allocate it, on each way to this statement",
    "of an INDEPENDENT loop": "use the arrays themselves in this loop, or leave INDEPENDENT out",
    "not followed": "let it point to a whole array or variable of the program",
    "components or parts": "use arrays, and an index in place of the pointer",
    "has arguments in brackets": "write the operator that is missing in front of the bracket, or declare its shape",
}
"""What the reasons say -> the way out; the first that fits."""


def what_stays(program: Program, call: ir.CallStmt) -> str:
    """What is said of a call whose procedure is not interpreted."""
    if call.reason:
        return f"the body of {shown_procedure(call.name)} is not interpreted ({call.reason})"
    home = entry_of(program, call.name)
    if home is not None:
        return f"{call.name} is an ENTRY of {home}, which is not modelled"
    near = did_you_mean(call.name, sorted(each.name for each in procedures(program) if each.kind == "subroutine"))
    return f"found no subroutine {call.name}{f' ({near})' if near else ''}"


def way_out(text: str, otherwise: str) -> str:
    """The hint for what is said of a call or of a function; `otherwise`: for other reasons than those listed."""
    missing = _MISSING.search(text)
    if missing is not None:
        return WITHOUT_MPI if missing[1].startswith("mpi_") else _ADD.format(missing[1])
    return next((hint for reason, hint in _BY_REASON.items() if reason in text), otherwise)


def procedures(program: Program) -> Iterator[Unit]:
    """The units of a program and those inside of them."""
    for unit in program.units:
        yield unit
        for inner in unit.contains:
            yield from (inner, *inner.contains)


def entry_of(program: Program, name: str) -> str | None:
    """The procedure that has an ENTRY of a name."""
    for unit in procedures(program):
        if any(isinstance(each, ir.Opaque) and each.entry == name for each in walk_statements(unit.body)):
            return unit.name
    return None


def refused(program: Program, unit: Unit) -> Iterator[Diagnostic]:
    """A finding for each call of a procedure of the source that stays a call (W202), and for statements that reading
    understood and that are not modelled (W201)."""
    for each in walk_statements(unit.body):
        if isinstance(each, ir.Opaque) and not each.text:
            text = f"this statement is not modelled and costs nothing here: {each.reason}"
            yield Diagnostic(code="W201", message=text, span=each.span, hint=way_out(each.reason, ""))
        if isinstance(each, ir.CallStmt) and each.cost is None and each.reason:
            text = what_stays(program, each)
            yield Diagnostic(
                code="W202", message=f"{text}: only its call is charged", span=each.span, hint=way_out(text, "")
            )
