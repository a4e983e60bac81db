import pytest

from aag.ir.expressions import Binary, IntLit, RealLit, Unary, Var
from aag.ir.units import Type
from aag.mapping.constants import constants_of
from aag.source.read import read_program

REAL = Type(base="real", bytes=4)
LOGICAL = Type(base="logical", bytes=4)


def test_parameters_in_any_order(hpf):
    unit = hpf.unit(hpf.parameter("m", Binary("*", IntLit(2), Var("n"))), hpf.parameter("n", 5))
    assert dict(constants_of(unit, {})[0]) == {"m": 10, "n": 5}


def test_set_comes_first(hpf):
    unit = hpf.unit(hpf.parameter("n", 5), hpf.parameter("m", Binary("*", IntLit(2), Var("n"))))
    constants, problems = constants_of(unit, {"N": 7})
    assert dict(constants) == {"n": 7, "m": 14}
    assert problems == ()


def test_an_integer_constant_truncates(hpf):
    unit = hpf.unit(hpf.parameter("n", Unary("-", RealLit(7.5, "7.5"))), hpf.parameter("x", 3, of=REAL))
    constants = constants_of(unit, {})[0]
    assert dict(constants) == {"n": -7, "x": 3.0}
    assert isinstance(constants["x"], float)


def test_what_cannot_be_evaluated_is_left_out(hpf):
    unit = hpf.unit(
        hpf.parameter("n", Binary("/", IntLit(1), IntLit(0))),
        hpf.parameter("m", Binary("+", Var("n"), IntLit(1))),
        hpf.parameter("k", 3),
    )
    assert dict(constants_of(unit, {})[0]) == {"k": 3}


def test_a_local_constant_hides_what_is_known(hpf):
    unit = hpf.unit(hpf.parameter("n", 5), hpf.parameter("m", Binary("+", Var("n"), Var("k"))), hpf.scalar("k"))
    assert dict(constants_of(unit, {}, {"n": 100, "k": 1})[0]) == {"n": 5, "m": 6}


@pytest.mark.parametrize(
    ("of", "written", "given", "value"),
    [
        (REAL, RealLit(1.5, "1.5"), 2, 2.0),
        (REAL, RealLit(1.5, "1.5"), 2.25, 2.25),
        (Type(base="integer", bytes=4), 3, 4.0, 4),
        (LOGICAL, 1, True, True),
        (Type(base="complex", bytes=8), 1, 2, 2 + 0j),
        (Type(base="character", bytes=1), 1, "x", "x"),
    ],
)
def test_set_values_take_the_declared_type(hpf, of, written, given, value):
    constants, problems = constants_of(hpf.unit(hpf.parameter("c", written, of=of)), {"c": given})
    assert problems == ()
    assert constants["c"] == value
    assert type(constants["c"]) is type(value)


@pytest.mark.parametrize(
    ("of", "given"),
    [
        (REAL, "x"),
        (Type(base="integer", bytes=4), 1.5),
        (Type(base="integer", bytes=4), float("inf")),
        (LOGICAL, 1),
        (REAL, True),
    ],
)
def test_set_values_of_another_type_are_refused(hpf, of, given):
    _, problems = constants_of(hpf.unit(hpf.parameter("c", 1, line=7, of=of)), {"c": given})
    assert [str(each) for each in problems] == [
        (f"x.hpf:7: E316 ‹set c={given}›: C cannot have this value, it is {of.base} (give C a value of its type)")
    ]


def test_names_of_variables_may_be_set(hpf):
    assert constants_of(hpf.unit(hpf.scalar("n")), {"N": 7})[1] == ()


NAMED = """\
program p
  integer, parameter :: nn(3) = (/3, 4, 5/), k = sum(nn), r = minval(nn)
  integer, parameter :: m = maxval(nn) + size(nn), q = product((/2, k/))
  integer, parameter :: one(1) = (/7/), s = maxval(one)
  real :: a(k, m, q, r, s)
  a = 0
end
"""


def test_reductions_of_array_constants():
    constants = constants_of(read_program(NAMED, "x.f90").main, {})[0]
    assert dict(constants) == {"k": 12, "m": 8, "q": 24, "r": 3, "s": 7}
