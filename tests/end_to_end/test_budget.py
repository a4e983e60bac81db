"""Texts that multiply what is written: the work is counted, and the same on every computer."""

import pytest

from aag.budget import LINES, OPERANDS
from aag.diagnostics import SourceError
from aag.ir.visitors import walk_expressions
from aag.source.read import read_program
from tests.aag.source.reading import read_file
from tests.end_to_end import fuzz

MOST_BYTES = 2**30
ONE = "real a(10)\n!hpf$ distribute a(block)\n"


def repeated(line, count):
    return "".join(line.replace("{}", str(k)).replace("{-1}", str(k - 1)) for k in range(1, count + 1))


LOOP = """integer, parameter :: n = 64
real(8) :: a(n), b(n)
integer :: k(n), i
!hpf$ distribute (block) :: a, b, k
a = 1
b = 2
k = 3
do i = 2, n
if (k(i) < 0) then
"""
LOOP_END = "end if\nend do\n"

TEXTS = {
    "statement functions": (
        "f0(x) = x + 1\n" + repeated("f{}(x) = f{-1}(x) + f{-1}(x)\n", 20) + "print *, f20(1.0)\n",
        1,
        "E116",
    ),
    "functions of themselves": (
        "f0(x) = x + 1\n" + repeated("f{}(x) = f{-1}(f{-1}(x))\n", 20) + "print *, f20(1.0)\n",
        1,
        "E116",
    ),
    "shifted bits": ("integer, parameter :: k = ishft(1, 10000000000)\nreal a(k)\na = 1\n", 1, "E312"),
    "shifted bits of a scalar": (ONE + "k = ishft(1, 10000000000)\ndo i = 1, k\na(3) = 1\nend do\n", 0, ""),
    "texts": (
        "character(len=*), parameter :: p0 = 'ab'\n"
        + repeated("character(len=*), parameter :: p{} = p{-1}//p{-1}\n", 40)
        + "print *, p40\n",
        0,
        "",
    ),
    "texts of a scalar": ("character(len=80) :: c\nc = 'ab'\n" + "c = c//c\n" * 40 + "print *, c\n", 0, ""),
    "squares as a bound": (
        "integer, parameter :: k0 = 3\n"
        + repeated("integer, parameter :: k{} = k{-1}*k{-1}\n", 40)
        + "real a(k40)\na = 1\n",
        1,
        "E319",
    ),
    "squares of a scalar": (ONE + "k = 3\n" + "k = k*k\n" * 40 + "do i = 1, k\na = a + 1\nend do\n", 0, ""),
    "squares in a loop": (ONE + "k = 3\ndo j = 1, 10000\nk = k*k\nend do\ndo i = 1, k\na = a + 1\nend do\n", 0, ""),
    "very many squares in a loop": (
        ONE + "k = 3\ndo j = 1, 100000\nk = k*k\nend do\ndo i = 1, k\na = a + 1\nend do\n",
        0,
        "",
    ),
    "loops that only count": (
        ONE + "do i = 1, 100000\ndo j = 1, 100000\nend do\nend do\ndo k = 1, j\na(3) = 1\nend do\n",
        None,
        "",
    ),
    "a bracket too many in a subscript": (
        ONE + "forall (i=1:n, j=a(b(c(1))):m:2, a(i,j) > 0) a(i,j) = b(a(i,b(j,c(k,l(m+b(j,c(k,l(m+1))))))))),j)\n",
        1,
        "E123",
    ),
    "a bracket too many in FORMAT": (
        "write (6, 10) x\n10 formt((((((((1x,i5),f8.3),(e12.4)),a(i(j(k(l(m(n(o(1)))))))),3x)),2x)))),a)\n",
        1,
        "W101",
    ),
    "many branches": (
        ONE + "if (k == 0) then\n" + repeated("else if (k == {}) then\na = {}\n", 200) + "end if\n",
        0,
        "",
    ),
    "very many branches": (
        ONE + "if (k == 0) then\n" + repeated("else if (k == {}) then\na = {}\n", 1000) + "end if\n",
        0,
        "",
    ),
    "many branches in a loop": (LOOP + repeated("else if (k(i) == {}) then\nb(i) = a(i) + {}\n", 60) + LOOP_END, 0, ""),
    "very many branches in a loop": (
        LOOP + repeated("else if (a(i) + b(i-1) > {}) then\nk(i) = {}\n", 80) + LOOP_END,
        0,
        "",
    ),
    "many constants": (repeated("integer, parameter :: k{} = {} + 1\n", 1000) + "print *, k1000\n", 0, ""),
}


