"""PACK, UNPACK, scans, scatters and MVBITS as other statements: which, and what remains as it was."""

import pytest

from aag.ir.array_functions import with_array_functions
from aag.ir.printer import print_statement
from aag.pipeline import read_program

HEAD = """program p
integer, parameter :: n = 9
real :: x(n), y(n), a(4, 5), b(4, 5), z(20)
integer :: c(n), h(n), k, d
logical :: m(n)
!hpf$ distribute x(block)
!hpf$ align with x :: y
!hpf$ distribute a(block, *)
"""


def changed(text, hidden=frozenset()):
    unit = read_program(f"{HEAD}{text}\nend program p\n", "p.hpf").main
    return unit, with_array_functions(unit, hidden)


def lines(unit):
    return ["".join(line.split()) for each in unit.body for line in print_statement(each).splitlines()]


def test_pack_gives_each_element_that_it_takes_a_place():
    _, unit = changed("y(2:5) = pack(x, m)")
    assert lines(unit) == [
        "taken$of1(:)=merge(1,0,m)",
        "place$of2(:)=sum_prefix(taken$of1(:),dim=1)",
        "place$of2(:)=place$of2(:)*taken$of1(:)",
        "forall(i$3$1=1:n,place$of2(i$3$1)>0)",
        "y(2+(place$of2(i$3$1)-1))=x(i$3$1)",
        "endforall",
    ]
    assert {(each.alignee, each.target) for each in unit.directives[-2:]} == {("taken$of1", "x"), ("place$of2", "x")}


def test_what_pack_reads_is_copied_before_vector_overwrites_it():
    _, unit = changed("x = pack(x + y, x > 1, y)")
    found = lines(unit)
    assert found[0] == "part$of1(:)=x+y"
    assert found[-4] == "x(:)=y"
    assert found[-2].endswith("=part$of1(i$4$1)")


def test_places_in_two_dimensions_count_in_array_element_order():
    _, unit = changed("z = pack(a, a > 0, z)")
    assert [each for each in lines(unit) if "total$" in each or "before$" in each] == [
        "total$of3(:)=sum(taken$of1(:,:),1)",
        "before$of4(:)=sum_prefix(total$of3(:),dim=1,exclusive=.true.)",
        "place$of2(i$5$1,i$5$2)=place$of2(i$5$1,i$5$2)+before$of4(i$5$2)",
    ]


def test_scatters_are_loops():
    _, unit = changed("h = sum_scatter(c, h, c, m)")
    assert [each for each in lines(unit) if each.startswith(("do", "if", "h"))] == [
        "doi$1$1=1,n",
        "if(m(i$1$1))then",
        "h(1+(c(i$1$1)-1))=h(1+(c(i$1$1)-1))+c(i$1$1)",
    ]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("k = size(pack(a, b > 0))", "k=count(b>0)"),
        ("s = sum(pack(a, b > 0))", "s=sum(a,mask=b>0)"),
        ("if (all(pack(m, x > 0))) k = 1", "if(all(m.or..not.x>0))then"),
        ("call mvbits(k, 1, 2, d, 3)", "d=ior(iand(d,not(ishft(ibits(not(d-d),0,2),3))),ishft(ibits(k,1,2),3))"),
        ("z = pack(a, .true.)", "z(1:20)=reshape(a,(/20/))"),
        ("x = maxval_suffix(y, mask=m)", "x(:)=maxval_suffix(merge(y,-huge(0.0),m),dim=1)"),
    ],
)
def test_short_forms(text, made):
    assert lines(changed(text)[1])[0] == made


@pytest.mark.parametrize(
    "text",
    [
        "x = y + cshift(y, 1)",  # nothing to do
        "print *, pack(a, a > 0)",  # its size is not known
        "y = sum_prefix(x, segment=m)",
        "b = sum_prefix(a, dim=k)",
        "x = unpack((/ 1.0, 2.0 /), m, y)",  # a vector without a place
        "forall (k = 1:4) b(k, :) = sum_prefix(a(k, :))",
    ],
)
def test_what_cannot_be_replaced_remains(text):
    before, after = changed(text)
    assert lines(after) == lines(before)
    assert after.entities == before.entities


def test_procedures_of_the_program_hide_these_functions():
    before, after = changed("y = pack(x, m)", frozenset(("pack",)))
    assert after is before
