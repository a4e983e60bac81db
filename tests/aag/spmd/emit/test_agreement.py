"""What is predicted can be emitted, and the other way round: one list of constructs, no silent differences.

Each construct is lowered. Either the program can be emitted, and a compiler takes the text, or the prediction is not
complete, or it rests on an assumption that says so.
"""

import random
import re
import subprocess

import pytest

from aag.diagnostics import SourceError
from aag.ir import expressions as e
from aag.ir import statements as s
from aag.ir.intrinsics import INTRINSICS
from aag.ir.visitors import walk_expressions, walk_statements
from aag.pipeline import main_unit, read_program
from aag.spmd.emit import NotEmitted, emit
from esp.building import compiler_of_mpi
from tests.aag.spmd.emit.native import lowered

HEAD = """\
program p
  implicit none
  integer, parameter :: n = 8
  integer :: i, j, k, ix(n), m(n, n)
  double precision :: a(n), b(n), c(n, n), d(n, n), r(n), s, t
  complex(8) :: z(n), w
  character(len=4) :: name(n), word
  logical :: f(n), g
  double precision, target :: u(n)
  double precision, pointer :: v(:)
!hpf$ distribute (block) :: a, b, z, name, f
!hpf$ distribute (block, *) :: c, d, m
"""

STATEMENTS = {
    s.Assign: [
        "a = b",
        "a(2:n) = b(1:n-1)",
        "s = a(3)",
        "r = 1.0d0",
        "c(2, :) = b",
        "a(ix(1)) = s",
        "s = -a(k)**2",
        "c(:, 1) = d(1, :)",
        "a(ix) = b",
        "a = b(ix)",
        "a = (/ 1, 2, 3, 4, 5, 6, 7, 8 /)",
        "a = r(n:1:-1)",
        "word = name(2)(1:3)",
        "name = word // 'x'",
        "w = (1.0d0, 2.0d0) * z(1)",
        "v => u\nv = 1\nif (associated(v, u)) s = v(2)\nnullify (v)",
        "f = a > b .and. .not. f",
    ],
    s.Do: [
        "do i = 1, n\n  a(i) = b(i)\nend do",
        "do i = 2, n\n  a(i) = a(i-1) + b(i)\nend do",
        "do i = n, 1, -2\n  s = s + a(i)\nend do",
        "do i = 1, n\n  do j = i, n\n    c(i, j) = d(j, i)\n  end do\nend do",
    ],
    s.DoWhile: ["do while (s < 3.0d0)\n  s = s + a(1)\n  a = a + 1\nend do", "do\n  exit\nend do"],
    s.If: ["if (a(1) > 0.0d0) s = 1.0d0", "if (g) then\n  a = b\nelse if (k > 1) then\n  b = a\nelse\n  s = 0\nend if"],
    s.SelectCase: [
        "select case (k)\ncase (1, 3:5)\n  a = b\ncase default\n  s = 1\nend select",
        "select case (word)\ncase ('a')\n  a = b\nend select",
    ],
    s.Forall: [
        "forall (i = 2:n) a(i) = a(i-1)",
        "forall (i = 1:n, j = 1:n, i /= j) c(i, j) = d(j, i)",
        "forall (i = 1:n)\n  where (c(i, :) > 0) c(i, :) = 1\nend forall",
    ],
    s.Where: ["where (a > b) a = b", "where (f)\n  a = b\nelsewhere (a > 1)\n  b = a\nelsewhere\n  a = 0\nend where"],
    s.CallStmt: [
        "call system_clock(k)",
        "call cpu_time(s)",
        "call random_number(a)",
        "call random_number(s)",
        "call random_seed()",
        "call outside(a)",
        "call date_and_time(word)",
    ],
    s.Io: [
        "print *, a, s",
        "print '(8f8.3)', a",
        "write (*, *) (a(i), i = 1, n), c(2, :)",
        "read *, k, a, r",
        "read (5, '(f8.3)') s",
        "read (*, *) ((c(i, j), i = j, n), j = 1, n)",
        "read (3, *, iostat=k) a(2)",
        "read (3, *, end=7) s\n7 continue",
        "open (3, file='x', err=7)\n7 continue",
        "open (3, file='x')",
        "close (3)",
        "rewind (3)",
        "backspace (3)",
        "inquire (file='x', exist=g)",
        "write (word, '(i4)') k",
        "read (word, *) s",
        "write (word, *) a(1)",
        "read (word, *) a(1)",
        "write (3, rec=k) s",
        "write (name(1), *) k",
        "print *, sum(a), maxval(c)",
        "print *, a(ix)",
        "read *, a(ix)",
        "open (newunit=k, file='x')",
    ],
    s.Allocate: [],
    s.Remap: ["!hpf$ redistribute a(cyclic)"],
    s.Stop: ["if (g) stop"],
    s.Return: [],
    s.Enter: [],
    s.Restore: [],
    s.Exit: ["do i = 1, n\n  if (a(i) > 1) exit\n  s = s + a(i)\nend do"],
    s.Cycle: ["do i = 1, n\n  if (r(i) > 1) cycle\n  s = s + r(i)\nend do"],
    s.Continue: ["continue", "7 continue"],
    s.Point: [],
    s.Opaque: ["assign 7 to k\n7 continue", "nullify (word)", "v => u(2:3)\nv(1) = s"],
}
"""Statements by their class, in the main program. Those that a list of single statements cannot hold have none."""

