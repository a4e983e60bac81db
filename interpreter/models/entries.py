"""Loops that end early, as data decide: how often their entries run, and loops around entries that differ.

do i = 1, n                      each entry of the loop inside runs differently often, and nothing else differs:
  do it = 1, most                entries that run as often are walked once for all
    z = z*z + c(i)
    if (abs(z) > 2) exit
  end do
end do
"""

from collections.abc import Callable, Mapping

from aag.diagnostics import Diagnostic, UnresolvedError
from aag.graph.aau import AAU, IterD, IterND, IterSync, walk
from interpreter.exits import leaving_exits
from interpreter.metrics import Tally
from interpreter.remembered import of_aau, remembered
from interpreter.state import Run

ENTRIES = 2_000
"""Iterations of a loop up to which each is walked because a loop inside runs differently often in each."""

WALKED = 2_000
"""Iterations after which a loop that an EXIT ends is not followed before it was tried to compute how often it runs."""

Groups = Mapping[tuple[int, int], list[int]]
"""Complete iterations and what ends one more -> the entries of a loop that run so."""


def ask_early(run: Run, aau: AAU) -> None:
    """Ask how often a loop runs that data may end, before a long walk follows all that decides it.

    Raises:
        UnresolvedError: it was not tried.
    """
    line, setting = aau.span.line, run.setting
    known = line in setting.trips or line in setting.uncomputed or f"trips_{line}" in setting.values
    if run.books.walked < WALKED or known or not setting.asks_trips or setting.force_unroll:
        return
    found = Diagnostic(code="E504", message="the trip count of the loop is unknown", span=aau.span)
    raise UnresolvedError([found], [f"trips_{line}"], assumable=True)


def entries_inside(run: Run, aau: AAU, body: tuple[AAU, ...], inside: tuple[int, ...], count: int) -> Groups | None:
    """The entries of the only loop inside that runs differently often, one in each iteration of this loop: those that
    run as often and end in the same way. None: it is not so."""
    if len(inside) != 1 or not isinstance(aau, IterD) or run.setting.force_unroll:
        return None
    (line,) = inside
    entered = sum(each.span.line == line and isinstance(each, IterD | IterND) for each in body)
    found, first = run.setting.trips[line], run.entries.get(line, 0)
    window = range(first, first + count)
    if entered != 1 or sum(each.span.line == line for each in walk(body) if isinstance(each, IterD | IterND)) != 1:
        return None
    if window.stop > len(found.counts) or len({*found.lengths[first : window.stop]}) != 1:
        return None
    groups: dict[tuple[int, int], list[int]] = {}
    for entry in window:
        groups.setdefault((found.counts[entry], found.ends[entry]), []).append(entry)
    return groups


def walk_groups(run: Run, aau: AAU, body: tuple[AAU, ...], one: Callable[[int], str], groups: Groups) -> None:
    """Walk one iteration for all that are alike."""
    (line,) = differently_often(run, body)
    first, last = min(each[0] for each in groups.values()), max(each[-1] for each in groups.values())
    run.rebase()
    if run.tape is not None:
        run.tape.entries.append(None)
    for entries in groups.values():
        run.entries[line] = entries[0]
        run.books.walked += 1
        with run.books.repeated(len(entries), run.procs):
            run.books.count(aau.id, Tally.ITERATIONS, 1.0)
            one(entries[0] - first)
    run.entries[line] = last + 1


def differently_often(run: Run, body: tuple[AAU, ...]) -> tuple[int, ...]:
    """The lines of loops inside whose entries run differently often, as was computed."""
    varying = _varying(run)
    if not varying:
        return ()
    lines = {each.span.line for each in walk(body) if isinstance(each, IterD | IterSync | IterND)}
    return tuple(line for line in run.setting.trips if line in varying and line in lines)


@remembered()
def _varying(run: Run) -> frozenset[int]:
    return frozenset(line for line, each in run.setting.trips.items() if each.varies)


def lose_entries(run: Run, lines: tuple[int, ...]) -> None:
    """From here on it is not known which entry of these loops is next: iterations around them may have been skipped."""
    run.entries.update({line: len(run.setting.trips[line].counts) for line in lines})


@remembered(of_aau)
def exit_lines(_: Run, _aau: AAU, body: tuple[AAU, ...], name: str) -> frozenset[int]:
    """The lines of the EXITs that leave a loop, for itself or for one around it."""
    return frozenset(each.span.line for each in leaving_exits(body, name))
