"""Bad input ends with a paragraph that names a place and a way out, and never with a traceback."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from esp.locate import benchmarks_dir, program_names
from interpreter.setting import Setting
from tests.end_to_end import fuzz

GOOD = """\
program p
  integer, parameter :: n = 64
  real :: a(n), b(n)
  integer :: i
!HPF$ PROCESSORS q(4)
!HPF$ DISTRIBUTE a(BLOCK) ONTO q
!HPF$ ALIGN b(i) WITH a(i)
  a = 0.0
  forall (i = 2:n-1) b(i) = a(i-1) + a(i+1)
end program p
"""


def changed(*pairs):
    text = GOOD
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


def body(statements, declared=""):
    """`GOOD` with other statements in the place of its first, and more names."""
    return changed(("a = 0.0", statements), (":: i\n", f":: i{declared}\n"))


def command(text, *words, limit_s=fuzz.LIMIT_S):
    """What comes of a program on standard input; nothing that the fuzz would call a failure."""
    outcome = fuzz.run(fuzz.Case(0, text, ("run", "-", *words)), limit_s)
    assert not outcome.why, outcome
    return outcome


READ = """read *, k, m
  do i = 1, k
    a = a + b
    do j = 1, m
      b = cshift(a, 1)
    end do
  end do"""
LEFT = """read *, k
  do i = 1, k
    a = cshift(b, 1)
    if (maxval(a) < b(1)) exit
  end do"""
COMPUTED = """k = int(sum(a))
  do i = 1, k
    b = cshift(a, 1)
  end do"""
DIFFERING = """do i = 1, 2000000000
    k = mod(i * k + 1, 7)
    a(k+1:n) = b(1:n-k)
  end do"""

PROGRAMS = {
    "truncated": GOOD[:150],
    "a comment only": "! nothing\n",
    "a letter": "Dear reader,\nthis is a letter.\n",
    "NUL": "program p\n a = \0\nend\n",
    "unknown directive": changed(("!HPF$ ALIGN", "!HPF$ ALGIN")),
    "rank of a distribution": changed(("a(BLOCK)", "a(BLOCK,BLOCK)")),
    "rank of an alignment": changed(("WITH a(i)", "WITH a(i,i)")),
    "rank of a reference": changed(("a(i-1) +", "a(i-1,i) +")),
    "cycle of alignments": changed(("DISTRIBUTE a(BLOCK) ONTO q", "ALIGN a(i) WITH b(i)")),
    "unknown name": changed(("DISTRIBUTE a(BLOCK)", "DISTRIBUTE c(BLOCK)")),
    "block too small": changed(("a(BLOCK)", "a(BLOCK(2))")),
    "no processors": changed(("q(4)", "q(0)")),
    "negative processors": changed(("q(4)", "q(-4)")),
    "a value nobody knows": changed(("parameter :: n = 64", "parameter :: n = m")),
    "values that are read": body(READ, ", j, k, m"),
    "a loop that data leave": body(LEFT, ", j, k"),
    "values that are computed": body(COMPUTED, ", k"),
    "step 0": body("do i = 1, n, 0\n    a = cshift(b, 1)\n  end do"),
    "differing iterations": body(DIFFERING, ", k = 0"),
    "endless": body("do while (.true.)\n    a = cshift(b, 1)\n  end do"),
    "very long while": body("k = 0\n  do while (k >= 0)\n    k = k + 1\n    a = cshift(b, 1)\n  end do", ", k"),
    "division by zero": changed(("n = 64", "n = 64 / 0")),
    "no main program": "subroutine s\n  x = 1\nend subroutine\n",
    "two main programs": GOOD + changed(("program p", "program r")),
    "no argument": body("a = cshift(b)"),
    "no such dimension": body("a = cshift(b, 1, dim=2)"),
    "deep loops": body("do i = 1, 2\n" * 200 + "a = cshift(b, 1)\n" + "end do\n" * 200),
    "unknown include": body("include 'nix.inc'"),
    "missing end": body("do i = 1, n\n    a = 0.0"),
}

TOLD = {
    "truncated": """\
<stdin>:5:7: E142 this directive is behind the end of the program
    5 | !HPF$ PROCESSORS q(4)
      |       ^^^^^^^^^^^^^^^
       hint: move the directive
<stdin>:6:7: E142 this directive is behind the end of the program
    6 | !HPF$ DISTRIBUTE a(BLOCK) ONTO q
      |       ^^^^^^^^^^^^^^^^^^^^^^^^^^
       hint: move the directive
