"""Programs of several files, and the files that need the C preprocessor."""

import pytest

from aag.diagnostics import SourceError
from aag.ir.evaluate import evaluate
from aag.ir.printer import print_program
from aag.pipeline import main_unit
from aag.source.files import lines_of
from aag.source.preprocess import is_for_cpp
from aag.source.read import read_files
from tests.aag.source.reading import read_file

MAIN = "program p\n  use sizes\n  real a(n)\n!HPF$ DISTRIBUTE a(BLOCK)\n  a = 1\n  call s(a)\nend\n"
MODULE = "module sizes\n  use kinds\n  integer(ik), parameter :: n = 8\nend module\n"
KINDS = "! of integers\nMODULE kinds\n  integer, parameter :: ik = 4\nend module\n"
SUBROUTINE = """\
c     in fixed form
      subroutine s(a)
      real a(8)
chpf$ inherit a
      a(1) = 2 +
     1 3
      end
"""


def files(*given):
    return [(text, name) for name, text in given]


def test_several_files_are_one_program():
    program = read_files(files(("s.f", SUBROUTINE), ("p.f90", MAIN), ("sizes.f90", MODULE), ("kinds.f90", KINDS)))
    assert {each.name for each in program.units} == {"p", "s", "sizes", "kinds"}
    assert (program.file, program.form, program.lines[2]) == ("p.f90", "free", "  real a(n)")
    assert [(each.file, each.form) for each in program.sources] == [
        ("s.f", "fixed72"),
        ("kinds.f90", "free"),
        ("sizes.f90", "free"),
        ("p.f90", "free"),
    ]
    subroutine = next(each for each in program.units if each.name == "s")
    assert [(each.span.file, each.span.line) for each in subroutine.body] == [("s.f", 5)]
    assert [(each.span.file, each.span.line) for each in subroutine.directives] == [("s.f", 4)]
    assert [(each.span.file, each.span.line) for each in program.main.directives] == [("p.f90", 4)]


def test_one_file_with_all_of_it_is_the_same_program():
    free = "subroutine s(a)\nreal a(8)\n!hpf$ inherit a\na(1) = 2 + 3\nend\n"
    apart = read_files(files(("p.f90", MAIN), ("s.f90", free), ("sizes.f90", MODULE), ("kinds.f90", KINDS)))
    together = read_files(files(("x.f90", KINDS + MODULE + MAIN + free)))
    assert print_program(apart) == print_program(together)


def test_findings_name_their_file():
    broken = "      subroutine s(a)\n      implicit none\n      a = b\n      end\n"
    with pytest.raises(SourceError) as error:
        read_files(files(("p.f90", "implicit none\nx = 1\nend\n"), ("s.f", broken)))
    assert [(str(each.span), each.source_line) for each in error.value.diagnostics] == [
        ("p.f90:2:1", "x = 1"),
        ("s.f:1:20", "      subroutine s(a)"),
        ("s.f:3:11", "      a = b"),
    ]


def test_what_is_defined_twice_names_the_other_file(tmp_path):
    (tmp_path / "x.h").write_text("      integer n\n")
    path = tmp_path / "x.f"
    path.write_text("      include 'x.h'\n      real n\n      end\n")
    other = ("y.f", "      subroutine s\n      end\n      program p\n      end\n")
    with pytest.raises(SourceError) as error:
        read_files([(path.read_text(), str(path)), (other[1], "z.f"), (other[1], other[0])])
    assert [(each.code, str(each.span), each.hint) for each in error.value.diagnostics] == [
        ("E131", f"{path}:2:12", f"the first declaration is in line 1 of {tmp_path / 'x.h'}"),
        ("E138", "y.f:1:7", "the first s is in line 1 of z.f"),
    ]
    program = read_files(files(("z.f", "      program p\n      end\n"), ("y.f", other[1])))
    with pytest.raises(SourceError, match=r"y\.f:3:7: E403 a second main program; the first is p in line 1 of z\.f"):
        main_unit(program)


