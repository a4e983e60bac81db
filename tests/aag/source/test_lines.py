"""From physical lines to statements: source forms, continuations, sentinels, INCLUDE, cpp, decoding."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.expressions import IntLit, StringLit
from aag.ir.units import Line
from aag.source.files import decode
from aag.source.forms import form_of
from aag.source.joining import join
from tests.aag.source.reading import read_file


def joined(text, form="free"):
    lines = [Line("x", number, each) for number, each in enumerate(text.split("\n"), 1)]
    return join(lines, form)


def texts(text, form="free"):
    return [" ".join(each.text.text.split()) for each in joined(text, form).statements]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1 ! note", ["x = 1"]),
        ("x = 1; y = 2 ;; z = 3", ["x = 1", "y = 2", "z = 3"]),
        ("x = 1 + &\n  2", ["x = 1 + 2"]),
        ("x = 1 + & ! why\n\n! between\n  & 2", ["x = 1 + 2"]),
        ("x = 'a;b!c&d'", ["x = 'a;b!c&d'"]),
        ("x = 'it''s' ! no", ["x = 'it''s'"]),
        ("x = 'a&\n   &b'", ["x = 'ab'"]),
        ("nam&\n&e = 1", ["name = 1"]),
        ("10 x = 1", ["x = 1"]),
        ("!$omp parallel\nx = 1", ["x = 1"]),
        ("x = 1 &", ["x = 1"]),
    ],
)
def test_free_form(text, expected):
    assert texts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("      x = 1", ["x = 1"]),
        ("c note\n* note\n! note\nC x\n      x = 1", ["x = 1"]),
        ("      x = 1 +\n     &    2", ["x = 1 + 2"]),
        ("      x = 1 +\n     1    2", ["x = 1 + 2"]),
        ("      x = 1\n     0y = 2", ["x = 1", "y = 2"]),
        ("      x = 1 ! note", ["x = 1"]),
        ("      x = '!'", ["x = '!'"]),
        ("d     x = 1\n      y = 2\nD    &  3\n     &  +4", ["y = 2 +4"]),
        (" 100  x = 1", ["x = 1"]),
        ("\tx = 1", ["x = 1"]),
        ("\tx = 1 +\n\t1 2", ["x = 1 + 2"]),
        ("      x = 1" + " " * 61 + "00000010", ["x = 1"]),
        ("      x = 1 +\n\nc between\n     &    2", ["x = 1 + 2"]),
    ],
)
def test_fixed_form(text, expected):
    assert texts(text, "fixed72") == expected


def test_labels():
    assert [each.label for each in joined("10 x = 1\n 007 y = 2\nz = 3").statements] == ["10", "7", ""]
    assert [each.label for each in joined("  10  x = 1\n00007 y = 2", "fixed72").statements] == ["10", "7"]


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("!HPF$ A\n!hpf$ B\n  !Hpf$ C ! note", "free", ["A", "B", "C"]),
        ("!HPF$A", "free", ["A"]),
        ("!HPF$ A &\n!HPF$ B", "free", ["A B"]),
        ("!HPF$ A &\n!HPF$& B", "free", ["A B"]),
        ("!HPF$ A &\n\n! note\n!HPF$ & B &\n!HPF$ C", "free", ["A B C"]),
        ("!hpf$ A\n!hpf$& B", "free", ["A B"]),
        ("!HPF$ A\n!HPF$ B", "free", ["A", "B"]),
        ("chpf$ A\nCHPF$ B\n*HPF$ C\n!hpf$ D", "fixed72", ["A", "B", "C", "D"]),
        ("chpf$ A\nchpf$1 B\nchpf$& C", "fixed72", ["A B C"]),
        ("chpf$ A\nchpf$0 B", "fixed72", ["A", "B"]),
        ("!hpf$ A,\n!hpf$x B\n!hpf$* C\n!hpf$a D", "fixed72", ["A, B C D"]),
        ("!hpf$ A\n!hpf$align B\n!hpf$no sequence", "fixed72", ["A", "align B", "no sequence"]),
        ("!hpf$ A\n!hpf$alignment", "fixed72", ["A lignment"]),
        ("chpf$distribute", "fixed72", ["distribute"]),
        ("chpf$ A &\nchpf$ B", "fixed72", ["A B"]),
        ("!fcd$ A\n!ADP$ B\n!DIR$ C\n! HPF$ D\n!HPF D", "free", []),
        ("cfcd$ A\nCMIC$ B\nCAPR$ C", "fixed72", []),
        ("chpf$ A" + " " * 65 + "00000010", "fixed72", ["A"]),
    ],
)
def test_sentinels(text, form, expected):
    assert [" ".join(each.text.text.split()) for each in joined(text, form).directives] == expected


def test_a_directive_knows_the_statement_that_follows():
    found = joined("x = 1\n!HPF$ A\ny = 2; z = 3\n!HPF$ B")
    assert [each.before for each in found.directives] == [1, 3]
    found = joined("      x = 1\nchpf$ A\n      y = 2", "fixed72")
    assert [each.before for each in found.directives] == [1]


def test_every_character_knows_its_place():
    found = joined("  x = aa + & ! note\n\n     & bb; yy = 'c&\n  &d'").statements
    x, y = (each.text for each in found)
    assert x.place(0) == ("x", 1, 3)
    assert x.place(x.text.index("aa")) == ("x", 1, 7)
    assert x.place(x.text.index("bb")) == ("x", 3, 8)
    assert y.place(0) == ("x", 3, 12)
    assert y.place(y.text.index("d")) == ("x", 4, 4)
    assert (y.span().line, y.span().end_line, y.span().end_column) == (3, 4, 6)


def test_every_character_of_a_directive_knows_its_place():
    (found,) = joined("!HPF$ ALIGN a(i) &\n!HPF$&  WITH t(i)").directives
    assert found.text.place(found.text.text.index("ALIGN")) == ("x", 1, 7)
    assert found.text.place(found.text.text.index("WITH")) == ("x", 2, 9)


@pytest.mark.parametrize(
    ("file", "form"),
    [
        ("a.hpf", "free"),
        ("a.f90", "free"),
        ("a.F90", "free"),
        ("a.f", "fixed"),
        ("a.for", "fixed"),
        ("a.F", "fixed"),
        ("A.HPF", "free"),
        ("<stdin>", "free"),
        ("-", "free"),
    ],
)
def test_the_form_comes_from_the_extension(file, form):
    assert form_of(file) == (form, ())


def test_an_option_overrides_the_extension(read):
    text = "c     fixed\n      x = 1 +\n     &    2\n      end\n"
    assert len(read(text, "x.f90", form="fixed").main.body) == 1


def test_include_with_directives(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.h").write_text("real a(8)\n!HPF$ DISTRIBUTE a(BLOCK)\ninclude 'b.h'\n")
    (tmp_path / "sub" / "b.h").write_text("real b(8)\n")
    (tmp_path / "x.f90").write_text("program p\nINCLUDE 'a.h' ! mine\na = b\nend\n")
    program = read_file(tmp_path / "x.f90", include_dirs=[tmp_path / "sub"])
    assert [each.name for each in program.main.entities] == ["a", "b"]
    (directive,) = program.main.directives
    assert (directive.span.file, directive.span.line) == (str(tmp_path / "sub" / "a.h"), 2)
    assert program.main.body[0].span.line == 3
    assert program.lines == ("program p", "INCLUDE 'a.h' ! mine", "a = b", "end")


def test_include_is_found_beside_the_file_that_includes(tmp_path):
    (tmp_path / "a.h").write_text("      real a(8)\n")
    (tmp_path / "x.f").write_text('      program p\n#include "a.h"\n      end\n')
    assert read_file(tmp_path / "x.f").main.entities[0].name == "a"


@pytest.mark.parametrize("suffix", ["F90", "F"])
def test_cpp_keeps_lines_and_columns(tmp_path, suffix):
    (tmp_path / "n.h").write_text("#define N 64\n")
    source = (
        '      program p\n#include "n.h"\n#ifdef NO\n      x = (\n#endif\n'
        "      x = N\n!HPF$ PROCESSORS Q(N)\n      end\n"
    )
    (tmp_path / f"x.{suffix}").write_text(source)
    main = read_file(tmp_path / f"x.{suffix}").main
    assert main.body[0].value == IntLit(64)
    assert (main.body[0].span.line, main.body[0].span.column) == (6, 7)
    assert main.directives[0].shape[0].upper == IntLit(64)
    assert main.directives[0].span.line == 7


def test_latin_1_is_read_where_utf_8_is_not(tmp_path):
    (tmp_path / "x.f90").write_bytes("character(4) x\nx = 'caf\xe9' ! \xe4\nend\n".encode("latin-1"))
    assert read_file(tmp_path / "x.f90").main.body[0].value == StringLit("caf\xe9")
    assert decode("x = 'é'".encode(), "x") == "x = 'é'"


def test_a_byte_order_mark_and_line_ends_of_other_systems(tmp_path):
    (tmp_path / "x.f90").write_bytes(b"\xef\xbb\xbfx = 1\r\ny = 2\r\nend\r\n")
    assert len(read_file(tmp_path / "x.f90").main.body) == 2


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "x.f90").write_bytes(b"\x7fELF\n\0\0")
    with pytest.raises(SourceError, match="E101"):
        read_file(tmp_path / "x.f90")


@pytest.mark.parametrize("form", ["free", "fixed72"])
def test_a_tab_is_one_blank(form):
    assert [each.text.text for each in joined("      print *, 'a\tb'", form).statements] == ["print *, 'a b'"]
