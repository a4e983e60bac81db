"""Node programs that are traced: which AAU each node is, and the lines that say so while the program runs."""

from collections.abc import Iterator, Mapping, Sequence

from aag.spmd import nodes as n

_PIECE = 72
"""Characters of a text that stand in one line of Fortran."""


def aau_numbers(body: Sequence[n.Node]) -> Mapping[int, int]:
    """id(node) -> the id of its AAU in the AAG: these count in program order, after Spawn and Start."""
    return {id(node): number for number, node in enumerate(n.walk(body), start=2)}


def entered(number: int, node: n.Node) -> str:
    """The line that says that time belongs to a node from now on."""
    kind = "overhead" if isinstance(node, n.Communicate) else "io" if isinstance(node, n.HostIo) else "compute"
    return f"call esp_trace_at({number}, esp_{kind})"


def heading(header: Sequence[str]) -> Iterator[str]:
    """The lines that tell the library the header of the trace."""
    for line in header:
        pieces = [line[first : first + _PIECE] for first in range(0, max(1, len(line)), _PIECE)]
        for piece in pieces[:-1]:
            yield f"call esp_trace_head({_literal(piece)}, .false.)"
        yield f"call esp_trace_head({_literal(pieces[-1])}, .true.)"
    yield "call esp_trace_begin()"


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
