"""The DO loops of a program as text: which run in parallel, which do not, and why."""

from aag.ir.units import line_in
from aag.spmd.program import LoopFinding, NodeProgram
from aag.wording import as_written, plural

_WIDEST = 36
"""Characters of a source line that are shown."""


def describe_loops(program: NodeProgram) -> str:
    """A row for each loop, in the order of the source, and the reason below it where it does not run in parallel."""
    title = f"loops of {program.unit.name or 'the program'}, {plural(program.layouts.procs, 'processor')}"
    found = sorted(program.loops, key=lambda each: (each.span.file, each.span.line))
    if not found:
        return f"{title}\n\nno DO loops\n"
    rows = [f"{'line':>4}  {'loop':{_WIDEST}}  runs"]
    for each in found:
        row = f"{each.span.line:4}  {_text(program, each):{_WIDEST}}  {_runs(each)}"
        why = "" if each.runs in ("alone", "parallel") else each.why  # of a way that was tried before
        rows.append(f"{row}\n{'':8}{as_written(why)}" if why else row)
    return f"{title}\n\n" + "\n".join(dict.fromkeys(rows)) + "\n"


def _text(program: NodeProgram, found: LoopFinding) -> str:
    text = line_in(program, found.span.file, found.span.line).rstrip() or f"do {found.var}"
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _runs(found: LoopFinding) -> str:
    if found.nest != found.span.line:
        return f"with line {found.nest}"
    match found.runs:
        case "parallel":
            return f"in parallel, where {as_written(found.home)} lives" if found.home else "in parallel"
        case "in turn":
            return f"one owner of {as_written(found.home)} after the other"
        case "alone":
            return "inside an iteration of one processor"
        case "everywhere":
            return "on every processor"
