"""Programs on which a naive use of the parser goes wrong, as they are found in the wild."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from aag.ir.statements import Assign, Do, Forall
from aag.ir.visitors import walk_statements


def loops(program):
    return [each for each in walk_statements(program.main.body) if isinstance(each, Do)]


def test_a_comment_between_loops_that_share_a_label_drops_nothing(read):
    program = read(
        "c     column 1\n"
        "      do 10 i = 1, 8\n"
        "c between the two\n"
        "chpf$ independent\n"
        "      do 10 j = 1, 8\n"
        "! inside\n"
        "      x = i + j\n"
        "   10 continue\n"
        "      end\n",
        "x.f",
    )
    outer, inner = loops(program)
    assert (outer.var, outer.independent) == ("i", None)
    assert (inner.var, inner.independent.span.line) == ("j", 4)
    assert isinstance(inner.body[0], Assign)


def test_independent_stands_before_its_loop_and_not_inside(read):
    program = read("!HPF$ INDEPENDENT\ndo i = 1, 8\n do j = 1, 8\n  x = 1\n end do\nend do\nend\n")
    outer, inner = loops(program)
    assert outer.independent is not None
    assert inner.independent is None


def test_distribute_between_declarations(read):
    program = read("program p\n!HPF$ PROCESSORS q(4)\nimplicit none\n!HPF$ DISTRIBUTE a(BLOCK)\nreal a(8)\nend\n")
    assert len(program.main.directives) == 2


def test_include_in_column_one_does_not_change_the_form(tmp_path, read):
    (tmp_path / "a.h").write_text("real a(8)\n")
    program = read('#include "a.h"\n  a = 1\nend\n', str(tmp_path / "x.f90"))
    assert len(program.main.body) == 1


def test_a_first_line_that_looks_like_fixed_form(read):
    assert len(read("c = 1\n* = 2\nx = 1\nend\n", defer=True).main.body) == 3


def test_text_behind_column_72_is_no_code(read):
    text = "c\n      x = 1" + " " * 61 + "+ 1\n      y = 'a" + "b" * 60 + "'     \n      end\n"
    assert read(text, "x.f", form="fixed72").main.body[0].value.value == 1


def test_extrinsic_prefixes(read):
    program = read(
        "EXTRINSIC(HPF_LOCAL) SUBROUTINE s(x)\nx = 1\nEND\n"
        "extrinsic ( f77_local ) real function f(x)\nf = x\nend\n"
        "subroutine t\nend\n"
    )
    assert [each.prefixes for each in program.units] == [
        {"extrinsic(hpf_local)"},
        {"extrinsic(f77_local)"},
        frozenset(),
    ]


@pytest.mark.parametrize("bad", ["@process", "x[1] = 2", "pause", "x  y = 1"])
def test_what_the_parser_rejects_is_isolated(read, bad):
    program = read(f"real a(8)\nx = 1\n{bad}\ny = 2\nend\n")
    assert [type(each).__name__ for each in program.main.body] == ["Assign", "Opaque", "Assign"]


@pytest.mark.parametrize("shape", ["a({})", "f(1, {})", "(1 + a({}))", "a(a({}), 1)"])
def test_work_does_not_explode_with_the_depth(body, shape):
    def calls(depth):
        text = "1"
        for _ in range(depth // shape.count("(")):
            text = shape.format(text)
        (found,), made = counted(lambda: body(f"real a(9,9)\nx = {text}"))
        assert isinstance(found, Assign)
        return made

    calls(4)  # what is kept of the first time
    assert calls(16) < 8 * calls(8)  # twice as deep: below a third power


def test_many_operators_do_not_exhaust_the_stack(body):
    made = {}
    for terms in (5, 60, 120, 240):
        text = "real a(9)\nif (x > 0) x = " + " + ".join(["a(1)"] * terms)
        (found,), made[terms] = counted(lambda text=text: body(text, defer=True))
        assert found is not None
    assert made[240] < 4.5 * made[120]


def counted(call):
    """What a call returns, and how many calls of Python functions it made."""
    made = 0

    def count(_frame, event, _argument):
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return call(), made
    finally:
        sys.setprofile(before)


def test_symbols_of_one_program_do_not_leak_into_the_next(read):
    read("module m\ninteger sum(8)\nend module\n")
    (stmt,) = read("real a(8)\nx = sum(a)\nend\n").main.body
    assert type(stmt.value).__name__ == "Call"


def test_reading_does_not_depend_on_what_was_read_before(read):
    text = "subroutine s\nx = 1\nend\nprogram p\ncall s\nend\n"
    first, second = read(text), read(text)
    assert [each.name for each in first.units] == [each.name for each in second.units]
    assert first.diagnostics == second.diagnostics == ()


def test_a_hint_of_the_fixed_form_in_a_file_that_is_read_as_free(problems):
    text = "x = 0\n" + "".join(f"c     line {i}\n      x{i} = 1 +\n     &    2\n" for i in range(30)) + "      end\n"
    assert "‹form fixed›" in problems(text)[-1]


def test_every_spelling_of_the_sentinel(read):
    program = read(
        "c\n"
        "      real a(8), b(8), c(8), d(8), e(8)\n"
        "!HPF$ DISTRIBUTE a(BLOCK)\n"
        "chpf$ distribute b(block)\n"
        "CHPF$ DISTRIBUTE c(BLOCK)\n"
        "*HPF$ DISTRIBUTE d(BLOCK)\n"
        "!hpf$ distribute\n"
        "!hpf$& e(block) ! note\n"
        "!fcd$ distribute f(block)\n"
        "      end\n",
        "x.f",
    )
    assert [each.distributee for each in program.main.directives] == ["a", "b", "c", "d", "e"]


def test_independent_with_a_list_before_a_nest(read):
    program = read(
        "real a(8,8)\n!hpf$ independent(j,i), new(t)\ndo j = 1, 8\ndo i = 1, 8\n"
        "t = i\na(i,j) = t\nend do\nend do\nend\n"
    )
    outer, inner = loops(program)
    assert outer.independent.indices == ("j", "i")
    assert inner.independent is None


def test_forall_in_loops(read):
    program = read("real a(8)\ndo k = 1, 2\n!HPF$ INDEPENDENT\nforall (i = 1:8) a(i) = k\nend do\nend\n")
    (loop,) = loops(program)
    assert isinstance(loop.body[0], Forall)
    assert loop.body[0].independent.span.line == 3


def test_no_statement_is_lost(read, root):
    """As many DO and assignments in the ir as a count over the text finds."""
    for path in sorted((root / "benchmarks_hpf").glob("*.hpf")):
        text = path.read_text(encoding="utf-8")
        program = read(text, path.name)
        lines = [line.split("!")[0].strip().lower() for line in text.splitlines()]
        counted = sum(line.startswith(("do ", "do while")) for line in lines)
        units = [each for unit in program.units for each in (unit, *unit.contains)]
        found = [type(each).__name__ for unit in units for each in walk_statements(unit.body)]
        assert found.count("Do") + found.count("DoWhile") == counted, path.name
        assert program.complete


def test_a_hint_where_the_other_source_form_is_likely(problems):
    fixed = "real a(8)\nchpf$ distribute a(block)\n      do 10 i = 1, 8\n   10 continue\n      end do\n      end\n"
    assert problems(fixed)[-1].endswith("the source looks like fixed form; if it is, use ‹form fixed›)")
    free = "program p\n  integer :: i\n  do i = 1, &\n    8\n  end do\nend program\n"
    assert problems(free, "x.f")[-1].endswith("the source looks like free form; if it is, use ‹form free›)")


def test_independent_means_loops_with_an_index(warnings):
    text = "!HPF$ INDEPENDENT\ndo while (x > 1)\nx = 1\nend do\n!HPF$ INDEPENDENT\ndo\nexit\nend do\nend\n"
    assert [each.partition(" INDEP")[0] for each in warnings(text)] == ["x.f90:1:7: W104", "x.f90:5:7: W104"]
    kept = (
        "!HPF$ INDEPENDENT\ndo concurrent (i = 1:8)\nx = 1\nend do\n!HPF$ INDEPENDENT\ndo 10 i = 1, 8\n10 x = 1\nend\n"
    )
    assert warnings(kept) == []


def test_data_between_statements_is_read(read):
    assert read("x = 1\ndata n /3/\ny = n\nend\n").main.entity("n").initial.value == 3


def test_several_threads_read_at_a_time(read):
    texts = [
        f"program p{number}\n  integer :: a{number}(9)\n"
        + "".join(f"  a{number}({at % 9 + 1}) = {at}\n" for at in range(60))
        + f"end program p{number}\n"
        for number in range(16)
    ]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(read, texts))
    assert [repr(each) for each in together] == [repr(read(each)) for each in texts]
