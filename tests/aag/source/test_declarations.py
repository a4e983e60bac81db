"""Declarations: types, shapes, attributes, implicit typing, program units."""

import pytest

from aag.ir.directives import Bound
from aag.ir.evaluate import evaluate
from aag.ir.expressions import Constructor, Element, IntLit, RealLit, Unary, Var
from aag.ir.spelling import spell
from aag.ir.units import Common, Type

PARAMETERS = "integer, parameter :: dp = selected_real_kind(15), sp = kind(1.0), len = 2*3\n"


@pytest.mark.parametrize(
    ("text", "base", "size"),
    [
        ("integer", "integer", 4),
        ("integer*8", "integer", 8),
        ("integer(1)", "integer", 1),
        ("real", "real", 4),
        ("real*8", "real", 8),
        ("real(8)", "real", 8),
        ("real(kind=8)", "real", 8),
        ("real(dp)", "real", 8),
        ("real(kind=dp)", "real", 8),
        ("real(sp)", "real", 4),
        ("real(kind(1.0d0))", "real", 8),
        ("real(selected_real_kind(6, 30))", "real", 4),
        ("real(real64)", "real", 8),
        ("double precision", "real", 8),
        ("complex", "complex", 8),
        ("complex*16", "complex", 16),
        ("complex(dp)", "complex", 16),
        ("double complex", "complex", 16),
        ("logical", "logical", 4),
        ("logical*1", "logical", 1),
        ("character", "character", 1),
        ("character*8", "character", 8),
        ("character(len=20)", "character", 20),
        ("character(len)", "character", 6),
    ],
)
def test_types(read, text, base, size):
    entity = read(f"{PARAMETERS}{text} x\nend\n").main.entity("x")
    assert (entity.type, entity.shape) == (Type(base=base, bytes=size), None)
    assert "implicit" not in entity.attributes


@pytest.mark.parametrize(
    ("literal", "double"), [("1.0", False), ("1.0d0", True), ("1.0_dp", True), ("1.0_sp", False), ("1.0_8", True)]
)
def test_kinds_of_literals(read, literal, double):
    (stmt,) = read(f"{PARAMETERS}x = {literal}\nend\n").main.body
    assert stmt.value == RealLit(1.0, literal, double)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("real a(8)", (Bound(lower=None, upper=IntLit(8)),)),
        ("real a(0:n)", (Bound(lower=IntLit(0), upper=Var("n")),)),
        ("real, dimension(8) :: a", (Bound(lower=None, upper=IntLit(8)),)),
        ("real, dimension(8) :: b, a(9)", (Bound(lower=None, upper=IntLit(9)),)),
        ("real, allocatable :: a(:)", (Bound(lower=None, upper=None),)),
        ("real a\ndimension a(8)", (Bound(lower=None, upper=IntLit(8)),)),
        ("dimension a(8)\nreal a", (Bound(lower=None, upper=IntLit(8)),)),
        ("common a(8)", (Bound(lower=None, upper=IntLit(8)),)),
        ("real, pointer :: a(:)", (Bound(lower=None, upper=None),)),
        ("allocatable a(:)", (Bound(lower=None, upper=None),)),
    ],
)
def test_shapes(read, text, shape):
    assert read(f"integer, parameter :: n = 4\n{text}\nend\n").main.entity("a").shape == shape


def test_assumed_shapes_of_dummies(read):
    (unit,) = read("subroutine s(a, b, c)\nreal a(:,2:), b(4,*), c(*)\nend\n").units
    assert [each.upper for each in unit.entity("a").shape] == [None, None]
    assert [each.lower for each in unit.entity("a").shape] == [None, IntLit(2)]
    assert [each.upper for each in unit.entity("b").shape] == [IntLit(4), None]
    assert ["assumed_size" in unit.entity(name).attributes for name in "abc"] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("real, save :: a", "save"),
        ("real a\nsave a", "save"),
        ("real, target :: a", "target"),
        ("real a\ntarget :: a", "target"),
        ("external a", "external"),
        ("intrinsic a", "intrinsic"),
        ("real, intent(in) :: a", "intent(in)"),
        ("real a\nintent(inout) a", "intent(inout)"),
        ("real, intent( out ) :: a", "intent(out)"),
        ("real, optional :: a", "optional"),
        ("real a\noptional a", "optional"),
        ("real, allocatable :: a(:)", "allocatable"),
        ("common /c/ a", "common"),
    ],
)
def test_attributes(read, text, attribute):
    (unit,) = read(f"subroutine s(a)\n{text}\nend\n").units
    assert attribute in unit.entity("a").attributes