<stdin>:7:7: E142 this directive is behind the end of the program
    7 | !HPF$ ALIGN b(i) W
      |       ^^^^^^^^^^^^
       hint: move the directive
<stdin>:1:1: E110 END PROGRAM is missing: the source ends inside this PROGRAM
    1 | program p
      | ^^^^^^^^^
       hint: the last statement is in line 4; is the file complete?
4 errors
""",
    "a comment only": """\
<stdin>:1: E102 there is no Fortran statement in this source
    1 | ! nothing
       hint: is the file complete, and in the right source form? (--form free,
             --form fixed)
""",
    "a letter": """\
<stdin>:1:1: E110 END PROGRAM is missing: the source ends inside this PROGRAM
    1 | Dear reader,
      | ^^^^^^^^^^^^
       hint: the last statement is in line 2; is the file complete?
""",
    "NUL": """\
<stdin>:2: E101 this is a binary file, not Fortran text
       hint: give the HPF source (.hpf .f90 .f)
""",
    "unknown directive": """\
<stdin>:7:7: E140 unknown directive ALGIN
    7 | !HPF$ ALGIN b(i) WITH a(i)
      |       ^^^^^
       hint: did you mean ALIGN?
""",
    "rank of a distribution": """\
<stdin>:6:18: E302 DISTRIBUTE a has 2 formats, but a has 1 dimension
    6 | !HPF$ DISTRIBUTE a(BLOCK,BLOCK) ONTO q
      |                  ^^^^^^^^^^^^^^^^^^^^^
       hint: write one format for each dimension of a
""",
    "rank of an alignment": """\
<stdin>:7:7: E302 ALIGN b gives 2 subscripts for a, which has 1 dimension
    7 | !HPF$ ALIGN b(i) WITH a(i,i)
      |       ^^^^^^^^^^^^^^^^^^^^^^
       hint: write one subscript for each dimension of a
""",
    "rank of a reference": """\
<stdin>:9:29: E402 a: found 2 subscripts, expected 1
    9 |   forall (i = 2:n-1) b(i) = a(i-1,i) + a(i+1)
      |                             ^^^^^^^^
       hint: correct the reference or the declaration
""",
    "cycle of alignments": """\
<stdin>:6:7: E304 these alignments form a cycle: a -> b -> a
    6 | !HPF$ ALIGN a(i) WITH b(i)
      |       ^^^^^^^^^^^^^^^^^^^^
       hint: distribute one of them, or align it with a template
""",
    "unknown name": """\
<stdin>:6:18: E301 there is no array or template c
    6 | !HPF$ DISTRIBUTE c(BLOCK) ONTO q
      |                  ^^^^^^^^^^^^^^^
       hint: known: a, b
""",
    "block too small": """\
<stdin>:6:26: E307 DISTRIBUTE a, dimension 1: BLOCK(2) on 4 processors holds 8
    of 64 indices
    6 | !HPF$ DISTRIBUTE a(BLOCK(2)) ONTO q
      |                          ^
       hint: write BLOCK or BLOCK(16), or distribute the dimension over 32
             processors
""",
    "no processors": """\
<stdin>:5:20: E309 PROCESSORS q has the shape 0: each extent must be at least 1
    5 | !HPF$ PROCESSORS q(0)
      |                    ^
       hint: an arrangement has at least one processor
""",
    "negative processors": """\
<stdin>:5:20: E309 PROCESSORS q has the shape -4: each extent must be at least 1
    5 | !HPF$ PROCESSORS q(-4)
      |                    ^^
       hint: an arrangement has at least one processor
""",
    "a value nobody knows": """\
<stdin>:3:13: E312 the shape of a: the value of n is not known
    3 |   real :: a(n), b(n)
      |             ^
       hint: give it with --set n=VALUE
""",
    "values that are read": """\
<stdin>:9:3: E501 the flow depends on k, which cannot be computed: line 8: k is
    read from input
    9 |   do i = 1, k
      |   ^^^^^^^^^^^
       hint: give it with --set K=VALUE
<stdin>:11:5: E501 the flow depends on m, which is read from input
   11 |     do j = 1, m
      |     ^^^^^^^^^^^
       hint: give it with --set M=VALUE
2 errors
""",
    "a loop that data leave": """\
