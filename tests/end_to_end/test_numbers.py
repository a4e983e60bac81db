"""Whole numbers of any size and reals that are not finite, wherever a program can write a number."""

import pytest

from aag.diagnostics import SourceError
from aag.graph.aau import Seq
from esp.api import predict
from interpreter.engine import HANDLERS
from tests.end_to_end import fuzz

NUMBERS = (
    "2147483648",
    "-2147483649",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1" + "0" * 19,
    "1" + "0" * 30,
    "9" * 5000,
    "1e308",
    "1d400",
    "2**31",
    "2**62",
    "2**63 - 1",
    "2**100",
    "2.0**1023*4",
    "1d308*1d308",
    "int(1e30)",
    "ishft(1, 62)",
    "sqrt(-1.0)",
    "0.0/0.0",
    "-1d308*1d308",
    "huge(1d0)*10",
)

ONE = "real a(10)\n!hpf$ distribute a(block)\n"
TWO = "real a(10), b(10)\n!hpf$ distribute a(block)\n!hpf$ distribute b(block)\n"
PLACES = {
    "PARAMETER of integers": "integer, parameter :: k = {}\n" + ONE + "a = k\nprint *, k\n",
    "PARAMETER of reals": "real, parameter :: x = {}\n" + ONE + "a = x\nprint *, x\n",
    "PARAMETER as extent": "integer, parameter :: k = {}\nreal a(k)\n!hpf$ distribute a(block)\na = k\n",
    "upper bound": "real a({})\n!hpf$ distribute a(block)\na = 1\n",
    "lower bound": "real a({}:5)\n!hpf$ distribute a(block)\na = 1\n",
    "two extents": "real a(10, {}, {})\n!hpf$ distribute a(block,*,*)\na = 1\n",
    "extent of a copy": "real a({})\na = 1\n",
    "ALLOCATE": "real, allocatable :: a(:)\n!hpf$ distribute a(block)\nallocate (a({}))\na = 1\n",
    "end of DO": ONE + "do i = 1, {}\na(3) = a(3) + 1\nend do\n",
    "end of an owned DO": ONE + "do i = 1, {}\na(i) = 1\nend do\n",
    "both ends of DO": ONE + "do i = {}, {}\na(3) = a(3) + 1\nend do\n",
    "a wide DO": ONE + "do i = -{}, {}\nx = x + 1\nend do\n",
    "step of DO": ONE + "do i = 1, 10, {}\na(i) = 1\nend do\n",
    "negative step of DO": ONE + "do i = 10, 1, -{}\na(i) = 1\nend do\n",
    "end of FORALL": ONE + "forall (i = 1:{}) a(i) = 1\n",
    "step of FORALL": ONE + "forall (i = 1:10:{}) a(i) = 1\n",
    "subscript": ONE + "a({}) = 1\n",
    "offset": TWO + "do i = 1, 10\na(i) = b(i + {})\nend do\n",
    "stride": TWO + "forall (i = 1:10) a(i) = b({}*i)\n",
    "stride and offset": TWO + "forall (i = 1:10) a(i) = b({} - i*{})\n",
    "stride of all signs": TWO + "forall (i = 1:10) a(mod(i*i*{}, 10) + 1) = b(i**{})\n",
    "end of a section": TWO + "a(1:{}) = b(1:{})\n",
    "step of a section": TWO + "a(1:10:{}) = b(1:10:{})\n",
    "shift": TWO + "a = cshift(b, {})\nb = eoshift(a, {})\n",
    "dimension": TWO + "a = cshift(b, 1, {})\ns = sum(a, {})\n",
    "copies": "real a(10), b(10, 10)\n!hpf$ distribute a(block)\n!hpf$ distribute b(block,*)\nb = spread(a, 2, {})\n",
    "shape": ONE + "a = reshape((/1, 2/), (/{}/))\n",
    "offset of ALIGN": "real a(10), b(10)\n!hpf$ distribute a(block)\n!hpf$ align b(i) with a(i+{})\nb = 1\n",
    "stride of ALIGN": "real a(10), b(10)\n!hpf$ distribute a(block)\n!hpf$ align b(i) with a({}*i-{})\nb = 1\n",
    "TEMPLATE": "real a(10)\n!hpf$ template t({})\n!hpf$ distribute t(block)\n!hpf$ align a(i) with t(i+1)\na = 1\n",
    "CYCLIC": "real a(10)\n!hpf$ distribute a(cyclic({}))\na = 1\n",
    "BLOCK": "real a(10)\n!hpf$ distribute a(block({}))\na = 1\n",
    "PROCESSORS": "real a(10)\n!hpf$ processors p({})\n!hpf$ distribute a(block) onto p\na = 1\n",
    "two extents of PROCESSORS": "real a(10,10)\n!hpf$ processors p(2,{})\n"
    "!hpf$ distribute a(block,block) onto p\na = 1\n",
    "DO WHILE": ONE + "k = 1\ndo while (k < {})\na = 1\nk = k*2\nend do\nprint *, k\n",
    "DO WHILE of reals": ONE + "x = 1\ndo while (x < {})\na = 1\nx = x*x + x*1d10\nend do\nprint *, x\n",
    "a scalar": ONE + "k = {}\ndo i = k, k + 5\na(3) = 1\nend do\n",
    "a product": ONE + "k = {}\nk = k*k\ndo i = k, k + 5\na(3) = 1\nend do\nprint *, k\n",
    "an index array": "integer m(10)\n" + ONE + "m(1) = {}\na(m(1)) = 1\n",
    "values": ONE + "a = {}\nx = 1/{}\nif (x > {}) a = 2\nprint *, x, {}\nwrite (*, *) {}\n",
    "exponent": ONE + "a = a**{}\nx = 2**{}\n",
    "CASE": ONE + "select case (k)\ncase ({})\na = 1\nend select\n",
    "kinds": "integer*{} k\nreal(kind={}) r\ncharacter(len={}) c\nk = 1\nr = 1\nc = 'x'\n",
    "DATA": "real a(10)\ninteger m(3)\ndata m /3*{}/\ndata a /{}*0/\na = 1\n",
    "implied DO": ONE + "print *, (a(i), i = 1, {})\nprint *, (/ (i, i = 1, {}) /)\n",
    "sum of a section": "real a(10,10)\n!hpf$ distribute a(block,*)\ns = sum(a(1:{},:))\ns = maxval(a(:,{}))\n",
    "label": ONE + "goto 99999\nx = {}\n",
}
OPTIONS = (
    "--set=k={}",
    "--procs={}",
    "--grid={}",
    "--grid=2x{}",
    "--line={}",
    "--aau={}",
    "--distribute=a=(CYCLIC({}))",
)