@pytest.mark.parametrize(
    "use",
    [
        "use iso_fortran_env, only: dp => real64",
        "use, intrinsic :: iso_fortran_env\nimplicit none\ninteger, parameter :: dp = real64",
        "use iso_c_binding, only: dp => c_double",
        "use kinds, only: dp",
        "use kinds, dp => wide",
        "use kinds, only: dp => double",
        "use more",
    ],
)
def test_kinds_of_modules(read, use):
    modules = """
module kinds
use iso_fortran_env, only: dp => real64, wide => real64
implicit none
integer, parameter :: double = dp
end module
module more
use kinds
end module
"""
    main = read(f"{modules}program p\n{use}\nreal(dp) :: x\nx = 1.0_dp + real(kind(x), dp)\nend\n").main
    assert main.entity("x").type == Type(base="real", bytes=8)
    assert main.body[0].value.left == RealLit(1.0, "1.0_dp", double=True)


def test_a_contained_procedure_sees_the_kinds_of_its_host_and_hides_them(read):
    text = """
module m
use iso_fortran_env, only: dp => real64
contains
subroutine s(x)
real(dp) :: x
x = 1
end subroutine
subroutine t(x)
integer, parameter :: dp = 4
real(dp) :: x
x = dp
end subroutine
end module
end
"""
    (module, _) = read(text).units
    assert [each.entity("x").type.bytes for each in module.contains] == [8, 4]
    assert module.contains[1].body[0].value == Var("dp")


def test_a_new_name_for_a_constant_means_the_constant_in_directives_too(read):
    module = "module m\ninteger, parameter :: n = 8\nend module\n"
    directives = "!HPF$ TEMPLATE t(k)\n!HPF$ ALIGN a(j) WITH t(j + k - n)\n!HPF$ DISTRIBUTE t(BLOCK(k))\n"
    main = read(f"{module}program p\nuse m, only: k => n\nreal a(k)\n{directives}a = k\nend\n").main
    template, align, distribute = main.directives
    assert (template.shape[0].upper, distribute.formats[0].size) == (Var("n"), Var("n"))
    assert spell(align.subscripts[0]) == "j + n - n"
    assert (main.entity("a").shape[0].upper, main.body[0].value) == (Var("n"), Var("n"))


def test_constants_are_evaluated_in_order(read):
    unit = read(
        "parameter (n = 10, m = 2*n)\ninteger, parameter :: k = m/3\nreal, parameter :: pi = 3\nreal a(k)\nend\n"
    ).main
    assert [unit.entity(name).attributes for name in "nmk"] == [
        frozenset({"parameter", "implicit"}),
        frozenset({"parameter", "implicit"}),
        frozenset({"parameter"}),
    ]
    values = {"n": 10, "m": 20}
    assert evaluate(unit.entity("k").initial, values) == 6


def test_case_is_shown_as_written_and_folded(read):
    unit = read("REAL Alpha(8)\nalpha = BETA\nEND\n").main
    assert [(each.name, each.shown) for each in unit.entities] == [("alpha", "Alpha"), ("beta", "beta")]


@pytest.mark.parametrize(
    ("rules", "name", "type_"),
    [
        ("", "k", Type(base="integer", bytes=4)),
        ("", "x", Type(base="real", bytes=4)),
        ("implicit real*8 (a-h, o-z)", "x", Type(base="real", bytes=8)),
        ("implicit real*8 (a-h, o-z)", "k", Type(base="integer", bytes=4)),
        ("implicit complex (z), logical (l)", "l", Type(base="logical", bytes=4)),
        ("implicit integer (a-z)", "x", Type(base="integer", bytes=4)),
    ],
)
def test_implicit_types(read, rules, name, type_):
    entity = read(f"program p\n{rules}\n{name} = 1\nend\n").main.entity(name)
    assert entity.type == type_
    assert entity.attributes == {"implicit"}
    assert entity.span.line == 3