<stdin>:9:3: E501 the flow depends on k, which cannot be computed: line 8: k is
    read from input
    9 |   do i = 1, k
      |   ^^^^^^^^^^^
       hint: give it with --set K=VALUE
""",
    "values that are computed": """\
<stdin>:9:3: E501 the flow depends on k, which cannot be computed: line 8: it
    uses values that were never assigned
    9 |   do i = 1, k
      |   ^^^^^^^^^^^
       hint: the program computes it: --set K=VALUE overrides its value
""",
    "step 0": """\
<stdin>:8:3: E503 the step of this loop is 0
    8 |   do i = 1, n, 0
      |   ^^^^^^^^^^^^^^
       hint: give a step other than 0; without one, a loop steps by 1
""",
    "differing iterations": """\
<stdin>:8:3: E506 this loop has 2,000,000,000 different iterations; with the
    other loops they exceed the limit of 200,000 walked iterations
    8 |   do i = 1, 2000000000
      |   ^^^^^^^^^^^^^^^^^^^^
       hint: choose a smaller problem or fewer processors and scenarios;
             --unroll removes the limit
""",
    "endless": """\
<stdin>:8:3: E504 the trip count of this loop is unknown: line 8: the budget of
    1,000,000,000 operations is used up after 10,000,000 iterations
    8 |   do while (.true.)
      |   ^^^^^^^^^^^^^^^^^
       hint: raise the budget with --budget 10000000000, or give the trip count
             with --set TRIPS_8=VALUE
""",
    "very long while": """\
<stdin>:9:3: E502 this loop does not end within 100,000 iterations: line 9: the
    budget of 1,000,000,000 operations is used up after 5,000,000 iterations
    9 |   do while (k >= 0)
      |   ^^^^^^^^^^^^^^^^^
       hint: raise the budget with --budget 10000000000, or give the trip count
             with --set TRIPS_9=VALUE
""",
    "division by zero": """\
<stdin>:2:25: E319 the PARAMETER n has no value: integer division or modulo by
    zero
    2 |   integer, parameter :: n = 64 / 0
      |                         ^
       hint: correct its expression, or give it with --set n=VALUE
""",
    "no main program": """\
<stdin>:1: E401 found no main program, so nothing can be predicted
    1 | subroutine s
       hint: give the file with the PROGRAM statement, too
""",
    "two main programs": """\
<stdin>:11:1: E403 a second main program; the first is p in line 1
   11 | program r
      | ^^^^^^^^^
       hint: a program has one: make the other a SUBROUTINE, or put it in a file
             of its own
""",
    "no argument": """\
<stdin>:8:7: E402 CSHIFT lacks its argument SHIFT
    8 |   a = cshift(b)
      |       ^^^^^^^^^
       hint: correct the reference or the declaration
""",
    "no such dimension": """\
<stdin>:8:24: E402 the array has no dimension 2
    8 |   a = cshift(b, 1, dim=2)
      |                        ^
       hint: correct the reference or the declaration
""",
    "deep loops": """\
<stdin>:56:1: E114 blocks are nested more than 48 deep
   56 | do i = 1, 2
      | ^^^^^^^^^^^
       hint: move the inner ones into a procedure
""",
    "unknown include": """\
<stdin>:8:12: E104 the file nix.inc to include is not found
    8 |   include 'nix.inc'
      |            ^^^^^^^
       hint: searched in .
""",
    "missing end": """\
<stdin>:11:1: E111 found END PROGRAM where END DO is expected
   11 | end program p
      | ^^^^^^^^^^^^^
       hint: the DO begins in line 8
""",
}

OPTIONS = [
    (
        "--procs 4 --grid 3x2",
        2,
        """\
E310 --grid 3x2 has 6 processors, but there are 4
       hint: for example --grid 2x2
""",
    ),
    (
        "--grid 2x2",
        2,
        """\
E311 --grid 2x2 has 2 dimensions, but the grids of the program have 1
       hint: give one extent for each distributed dimension
""",
    ),
    (
        "--set m=3",
        2,
        """\
E301 --set m: program p has no such name
       hint: can be set: n
""",
    ),
    (
        "--set n=0.5",
        2,
        """\
<stdin>:2:25: E316 --set n=0.5: n cannot have this value, it is integer
    2 |   integer, parameter :: n = 64
      |                         ^
       hint: give n a value of its type
""",
    ),
    (
        "--set n=abc",
        2,
        """\
esp: --set: 'abc' is not a value for n. Values are constants: 256, 1.0d-4,
     .true. or 'text'.