def test_text_beyond_column_72_is_read_in_all_files_alike():
    long = "      x = 1" + " " * 62 + "+ 1\n"
    texts = files(
        ("p.f", "      program p\n      call s\n      end\n"), ("s.f", f"      subroutine s\n{long}      end\n")
    )
    assert read_files(texts, form="fixed132").sources[1].form == "fixed132"
    with pytest.raises(SourceError, match="E108"):
        read_files(texts)


def test_a_module_in_no_file():
    with pytest.raises(SourceError, match="E135 found no module sizes"):
        read_files(files(("p.f90", MAIN), ("s.f", SUBROUTINE)))


@pytest.mark.parametrize("include", ['#include "sizes.h"', "      include 'sizes.h'"])
@pytest.mark.parametrize("name", ["x.f", "x.hpf"])
def test_headers_with_c_comments_and_macros(tmp_path, include, name):
    header = (
        '/* sizes,\n   of C */\n# 1 "sizes.h"\n#ident "1.2"\n#ifndef N\n#define N 8\n#endif\n      parameter (n = N)\n'
    )
    (tmp_path / "sizes.h").write_text(header)
    text = f"      program p\n{include}\n      real a(n) \n!HPF$ DISTRIBUTE a(BLOCK)\n      a = 1\n      end\n"
    (tmp_path / name).write_text(text)
    for defines, n in ((), 8), (("N=5",), 5):
        main = read_file(tmp_path / name, defines=defines).main
        assert evaluate(main.entity("n").initial, {}) == n
        assert (main.body[0].span.file, main.body[0].span.line) == (str(tmp_path / name), 5)
        assert main.entity("n").span.file.endswith("sizes.h")


def test_a_c_comment_behind_a_declaration():
    text = (
        "      program p\n      parameter (n = 8)   /* extent */\nc     no /* comment */\n"
        "      x = n ! /* no */\n      end\n"
    )
    program = read_files(files(("x.f", text)))
    assert program.complete
    assert [each.span.line for each in program.main.body] == [4]
    assert not any(map(is_for_cpp, lines_of("      x = '/* a */'\nc /* b */\n      y = 1 ! /* c */", "x.f")))


def test_an_error_of_cpp_names_its_file(tmp_path):
    (tmp_path / "a.h").write_text("      integer n\n#error too old\n")
    (tmp_path / "x.F").write_text('      program p\n#include "a.h"\n      end\n')
    with pytest.raises(SourceError) as error:
        read_file(tmp_path / "x.F")
    (found,) = error.value.diagnostics
    assert (found.code, str(found.span)) == ("E107", f"{tmp_path / 'a.h'}:2")
    assert "too old" in found.message


def test_macros_from_outside():
    text = "program p\n#ifdef BIG\nx = SIZE\n#else\nx = 1\n#endif\nend\n"
    values = [read_files(files(("x.f90", text)), defines=each).main.body[0].value for each in ((), ("BIG", "SIZE=64"))]
    assert [evaluate(each, {}) for each in values] == [1, 64]
    assert evaluate(read_files(files(("x.f90", "x = N\nend\n")), defines=["N=3"]).main.body[0].value, {}) == 3


def test_files_without_macros_need_no_cpp(tmp_path, monkeypatch):
    (tmp_path / "a.h").write_text('# 1 "a.h"\n      real a(8)\n')
    (tmp_path / "x.f").write_text('      program p\n#include "a.h"\n      end\n')
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert read_file(tmp_path / "x.f").main.entities[0].name == "a"
    (tmp_path / "a.h").write_text("#define N 8\n      real a(N)\n")
    with pytest.raises(SourceError, match="E106 this file needs the C preprocessor, but cpp is not installed"):
        read_file(tmp_path / "x.f")
    (tmp_path / "x.f").write_text("      program p\n#ifdef A\n      end\n")
    with pytest.raises(SourceError, match=r"x\.f:2: E106 this line needs the C preprocessor"):
        read_file(tmp_path / "x.f")


def test_a_slash_in_column_6_is_a_continuation():
    (source,) = read_files(files(("x.f", "      x = 1 +\n     /2\n     /*3\n      end\n"))).sources
    assert len(source.lines) == 4
