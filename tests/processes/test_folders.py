"""Two commands that build in one folder at once: one of them is refused."""

import fcntl
import os
import subprocess
import sys

import pytest

PROGRAM = """program p
  double precision :: a(16)
!hpf$ distribute a(block)
  a = 1.0d0
  print *, sum(a)
end program p
"""


@pytest.fixture
def compiling(tmp_path):
    (tmp_path / "p.f90").write_text(PROGRAM)
    words = [sys.executable, "-m", "esp", "compile", "p.f90", "--procs", "4", "-o", "built", "--build"]
    return lambda: subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_folder_that_is_being_built_in_is_refused(compiling, tmp_path):
    (tmp_path / "built").mkdir()
    descriptor = os.open(tmp_path / "built", os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    out, err = (second := compiling()).communicate()
    os.close(descriptor)
    assert (second.returncode, out) == (2, "")
    assert "another esp is building in this folder" in " ".join(err.split())
    assert not [*(tmp_path / "built").iterdir()]


def test_both_at_once_are_right_or_refused(compiling, tmp_path):
    both = [compiling(), compiling()]
    told = [each.communicate()[1] for each in both]
    codes = [each.returncode for each in both]
    assert 0 in codes, told
    assert set(codes) <= {0, 2}, told
    assert os.access(tmp_path / "built" / "p", os.X_OK)
