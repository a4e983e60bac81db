"""What `print` shows of a prediction, beside the command."""

import pickle

import pytest

import esp
from esp.cli.main import main

SMALL = """\
program small
  integer, parameter :: n = 9
  real :: a(n), b(n)
  integer :: k
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ ALIGN b(i) WITH a(i)
  a = 1.0
  do k = 1, 5
    b(2:n) = a(1:n-1)
    a = b
  end do
end program small
"""


@pytest.mark.parametrize("system", ["ipsc860", "cluster-ib"])
def test_print_shows_what_the_command_prints(tmp_path, capsys, system):
    """A line of the command that `print` has not is the next command."""
    file = tmp_path / "small.f90"
    file.write_text(SMALL)
    assert main(["run", str(file), "--procs", "4", "--system", system]) == 0
    shown = capsys.readouterr().out
    made = esp.predict(file, system, 4)
    assert made.interval is None
    assert str(made).rstrip() == shown.partition("\nnext ")[0]
    assert "in 90% of the scenarios" in " ".join(shown.split())
    assert str(pickle.loads(pickle.dumps(made))) == str(made)


@pytest.mark.parametrize(("procs", "idle"), [(3, 0), (4, 1), (5, 0), (9, 0), (12, 3)])
def test_processors_without_elements(procs, idle):
    """By hand: ceil(9/p) elements each, so the first ceil(9/ceil(9/p)) own something."""
    found = esp.predict(SMALL, procs=procs)
    assert found.without_elements == idle
    assert found.distributed == (("a", "b") if idle else ())
