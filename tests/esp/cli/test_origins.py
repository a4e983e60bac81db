"""Where a program comes from: a pipe, which can be read only once, and a standard input that is not there."""

import os
import subprocess
import sys
import threading

import pytest

ESP = (sys.executable, "-m", "esp")
BROKEN = "program p\n  integer :: i\n  do i = 1, 3\n  print *, i\nend program p\n"
TOO_LONG_S = 120


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("compare",),
        ("compare", "--jobs", "2"),
        pytest.param(("compare", "--jobs", "1"), marks=pytest.mark.truth),
    ],
)
def test_what_is_wrong_with_a_program_from_a_pipe_is_said(tmp_path, words):
    path = tmp_path / "pipe.hpf"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(BROKEN,), daemon=True)
    writer.start()
    command = [*ESP, words[0], str(path), "--procs", "4", *words[1:]]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TOO_LONG_S)
    assert told.returncode == 1
    assert "E111 found END PROGRAM where END DO is expected 5 | end program p" in " ".join(told.stderr.split())
    writer.join(TOO_LONG_S)
    assert not writer.is_alive()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("run -", 2, "standard input: there is nothing to read"),
        ("compare - --jobs 1", 2, "standard input: there is nothing to read"),
        ("tui", 2, "there is no terminal to ask for a program"),
    ],
)
def test_a_standard_input_that_the_shell_has_closed_is_empty(words, code, said):
    command = f'exec "{sys.executable}" -m esp {words} --procs 4 <&-'
    told = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert told.returncode == code
    assert said in " ".join(told.stderr.split())
