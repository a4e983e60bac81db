"""The directive grammar, form by form."""

import pytest

from aag.ir.directives import Align, Bound, Distribute, Dynamic, Format, Inherit, Processors, Sequence, Star, Template
from aag.ir.expressions import Binary, Call, Element, IntLit, Section, Var
from aag.ir.statements import Remap

N = Var("n")
I = Var("i")
J = Var("j")


def bound(upper, lower=None):
    return Bound(lower=lower, upper=upper)


def only(found, kind):
    """The one directive of a kind."""
    (one,) = [each for each in found if isinstance(each, kind)]
    return one


def test_processors_of_any_rank(directives):
    found = directives("!HPF$ PROCESSORS P(4), Q(2,n), R\n!HPF$ PROCESSORS :: S(NUMBER_OF_PROCESSORS()/2, 2)")
    half = Binary("/", Call("number_of_processors", ()), IntLit(2))
    assert [(each.name, each.shape) for each in found] == [
        ("p", (bound(IntLit(4)),)),
        ("q", (bound(IntLit(2)), bound(N))),
        ("r", ()),
        ("s", (bound(half), bound(IntLit(2)))),
    ]
    assert all(isinstance(each, Processors) for each in found)


def test_processors_with_dimension(directives):
    found = directives("!HPF$ PROCESSORS, DIMENSION(4) :: P, Q(2,2)")
    assert [(each.name, each.shape) for each in found] == [
        ("p", (bound(IntLit(4)),)),
        ("q", (bound(IntLit(2)), bound(IntLit(2)))),
    ]


def test_template_with_bounds(directives):
    (found,) = directives("!HPF$ TEMPLATE T(0:n+1, n)")
    assert isinstance(found, Template)
    assert found.shape == (bound(Binary("+", N, IntLit(1)), IntLit(0)), bound(N))


def test_template_combined_with_distribute(directives):
    found = directives("!HPF$ TEMPLATE, DISTRIBUTE(BLOCK,*) ONTO P, DIMENSION(8,8) :: T, U(n,n)")
    assert [type(each) for each in found] == [Template, Template, Distribute, Distribute]
    assert found[1].shape == (bound(N), bound(N))
    assert (found[3].distributee, found[3].onto) == ("u", "p")


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("BLOCK", (Format(kind="block"),)),
        ("BLOCK(8)", (Format(kind="block", size=IntLit(8)),)),
        ("CYCLIC", (Format(kind="cyclic"),)),
        ("CYCLIC(n), *", (Format(kind="cyclic", size=N), Format(kind="*"))),
        ("*, *, BLOCK", (Format(kind="*"), Format(kind="*"), Format(kind="block"))),
        ("GEN_BLOCK(sizes)", (Format(kind="gen_block", size=Var("sizes")),)),
        ("INDIRECT(owner)", (Format(kind="indirect", size=Var("owner")),)),
    ],
)
def test_formats(directives, text, formats):
    (found,) = directives(f"!HPF$ DISTRIBUTE a({text})")
    assert found.formats == formats
    assert (found.distributee, found.onto, found.form) == ("a", None, "prescriptive")


@pytest.mark.parametrize(
    ("text", "names", "formats", "onto", "form"),
    [
        ("DISTRIBUTE a(BLOCK) ONTO p", "a", 1, "p", "prescriptive"),
        ("DISTRIBUTE (BLOCK,*) ONTO p :: a, b", "ab", 2, "p", "prescriptive"),
        ("DISTRIBUTE (BLOCK) :: a", "a", 1, None, "prescriptive"),
        ("DISTRIBUTE a(BLOCK), b(CYCLIC)", "ab", 1, None, "prescriptive"),
        ("DISTRIBUTE a", "a", None, None, "prescriptive"),
        ("DISTRIBUTE a ONTO p", "a", None, "p", "prescriptive"),
        ("DISTRIBUTE a *(BLOCK)", "a", 1, None, "descriptive"),
        ("DISTRIBUTE a *(BLOCK) ONTO *p", "a", 1, "p", "descriptive"),
        ("DISTRIBUTE *(BLOCK) ONTO p :: a", "a", 1, "p", "descriptive"),
        ("DISTRIBUTE a *", "a", None, None, "transcriptive"),
        ("DISTRIBUTE a * ONTO *", "a", None, None, "transcriptive"),
        ("DISTRIBUTE * :: a, b", "ab", None, None, "transcriptive"),
    ],
)
def test_distribute_in_all_forms(directives, text, names, formats, onto, form):
    found = directives("!HPF$ " + text)
    assert "".join(each.distributee for each in found) == names
    for each in found:
        assert (None if each.formats is None else len(each.formats)) == formats
        assert (each.onto, each.form) == (onto, form)


