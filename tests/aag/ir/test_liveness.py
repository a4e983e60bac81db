"""Liveness against reachability in the control flow graph of the same statements, drawn at random."""

from random import Random

import networkx as nx
import pytest

from aag.ir import statements as s
from aag.ir.liveness import Liveness, exposed
from aag.ir.visitors import names_in, own_expressions, walk_statements
from aag.pipeline import read_program

NAMES = ("a", "b", "c", "d", "i", "j", "k")
WHOLE = frozenset(NAMES)


class Text:
    """Statements drawn at random: loops of both kinds, branches of both kinds, jumps out of several loops."""

    def __init__(self, seed, jumps):
        self._random = Random(seed)
        self._jumps = jumps
        self._loops = 0

    def lines(self, depth, around):
        for _ in range(self._random.randint(1, 3)):
            yield from self._statement(depth, around)

    def _value(self):
        return " + ".join(self._random.sample(NAMES, self._random.randint(1, 2)))

    def _statement(self, depth, around):
        draw = self._random
        kind = draw.choice(("assign", "assign", "print", "if", "do", "do", "while", "case", "jump", "stop"))
        if depth == 0 and kind in ("if", "do", "while", "case"):
            kind = "assign"
        if kind == "assign":
            yield f"{draw.choice(NAMES[:4])} = {self._value()}"
        elif kind == "print":
            yield f"print *, {draw.choice(NAMES)}"
        elif kind == "if":
            yield f"if ({self._value()} > 0) then"
            yield from self.lines(depth - 1, around)
            for other in draw.choice(((), ("else",), (f"else if ({self._value()} > 1) then", "else"))):
                yield other
                yield from self.lines(depth - 1, around)
            yield "end if"
        elif kind == "case":
            yield f"select case ({self._value()})"
            for case in draw.choice((("(1)",), ("(1)", "(2:4)", " default"))):
                yield f"case{case}"
                yield from self.lines(depth - 1, around)
            yield "end select"
        elif kind in ("do", "while"):
            self._loops += 1
            name = f"loop{self._loops}"
            free = [each for each in ("i", "j", "k") if each not in [var for _, var in around]]
            if kind == "do" and free:
                yield f"{name}: do {free[0]} = {draw.choice(NAMES[:4])}, {draw.choice(NAMES[:4])}"
            else:
                yield f"{name}: do while ({self._value()} > 2)"
            yield from self.lines(depth - 1, (*around, (name, free[0] if kind == "do" and free else "")))
            yield f"end do {name}"
        elif kind == "jump" and around:
            where = f" {draw.choice(around)[0]}" if self._jumps and draw.random() < 0.5 else ""
            yield f"if ({self._value()} > 3) {draw.choice(('exit', 'cycle'))}{where}"
        elif kind == "stop" and draw.random() < 0.3:
            yield f"if ({self._value()} > 4) stop"