EXPRESSIONS = {
    e.IntLit: "k = 1",
    e.RealLit: "s = 1.5",
    e.ComplexLit: "w = (1.0, 2.0)",
    e.LogicalLit: "g = .true.",
    e.StringLit: "word = 'a'",
    e.Var: "s = t",
    e.Section: "a(1:3) = b(2:4)",
    e.Element: "s = a(1)",
    e.Call: "a = sqrt(b)",
    e.Unary: "a = -b",
    e.Binary: "a = a + b",
    e.Constructor: "r = (/ (i, i = 1, n) /)",
    e.ImpliedDo: "print *, (a(i), i = 1, n)",
    e.Component: "",
    e.Substring: "word(1:2) = 'ab'",
    e.OpaqueExpr: "",
}
"""One statement for each class of expression; components need a derived type, and opaque ones have no form."""

PATTERNS = (
    "s = {}(t)",
    "k = {}(k)",
    "k = {}(k, 2)",
    "s = {}(s, t)",
    "a = {}(a)",
    "a = {}(a, b)",
    "s = {}(a)",
    "c = {}(c, d)",
    "w = {}(w)",
    "word = {}(word)",
    "g = {}(f)",
    "a = {}(a, 1)",
    "k = {}(word)",
    "a = {}(a, b, f)",
    "z = {}(z)",
    "k = {}(f)",
    "k = {}(a, dim=1)",
    "r = {}(c, dim=1)",
    "s = {}()",
    "f = {}(name, word)",
    "a = {}(k)",
    "g = {}(a)",
    "k = {}(name(1), word)",
    "s = {}(m)",
    "k = {}(c(:, 1))",
    "k = {}(k, k, 2)",
    "a = {}(k, a)",
    "r = {}(real(a))",
    "s = {}(1.0, 2.0)",
    "w = {}(cmplx(s))",
    "word = {}(k)",
    "k = {}('a')",
    "f = {}(f)",
    "r = {}(a(1), 1, 8)",
    "c = {}(d)",
    "s = {}(cmplx(s))",
    "k = {}(s)",
    "word = {}('a', 3)",
    "ix(:2) = {}(c)",
    "c = {}(d, (/ 8, 8 /))",
)
"""Where an intrinsic function may stand. Each function fits one of them at least."""

WITHOUT_PATTERN = frozenset("allocated associated present number_of_processors findloc".split())
"""Functions of what the programs here do not have; gfortran 12 crashes on FINDLOC."""


