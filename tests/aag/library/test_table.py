"""The table of costs: against the operations that plain procedures execute, and against published leading terms."""

import subprocess
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from aag.ir.evaluate import evaluate
from aag.ir.expressions import StringLit, Var
from aag.library.binding import bound
from aag.library.pricing import cost_of_table
from aag.library.table import names, row
from esp.tools import tool
from sag.schema import OPERATIONS

HERE = Path(__file__).parent
SIZES = range(2, 10)
DEGREES = {
    **dict.fromkeys(("daxpy", "ddot", "dnrm2", "dasum", "dscal", "drot", "idamax"), 1),
    **dict.fromkeys(("dgemv", "dger", "dsymv", "dtrsv"), 2),
    **dict.fromkeys(("dgemm", "dsyrk", "dtrsm", "dgetrf", "dgetrs", "dpotrf"), 3),
}
EXACT = {"daxpy", "ddot", "dnrm2", "dasum", "dscal", "drot", "idamax", "dtrsv", "dgetrf", "dgetrs", "dpotrf"}
"""Those whose factors alpha and beta do not matter, or that have none."""


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """(procedure, size) -> multiplications, additions and comparisons that it executes."""
    place = tmp_path_factory.mktemp("counted")
    words = [tool("gfortran"), "-DCOUNTED", "-w", str(HERE / "plain.F90"), str(HERE / "counting.F90"), "-o", "counting"]
    subprocess.run(words, cwd=place, check=True)
    printed = subprocess.run([place / "counting"], cwd=place, check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in printed.splitlines()]
    return {(name, int(size)): tuple(map(int, found)) for name, size, *found in rows}


@cache
def terms(name):
    """The unit and amount of each term, from the left."""
    cost = cost_of_table(name)
    args = [StringLit("L") if each == "side" else Var(each) for each in cost.dummies]
    return [(term.unit, term.amount) for term in bound(cost, (args, ()), lambda _: False, None)[0].terms]


def amounts(name, size):
    """Multiplications, additions and comparisons as the table has them, all extents alike."""
    sizes = dict.fromkeys(("m", "n", "k", "nrhs", "kl", "ku", "kd", "nn"), size)
    found = dict.fromkeys(("mul", "add", "cmp"), 0.0)
    for unit, amount in terms(name):
        kind = {"sqrt": "mul", "div": "mul"}.get(unit.split(".")[-1], unit.split(".")[-1])
        found[kind] = found.get(kind, 0.0) + evaluate(amount, sizes)
    return tuple(found[each] for each in ("mul", "add", "cmp"))


def differences(values, times):
    for _ in range(times):
        values = [after - before for before, after in pairwise(values)]
    return values


def test_all_procedures_of_the_plain_library_are_compared(counted):
    assert {name for name, _ in counted} == DEGREES.keys()


@pytest.mark.parametrize("name", DEGREES)
def test_the_leading_term_is_that_of_what_runs(name, counted):
    for kind in range(3 if name in ("idamax", "dasum") else 2):
        runs = [counted[name, size][kind] for size in SIZES]
        table = [amounts(name, size)[kind] for size in SIZES]
        assert differences(table, DEGREES[name]) == pytest.approx(differences(runs, DEGREES[name]))
        if name in EXACT:
            assert table == pytest.approx(runs)


LEADING = {
    # LAPACK Users' Guide, third edition, table 3.13: operations of n**3
    "dgetrf": 2 / 3,
    "dgetri": 4 / 3,
    "dpotrf": 1 / 3,
    "dpotri": 2 / 3,
    "dgeqrf": 4 / 3,
    "dorgqr": 4 / 3,
    "dsytrf": 1 / 3,
    "dsytrd": 4 / 3,
    "dgehrd": 10 / 3,
    "dgebrd": 8 / 3,
    "dtrtri": 1 / 3,
    "dgemm": 2,
    "dsymm": 2,
    "dtrmm": 1,
    "dsyrk": 1,
    "dsyr2k": 2,
    "dgesv": 2 / 3 + 2,
    "dposv": 1 / 3 + 2,
}


@pytest.mark.parametrize("name", LEADING)
def test_leading_terms_are_those_of_the_users_guide(name):
    size = 10**6
    assert sum(amounts(name, size)[:2]) / size**3 == pytest.approx(LEADING[name], rel=1e-4)


def test_a_transform_is_that_of_butterflies():
    """Radix 2: n/2 log2 n butterflies, each a complex product (4, 2) and two sums (0, 4)."""
    assert amounts("zfftf", 1024)[:2] == pytest.approx((512 * 10 * 4, 512 * 10 * 6))
    assert amounts("dfftf", 1024)[:2] == pytest.approx((256 * 10 * 4, 256 * 10 * 6))


@pytest.mark.parametrize("name", names())
def test_every_row_can_be_used(name):
    found = row(name)
    assert set(found.changes) <= set(found.arguments)
    assert found.source
    for unit, amount in terms(name):
        assert unit in (*OPERATIONS, "mul", "add", "cmp", "sqrt")
        for size in (1, 2, 100):
            sizes = dict.fromkeys(("m", "n", "k", "nrhs", "kl", "ku", "kd", "nn"), size)
            assert evaluate(amount, sizes) >= -1e-9


def test_names_are_those_of_all_precisions():
    assert {"sgemm", "dgemm", "cgemm", "zgemm", "dsymv", "zhemv", "izamax", "dznrm2", "zgetrf", "zunmqr"} <= {*names()}
    assert not {"zsymv", "dhemv", "dunmqr"} & {*names()}