""",
    ),
    (
        "--set n",
        2,
        """\
esp: --set: 'n' is not of the form NAME=VALUE. For example --set N=256.
""",
    ),
    (
        "--distribute A=(BLOK)",
        2,
        """\
E315 --distribute a=(BLOK): 'blok' is none of BLOCK, BLOCK(n), CYCLIC,
    CYCLIC(n), GEN_BLOCK((/ sizes /)) and *
       hint: for example --distribute 'a=(BLOCK,*)'
""",
    ),
    (
        "--distribute A=(BLOCK,*)",
        2,
        """\
E302 --distribute a has 2 formats, but a has 1 dimension
       hint: write one format for each dimension of a
""",
    ),
    (
        "--distribute C=(BLOCK)",
        2,
        """\
E301 --distribute c=(BLOCK): there is no array or template c
       hint: known: a, b
""",
    ),
    (
        "--distribute A=(BLOCK(2)) --procs 4",
        2,
        """\
E307 --distribute a, dimension 1: BLOCK(2) on 4 processors holds 8 of 64 indices
       hint: write BLOCK or BLOCK(16), or distribute the dimension over 32
             processors
""",
    ),
    (
        "--procs 0",
        2,
        """\
esp: --procs: '0' is not a processor count from 1 to 1,048,576. Give one, or a
     list such as 1,2,4 or 1..8.
""",
    ),
    (
        "--procs -4",
        2,
        """\
esp: --procs: '-4' is not a processor count from 1 to 1,048,576. Give one, or a
     list such as 1,2,4 or 1..8.
""",
    ),
    (
        "--procs 1,x",
        2,
        """\
esp: --procs: 'x' is not a processor count from 1 to 1,048,576. Give one, or a
     list such as 1,2,4 or 1..8.
""",
    ),
    (
        "--load 100%",
        2,
        """\
M121 --load: '100%' is out of range
       hint: it is at least 0 and below 100 %
""",
    ),
    (
        "--load nan",
        2,
        """\
M121 --load: 'nan' is not a fraction
       hint: a change is 'x2', '30%' or a value such as 30% or 0.3
""",
    ),
    (
        "--load inf",
        2,
        """\
M121 --load: 'inf' is not a fraction
       hint: a change is 'x2', '30%' or a value such as 30% or 0.3
""",
    ),
    (
        "--load -1",
        2,
        """\
M121 --load: '-1' is out of range
       hint: it is at least 0 and below 100 %
""",
    ),
    (
        "--bandwidth x0",
        2,
        """\
M121 --bandwidth: 'x0' is not a factor
       hint: it must be above 0
""",
    ),
    (
        "--bandwidth -3",
        2,
        """\
M121 --bandwidth: '-3' lacks its unit: expected a bandwidth
       hint: a change is 'x2', '30%' or a value such as 2.8 MB/s
""",
    ),
    (
        "--bandwidth 5us",
        2,
        """\
M121 --bandwidth: '5us' is a time, expected a bandwidth
       hint: a change is 'x2', '30%' or a value such as 2.8 MB/s
""",
    ),
    (
        "--latency 5MB/s",
        2,
        """\
M121 --latency: '5MB/s' is a bandwidth, expected a time
       hint: a change is 'x2', '30%' or a value such as 65 us
""",
    ),
    (
        "--overlap 2",
        2,
        """\
M121 --overlap: '2' is out of range
       hint: it is at least 0 and at most 100 %; did you mean 2%?
""",
    ),
    (
        "--system-set cube.network.long.strtup=120us",
        2,
        """\
M120 'cube.network.long.strtup' is not a parameter of the machine 'ipsc860'
       hint: did you mean 'cube.network.long.startup'?
""",
    ),
    (
        "--system-set cube.network.long.startup=120MB",
        2,
        """\
M121 'cube.network.long.startup': '120MB' is a size, expected a time
       hint: a change is 'x2', '30%' or a value such as 65 us
""",
    ),
    (
        "--system-set nix=1",
        2,
        """\
M120 'nix' is not a parameter of the machine 'ipsc860'
       hint: `esp system show ipsc860` lists the paths
""",
    ),
    (
        "--annotate --per-processor",
        2,
        """\
esp: --annotate and --per-processor contradict each other. Choose one view.
""",
    ),
    (
        "--json --csv",
        2,
        """\
esp: argument --csv: not allowed with argument --json. `esp run --help` lists
     the options.
