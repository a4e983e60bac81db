"""Messages that esp predicts for random nests, against those that owners and the serial order of accesses ask for.

No processor receives fewer elements than the distinct (element, version) that it reads and does not own. It receives at
most one message for each turn and owner, a turn being an iteration of the loop that carries the dependence, with what
any processor reads in this turn: the superset of a broadcast. Programs with more are printed, their share is bounded.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from aag.graph.aau import walk
from aag.pipeline import read_program
from esp import api
from interpreter.engine import interpret
from interpreter.listeners import Latest, Listener
from interpreter.setting import Setting
from sag.scenario import export
from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.random_nests import nests
from tests.aag.spmd.oracle import Owners, body_lines, most_received, needs, pairs, received

PROCS = (2, 3, 4, 6, 8)


class Received(Listener):
    """A listener that counts, of some source lines, what each processor receives."""

    def __init__(self, graph, lines, procs):
        self.lines = {each.id for each in walk(graph.body) if each.span.line in lines}
        self.messages_of, self.bytes_of = np.zeros(procs, np.int64), np.zeros(procs, np.int64)

    def skipped(self, aau, iterations):
        raise AssertionError

    def messages(self, aau, name, source, destination, size_bytes, sent, received):
        if aau in self.lines:
            np.add.at(self.messages_of, destination, 1)
            np.add.at(self.bytes_of, destination, size_bytes)


def predicted(program, procs):
    """(messages, elements) that each processor receives in the body."""
    machine, request = api.load_machine("ipsc860"), api.Request(procs=procs)
    stages = api.lower_source(api.Source(program=read_program(t.text(program), "nest.hpf")), machine, request)
    listener = Latest(lambda: Received(stages.graph, body_lines(program), procs))
    interpret(
        stages.node_program,
        stages.graph,
        export(machine, request.scenario),
        Setting(io=False, force_unroll=True),
        listener,
    )
    heard = listener.made
    return heard.messages_of, heard.bytes_of // (8 if program.real else 4)


def is_of_class(program):
    """Whether only elements of arrays are assigned, and nothing is conditional: then the oracle knows all."""
    kinds = [each.target[0] if isinstance(each, t.Assign) else type(each) for each in t.statements(program.body)]
    return {*kinds} <= {t.Do, "ref"}


def check(seed, procs, kind, shares):
    program, _ = nests(seed, procs, kind)
    if not is_of_class(program):
        return False
    found = needs(program, procs)
    messages, elements = predicted(program, procs)
    told = f"{kind} {seed}, {procs} processors\n{t.text(program)}"
    least, most, turns = received(found, procs), most_received(found, procs), sum(pairs(found).values())
    for rank in range(procs):
        assert elements[rank] >= least[rank], f"{told}{rank} receives {elements} instead of {least}"
    often = any(messages[rank] > most[rank][0] for rank in range(procs))
    much = any(elements[rank] > most[rank][1] for rank in range(procs))
    if often or (much and messages.sum() > turns):
        print(f"{told}{messages} messages with {elements} elements are received, at most {most} are asked for")
        shares["programs with more"] += 1
    shares["elements needed"] += sum(least.values())
    shares["elements"] += int(elements.sum())
    shares["turns"] += turns
    shares["messages"] += int(messages.sum())
    return True


def assert_close(done, shares):
    """Supersets: broadcasts reach processors without need, and messages that take several turns together bring what
    lies between their elements. Where several statements share what they bring, a message may stand further in than the
    loop that carries the dependence: few programs."""
    assert shares["elements needed"] <= shares["elements"]
    assert shares["programs with more"] <= 2 + done // 20


def checked(kind, seeds):
    shares = Counter()
    done = sum(check(seed, PROCS[seed % len(PROCS)], kind, shares) for seed in seeds)
    return done, shares


@pytest.mark.parametrize("kind", ["kernels", "tight"])
def test_messages(kind):
    done, shares = checked(kind, range(8))
    assert done > 4
    assert_close(done, shares)


@pytest.mark.truth
@pytest.mark.parametrize("kind", ["kernels", "tight", "affine"])
@pytest.mark.parametrize("batch", range(4))
def test_messages_of_many(kind, batch):
    done, shares = checked(kind, range(100 + 50 * batch, 150 + 50 * batch))
    print(kind, done, dict(shares))
    assert done > 25
    assert_close(done, shares)


# --- the oracle itself ----------------------------------------------------------------------------------------------


def of(array, *directives, body=(), procs=2):
    return t.Program("nest", real=True, arrays=array, directives=directives, body=body)


def test_owners_by_hand():
    one = (t.Array("a", ((1, 10),)),)
    expected = {
        "block": "0000111122",
        "cyclic": "0120120120",
        "cyclic(2)": "0011220011",
        "block(5)": "0000011111",
        "gen_block((/ 2,0,9 /))": "0022222222",
    }
    for form, ranks in expected.items():
        owners = Owners(of(one, "processors g0(3)", f"distribute a({form}) onto g0"), 3)
        assert [owners.of("a", (at,)) for at in range(1, 11)] == [frozenset((int(rank),)) for rank in ranks]


def test_aligned_owners_by_hand():
    arrays = (t.Array("a", ((1, 4), (1, 4))), t.Array("b", ((1, 4),)))
    lines = ("processors g0(2, 2)", "distribute a(block, cyclic) onto g0")
    owners = Owners(of(arrays, *lines, "align b(d) with a(d, *)"), 4)
    assert owners.of("a", (3, 2)) == {3}
    assert owners.of("b", (3,)) == {1, 3}


def test_triangle_by_hand():
    """B(BLOCK) of 8 on 2: four elements of the first half are read by the second, each in a step of its own."""
    inner = t.Assign(t.ref("b", t.var("i")), ("-", t.ref("b", t.var("i")), t.ref("b", t.var("j"))))
    loop = t.Do("i", ("+", t.var("j"), t.num(1)), t.num(8), None, (inner,))
    body = (t.Do("j", t.num(1), t.num(8), None, (loop,)),)
    program = of((t.Array("b", ((1, 8),)),), "processors g0(2)", "distribute b(block) onto g0", body=body)
    found = needs(program, 2)
    assert received(found, 2) == {0: 0, 1: 4}
    assert pairs(found) == {(0, 1): 4}
    assert most_received(found, 2) == {0: (3, 3), 1: (4, 4)}
    assert received(needs(replace(program, directives=()), 2), 2) == {0: 0, 1: 0}
