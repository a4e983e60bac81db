"""Trip counts that esp computes: the compiled program sends the messages that are predicted with them."""

import shutil

import pytest

from tests.esp.test_computed import EARLY, RELAX


@pytest.mark.skipif(not all(map(shutil.which, ("gfortran", "mpif90"))), reason="needs gfortran and MPI")
@pytest.mark.parametrize("text", [RELAX, EARLY], ids=["while", "exit"])
def test_the_compiled_program_sends_the_predicted_messages(text, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.hpf").write_text(text)
    done = esp("validate", "p.hpf", "--procs", "4")
    rows = [line.split() for line in done[1].splitlines() if line.split()[:1] == ["4"]]
    ((_, answer, messages, counted, size, sent, each),) = rows
    assert (answer, messages, size, each) == ("same", counted, sent, "same")