class Flow:
    """The graph: steps of statements, each with what it reads and writes."""

    def __init__(self, body):
        self.graph = nx.DiGraph()
        self.reads, self.writes, self.behind = {}, {}, {}
        self._jumps = []
        self._ends(body, [self._step()], ())

    def _step(self, reads=frozenset(), writes=frozenset()):
        step = len(self.reads)
        self.reads[step], self.writes[step] = reads, writes
        self.graph.add_node(step)
        return step

    def _joined(self, before, *what):
        step = self._step(*what)
        self.graph.add_edges_from((each, step) for each in before)
        return step

    def _ends(self, body, before, around):
        """The steps at which a body ends."""
        for each in body:
            before = self._statement(each, before, around)
        return before

    def _statement(self, statement, before, around):
        match statement:
            case s.Assign(target=target, value=value):
                return [self._joined(before, names_in(value), names_in(target))]
            case s.If(branches=branches):
                ends = []
                for each in branches:
                    if each.condition is not None:
                        before = [self._joined(before, names_in(each.condition))]
                    ends += self._ends(each.body, before, around)
                return ends + (before if branches[-1].condition is not None else [])
            case s.SelectCase(cases=cases):
                test = self._joined(before, names_in(*own_expressions(statement)))
                whole = any(each.values is None for each in cases)
                ends = [end for each in cases for end in self._ends(each.body, [test], around)]
                return ends + ([] if whole else [test])
            case s.Do(var=var, body=body, name=name):
                bounds = self._joined(before, names_in(*own_expressions(statement)), frozenset((var,)))
                return self._loop(statement, self._joined([bounds]), body, name, around)
            case s.DoWhile(condition=condition, body=body, name=name):
                return self._loop(statement, self._joined(before, names_in(condition)), body, name, around)
            case s.Exit(name=name) | s.Cycle(name=name):
                found = next(each for each in reversed(around) if name in ("", each[0]))
                target = found[2] if isinstance(statement, s.Exit) else found[1]
                self.graph.add_edges_from((each, target) for each in before)
                for outer in around[around.index(found) + 1 :]:
                    self.behind[outer[3]].add(target)
                return []
            case s.Stop():
                return []
            case _:
                return [self._joined(before, names_in(*own_expressions(statement)))]

    def _loop(self, statement, top, body, name, around):
        behind = self._joined([top])
        self.behind[statement] = {behind}
        self.graph.add_edges_from(
            (end, top) for end in self._ends(body, [top], (*around, (name, top, behind, statement)))
        )
        return [behind]

    def live(self, starts, name):
        """Whether a name may be read from one of some steps on, before it is written."""
        seen, pending = set(), list(starts)
        while pending:
            step = pending.pop()
            if step in seen:
                continue
            seen.add(step)
            if name in self.reads[step]:
                return True
            if name not in self.writes[step]:
                pending += self.graph.successors(step)
        return False


def body_of(seed, jumps):
    lines = ["program p", f"integer :: {', '.join(NAMES)}", *Text(seed, jumps).lines(4, ()), "end program"]
    return read_program("\n".join(lines) + "\n", "p.f90").units[0].body


@pytest.mark.parametrize("jumps", [False, True], ids=["plain", "named"])
@pytest.mark.parametrize("batch", range(2))
def test_what_is_live_behind_each_loop(batch, jumps):
    loops = 0
    for seed in range(60 * batch, 60 * batch + 60):
        body = body_of(seed, jumps)
        flow, live = Flow(body), Liveness(body)
        for loop in (each for each in walk_statements(body) if isinstance(each, s.Do | s.DoWhile)):
            expected = {name for name in NAMES if flow.live(flow.behind[loop], name)}
            found = live.wanted_after(loop, WHOLE)
            assert found >= expected, (seed, loop.name)
            assert jumps or found == expected, (seed, loop.name)
            loops += 1
    assert loops > 60


def test_statements_of_another_body_want_everything():
    body, other = body_of(3, False), body_of(4, False)
    assert Liveness(body).wanted_after(other[0], WHOLE) == WHOLE


def test_what_is_not_modelled_reads_everything_before_it_is_written_again():
    lines = "do i = 1, 3\na = i\nb = i\nend do\na = 0\nprint *, a\nread (*, *, err=10) c\n10 continue\nassign 10 to j\n"
    unit = read_program(f"program p\ninteger :: {', '.join(NAMES)}\n{lines}end program\n", "p.f90").units[0]
    loop = unit.body[0]
    found = Liveness(unit.body).wanted_after(loop, WHOLE)
    assert found == {"b", "c", "i"}


def test_exposed_names_of_an_iteration():
    lines = "do i = 1, 3\na = b\nif (a > 1) cycle\nc = a\nd = d + c\nend do\n"
    unit = read_program(f"program p\ninteger :: {', '.join(NAMES)}\n{lines}end program\n", "p.f90").units[0]
    assert exposed(unit.body[0].body, WHOLE) == {"b", "d"}
