"""DO CONCURRENT: types of indices, localities, and whose names are whose."""

import pytest

from aag.ir.expressions import Var
from aag.ir.printer import print_statement
from aag.ir.statements import Assign, Do, If, Opaque
from aag.ir.visitors import walk_statements

LOOP = "program p\nimplicit none\nreal :: a(8), b(8,8), s, t, w(3)\ninteger :: i, j\n{}\nend program\n"


def shown(program, last=False):
    """The loops of a program as text, the directives before them included."""
    found = [each for each in program.main.body if isinstance(each, Do)]
    return print_statement(found[-1 if last else 0])


def claim(program):
    (loop,) = [each for each in program.main.body if isinstance(each, Do)]
    return loop.independent


@pytest.mark.parametrize(
    ("head", "typed"),
    [
        ("integer :: k = 1:8", 4),
        ("integer(8) :: k = 1:8", 8),
        ("INTEGER (kind=8)::k=1:8", 8),
        ("integer*8 :: k = 1:8", 8),
        ("integer(4) :: k = 1:8, a(k) > 0", 4),
    ],
)
def test_a_type_declares_the_index(read, head, typed):
    program = read(LOOP.format(f"do concurrent ({head})\na(k) = k\nend do"))
    assert program.complete
    assert program.diagnostics == ()
    assert program.main.entity("k").type.bytes == typed


def test_the_index_is_another_variable_where_the_name_is_used_elsewhere(read):
    text = "i = 77\ndo concurrent (i = 1:8)\na(i) = i\nend do\ndo concurrent (j = 1:8)\na(j) = 1\nend do\nprint *, i"
    program = read(LOOP.format(text))
    assert shown(program) == "!hpf$ independent\ndo i_1 = 1, 8\n  a(i_1) = i_1\nend do"
    assert "do j = 1, 8" in shown(program, last=True)


@pytest.mark.parametrize("declared", ["common /c/ i", "namelist /n/ i"])
def test_the_index_is_another_variable_where_others_see_the_name(read, declared):
    text = f"program p\ninteger :: i\nreal a(8)\n{declared}\ndo concurrent (i = 1:8)\na(i) = i\nend do\n"
    more = "read (*, n)\n" if "namelist" in declared else ""
    assert "do i_1 =" in shown(read(text + more + "end\n"))


def test_a_variable_of_the_host_stays_what_it_is(read):
    program = read(
        "program p\nimplicit none\ninteger :: i\nreal :: a(8)\ni = 7\ncall q\nprint *, i\ncontains\n"
        "subroutine q\ndo concurrent (i = 1:8)\na(i) = i\nend do\nend subroutine\nend program\n"
    )
    (loop,) = program.main.contains[0].body
    assert loop.var == "i_1"
    other = read(
        "program p\nimplicit none\ninteger :: i\nreal :: a(8)\ndo concurrent (i = 1:8)\na(i) = i\nend do\ncall q\n"
        "contains\nsubroutine q\nprint *, i\nend subroutine\nend program\n"
    )
    assert other.main.body[0].var == "i_1"


def test_one_inside_another_has_an_index_of_its_own(read):
    text = "do concurrent (i = 1:8)\ndo concurrent (j = 1:8)\nb(i,j) = 1\nend do\nj = i\nend do"
    (outer,) = read(LOOP.format(text)).main.body
    assert outer.body[0].var == "j_1"
    assert outer.body[0].body[0].target.subscripts == (Var("i"), Var("j_1"))
    assert outer.body[1].target == Var("j")


def test_local_is_new(read):
    program = read(LOOP.format("do concurrent (i = 1:8) local(t, w)\nt = i\nw(1) = t\na(i) = w(1)\nend do"))
    assert claim(program).new == ("t", "w")
    program = read(LOOP.format("t = 3\ndo concurrent (i = 1:8) local(t)\nt = i\na(i) = t\nend do\nprint *, t"))
    assert claim(program).new == ("t_1",)
    assert "a(i) = t_1" in shown(program)


def test_local_init_starts_with_the_value_outside(read):
    program = read(LOOP.format("w = 2\ndo concurrent (i = 1:8) local_init(w)\nw(1) = w(1) + i\na(i) = w(1)\nend do"))
    assert shown(program).split("\n") == [
        "!hpf$ independent, new(w_1)",
        "do i = 1, 8",
        "  w_1 = w",
        "  w_1(1) = w_1(1) + i",
        "  a(i) = w_1(1)",
        "end do",
    ]
    assert len(program.main.entity("w_1").shape) == 1


