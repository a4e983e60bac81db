"""Trip counts that esp computes: the compiled program sends the messages that are predicted with them."""

import pytest

from tests.esp.test_computed import EARLY, RELAX


@pytest.mark.parametrize("text", [RELAX, EARLY], ids=["while", "exit"])
def test_the_compiled_program_sends_the_predicted_messages(text, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.hpf").write_text(text)
    done = esp("validate", "p.hpf", "--procs", "4")
    rows = [line.split() for line in done[1].splitlines() if line.split()[:1] == ["4"]]
    ((_, answer, messages, counted, size, sent, each),) = rows
    assert (answer, messages, size, each) == ("same", counted, sent, "same")


@pytest.mark.truth
def test_a_program_that_reads_more_than_it_is_given_has_a_way_out(esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.f90").write_text(
        "program p\n  integer :: n\n  real, allocatable :: a(:)\n!hpf$ distribute a(block)\n  read *, n\n"
        "  allocate (a(n))\n  a = 1\n  print *, sum(a)\nend program p\n"
    )
    (tmp_path / "n.txt").write_text("8\n")
    code, _, err = esp("validate", "p.f90", "--procs", "2", "--set", "n=8")
    assert code == 1
    assert "End of file" in err
    assert "Give all that the program reads with --input FILE" in " ".join(err.split())
    assert "Backtrace" not in err
    assert esp("validate", "p.f90", "--procs", "2", "--input", "n.txt")[0] == 0
