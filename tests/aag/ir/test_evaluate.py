"""Scalar values with Fortran's meaning; gfortran is the judge where it is at hand."""

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aag.ir.evaluate import NUMBER_OF_PROCESSORS, Unknown, evaluate, evaluate_int
from aag.ir.expressions import Binary, Element, IntLit, Unary, Var
from aag.source.expression_parser import Parser
from aag.source.joining import Text

ENV = {"i": 7, "j": -2, "x": 2.5, "y": -0.5, "t": True, "f": False, "s": "ab", "z": 1 + 2j}


def expr(text):
    """An expression from its text."""
    return Parser(Text(text, ((0, "x", 1, 1),))).expression()


INTEGERS = [
    "i/j",
    "-i/2",
    "i*j",
    "i**2",
    "j**3",
    "2**(-1)",
    "mod(i, j)",
    "mod(-i, 4)",
    "modulo(-i, 4)",
    "modulo(i, j)",
    "sign(i, j)",
    "max(i, j, 3)",
    "min(i, j)",
    "abs(j)",
    "nint(x)",
    "nint(-x)",
    "nint(y)",
    "int(-x)",
    "floor(y)",
    "ceiling(y)",
    "i - (j - 3)",
    "-j**2",
    "ishft(i, 2)",
    "ishft(i, -1)",
    "iand(i, 5)",
    "ior(i, 8)",
    "ieor(i, 2)",
    "kind(1.0)",
    "kind(1d0)",
    "selected_real_kind(6)",
    "selected_real_kind(p=12)",
    "selected_int_kind(9)",
    "selected_int_kind(10)",
    "huge(1)",
]
REALS = [
    "x/2",
    "x**2",
    "x**j",
    "sqrt(x)",
    "exp(y)",
    "sin(x)",
    "atan2(y, x)",
    "mod(x, 2.0)",
    "sign(x, y)",
    "real(i)/2",
    "log10(x)",
]
LOGICALS = [
    "i > j",
    "x <= 2.5",
    "t .and. f",
    "t .or. f",
    ".not. t",
    "t .eqv. f",
    "t .neqv. f",
    "i == 7 .and. y < 0",
    "1 .ne. 2",
]


def test_values_are_those_of_gfortran(tmp_path):
    lines = [f"print *, {text}" for text in (*INTEGERS, *REALS, *LOGICALS)]
    source = (
        "integer i, j\ndouble precision x, y\nlogical t, f\ni = 7\nj = -2\nx = 2.5d0\ny = -0.5d0\nt = .true.\n"
        "f = .false.\n" + "\n".join(lines).replace("mod(x, 2.0)", "mod(x, 2.0d0)") + "\nend\n"
    ).replace("real(i)/2", "dble(i)/2")
    (tmp_path / "x.f90").write_text(source)
    subprocess.run(["gfortran", "-o", "x", "x.f90"], cwd=tmp_path, check=True, capture_output=True)
    output = subprocess.run([tmp_path / "x"], check=True, capture_output=True, text=True).stdout.split()
    values = [evaluate(expr(text), ENV) for text in (*INTEGERS, *REALS, *LOGICALS)]
    assert [int(each) for each in output[: len(INTEGERS)]] == values[: len(INTEGERS)]
    reals = slice(len(INTEGERS), len(INTEGERS) + len(REALS))
    assert [float(each) for each in output[reals]] == pytest.approx(values[reals], rel=1e-14)
    assert [each == "T" for each in output[reals.stop :]] == values[reals.stop :]


@given(st.integers(-50, 50), st.integers(-50, 50).filter(bool))
def test_division_truncates(a, b):
    assert evaluate(Binary("/", IntLit(a), IntLit(b)), {}) == int(a / b)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f .and. unknown > 1", False),
        ("unknown > 1 .and. f", False),
        ("t .or. unknown > 1", True),
        ("unknown > 1 .or. t", True),
        ("number_of_processors()", 8),
        ("s // 'c'", "abc"),
        ("s < 'b'", True),
        ("z * 2", 2 + 4j),
    ],
)
def test_three_values_and_others(text, value):
    assert evaluate(expr(text), {**ENV, NUMBER_OF_PROCESSORS: 8}) == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("n + m", "n"),
        ("t .and. n > 1", "n"),
        ("i / 0", "/"),
        ("2**200", "**"),
        ("number_of_processors()", "number_of_processors()"),
        ("foo(1)", "foo()"),
        ("sqrt(-x)", "sqrt()"),
        ("s + 1", "+"),
        ("z < 1", "<"),
        ("max(i, n)", "n"),
    ],
)
def test_what_is_not_known_is_named(text, name):
    with pytest.raises(Unknown) as error:
        evaluate(expr(text), ENV)
    assert error.value.name == name


def test_elements_are_not_evaluated_here():
    with pytest.raises(Unknown, match="the value of a is not known: array elements"):
        evaluate(Element("a", (IntLit(1),)), {})


@pytest.mark.parametrize("text", ["x", "t", "s"])
def test_an_integer_is_needed(text):
    with pytest.raises(Unknown, match="expected an integer"):
        evaluate_int(expr(text), ENV)
    assert evaluate_int(Unary("-", Var("i")), ENV) == -7