""",
    ),
    (
        "--json --line 3",
        2,
        """\
esp: --json contains every line and does not show --lines. Leave out one of the
     two.
""",
    ),
    (
        "--line 99",
        2,
        """\
esp: --lines 99: <stdin> has lines 1 to 10.
""",
    ),
    (
        "--aau 99",
        2,
        """\
esp: --aau 99: The AAUs of this program are 0 to 5. --aau all lists them.
""",
    ),
    (
        "--bandwith x2",
        2,
        """\
esp: unrecognized arguments: --bandwith x2. Did you mean --bandwidth?
""",
    ),
    (
        "--opt nix=off",
        2,
        """\
esp: there is no optimisation 'nix'. Known: hoist, coalesce, redundant,
     reductions, remaps, interchange, invariant, masks, strength, library,
     pack, aggregate, inline, fuse.
""",
    ),
    (
        "--system nix",
        2,
        """\
esp: nix: file not found, and no bundled machine has this name. `esp system
     list` shows the bundled machines.
""",
    ),
    (
        "--system .",
        2,
        """\
esp: .: this is a folder, not a machine. Name a file in it.
""",
    ),
    (
        "-o nix/out.txt",
        2,
        """\
esp: nix/out.txt: cannot be written: no such file or directory.
""",
    ),
]


@pytest.mark.parametrize("what", PROGRAMS)
def test_programs(what):
    outcome = command(PROGRAMS[what])
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == TOLD[what]


@pytest.mark.parametrize(("words", "code", "told"), OPTIONS, ids=[each[0] for each in OPTIONS])
def test_options(words, code, told):
    outcome = command(GOOD, *words.split())
    assert (outcome.code, outcome.out, outcome.err) == (code, "", told)


def test_all_bad_directives_are_named_in_one_run():
    outcome = command(changed(("DISTRIBUTE a(BLOCK)", "DISTRIBUTE c(BLOCK)"), ("WITH a(i)", "WITH d(i)")))
    assert outcome.code == 1
    assert re.findall(r"<stdin>:(\d+):", outcome.err) == ["6", "7"]
    assert outcome.err.endswith("2 errors\n")


def test_the_options_that_are_asked_for_help():
    text = PROGRAMS["values that are read"]
    assert command(text, "--set", "k=3").err.count("E501") == 1
    assert command(text, "--set", "K=3", "--set", "m=2").code == 0
    assert command(PROGRAMS["a loop that data leave"], "--set", "k=3").code == 0
    assert command(PROGRAMS["values that are computed"], "--set", "k=3").code == 0
    assert command(PROGRAMS["endless"], "--set", "TRIPS_8=5").code == 0
    assert command(PROGRAMS["division by zero"], "--set", "n=8").code == 0
    assert command(GOOD, "--distribute", "A=(BLOCK(16))", "--procs", "4").code == 0


SUBSCRIPTS = """\
integer, parameter :: n = 8
real a(n), b(n)
!HPF$ DISTRIBUTE a(BLOCK)
read *, k, m
do i = 1, m
  a(i) = b(k)
end do
do i = 1, m
  b(k) = b(k) + 1