def test_implicit_names_of_loops_and_functions(read):
    unit = read(
        "real a(8)\ndo i = 1, 8\n a(i) = f(i)\nend do\nforall (j=1:8) a(j) = 1\nprint *, (a(k), k=1,8)\nend\n"
    ).main
    assert [each.name for each in unit.entities] == ["a", "i", "f", "j", "k"]
    assert unit.entity("f").attributes == {"implicit", "external"}


def test_common(read):
    unit = read("real a(8)\ncommon /blk/ a, b\ncommon c\ncommon /blk/ d(2)\nend\n").main
    assert unit.commons == (Common(block="blk", names=("a", "b", "d")), Common(block="", names=("c",)))


@pytest.mark.parametrize(
    ("data", "a", "b"),
    [
        ("data (a(i), i = 1, 4) /4*2.0/", "2.0", ""),
        ("data a(1), a(n) /1.0, 2.0/, a(3) /3.0/", "(/ 1.0, 2.0, 3.0, 0.0 /)", ""),
        ("data (a(i), i = 4, 1, -1) /1., 2*2., 3./", "(/ 3., 2., 2., 1. /)", ""),
        ("data ((b(i,j), i = 0, 1), j = 1, 2) /1, 2, 3, 4/", "", "reshape((/ 1, 2, 3, 4 /), (/ 2, 2 /))"),
        ("data b(1,1), (b(i,2), i = 0, 1) /5, 2*6/", "", "reshape((/ 0, 5, 6, 6 /), (/ 2, 2 /))"),
        ("data (b(0,i), a(i), i = 1, 2), b(1,1), b(1,2) /1, 1., 1, 2., 2*1/", "(/ 1., 2., 0.0, 0.0 /)", "1"),
    ],
)
def test_data_for_parts_of_arrays(read, data, a, b):
    program = read(f"parameter (n=2)\nreal a(4)\ninteger b(0:1,n)\n{data}\nend\n")
    assert program.complete
    initial = [program.main.entity(name).initial for name in "ab"]
    assert ["" if each is None else spell(each) for each in initial] == [a, b]


@pytest.mark.parametrize("data", ["a(5) /1/", "(a(i), i = 1, k) /4*1/", "a(1) /1, 2/", "a(1:2) /1, 2/", "s(1:1) /'a'/"])
def test_data_that_are_not_used(read, data):
    program = read(f"real a(4)\ncharacter(4) s\ndata {data}\nend\n")
    assert [each.code for each in program.diagnostics] == ["W107"]
    assert not program.complete


@pytest.mark.parametrize(
    ("common", "values"),
    [
        ("common /blk/ b, k\nreal b(2)\ninteger k", ["1.5", "7", "", ""]),
        ("common /blk/ b, k\nreal b(2)\ninteger k\ndata k /8/", ["1.5", "8", "", "7"]),
        ("common /blk/ b, k\nreal b(3)\ninteger k", ["", "", "1.5", "7"]),
        ("common /blk/ b, k\nreal*8 b(2)\ninteger k", ["", "", "1.5", "7"]),
        ("common /blc/ b, k\nreal b(2)\ninteger k", ["", "", "1.5", "7"]),
        ("common /blk/ b\nreal b(2)\ninteger k", ["", "", "1.5", "7"]),
    ],
)
def test_block_data(read, common, values):
    data = "block data\nparameter (seven=7.0)\ncommon /blk/ x(2), n\ndata x /2*1.5/, n /7/\nend\n"
    main, other = read(f"program p\n{common}\nend\n{data}").units
    found = [*(main.entity(name) for name in "bk"), *(other.entity(name) for name in "xn")]
    assert ["" if each.initial is None else spell(each.initial) for each in found] == values


def test_data(read):
    unit = read("integer a(3), b(2,2), c\nreal x\ndata a /1,2,3/, b /4*7/, c /-5/\ndata x /1.5/\nend\n").main
    assert unit.entity("a").initial == Constructor((IntLit(1), IntLit(2), IntLit(3)))
    assert unit.entity("b").initial == IntLit(7)
    assert evaluate(unit.entity("c").initial, {}) == -5
    assert unit.entity("x").initial == RealLit(1.5, "1.5")


def test_initial_values(read):
    unit = read("integer :: n = -4\ninteger, dimension(2) :: v = (/ 1, 2 /)\nend\n").main
    assert unit.entity("n").initial == Unary("-", IntLit(4))
    assert unit.entity("v").initial == Constructor((IntLit(1), IntLit(2)))


