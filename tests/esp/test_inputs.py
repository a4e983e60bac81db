"""Scalars that a program reads, against what gfortran reads from the same input."""

import random

import pytest

import esp
from aag.pipeline import read_program
from esp.cli.main import main
from esp.errors import EspError
from esp.inputs import values_read
from esp.tools import call, tool
from esp.values import value_of

HEAD = """program reads
  integer, parameter :: m = 3
  integer :: n, k, l, v(m), w(2,2), i
  real :: x, y
  logical :: g
  character(8) :: c
  namelist /g1/ n, x, g, c, v /g2/ k, y
  n = -1; k = -1; x = -1; y = -1; g = .false.; c = 'none'; v = 0; w = 0
"""
SHOWN = "  print '(i0,1x,i0,1x,es12.5,1x,es12.5,1x,l1,1x,a)', n, k, x, y, g, c\n"


def program(reads):
    return f"{HEAD}{reads}{SHOWN}end program reads\n"


def by_gfortran(reads, text, folder):
    (folder / "reads.f90").write_text(program(reads))
    call([tool("gfortran"), "-w", "reads.f90", "-o", "reads"], "no program", folder)
    return call([str(folder / "reads")], "it fails", folder, text=text).split(None, 5)


def by_esp(reads, text):
    """The same, with what the program has before it reads."""
    found = {"n": "-1", "k": "-1", "x": "-1", "y": "-1", "g": ".false.", "c": "'none'"}
    # Of this program, each variable is assigned before it is read; so it is left out here.
    bare = program(reads).replace(HEAD.splitlines()[-1], "")
    found |= values_read(read_program(bare, "reads.f90"), text)
    return {name: value_of(name, each) for name, each in found.items()}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("reads", "text"),
    [
        ("read *, n, x\n", "12 0.5\n"),
        ("read *, n, x\n", "12, .5d0, 9\n"),
        ("read (*,*) n\nread (5,*) x\n", "12 99 98\n0.25\n"),
        ("read *, n, k, x\n", "\n 7\n\n8 1e-3 more\n"),
        ("read *, n, k, x, y\n", "2*5 2*1.5\n"),
        ("read *, n, k, x\n", "4,,2.5\n"),
        ("read *, n, k, x\n", "4 /\n 5 6\n"),
        ("read *, v, n\n", "1 2 3 44\n"),
        ("read *, w, n, x\n", "1 2\n3 4 5\n0.125\n"),
        ("read *, v(2), n\n", "1 2 3 44\n"),
        ("read *, g, n\n", ".true. 3\n"),
        ("read *, g, n\n", "T 3\n"),
        ("read *, g, n\n", ".false 3\n"),
        ("read *, c, n\n", "'two it' 3\n"),
        ("read (5,*)\nread *, n\n", "a heading\n5\n"),
        ("read (5,'(a)')\nread *, n\n", "a heading\n5\n"),
        ("read (5,'(a8)') c\nread *, n\n", "it's a heading\n5\n"),
        ("read (5,'(i3, 2x, i4)') n, k\nread *, x\n", " 12ab 7 9 1\n0.5\n"),
        ("read (5,10) x, n\n10 format (f6.2, i3)\n", "  1234  5\n"),
        ("read (5,'(2f6.3)') x, y\n", "  1.25   2e1\n"),
        ("read (*, nml=g1)\n", " &g1 n = 4, v=1,2 x=2.5 ! x = 3\n g=.true.\n c = 'a/b' /\n"),
        ("read (5, g1)\nread *, k\nread (*, nml=g2)\n", "&G1 N=4 /\n7\n&g2 y=1e-3/\n"),
        ("read *, c, n\n", "two 3\n"),
        ("read *, n\nif (n > 3) read *, k\nread *, x\n", "2\n0.5\n"),
        ("read *, n\ndo i = 1, n\nread *, k\nend do\n", "2\n5\n6\n"),
    ],
)
def test_what_is_read(reads, text, tmp_path):
    found, expected, known = by_esp(reads, text), by_gfortran(reads, text, tmp_path), values_read_names(reads, text)
    real = [int(expected[0]), int(expected[1]), float(expected[2]), float(expected[3]), expected[4] == "T"]
    for name, value in [*zip("nkxyg", real, strict=True), ("c", expected[5].strip())]:
        if name in known:
            assert found[name] == (pytest.approx(value) if isinstance(value, float) else value), name
    assert known


