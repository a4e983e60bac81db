"""GO TO where it spells a loop: gfortran runs the program before and after."""

import shutil
import subprocess

import pytest

from aag.ir.printer import print_program
from aag.ir.statements import Cycle, DoWhile, Exit, Opaque
from aag.ir.visitors import walk_statements
from aag.source.read import read_program

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


@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
@pytest.mark.parametrize("what", PROGRAMS)
def test_the_program_does_the_same(tmp_path, what):
    program = read_program(PROGRAMS[what], "x.f")
    assert program.complete
    (tmp_path / "before.f").write_text(PROGRAMS[what])
    (tmp_path / "after.f90").write_text(print_program(program))
    outputs = []
    for name in ("before.f", "after.f90"):
        subprocess.run(["gfortran", "-w", "-o", name + ".x", name], cwd=tmp_path, check=True, capture_output=True)
        done = subprocess.run([tmp_path / (name + ".x")], check=True, capture_output=True, text=True, timeout=10)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1] != ""


@pytest.mark.parametrize(
    ("what", "kind"),
    [("repeat", DoWhile), ("leave", Exit), ("next", Cycle), ("out of a nest", Exit), ("forever", Exit)],
)
def test_what_they_become(what, kind):
    found = [type(each) for each in walk_statements(read_program(PROGRAMS[what], "x.f").main.body)]
    assert kind in found
    assert Opaque not in found


@pytest.mark.parametrize(
    "text",
    [
        # two jumps to one label, from different places
        "10 x = x + 1\nif (x > 3) goto 10\ny = 1\nif (y > x) goto 10\nend\n",
        # forward over other statements
        "goto 10\nx = 1\n10 y = 1\nend\n",
        # into a loop that a new loop around would break: EXIT means the loop outside
        "do i = 1, 3\n10 x = x + 1\nif (x > 5) exit\nif (x > 3) goto 10\nend do\nend\n",
        # out of two loops to a label that does not follow
        "do i = 1, 3\nif (i > 1) goto 10\nend do\nx = 1\n10 y = 1\nend\n",
    ],
)
def test_other_jumps_stay_opaque(text):
    program = read_program(text, "x.f90")
    assert any(isinstance(each, Opaque) for each in walk_statements(program.main.body))
    assert not program.complete
