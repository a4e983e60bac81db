"""What the commands say of themselves: help that fits a terminal, and a page that names every field of their JSON."""

import pytest

COMMANDS = ("explain", "formula", "balance", "layout", "graph", "query", "diff", "check")

MAPPED = """\
program m
  real :: a(8), b(8), c(8)
!HPF$ DISTRIBUTE a(BLOCK)
!HPF$ DISTRIBUTE b(CYCLIC)
  b = 1.0
  forall (i = 1:8) a(i) = b(i)
  c = a
end program m
"""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_a_terminal(command, esp, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = esp(command, "--help")
    assert code == 0
    assert "examples:" in out
    assert [line for line in out.splitlines() if len(line) > 80] == []
