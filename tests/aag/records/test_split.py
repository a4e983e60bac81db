"""Variables of derived types become variables for their components."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.printer import print_program
from aag.ir.spelling import spell
from aag.ir.statements import Opaque
from aag.source.read import read_program

POINT = "type point\n real x, y\nend type point\n"
HEAD = f"{POINT}type box\n type(point) low, high(2)\n integer n(3)\nend type box\n"
DECLARED = f"{HEAD}type(point) p, q, r(8), w(4,4)\ntype(box) b, c(5)\nreal s, v(8)\ninteger i\n"


def statements(text, declared=DECLARED):
    """The printed statements of a main program."""
    program = read_program(f"{declared}{text}\nend\n", "x.f90")
    lines = print_program(program).splitlines()
    first = next(at for at, line in enumerate(lines) if line.strip() == "continue")
    return [line.strip() for line in lines[first + 1 : -1]]


def made(text, declared=DECLARED):
    return statements(f"continue\n{text}", declared)


def warned(text, declared=DECLARED):
    program = read_program(f"{declared}{text}\nend\n", "x.f90")
    assert not program.complete
    return [each.message for each in program.diagnostics if each.code in ("W102", "W107", "W109")]


REFERENCES = {
    "s = p%x": ["s = p%x"],
    "r(3)%x = r(i)%y": ["r%x(3) = r%y(i)"],
    "r%x = v": ["r%x = v"],
    "r(2:4)%x = r(5:7)%y": ["r%x(2:4) = r%y(5:7)"],
    "c(i)%n(2) = b%n(1)": ["c%n(i, 2) = b%n(1)"],
    "c(i)%n = 0": ["c%n(i, :) = 0"],
    "c%n(1) = 0": ["c%n(:, 1) = 0"],
    "c(2)%high(1)%x = b%low%y": ["c%high%x(2, 1) = b%low%y"],
    "s = r(b%n(2))%x": ["s = r%x(b%n(2))"],
    "s = sum(w(:, 2)%x)": ["s = sum(w%x(:, 2))"],
    "i = size(r) + size(c(1)%n)": ["i = size(r%x) + size(c%n(1, :))"],
    "i = lbound(r%x, 1) + lbound(b%n, 1)": ["i = lbound(r%x(:), 1) + lbound(b%n, 1)"],
}


@pytest.mark.parametrize("text", REFERENCES)
def test_references(text):
    assert made(text) == REFERENCES[text]


ASSIGNMENTS = {
    "p = q": ["p%x = q%x", "p%y = q%y"],
    "r = p": ["r%x = p%x", "r%y = p%y"],
    "r(1:3) = r(2:4)": ["r%x(1:3) = r%x(2:4)", "r%y(1:3) = r%y(2:4)"],
    "p = point(1, y=s)": ["p%x = 1.0", "p%y = s"],
    "p = point(p%y, 2.0)": ["p%x = p%y", "p%y = 2.0"],
    "p = point(1.0, p%x)": ["p%y = p%x", "p%x = 1.0"],
    "p = point(p%y, p%x)": ["component_1 = p%y", "component_2 = p%x", "p%x = component_1", "p%y = component_2"],
    "b%high = p": ["b%high%x = p%x", "b%high%y = p%y"],
    "r(1:2) = (/ p, point(1, 2) /)": ["r%x(1:2) = (/ p%x, 1.0 /)", "r%y(1:2) = (/ p%y, 2.0 /)"],
    "w = cshift(w, 1, 2)": ["w%x = cshift(w%x, 1, 2)", "w%y = cshift(w%y, 1, 2)"],
    "b%high(2) = b%low": ["b%high%x(2) = b%low%x", "b%high%y(2) = b%low%y"],
}


@pytest.mark.parametrize("text", ASSIGNMENTS)
def test_assignments(text):
    assert made(text) == ASSIGNMENTS[text]


def test_one_value_for_many_elements_with_an_array_component():
    declared = "type t\n integer n(2:4)\nend type\ntype(t) a, c(5)\n"
    assert made("c(2:3) = a", declared) == ["do element_1 = 2, 4", "c%n(2:3, element_1) = a%n(element_1)", "end do"]
    assert made("c = t((/ 7, 8, 9 /))", declared) == ["c%n(:, 2) = 7", "c%n(:, 3) = 8", "c%n(:, 4) = 9"]
    assert made("c = t(0)", declared) == ["c%n = 0"]


def test_a_statement_of_many_in_a_construct():
    assert made("forall (i = 1:7) r(i) = r(i + 1)") == [
        "forall (i = 1:7)",
        "r%x(i) = r%x(i + 1)",
        "r%y(i) = r%y(i + 1)",
        "end forall",
    ]
    assert made("if (p%x > 1) q = p") == ["if (p%x > 1) then", "q%x = p%x", "q%y = p%y", "end if"]


def test_output_goes_element_by_element():
    assert made("print *, p, r(2:3)") == ["print *, p%x, p%y, (r%x(item_1), r%y(item_1), item_1 = 2, 3)"]
    assert made("print *, b%high") == ["print *, (b%high%x(item_1), b%high%y(item_1), item_1 = 1, 2)"]
    assert made("print *, r(::-1)") == ["print *, (r%x(item_1), r%y(item_1), item_1 = 8, 1, -1)"]
    assert made("print *, (r(i), i = 1, 3)") == ["print *, (r%x(i), r%y(i), i = 1, 3)"]
    inner, outer = "item_1 = 1, 4", "item_2 = 1, 4"
    assert made("print *, w") == [f"print *, ((w%x(item_1, item_2), w%y(item_1, item_2), {inner}), {outer})"]


PROCEDURES = f"""module m
{POINT}contains
  function middle(a, b) result(c)
    type(point), intent(in) :: a, b
    type(point) :: c
    c = point(0.5*(a%x + b%x), 0.5*(a%y + b%y))
  end function middle
  subroutine move(a, by)
    type(point), intent(inout) :: a(:)
    type(point), optional :: by
    if (present(by)) a%x = a%x + by%x
  end subroutine move