def test_derived_types(read):
    unit = read("type pt\n real x, y(3)\n integer*8 k\nend type\ntype(pt) :: p, Q(4)\np%x = q(1)%x\nend\n").main
    assert [each.name for each in unit.entities] == ["p%x", "p%y", "p%k", "q%x", "q%y", "q%k"]
    assert unit.entity("q%y").shown == "Q%y"
    assert [each.upper for each in unit.entity("q%y").shape] == [IntLit(4), IntLit(3)]
    assert unit.entity("q%k").type == Type(base="integer", bytes=8)
    assert (unit.body[0].target, unit.body[0].value) == (Var("p%x"), Element("q%x", (IntLit(1),)))


def test_units(read):
    program = read(
        """\
        module m
          implicit none
          integer, parameter :: dp = kind(1d0), n = 8
          real(dp) g(n)
        contains
          pure function sq(x) result(y)
            real(dp), intent(in) :: x
            real(dp) y
            y = x*x
          end function
          extrinsic(hpf_local) subroutine loc(v)
            real(dp) v(:)
            v = 1.0_dp
          end subroutine loc
        end module m
        subroutine outer(a, b)
          use m
          real a(n)
          a = g
        end
        real*8 function f(x)
          f = x
        end
        program main
          use m, only: sq, dp
          real(dp) z
          z = sq(1.0_dp)
        contains
          subroutine inner
            z = 2
          end subroutine
        end program
        block data init
          common /c/ x
        end block data
        """
    )
    module, outer, function, main, data = program.units
    assert [each.kind for each in program.units] == ["module", "subroutine", "function", "program", "block_data"]
    square, local = module.contains
    assert (square.name, square.arguments, square.result, square.prefixes) == ("sq", ("x",), "y", {"pure"})
    assert (local.kind, local.prefixes) == ("subroutine", {"extrinsic(hpf_local)"})
    assert local.body[0].value.double
    assert (outer.arguments, outer.uses) == (("a", "b"), ("m",))
    assert outer.entity("g") is None
    assert outer.entity("b").attributes == {"implicit"}
    assert function.result == "f"
    assert function.entity("f").type.bytes == 8
    assert main.contains[0].name == "inner"
    assert main.contains[0].entities == ()
    assert (data.name, data.commons[0].names) == ("init", ("x",))
    assert program.main is main
    assert (module.span.line, module.end.line) == (1, 15)
    assert program.complete


def test_a_main_program_needs_no_program_statement(read):
    assert (read("x = 1\nend\n").main.name, read("x = 1\nend program\n").main.kind) == ("main", "program")


def test_interfaces_declare_functions(read):
    unit = read(
        """\
        program p
          implicit none
          real x
          interface
            function f(y)
              integer f, y
            end function
            real*8 function g(y)
              integer y
            end function
            subroutine s(y)
              integer y
            end subroutine
          end interface
          x = f(1) + g(2)
          call s(1)
        end program
        """
    ).main
    assert unit.entity("f").type == Type(base="integer", bytes=4)
    assert unit.entity("g").type == Type(base="real", bytes=8)
    assert "external" in unit.entity("g").attributes


def test_arrays_of_the_host_and_of_modules_are_arrays(read):
    program = read(
        "module m\nreal g(8)\nend module\nprogram p\nuse m\nreal a(8)\ncontains\nsubroutine s\nx = a(1) + g(2)\n"
        "end subroutine\nend program\n"
    )
    value = program.main.contains[0].body[0].value
    assert [type(each).__name__ for each in (value.left, value.right)] == ["Element", "Element"]


def test_lines_are_kept(read):
    text = "program p\n\n  ! note\nend\n"
    assert read(text).lines == ("program p", "", "  ! note", "end")


def test_calls_may_be_nested_deeply_in_declarations(read):
    text = "integer, parameter :: n = 5\nreal :: a(4), w(max(2, min(n, 3))), v(max(1, min(2, max(n, 1))))\na = 1\nend\n"
    main = read(text).main
    shapes = [main.entity(name).shape[0].upper for name in ("w", "v")]
    assert [evaluate(each, {"n": 5}) for each in shapes] == [3, 2]