@pytest.fixture(scope="module")
def syntax(tmp_path_factory, native):
    """The lines of a text that gfortran refuses."""
    folder = tmp_path_factory.mktemp("syntax")

    def refused(text):
        (folder / "x.f90").write_text(text)
        words = [compiler_of_mpi(), "-fsyntax-only", "-w", "-fmax-errors=0", f"-I{native.folder}", "x.f90"]
        said = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False).stderr
        return {int(found[1]) for found in re.finditer(r"^x\.f90:(\d+):\d+:$", said, re.MULTILINE)}

    return refused


def program_of(statements):
    return HEAD + "\n".join(statements) + "\nend program p\n"


def agreed(statement):
    """Whether a statement can be emitted; where it cannot, the prediction must say something."""
    try:
        node_program = lowered(read_program(program_of([statement]), "p.hpf"), 2)
    except SourceError:
        return False
    refused = ""
    try:
        emit(node_program)
    except NotEmitted as error:
        refused = str(error)
    assert not refused or not node_program.complete or node_program.notes, f"{statement} is complete, but {refused}"
    return not refused


def check(statements, native, syntax):
    """All that can be emitted compiles."""
    emitted = [each for each in statements if agreed(each)]
    emission = emit(lowered(read_program(program_of(emitted), "p.hpf"), 2))
    native.library(emission)
    text = emission.files["p.f90"]
    lines = text.splitlines()
    assert [lines[at - 1] for at in sorted(syntax(text))] == []
    return emitted


def test_all_classes_are_listed():
    for listed, module, base in ((STATEMENTS, s, s.Stmt), (EXPRESSIONS, e, e.Expr)):
        known = {each for each in vars(module).values() if isinstance(each, type) and issubclass(each, base)}
        assert set(listed) == known - {base}
    for kind, texts in STATEMENTS.items():
        for text in texts:
            body = main_unit(read_program(program_of([text]), "p.hpf")).body
            assert any(isinstance(each, kind) for each in walk_statements(body)), text
    for kind, text in EXPRESSIONS.items():
        body = main_unit(read_program(program_of([text]), "p.hpf")).body
        assert not text or any(isinstance(each, kind) for each in walk_expressions(body)), text


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [kind for kind in STATEMENTS if STATEMENTS[kind]], ids=lambda kind: kind.__name__)
def test_statements(kind, native, syntax):
    for text in STATEMENTS[kind]:
        check([text], native, syntax)


def test_expressions(native, syntax):
    assert len(check([each for each in EXPRESSIONS.values() if each], native, syntax)) >= len(EXPRESSIONS) - 4


def valid(syntax):
    """Statements with intrinsic functions that are Fortran; those of coarrays are for other compiler flags."""
    names = sorted(name for name in INTRINSICS.keys() - {"num_images", "this_image"} if "$" not in name)
    statements = [pattern.format(name) for name in names for pattern in PATTERNS]
    wrong = syntax(program_of(statements))
    first = HEAD.count("\n") + 1
    return [each for at, each in enumerate(statements, start=first) if at not in wrong]


def test_some_intrinsic_functions(native, syntax):
    """Each function fits a pattern; of some functions one statement is compiled."""
    of_each = {re.search(r"= (\w+)\(", each)[1]: each for each in valid(syntax)}
    forms = {"", "prefix"}  # gfortran has no HPF_LIBRARY
    modelled = {each.name for each in INTRINSICS.values() if each.form not in forms and each.arguments}
    modelled = {each for each in modelled if "$" not in each}
    assert modelled - of_each.keys() == WITHOUT_PATTERN
    assert len(check(random.Random(1).sample(list(of_each.values()), 60), native, syntax)) > 40


@pytest.mark.truth
def test_all_intrinsic_functions(native, syntax):
    assert len(check(valid(syntax), native, syntax)) > 400
