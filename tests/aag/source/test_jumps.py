"""GO TO as blocks: gfortran runs the program before and after."""

import subprocess

import pytest

from aag.ir.printer import print_program
from aag.ir.statements import Cycle, Do, DoWhile, Exit, If, Opaque, SelectCase
from aag.ir.visitors import walk_statements
from aag.source.read import read_program
from tests.aag.source import random_jumps

PROGRAMS = {
    "repeat": """\
      x = 100
      k = 0
   10 continue
      x = x / 2
      k = k + 1
      if (x .gt. 0.5) go to 10
      print *, x, k
      end
""",
    "leave": """\
      do 20 i = 1, 10
        x = i * 3
        if (x .gt. 11) go to 30
   20 continue
   30 print *, x, i
      do 50 i = 1, 9
        if (i .eq. 4) goto 60
   50 continue
   60 print *, i
      end
""",
    "next": """\
      k = 0
      do 20 i = 1, 10
      do 10 j = 1, 10
        if (j .gt. i) go to 20
        if (mod(i + j, 3) .eq. 0) go to 10
        k = k + 1
   10 continue
        k = k + 100
   20 continue
      print *, k
      end
""",
    "out of a nest": """\
      do 20 i = 1, 10
      do 10 j = 1, 10
        if (i * j .eq. 42) go to 30
   10 continue
   20 continue
   30 print *, i, j
      end
""",
    "forever": """\
      k = 0
   70 k = k + 1
      if (k .gt. 4) goto 80
      goto 70
   80 print *, k
      end
""",
    "beside empty blocks": """\
      k = 0
      if (k .gt. 3) then
      end if
      do 5 i = 1, 3
    5 continue
      do i = 1, 2
      end do
      select case (k)
      case (1)
      case default
      end select
   10 k = k + 1
      if (k .lt. 3) then
      else
      end if
      if (k .lt. 7) go to 10
      print *, k
      end
""",
    "computed, arithmetic and END": """\
      n = 0
      do 50 i = 1, 9
        go to (10, 20, 10, 30), mod(i, 6)
        n = n + 1
        go to 50
   10   n = n + 10
   20   if (i - 4) 30, 40, 45
   30   n = n + 100
   40   n = n + 1000
        go to 50
   45   if (mod(i, 2) .eq. 0) then
          n = n + 5
          if (n .gt. 100) go to 48
          n = n + 7
   48   end if
   50 continue
      do i = 1, 5
        if (i .eq. 2) go to 60
        n = n + 20000
   60 end do
      print *, n, i
      if (n .gt. 3) go to 99
      print *, i
   99 end
""",
    "a terminal statement that does something": """\
      n = 0
      do 10 i = 1, 6
        if (mod(i, 2) .eq. 0) go to 10
        n = n + 100
   10   n = n + i
      print *, n
      end
""",
    "search": """\
      integer a(5)
      a = (/ 3, 1, 4, 1, 5 /)
      do k = 4, 6
      do 10 i = 1, 5
        if (a(i) .eq. k) go to 20
   10 continue
      print *, 'not found', k
      go to 30
   20 print *, 'found', k, i
   30 continue
      end do
      end
""",
    "next from a branch": """\
      n = 0
      do 90 i = 1, 9
        if (mod(i, 3) .ne. 0) then
          n = n + 1
          if (mod(i, 2) .eq. 0) go to 90
          n = n + 10
        end if
        n = n + 100
   90 continue
      print *, n, i
      end
""",
    "into the middle of a loop": """\
      k = 0
      s = 1.0
      go to 20
   10 s = s * 2
   20 k = k + 1
      if (k .lt. 5) go to 10
      print *, k, s
      end
""",
    "one in the other": """\
      n = 0
      k = 0
   10 k = k + 1
      j = 0
   20 j = j + 1
      n = n + j * k
      if (j .lt. 3) go to 20
      if (k .lt. 4) go to 10
      print *, n, k, j
      end
""",
}