def values_read_names(reads, text):
    return set(values_read(read_program(program(reads).replace(HEAD.splitlines()[-1], ""), "reads.f90"), text))


@pytest.mark.parametrize(
    ("reads", "known"),
    [
        ("read *, n, x\n", {"n", "x"}),
        ("read *, n\nn = n + 1\n", {"n"}),  # up to there (`esp.read_later`)
        ("n = 1\nread *, n\n", {"n"}),  # from there on
        ("read *, n\nread *, n\n", set()),
        ("read *, n\nif (n > 3) read *, k\nread *, x\n", {"n"}),
        ("read *, n, v(1:n), x\n", set()),
        ("read '(i3, /, i2)', n, l\nread *, k\n", set()),
        ("open (7, file='x')\nread (7,*) n\nread *, k\n", {"k"}),
        ("read *, n\ncall other(n)\n", set()),
        ("10 read *, n\nif (n > 5 .or. n < 1) goto 10\nread *, k\n", {"n", "k"}),
        ("10 read *, n\nif (n > 3) goto 10\nread *, k\n", set()),  # which runs again
        ("10 read *, n\nif (n > 5) goto 10\nread *, k\nif (k < 1) goto 10\nread *, i\n", {"n", "k", "i"}),
        ("do\nprint *, 'n?'\nread *, n\nif (n < 5) exit\nend do\nread *, k\n", {"n", "k"}),
        ("do\nread *, n\nif (n + l < 5) exit\nend do\nread *, k\n", set()),
        ("do\nread *, n\nn = n + 1\nif (n < 5) exit\nend do\nread *, k\n", set()),
        ("do\nread *, n\nif (n < 5) then\nexit\nelse\nprint *, n\nend if\nend do\nread *, k\n", {"n", "k"}),
    ],
)
def test_only_what_is_certain_is_known(reads, known):
    assert values_read_names(reads, "4 5 6 7\n8 9\n1 2\n") == known


def test_random_records(tmp_path):
    chance = random.Random(11)
    reads = "read *, n, k\nread *, x\nread *, y, i\n"
    for _ in range(6):
        lines = []
        for count in (2, 1, 2):
            numbers = [str(chance.randint(1, 99)) for _ in range(count + chance.randrange(3))]
            separators = [chance.choice((" ", ",", " , ", "\n", "   ")) for _ in numbers]
            lines.append("".join(a + b for a, b in zip(numbers, separators, strict=True)).rstrip(", \n"))
        text = "\n".join(lines) + "\n" + "7 7 7\n" * 6
        found, expected = by_esp(reads, text), by_gfortran(reads, text, tmp_path)
        assert [found[name] for name in "nkxy"] == [int(expected[0]), int(expected[1]), *map(float, expected[2:4])]


TEXT = """program sized
  integer n, i
  real a(100)
!hpf$ distribute a(block)
  read *, n
  do i = 1, n
    a(i) = i
  end do
  print *, sum(a(1:n))
end program sized
"""


def test_commands_take_the_input(tmp_path, capsys):
    (tmp_path / "sized.hpf").write_text(TEXT)
    (tmp_path / "in.txt").write_text("40\n")
    source, given = str(tmp_path / "sized.hpf"), str(tmp_path / "in.txt")
    assert main(["run", source, "--procs", "4"]) == 1
    capsys.readouterr()
    assert main(["run", source, "--procs", "4", "--json", "--input", given]) == 0
    by_input = capsys.readouterr().out
    assert main(["run", source, "--procs", "4", "--json", "--set", "n=40"]) == 0
    assert capsys.readouterr().out == by_input
    assert main(["run", source, "--procs", "4", "--json", "--set", "n=20", "--input", given]) == 0
    assert capsys.readouterr().out != by_input
    assert main(["run", source, "--input", str(tmp_path / "no.txt")]) == 2
    assert "no such file" in " ".join(capsys.readouterr().err.split())