def test_reduce_is_reduction(read):
    text = "do concurrent (i = 1:8) reduce(+: s) reduce(max: t)\ns = 2*a(i) + s\nt = max(a(i), t)\nend do"
    assert claim(read(LOOP.format(text))).reductions == ("s", "t")


def test_what_each_iteration_assigns_first_is_its_own(read):
    text = "do concurrent (i = 1:8)\nt = i\ndo j = 1, 3\nw(j) = t\nend do\na(i) = w(2) + w(1)\nend do"
    assert claim(read(LOOP.format(text))).new == ("t", "w")


@pytest.mark.parametrize(
    "statements",
    [
        "a(i) = t\nt = i",  # read first
        "if (i == 3) t = i",  # one iteration only
        "w(1) = i\na(i) = w(1) + w(2)",  # reads what no iteration assigns
        "w(mod(i, 3) + 1) = i",
        "do j = 1, i - 6\nw(j) = i\nend do",
        "t = t + i",
        "read *, t",
    ],
)
def test_what_may_be_everybodys_is_not(read, statements):
    assert claim(read(LOOP.format(f"do concurrent (i = 1:8)\n{statements}\nend do"))).new == ()


def test_a_named_one_with_several_indices_is_cycled_through_its_innermost_loop(read):
    program = read(LOOP.format("o: do concurrent (i = 1:8, j = 1:8)\nif (i == j) cycle o\nb(i,j) = 1\nend do o"))
    (outer,) = program.main.body
    assert (outer.name, outer.body[0].name) == ("", "o")


def test_labelled_and_continued(read):
    text = "do 10, concurrent (integer :: k = 1:8) &\n & local(t) &\n ! one\n & shared(a)\nt = k\na(k) = t\n10 continue"
    program = read(LOOP.format(text))
    assert claim(program).new == ("t",)
    (head,) = program.concurrent
    assert (head.head.line, head.head.end_line, head.end.line) == (5, 8, 11)


def test_fixed_form(read):
    text = (
        "c     a comment in column 1\n      program p\n      real a(8)\n      do 10 concurrent (i = 1:8)\n"
        "     & local(t)\n      t = i\n   10 a(i) = t\n      end\n"
    )
    program = read(text, "x.f")
    assert program.complete
    assert isinstance(program.main.body[0], Do)


@pytest.mark.parametrize(
    "form", ["forall (integer :: k = 1:8) a(k) = k", "forall (integer(8) :: k = 1:8)\na(k) = k\nend forall"]
)
def test_forall_with_a_type(read, form):
    program = read(f"real a(8)\n{form}\nend\n")
    assert program.complete


@pytest.mark.parametrize(
    ("mask", "statement"),
    [("a(i) > 0", "a(i) = 0"), ("b(i,1) > 0", "a(i) = 0"), ("a(9-i) > 0", "a(9-i) = 1"), ("b(i,j) > 0", "b(i,j) = 0")],
)
def test_masks_that_each_iteration_can_compute(read, mask, statement):
    indices = "i = 1:8, j = 1:8" if "j" in mask else "i = 1:8"
    program = read(LOOP.format(f"do concurrent ({indices}, {mask})\n{statement}\nend do"))
    assert program.complete
    assert sum(isinstance(each, If) for each in walk_statements(program.main.body)) == 1


@pytest.mark.parametrize(
    ("mask", "statement"),
    [("a(i+1) > 0", "a(i) = 0"), ("s > 0", "s = 0"), ("b(1,1) > 0", "b(i,i) = 0"), ("a(1) > 0", "a(1) = 0")],
)
def test_masks_that_read_what_others_assign(read, mask, statement):
    program = read(LOOP.format(f"do concurrent (i = 1:7, {mask})\n{statement}\nend do"))
    assert not program.complete
    (refused,) = program.main.body
    assert isinstance(refused, Opaque)
    assert "compute the mask into a LOGICAL array before the loop" in refused.reason


def test_local_of_what_has_no_shape_of_its_own(read):
    program = read("subroutine s(w)\nreal w(:)\ndo concurrent (i = 1:8) local(w)\nw(1) = i\nend do\nend\nend\n")
    assert [str(each).partition(": ")[2] for each in program.diagnostics] == [
        (
            "W102 LOCAL of w, an array of assumed shape, is not modelled; this statement is left out"
            " (write it in another form, as assignments, IF or loops)"
        )
    ]


def test_names_outside_of_it_stay(read):
    program = read(LOOP.format("i = 3\ndo concurrent (i = 1:8, j = 1:8, i /= j)\nb(i,j) = i\nend do\na(i) = 1"))
    last = program.main.body[-1]
    assert isinstance(last, Assign)
    assert last.target.subscripts == (Var("i"),)