@pytest.mark.sampled
@pytest.mark.parametrize("what", PROGRAMS)
def test_the_program_does_the_same(tmp_path, what):
    program = read_program(PROGRAMS[what], "x.f")
    assert program.complete
    outputs = both(tmp_path, PROGRAMS[what], program, "before.f")
    assert outputs[0] == outputs[1] != ""


def both(folder, text, program, before):
    """What the text prints, and what the program that was read from it prints."""
    (folder / before).write_text(text)
    (folder / "after.f90").write_text(print_program(program))
    outputs = []
    for name in (before, "after.f90"):
        subprocess.run(["gfortran", "-w", "-o", name + ".x", name], cwd=folder, check=True, capture_output=True)
        done = subprocess.run([folder / (name + ".x")], check=True, capture_output=True, text=True, timeout=60)
        outputs.append(done.stdout)
    return outputs


def check_random(folder, seeds):
    """Every statement that is carried out, in its order, is the same."""
    text = random_jumps.program(seeds)
    program = read_program(text, "x.f90")
    assert program.complete
    before, after = both(folder, text, program, "before.f90")
    assert before == after
    ways = [line.split() for line in before.splitlines()]
    assert len(ways) == 6 * len(seeds)
    assert len({way[3] for way in ways}) > len(seeds)  # they do not all go the same way


def test_random_jumps(tmp_path):
    check_random(tmp_path, range(25, 37))


@pytest.mark.truth
@pytest.mark.parametrize("shard", range(20))
def test_many_random_jumps(tmp_path, shard):
    check_random(tmp_path, range(1000 + 50 * shard, 1050 + 50 * shard))


@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        ("repeat", {DoWhile, Exit}),
        ("leave", {Do, Exit}),
        ("next", {Do, If}),
        ("out of a nest", {Do, Exit}),
        ("forever", {DoWhile, Exit}),
        ("computed, arithmetic and END", {Do, SelectCase, If}),
        ("next from a branch", {Do, If, Cycle}),
        ("into the middle of a loop", {DoWhile, Exit, If}),
    ],
)
def test_what_they_become(what, kinds):
    found = {type(each) for each in walk_statements(read_program(PROGRAMS[what], "x.f").main.body)}
    assert kinds <= found
    assert Opaque not in found


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("if (x > 1) goto 10\nx = 1\n10 y = 1\nend\n", "if (.not. x > 1) x = 1"),
        (
            "if (x > 1) goto 10\nx = 1\ngoto 20\n10 y = 1\n20 z = 1\nend\n",
            "if (x > 1) then 10 y = 1 else x = 1 end if 20 z",
        ),
        ("goto 10\nx = 1\n10 y = 1\nend\n", "y = 1"),
        ("if (x > 1) goto 10\nx = 1\nstop\n10 y = 1\nstop\nend\n", "if (x > 1) then y = 1 stop end if x = 1 stop"),
        ("do i = 1, 3\nif (x > 1) goto 10\nx = 1\n10 continue\nend do\nend\n", "if (.not. x > 1) x = 1"),
    ],
)
def test_plain_forms(text, printed):
    words = " ".join(print_program(read_program(text, "x.f90")).split())
    assert printed in words.replace("then x = 1 end if", "x = 1"), words
    assert "block" not in words


@pytest.mark.parametrize(
    "text",
    [
        # into a block
        "goto 10\nif (x > 1) then\n10 y = 1\nend if\nend\n",
        # to no label
        "goto 10\ny = 1\nend\n",
        # to what a variable says
        "assign 10 to k\ngoto k\n10 y = 1\nend\n",
    ],
)
def test_what_is_no_jump_of_fortran_90_stays(text):
    program = read_program(text, "x.f90")
    assert any(isinstance(each, Opaque) for each in walk_statements(program.main.body))
    assert not program.complete