def test_validate_gives_it_to_both_programs(tmp_path, capsys):
    (tmp_path / "sized.hpf").write_text(TEXT)
    (tmp_path / "in.txt").write_text("40\n")
    assert main(["validate", str(tmp_path / "sized.hpf"), "-p", "2", "--input", str(tmp_path / "in.txt")]) == 0
    assert "same" in capsys.readouterr().out


def test_what_decides_nothing_is_no_value(tmp_path, capsys):
    first, rest = TEXT.split("\n", 1)
    text = f"{first}\ncharacter(20) :: title\n{rest}".replace("read *, n", "read (*, '(a20)') title\nread *, n")
    assert "title\nread" in text
    (tmp_path / "titled.hpf").write_text(text)
    (tmp_path / "in.txt").write_text("A title of mine\n40\n")
    assert main(["run", str(tmp_path / "titled.hpf"), "--procs", "4", "--input", str(tmp_path / "in.txt")]) == 0
    assert "n=40" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "5\n", "5 6 7\n", "5\n\n6"])
def test_input_that_ends_too_early_is_refused(text, tmp_path):
    reads = "read *, n, k\nread *, x\n"
    with pytest.raises(EspError):
        by_gfortran(reads, text, tmp_path)
    with pytest.raises(esp.SourceError) as caught:
        by_esp(reads, text)
    (found,) = caught.value.diagnostics
    assert found.code == "E511"
    assert by_esp("read *, n, k\nread (*,*,iostat=i) x\n", "5 6\n")["k"] == 6


LATER = """\
program later
  real :: x, a(64)
  integer :: k, n, halved
!hpf$ distribute a(block)
  read *, x, n
  a = 1
  halved = 0
  do while (x > 3.0)
    x = x / 2
    halved = halved + 1
    a = cshift(a, 1)
  end do
  n = 2 * n + 1
  do k = 1, n
    a = cshift(a, 1)
  end do
  print *, halved, n
end program later
"""


def test_a_given_value_holds_until_the_program_changes_it(tmp_path):
    (tmp_path / "later.f90").write_text(LATER)
    call([tool("gfortran"), "-w", "later.f90", "-o", "later"], "no program", tmp_path)
    halved, n = map(int, call([str(tmp_path / "later")], "it fails", tmp_path, text="100 3\n").split())
    predicted = esp.predict(LATER, procs=4, x=100, n=3)
    assert predicted.messages == 3 + 4 * (halved + n)  # a broadcast, and a shift along a ring of 4 each time
    assert values_read(read_program(LATER, "later.f90"), "100 3\n") == {"x": "100", "n": "3"}


@pytest.mark.slow
def test_such_a_program_is_compiled_with_its_input(tmp_path, capsys):
    program, text = tmp_path / "later.f90", tmp_path / "input"
    program.write_text(LATER)
    text.write_text("100 3\n")
    assert main(["validate", str(program), "--input", str(text), "--procs", "3"]) == 0
    assert "same" in capsys.readouterr().out


def test_a_default_before_read_gives_way_to_what_is_read(tmp_path):
    """Before the READ, the default holds."""
    text = """program steps
  integer :: n, i
  real :: a(64)
!hpf$ distribute a(block)
  n = 3
  do i = 1, n
    a = cshift(a, 1)
  end do
  read *, n
  do i = 1, n
    a = cshift(a, -1)
  end do
  print *, a(1)
end program
"""
    found = esp.predict(text, procs=4, set={"n": 7})
    executions = {each.span.line: each.executions for each in found.aaus if each.kind == "Comm" and each.span.line != 9}
    assert (executions[7], executions[11]) == (3, 7)
    assert not [each for each in found.warnings if each.code == "W291"]
    with pytest.raises(TypeError, match="can be set: n"):
        esp.predict(text, procs=4, other=7)