@pytest.mark.parametrize(
    ("text", "axes", "target", "subscripts"),
    [
        ("a(i,j) WITH t(i,j)", ("i", "j"), "t", (I, J)),
        ("a(i) WITH t(2*i+1)", ("i",), "t", (Binary("+", Binary("*", IntLit(2), I), IntLit(1)),)),
        ("a(i) WITH t(n-i)", ("i",), "t", (Binary("-", N, I),)),
        ("a(i,j) WITH t(j,i)", ("i", "j"), "t", (J, I)),
        ("a(i,*) WITH t(i)", ("i", "*"), "t", (I,)),
        ("a(:,*) WITH t(:)", (":", "*"), "t", (Section(None, None, None),)),
        ("a(i) WITH t(i,*)", ("i",), "t", (I, Star())),
        ("a(*) WITH t(*)", ("*",), "t", (Star(),)),
        ("a(i) WITH t(1,i)", ("i",), "t", (IntLit(1), I)),
        ("a(:) WITH t(1:n)", (":",), "t", (Section(IntLit(1), N, None),)),
        ("a(:) WITH t(2:n:2)", (":",), "t", (Section(IntLit(2), N, IntLit(2)),)),
        ("a WITH t", None, "t", None),
        ("a(i) WITH t", ("i",), "t", None),
    ],
)
def test_align(directives, text, axes, target, subscripts):
    (found,) = directives("!HPF$ ALIGN " + text)
    assert (found.alignee, found.axes, found.target, found.subscripts) == ("a", axes, target, subscripts)
    assert found.form == "prescriptive"


@pytest.mark.parametrize(
    "text",
    [
        "ALIGN a(i,j), b(i,j) WITH t(j,i)",
        "ALIGN (i,j) WITH t(j,i) :: a, b",
        "ALIGN (i,j) WITH t(j,i), DYNAMIC :: a, b",
        "DYNAMIC, ALIGN (i,j) WITH t(j,i) :: a, b",
    ],
)
def test_align_of_several(directives, text):
    found = [each for each in directives("!HPF$ " + text) if isinstance(each, Align)]
    assert [(each.alignee, each.axes, each.subscripts) for each in found] == [
        ("a", ("i", "j"), (J, I)),
        ("b", ("i", "j"), (J, I)),
    ]


def test_align_without_subscripts_behind_colons(directives):
    (found,) = directives("!HPF$ ALIGN WITH t :: a")
    assert (found.alignee, found.axes, found.target, found.subscripts) == ("a", None, "t", None)


def test_descriptive_align(directives):
    (found,) = directives("!HPF$ ALIGN a(i) WITH *t(i)")
    assert (found.target, found.form) == ("t", "descriptive")


def test_subscripts_of_a_target_may_be_elements(directives):
    (found,) = directives("integer m(5)\n!HPF$ ALIGN a(i) WITH t(m(2))")
    assert found.subscripts == (Element("m", (IntLit(2),)),)


def test_lists_of_names(directives):
    found = directives(
        """\
        !HPF$ DYNAMIC a, b
        !HPF$ DYNAMIC :: c
        !HPF$ INHERIT d
        !HPF$ SEQUENCE
        !HPF$ SEQUENCE :: a, /blk/
        !HPF$ NO SEQUENCE b
        !HPF$ NOSEQUENCE c
        """
    )
    assert [each.names for each in found] == [("a", "b"), ("c",), ("d",), (), ("a", "/blk/"), ("b",), ("c",)]
    assert [type(each) for each in found] == [Dynamic, Dynamic, Inherit, Sequence, Sequence, Sequence, Sequence]
    assert [each.sequential for each in found[3:]] == [True, True, False, False]


def test_combined_attributes(directives):
    found = directives("!HPF$ DISTRIBUTE (BLOCK) ONTO P, DYNAMIC, NO SEQUENCE :: A")
    assert only(found, Distribute).onto == "p"
    assert only(found, Dynamic).names == ("a",)
    assert not only(found, Sequence).sequential