def outcome(text, *words):
    found = fuzz.run(fuzz.Case(0, f"program p\n{text}end\n", ("run", "-", *words)))
    assert not found.why, (text, words, found)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("turn", range(len(PLACES)))
def test_a_number_anywhere(turn):
    """Every place with a tenth of the numbers, different ones in each."""
    text = list(PLACES.values())[turn]
    for number in NUMBERS[turn % 10 :: 10]:
        outcome(text.replace("{}", number))


@pytest.mark.truth
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("words", [(), ("--procs", "4")])
def test_all_numbers_everywhere(place, words):
    for number in NUMBERS:
        outcome(PLACES[place].replace("{}", number), *words)


@pytest.mark.parametrize("option", OPTIONS)
def test_numbers_in_options(option):
    for number in NUMBERS:
        found = outcome(PLACES["a scalar"].replace("{}", "1"), option.replace("{}", number.replace(" ", "")))
        assert found.code == 2 or option.startswith(("--set", "--distribute")) or number in found.out + found.err, found


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("k = 9223372036854775808", "<stdin>:2:5: E115 the whole number 9223372036854775808 does not fit in 64 bits"),
        ("x = 1d400", "<stdin>:2:5: E115 the real number 1d400 is too large for eight bytes"),
        ("real a(2**62)", "<stdin>:2:8: E312 the shape of a: 4611686018427387904 cannot be used: bounds,"),
        ("do i = 1, 2**62\nk = k + i\nend do\nprint *, k", "E508 the flow depends on 4611686018427387904"),
    ],
)
def test_where_and_what(text, place):
    found = outcome(text + "\n")
    assert found.code == 1
    assert place in " ".join(found.err.split())


def test_the_largest_that_is_one():
    found = outcome("integer*8, parameter :: k = 9223372036854775807\nx = 1.7976931348623157d308\nprint *, k, x\n")
    assert found.code == 0


def test_a_statement_that_needs_too_much_memory_is_named(monkeypatch):
    def handler(*_):
        raise MemoryError

    monkeypatch.setitem(HANDLERS, Seq, handler)
    with pytest.raises(SourceError, match=":2:1: E510 not enough memory"):
        predict("program p\nx = 1\n\ny = 2\nend\n", procs=4)
