"""Random programs over random layouts, run as MPI programs and serially; every array is printed at the end."""

import re
from itertools import islice
from pathlib import Path

import pytest

from aag.diagnostics import UnresolvedError
from aag.ir import statements as s
from aag.ir.visitors import names_in, walk_statements
from aag.pipeline import Options, main_unit, read_program
from aag.spmd import nodes
from aag.spmd.vector import is_decided_by_indices
from esp.api import Request, Source
from esp.validate.answer import difference
from esp.validate.counts import predicted
from tests.aag.spmd.emit.batch import run_batch, run_serially
from tests.aag.spmd.emit.native import lowered
from tests.aag.spmd.emit.random_text import is_standard, printing_program
from tests.aag.spmd.test_random_programs import PARTS as INTERPRETED

PARTS = {
    **INTERPRETED,
    "functions": (("function", "function", "assignment"), 6),
    "logicals": (("logicals", "logicals", "assignment"), 6),
    "nested": (("nested", "nested", "assignment"), 6),
    "called": (("called", "called", "assignment"), 6),
    "flags": (("flags", "flags", "do", "assignment"), 6),
    "shared": (("shared_loop", "shared_loop", "assignment", "scalar"), 6),
    "constructed": (("constructed", "constructed", "assignment"), 6),
    "indirect": (("indirect", "indirect", "indirect", "assignment", "reduction"), 6),
    "packed": (("packed", "packed", "packed", "assignment", "forall"), 6),
    "pointed": (("pointed", "pointed", "pointed", "assignment", "do", "forall", "reduction"), 6),
    "pointed and more": (("pointed", "pointed", "where", "scalar", "intrinsic", "function"), 6),
    "allocated": (("allocated", "allocated", "assignment", "do", "reduction"), 6),
    "allocated and more": (("allocated", "allocated", "remap", "indirect", "where"), 6),
    "used": (("used", "used", "called", "assignment", "remap"), 6),
    "recorded": (("recorded", "recorded", "assignment", "do", "reduction", "forall", "where"), 6),
    "recorded and more": (("recorded", "independent", "intrinsic", "function", "scalar"), 6),
    "recorded and remapped": (("recorded", "recorded", "remap", "assignment", "where"), 6),
    "concurrent": (("concurrent", "concurrent", "concurrent", "assignment", "do"), 6),
    "concurrent and called": (("concurrent", "called", "concurrent", "remap", "indirect"), 6),
    "serial": (("serial", "serial", "called", "remap", "assignment"), 6),
    "linked": (("linked", "linked", "linked", "assignment", "do"), 6),
    "linked and more": (("linked", "linked", "called", "reduction", "forall", "shared_loop"), 6),
    "called and remapped": (("called", "called", "remap", "assignment"), 6),
}


def flow_is_known(body):
    """Whether no branch depends on data, which a prediction does not have."""
    return not any(
        isinstance(node, nodes.WhileNode | nodes.Leave)
        or (isinstance(node, nodes.DoNode) and any("$" in name for name in names_in(node.lower, node.upper)))
        or (isinstance(node, nodes.IfNode) and not all(is_known(each.condition) for each in node.branches))
        for node in nodes.walk(body)
    )


def is_known(condition):
    """Whether indices alone decide a condition; counters of other loops are no indices."""
    names = names_in(condition)
    if names == {"pointer$now"}:  # which what is known decides
        return True
    return condition is None or (is_decided_by_indices(condition) and names <= set("ijkl"))


def drawn(part, seeds):
    """Programs of a part, each with its number of processors; a few seeds are no standard Fortran, or have pointers
    that are refused, as they may point to too many variables."""
    made = (printing_program(part, *PARTS[part], seed) for seed in seeds)
    return ((text, procs) for text, procs in made if is_standard(text) and not ("pointed" in part and is_refused(text)))


def is_refused(text):
    """Whether a limit keeps pointers from being followed."""
    body = main_unit(read_program(text, "random.hpf")).body
    return any(isinstance(each, s.Opaque) and "too many variables" in each.reason for each in walk_statements(body))


def on(procs, seeds, parts=tuple(PARTS)):
    """The first program of each of the parts for so many processors."""
    return [next(text for text, number in drawn(part, seeds) if number == procs) for part in parts]


def check(texts, procs, native, system, off=frozenset()):
    programs = [read_program(text, "random.hpf") for text in texts]
    node_programs = [lowered(each, procs, options=Options(disabled=off)) for each in programs]
    run_serially(native, texts)
    found = run_batch(native, node_programs, procs)
    for text, program, node_program, ran in zip(texts, programs, node_programs, found, strict=True):
        assert difference(native.expected(text), ran.answer) == "", f"{text}\n{ran.answer}"
        if flow_is_known(node_program.body):
            counts = counted(Source(program=program), system, Request(procs=procs, off=off))
            assert counts is None or ran.counts == counts, text


def counted(source, system, request):
    """The predicted messages; None where a trip count follows from a scalar that has another value in each loop, which
    is refused by name."""
    try:
        return predicted(source, system, request).counts
    except UnresolvedError as refused:
        if "it has several values" not in str(refused):
            raise
        return None


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("procs", "parts"),
    [
        pytest.param(3, tuple(PARTS)[::2], id="3-every other"),
        pytest.param(8, tuple(PARTS)[1::2], id="8-the others"),
        *(pytest.param(each, tuple(PARTS), id=f"{each}-all", marks=pytest.mark.truth) for each in (3, 4, 8)),
    ],
)
def test_seeds(procs, parts, native, system):
    check(on(procs, range(100), parts), procs, native, system)


REMAPPED = [part for part, (kinds, _) in PARTS.items() if "remap" in kinds]


@pytest.mark.truth
@pytest.mark.parametrize(
    ("procs", "parts"), [(4, REMAPPED), *(pytest.param(each, REMAPPED, marks=pytest.mark.truth) for each in (3, 6, 8))]
)
def test_all_values_move_at_remappings(procs, parts, native, system):
    check(on(procs, range(100), parts), procs, native, system, frozenset({"remaps"}))


PROCS, EACH = (1, 2, 3, 4, 5, 6, 8, 12), 8


IN_TURN = [(part, procs) for at, part in enumerate(PARTS) for procs in PROCS[at % 2 :: 2]]
"""Each part on every other number of processors."""


@pytest.mark.truth
@pytest.mark.parametrize(("part", "procs"), IN_TURN)
def test_many_seeds(part, procs, native, system):
    texts = list(islice((text for text, number in drawn(part, range(1000, 2000)) if number == procs), EACH))
    assert len(texts) == EACH
    check(texts, procs, native, system)
    if part in REMAPPED:
        check(texts, procs, native, system, frozenset({"remaps"}))


def test_there_are_many():
    assert len(IN_TURN) * EACH >= 300


def test_every_procedure_of_the_plain_library_is_called():
    texts = "".join(printing_program("linked", *PARTS["linked"], seed)[0] for seed in range(60))
    library = (Path(__file__).parents[2] / "library" / "plain.F90").read_text().lower()
    names = re.findall(r"^(?:subroutine|\w+ function) (d\w+|idamax)\(", library, re.MULTILINE)
    assert len(names) == 19
    assert [each for each in names if f"{each}(" not in texts] == []