def test_remapping_stands_where_it_was_written(body):
    found = body(
        """\
        real a(8), b(8)
        a = 1
        !HPF$ REALIGN a(i) WITH b(i)
        do k = 1, 2
          b = a
        !HPF$ REDISTRIBUTE (CYCLIC) ONTO p :: a, b
        end do
        !HPF$ REDISTRIBUTE a(BLOCK)
        """,
        defer=True,
    )
    assert [type(each).__name__ for each in found] == ["Assign", "Remap", "Do", "Remap"]
    assert found[1].directive == only([found[1].directive], Align)
    assert [each.directive.distributee for each in found[2].body if isinstance(each, Remap)] == ["a", "b"]
    assert found[3].directive.formats == (Format(kind="block"),)
    assert found[3].span.line == 9


def test_a_remapping_may_be_the_first_statement(body):
    assert isinstance(body("real a(8)\n!HPF$ REDISTRIBUTE a(BLOCK)")[0], Remap)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INDEPENDENT", ((), (), (), None)),
        ("INDEPENDENT, NEW(t, u)", ((), ("t", "u"), (), None)),
        ("INDEPENDENT NEW(t)", ((), ("t",), (), None)),
        ("INDEPENDENT, REDUCTION(s)", ((), (), ("s",), None)),
        ("INDEPENDENT, REDUCTION(+:s)", ((), (), ("s",), None)),
        ("INDEPENDENT, REDUCTION(MAX: s, t)", ((), (), ("s", "t"), None)),
        ("INDEPENDENT(j, i), NEW(t), REDUCTION(s)", (("j", "i"), ("t",), ("s",), None)),
        ("INDEPENDENT, ON HOME(a(i))", ((), (), (), Element("a", (I,)))),
        ("INDEPENDENT, ON HOME (a(i)), RESIDENT", ((), (), (), Element("a", (I,)))),
        ("INDEPENDENT, ON a(i)", ((), (), (), Element("a", (I,)))),
    ],
)
def test_independent(body, text, expected):
    (loop,) = body(f"real a(8), s, t, u\n!HPF$ {text}\ndo i = 1, 8\n a(i) = 1\nend do")
    found = loop.independent
    assert (found.indices, found.new, found.reductions, found.home) == expected
    assert found.span.line == 3


def test_independent_belongs_to_the_next_loop_alone(body):
    outer = body("real a(8,8)\n!HPF$ INDEPENDENT\ndo i = 1, 8\ndo j = 1, 8\n a(i,j) = 1\nend do\nend do")[0]
    assert outer.independent is not None
    assert outer.body[0].independent is None


def test_independent_nest(body):
    (outer,) = body(
        "real a(8,8)\n!HPF$ INDEPENDENT\ndo i = 1, 8\n!HPF$ INDEPENDENT\ndo j = 1, 8\n a(i,j) = 1\nend do\nend do"
    )
    assert outer.independent.span.line == 3
    assert outer.body[0].independent.span.line == 5


@pytest.mark.parametrize("loop", ["forall (i=1:8) a(i) = 1", "forall (i=1:8)\n a(i) = 1\nend forall"])
def test_independent_before_forall(body, loop):
    (found,) = body(f"real a(8)\n!HPF$ INDEPENDENT\n{loop}")
    assert found.independent is not None


def test_directives_of_an_interface_body_are_not_those_of_the_unit(read):
    unit = read(
        """\
        program p
          real a(8)
          interface
            subroutine s(b)
              real b(:)
        !HPF$ DISTRIBUTE b(CYCLIC)
            end subroutine
          end interface
        !HPF$ DISTRIBUTE a(BLOCK)
          call s(a)
        end program
        """
    ).main
    assert [each.distributee for each in unit.directives] == ["a"]


def test_directives_belong_to_their_unit(read):
    program = read(
        """\
        module m
          real g(8)
        !HPF$ DISTRIBUTE g(BLOCK)
        contains
          subroutine s(b)
            real b(8)
        !HPF$ DISTRIBUTE b(CYCLIC)
            b = 0
          end subroutine
        end module
        """
    )
    (module,) = program.units
    assert [each.distributee for each in module.directives] == ["g"]
    assert [each.distributee for each in module.contains[0].directives] == ["b"]


def test_every_directive_knows_its_place(read):
    (found,) = read("program p\n  real a(8)\n  !hpf$ distribute (block) :: a\nend\n").main.directives
    assert (found.span.line, found.span.column, found.span.end_column) == (3, 31, 32)