end do
end
"""


def test_only_values_that_are_needed_are_asked_for():
    told = command(SUBSCRIPTS).err
    assert re.findall(r":(\d+):\d+: (E\d+) the flow depends on (\w+)", told) == [("5", "E501", "m")]
    assert command(SUBSCRIPTS, "--set", "m=2").code == 0


def test_every_error_has_a_way_out():
    for told in (*TOLD.values(), *(told for _, _, told in OPTIONS if not told.startswith("esp: "))):
        assert len(re.findall(r"\b[EM]\d{3} ", told)) == told.count(" hint: "), told


# --- sizes ------------------------------------------------------------------------------------------------------


@pytest.mark.truth
def test_huge_arrays_end_soon():
    text = changed(
        ("n = 64", "n = 2**20"),
        ("a(n), b(n)", "a(n,n), b(n,n)"),
        ("a(BLOCK)", "a(BLOCK,*)"),
        ("ALIGN b(i) WITH a(i)", "ALIGN b(i,j) WITH a(i,j)"),
        ("forall (i = 2:n-1) b(i) = a(i-1) + a(i+1)", "a = cshift(b, 1)"),
    )
    for more in ("", "\n  b = transpose(a)"):
        outcome = command(text.replace("a = cshift(b, 1)", "a = cshift(b, 1)" + more), "--procs", "4")
        assert outcome.code == 0 or re.match(r"<stdin>:10:3: E5\d\d ", outcome.err), outcome.err


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        PROGRAMS["step 0"].replace("n, 0", "n"),
        pytest.param(body("a(5) = b(7)\n  print *, a, sum(b)"), marks=pytest.mark.truth),
    ],
    ids=["a shift", "a loop", "a sum"],
)
def test_a_million_processors(text):
    outcome = command(text.replace("q(4)", "q(number_of_processors())"), "--procs", "1048576", limit_s=30)
    assert outcome.code in (0, 1)


@pytest.mark.parametrize("lines", [1_000, pytest.param(10_000, marks=pytest.mark.truth)])
def test_many_lines(lines):
    outcome = command(body("x = x + 1.0\n" * lines), limit_s=60)
    assert outcome.code == 0


@pytest.mark.parametrize("length", [200_000, pytest.param(1_000_000, marks=pytest.mark.truth)])
@pytest.mark.parametrize(
    "statement",
    [
        lambda length: "x = 1" + " " * length + "+ 1",
        lambda length: "x = " + "y" * length,
        lambda length: "x = " + "+".join(["1"] * (length // 50)),
        lambda length: "x = " + "(" * (length // 200) + "1" + ")" * (length // 200),
        lambda length: "x = '" + "y" * length,
    ],
    ids=["blanks", "a name", "a sum", "parentheses", "a text"],
)
def test_long_lines(statement, length):
    outcome = command(body(statement(length)), limit_s=30)
    assert outcome.code in (0, 1)
    assert max(map(len, outcome.err.splitlines()), default=0) <= 80


def test_nested_loops_whose_work_is_too_long_to_follow(monkeypatch):
    monkeypatch.setattr("esp.computed.Setting", partial(Setting, scalar_steps=10_000))
    loops = "k = 0\n do i = 1, 20000\n do j = 1, 30000\n k = k + mod(i * j, 3)\n end do\n end do\n do i = 1, k\n"
    outcome = command(body(loops + "a = cshift(b, 1)\n end do", ", j, k"), limit_s=60)
    assert (outcome.code, outcome.out) == (1, "")
    assert "E507 the values that decide the flow take too many steps to compute" in " ".join(outcome.err.split())


def test_indirect_subscripts_are_said():
    outcome = command(changed(("a(i-1) + a(i+1)", "a(idx(i))"), (":: i\n", ":: i, idx(n)\n")))
    assert (outcome.code, outcome.err) == (0, "")
    assert "an index array decides which elements of a are read" in " ".join(outcome.out.split())


# --- files ------------------------------------------------------------------------------------------------------


@pytest.mark.sampled
@pytest.mark.parametrize("name", program_names())
def test_truncated_files(name):
    text = (benchmarks_dir() / f"{name}.hpf").read_text(encoding="utf-8")
    for tenth in range(1, 10):
        outcome = command(text[: len(text) * tenth // 10])
        assert (outcome.code, outcome.out) == (1, "")
        assert re.search(r"<stdin>:\d+(:\d+)?: E\d{3} ", outcome.err), outcome.err


@pytest.mark.parametrize(
    "content",
    [b"\0\1\2", b"\xff\xfe", b"", b"\n\n", b"{", b"program p\n a = (\n" * 3, bytes(range(256)) * 100],
    ids=["NUL", "BOM", "empty", "blank", "brace", "open", "all bytes"],
)
def test_files_of_any_content(tmp_path, content):
    path = tmp_path / "x.hpf"
    path.write_bytes(content)
    for words in (("run", str(path)), ("run", "laplace.hpf", "--system", str(path))):
        outcome = fuzz.run(fuzz.Case(0, "", words))
        assert not outcome.why, outcome
        assert outcome.code in (1, 2)
        assert "x.hpf" in "".join(outcome.err.split())
    assert fuzz.run(fuzz.Case(0, "", ("system", "check", str(path)))).code == 3


def test_files_that_include_themselves(tmp_path):
    path = tmp_path / "x.hpf"
    path.write_text("program p\n" + "include 'x.hpf'\n" * 5 + "end\n", encoding="utf-8")
    outcome = fuzz.run(fuzz.Case(0, "", ("run", str(path))))
    assert outcome.code == 1
    assert not outcome.why
    assert "does x.hpf include itself?" in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "nix.hpf"), "esp: nix.hpf: file not found"),
        (("run", "."), "esp: .: this is a folder, not a program. Name a file in it."),
        (("run", "laplace.hpf", "--system", "nix.yaml"), "esp: nix.yaml: file not found"),
        (("run", "laplace.hpf", "-o", "/nix/nix.txt"), "esp: /nix/nix.txt: cannot be written: no such file"),
        (("run", ""), "esp: the program name is empty."),
        (("run",), "esp: the following arguments are required: PROG."),
        (("nix",), "esp: there is no command 'nix'."),
        (("system", "show", "nix"), "esp: nix: file not found, and no bundled machine has this name"),
        (("examples", "copy", "nix"), "esp: nix: no bundled program has this name. `esp examples list` shows them."),
    ],
)
def test_files_that_are_not_there(words, told):
    outcome = fuzz.run(fuzz.Case(0, "", words))
    assert (outcome.code, outcome.out, outcome.why) == (2, "", "")
    assert told in " ".join(outcome.err.split())


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = tmp_path / "x.hpf"
    path.write_text(GOOD, encoding="utf-8")

    usual = Path.read_bytes

    def refused(self):  # whoever runs the tests may be allowed everything
        if self == path:
            raise PermissionError(13, "Permission denied", str(self))
        return usual(self)

    monkeypatch.setattr(Path, "read_bytes", refused)
    outcome = fuzz.run(fuzz.Case(0, "", ("run", str(path))))
    assert (outcome.code, outcome.why) == (2, "")
    assert "cannot be read: permission denied." in " ".join(outcome.err.split())


def test_a_reader_that_goes_away(root):
    line = f"{sys.executable} -m esp run laplace.hpf --annotate | head -1; {sys.executable} -m esp run laplace.hpf >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=root, timeout=60)
    assert done.stdout.startswith("laplace.hpf")
    assert "Traceback" not in done.stderr
    assert "bug in esp" not in done.stderr


# --- machines ---------------------------------------------------------------------------------------------------


def _machine(root):
    return (root / "systems" / "ipsc860.yaml").read_text(encoding="utf-8")


def test_a_machine_with_a_wrong_unit(root):
    text = _machine(root)
    wrong = re.sub(r"(?m)^(\s+clock: ).*$", r"\g<1>{value: 40 us, source: esp, certainty: quoted}", text, count=1)
    line = next(number for number, each in enumerate(wrong.splitlines(), 1) if "40 us, source: esp" in each)
    outcome = fuzz.run(fuzz.Case(0, GOOD, ("run", "-"), machine=wrong))
    assert (outcome.code, outcome.why) == (1, "")
    assert f"machine.yaml:{line}:" in "".join(outcome.err.split())
    assert "'40 us' is a time, expected a frequency" in " ".join(outcome.err.split())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("clock:", "clok:", 1),
        lambda text: re.sub(r"(?m)^\s+clock:.*\n(\s{8,}.*\n)*", "", text, count=1),
        lambda text: re.sub(r"(?m)^(\s+)(clock:.*)$", r"\1\2\n\1\2", text, count=1),
        lambda text: text[: len(text) // 2],
        lambda text: text + "\nnonsense: 1\n",
        lambda text: text + "\n  bad: [indent\n",
        lambda text: "a: " + "[" * 5000,
        lambda text: "a: " + "{a: " * 300 + "1" + "}" * 300,
        lambda text: "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        lambda text: "- 1\n- 2\n",
        lambda text: "42",
        lambda text: "!!python/object/apply:os.system ['true']",
        lambda text: re.sub(r"\d+ MHz", ".nan MHz", text),
        lambda text: re.sub(r"\d+ MHz", "-40 MHz", text),
        lambda text: "\0" + text,
    ],
    ids=[
        "unknown key",
        "missing key",
        "duplicate key",
        "half",
        "more",
        "syntax",
        "deep list",
        "deep map",
        "aliases",
        "list",
        "number",
        "tag",
        "nan",
        "negative",
        "NUL",
    ],
)
def test_machines(root, change):
    wrong = change(_machine(root))
    outcome = fuzz.run(fuzz.Case(0, GOOD, ("run", "-"), machine=wrong))
    assert not outcome.why, outcome
    assert (outcome.code, outcome.out) == (1, "")
    assert re.search(r"machine\.yaml(:\d+:\d+)?:M\d{3}", "".join(outcome.err.split())), outcome.err