@pytest.mark.parametrize(
    "what", [pytest.param(each, marks=pytest.mark.truth) if each.startswith("very many") else each for each in TEXTS]
)
def test_soon_and_in_little_memory(what, monkeypatch):
    """10 s and 1 GiB, and 20 ms for each statement."""
    text, code, finding = TEXTS[what]
    monkeypatch.setattr(fuzz, "MEMORY_BYTES", MOST_BYTES)
    given = fuzz.Case(0, f"program p\n{text}end\n", ("run", "-"))
    outcome = fuzz.run(given, limit_s=10 + 0.02 * text.count("\n"))
    assert not outcome.why, outcome
    assert code is None or outcome.code == code, outcome
    assert finding in outcome.err


def test_included_lines(tmp_path):
    for level in range(5):
        (tmp_path / f"l{level}.inc").write_text(f"include 'l{level + 1}.inc'\n" * 10)
    (tmp_path / "l5.inc").write_text("x = x + 1\n")
    (tmp_path / "p.f90").write_text("program p\ninclude 'l0.inc'\nend\n")
    with pytest.raises(SourceError) as error:
        read_file(tmp_path / "p.f90")
    assert [each.code for each in error.value.diagnostics] == ["E116"]
    assert error.value.diagnostics[0].span.file.endswith(".inc")


LONG = "z = f(f(z, 1.0), f(1.0, z))\n"


def test_many_intricate_statements():
    """Together they are more than the parser is first allowed."""
    wide = "if (a(b(1)) > 0) z = " + " + ".join(f"a(b({k}))*(c({k})-d({k}))" for k in range(12)) + "\n"
    assert read_program("real a(9)\ninteger b(9)\n" + wide * 30 + "end\n", "x.f90").main is not None


@pytest.mark.truth
def test_a_file_that_is_included_often(tmp_path):
    """More lines than every program has, but few for what is written."""
    count = 40
    (tmp_path / "common.inc").write_text("".join(f"integer k{k}\n" for k in range(LINES.always // count + 1)))
    units = "".join(f"subroutine s{k}\ninclude 'common.inc'\nend\n" for k in range(count))
    (tmp_path / "p.f90").write_text("program p\nend\n" + units)
    assert len(read_file(tmp_path / "p.f90").units) == count + 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("#define a0 x\n" + repeated("#define a{} a{-1}+a{-1}\n", 18) + "y = a18\nend\n", "characters"),
        ("#include 'l0.inc'\nend\n".replace("'", '"'), "lines"),
    ],
)
def test_macros(tmp_path, text, what):
    for level in range(4):
        (tmp_path / f"l{level}.inc").write_text(f'#include "l{level + 1}.inc"\n' * 12)
    (tmp_path / "l4.inc").write_text("x = x + 1\n")
    (tmp_path / "p.F90").write_text(text)
    with pytest.raises(SourceError, match=rf"E116 the output of the preprocessor exceeds [\d,]+ {what} here"):
        read_file(tmp_path / "p.F90")


def test_a_long_program_of_statement_functions():
    """More operands than every program has, but few for its statements."""
    text = "f(x, y) = (x + 1)*(y - 2) + x*y/(x + y)\n" + LONG * 220 + "end\n"
    program = read_program(text, "x.f90")
    assert program.complete
    assert sum(1 for _ in walk_expressions(program.main.body)) > OPERANDS.always