end module m
program main
  use m
  type(point) p, q, r(8)
"""


def test_procedures_pass_all_components():
    program = read_program(f"{PROCEDURES}call move(r(2:3), by=p)\nend\n", "x.f90")
    module, main = program.units
    middle, move = module.contains
    assert (middle.kind, middle.arguments) == ("subroutine", ("c%x", "c%y", "a%x", "a%y", "b%x", "b%y"))
    assert move.arguments == ("a%x", "a%y", "by%x", "by%y")
    assert spell(move.body[0].branches[0].condition) == "present(by%x)"
    (call,) = main.body
    assert [spell(each) for each in call.args] == ["r%x(2:3)", "r%y(2:3)"]
    assert [key for key, _ in call.keywords] == ["by%x", "by%y"]


def test_functions_are_called_before():
    assert made("q = middle(middle(p, q), r(2))", PROCEDURES) == [
        "call middle(middle$value%x, middle$value%y, p%x, p%y, q%x, q%y)",
        "call middle(middle$value2%x, middle$value2%y, middle$value%x, middle$value%y, r%x(2), r%y(2))",
        "q%x = middle$value2%x",
        "q%y = middle$value2%y",
    ]
    message = "middle returns a derived type, and cannot be called before this statement; this statement is left out"
    assert warned("forall (i = 1:8) r(i) = middle(r(i), p)", PROCEDURES) == [message]


def directives(text, declared=DECLARED):
    program = read_program(f"{declared}{text}\nx = 1\nend\n", "x.f90")
    return [line.strip() for line in print_program(program).splitlines() if line.strip().startswith("!hpf$")]


def test_a_variable_is_a_template_of_its_components():
    assert directives("!hpf$ distribute r(block)\n!hpf$ align v(i) with r(i)") == [
        "!hpf$ template r(8)",
        "!hpf$ align r%x(:) with r(:)",
        "!hpf$ align r%y(:) with r(:)",
        "!hpf$ distribute r(block)",
        "!hpf$ align v(i) with r(i)",
    ]
    aligned = directives("!hpf$ template t(8)\n!hpf$ align r(i) with t(i)\n!hpf$ align v(i) with r(i)")
    assert aligned[1:] == [
        "!hpf$ align r%x(i) with t(i)",
        "!hpf$ align r%y(i) with t(i)",
        "!hpf$ align v(i) with r%x(i)",
    ]


def test_directives_of_a_definition():
    declared = "type t\n real u(4,4), v(4)\n!hpf$ distribute u(block, *)\n!hpf$ align v(i) with u(i, *)\nend type\n"
    assert directives("type(t) a, c(3)", declared) == [
        "!hpf$ distribute a%u(block, *)",
        "!hpf$ align a%v(i) with a%u(i, *)",
        "!hpf$ distribute c%u(*, block, *)",
        "!hpf$ align c%v(*, i) with c%u(*, i, *)",
    ]


def entities(text):
    unit = read_program(text, "x.f90").main
    return {each.name: None if each.initial is None else spell(each.initial) for each in unit.entities}


def test_initial_values():
    declared = "type t\n integer :: n = 3\n real x\nend type\n"
    assert entities(f"{declared}type(t) a\ntype(t) :: b = t(x=1)\nx = 1\nend\n") == {
        "a%n": "3",
        "a%x": None,
        "b%n": "3",
        "b%x": "1.0",
        "x": None,
    }
    assert entities(f"{declared}type(t), parameter :: c = t(4, 2.0)\nreal z(c%n)\nend\n")["c%n"] == "4"


def test_extents_mean_what_they_mean_in_the_definition():
    text = """module m
      integer, parameter :: n = 3
      type t
        real x(n)
      end type
    end module
    subroutine sub(a, n)
      use m
      integer n
      type(t) a(n)
      a(1)%x = n
    end subroutine
    end
    """
    sub = next(each for each in read_program(text, "x.f90").units if each.name == "sub")
    assert [spell(each.upper) for each in sub.entity("a%x").shape] == ["n", "3"]


LEFT_OUT = {
    "type t\n real, pointer :: x\nend type\ntype(t) a\na%x = 1": "component x of type t is a POINTER",
    "type t\n real, allocatable :: x(:)\nend type\ntype(t) a\na%x = 1": "component x of type t is ALLOCATABLE",
    "type, extends(point) :: t\n real z\nend type\ntype(t) a\na%z = 1": "type t extends another type",
    "type(point), pointer :: a\na%x = 1": "a is a POINTER",
    "type t\n real z\ncontains\n procedure :: go\nend type\ntype(t) a\na%z = a%go()": (
        "type-bound procedures are not modelled"
    ),
    "p = p + q": "+ of values of a derived type is not modelled",
    "read (*, *, iostat=b%n(1)) s": "a component in the control list of input or output is not modelled",
    "p = 3": "3 is not of a derived type",
}


@pytest.mark.parametrize("text", LEFT_OUT)
def test_what_is_not_modelled_is_named(text):
    own = text.startswith("type")
    declared = POINT if own else DECLARED
    assert warned(text, declared) == [f"{LEFT_OUT[text]}; this statement is left out"]


def test_a_condition_that_is_not_modelled_keeps_its_construct():
    declared = "type t\n real, pointer :: x\nend type\ntype(t) a\n"
    program = read_program(f"{declared}if (a%x > 1) then\ns = 1\nend if\nend\n", "x.f90")
    assert not isinstance(program.main.body[0], Opaque)
    assert [each.code for each in program.diagnostics] == ["W109"]


ERRORS = {
    "p%z = 1": "type point has no component z",
    "p%x%y = 1": "p%x has no components",
    "p = point(1)": "the component y of type point has no value",
    "p = point(1, 2, 3)": "type point has 2 components, and 3 values are given",
    "p = point(x=1, z=2)": "type point has no component z",
    "p = point(v, 1.0)": "the component x of type point is a scalar, its value an array",
    "p = b": "a value of type box cannot be assigned to type point",
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text):
    with pytest.raises(SourceError) as caught:
        read_program(f"{DECLARED}{text}\nend\n", "x.f90")
    assert [(each.code, each.message) for each in caught.value.diagnostics] == [("E143", ERRORS[text])]


def test_types_of_components_are_checked():
    with pytest.raises(SourceError) as caught:
        read_program(f"{DECLARED}print *, p%x .and. .true.\nend\n", "x.f90")
    assert [each.code for each in caught.value.diagnostics] == ["E136"]
