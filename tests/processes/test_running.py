"""Programs of others end at their limits and with esp, with all that they have started, and leave no files."""

import re
import signal
import time
from pathlib import Path

import pytest

from aag.diagnostics import SourceError
from aag.running import Limits, run, scratch
from aag.source import preprocess
from tests.aag.source.reading import read_file
from tests.processes.watching import MARK, marked

FERTILE = "(setsid sleep 1000 &) ; setsid sleep 1000 & touch $TMPDIR/left; sleep 1000 & "
"""Shell: two processes in sessions of their own, one of them an orphan, and a temporary file."""

HOLDER = """
import sys
from aag.running import run, scratch
from tests.aag.source.reading import read_file
with scratch() as folder:
    (folder / "inside").touch()
    run(["sh", "-c", sys.argv[1]])
"""


def test_input_and_output():
    ended = run(["sh", "-c", "cat; echo $GIVEN >&2; exit 3"], text="ä" * 100_000, environment={"GIVEN": "x"})
    assert (ended.code, ended.output, ended.errors, ended.beyond) == (3, "ä" * 100_000, "x\n", "")


def test_a_program_may_leave_its_input_unread():
    assert run(["true"], text="x" * 1_000_000).code == 0


def test_an_empty_environment_is_empty():
    assert run(["/usr/bin/env"], bare=True).output == ""


def test_what_cannot_be_started():
    ended = run(["./no such program"])
    assert (ended.code, ended.errors) == (127, "./no such program: No such file or directory\n")


def test_the_signal_that_ends_a_program():
    assert run(["sh", "-c", "kill -SEGV $$"]).code == -signal.SIGSEGV


LIMITED = """
import sys
from aag.running import Limits, run
limits = Limits(seconds=float(sys.argv[2]), memory_bytes=int(sys.argv[3]), output_bytes=int(sys.argv[4]))
sys.exit(("", "time", "memory", "output").index(run(["sh", "-c", sys.argv[1]], limits=limits).beyond))
"""


@pytest.fixture
def limited(watched):
    """Run a command of the shell with limits: the one that ended it, and what is left."""

    def ran(shell, seconds=600.0, memory=0, output=1 << 20):
        command = watched("-c", LIMITED, shell, str(seconds), str(memory), str(output))
        return ("", "time", "memory", "output")[command.process.wait(60)], command.left()

    return ran


def test_the_time_limit_ends_everything(limited):
    began = time.monotonic()
    assert limited(FERTILE + "wait", seconds=0.5) == ("time", [])
    assert time.monotonic() - began < 20


def test_a_program_that_ignores_signals_ends_as_well(limited):
    assert limited("trap '' TERM HUP INT; sleep 1000; sleep 1000", seconds=0.2) == ("time", [])


def test_the_memory_of_all_processes_is_limited(limited):
    hungry = "python3 -c 'x = bytes(10**8) + b\"1\"; import time; time.sleep(1000)'"
    assert limited(f"{hungry} & {hungry}", memory=150 << 20) == ("memory", [])


def test_output_is_limited(limited):
    assert limited("yes") == ("output", [])


def test_nothing_stays_after_the_end(limited):
    assert limited(FERTILE) == ("", [])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGKILL"])
def test_nothing_outlives_the_process_that_runs_it(name, watched):
    holder = watched("-c", HOLDER, FERTILE + "wait")
    assert holder.until(lambda: sum(each.startswith("sleep") for each in holder.alive().values()) == 3)
    assert len(holder.left()) >= 3 + 4 + 2  # these, their shell, two guards, the holder, and two folders
    holder.process.send_signal(getattr(signal, name))
    holder.process.wait()
    assert holder.until(lambda: not holder.left(), 20), holder.left()


def test_a_folder_is_there_for_its_context():
    with scratch() as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        (folder / "deep").mkdir()
        (folder / "deep" / "file").touch()
    assert not folder.exists()


def test_a_folder_that_cannot_be_made(monkeypatch, tmp_path):
    monkeypatch.setattr("aag.running.GUARD", tmp_path / "missing.py")
    with pytest.raises(OSError, match="cannot create a folder"), scratch():
        pass


DOUBLED = (f"#define A{n} A{n - 1} A{n - 1} A{n - 1} A{n - 1}\n" for n in range(1, 40))
BOMB = f"#define A0 x\n{''.join(DOUBLED)}A39\nend\n"


@pytest.mark.parametrize(
    ("beyond", "told", "limits"),
    [
        ("time", "it did not end within 8 s", Limits(seconds=0.3)),
        ("memory", "it needed more than 512 MiB of memory", Limits(memory_bytes=1 << 24)),
    ],
)
def test_the_preprocessor_ends_at_its_limits(beyond, told, limits, monkeypatch, tmp_path):
    path = tmp_path / "bomb.F90"
    path.write_text(BOMB)
    monkeypatch.setattr(preprocess, "_LIMITS", limits)
    monkeypatch.setenv(MARK, str(tmp_path))
    with pytest.raises(SourceError, match=f"E107 the C preprocessor failed: {told}"):
        read_file(path)
    assert not marked(f"{MARK}={tmp_path}")  # cpp has a child that does the work


ALLOWED = {"aag/running.py", "aag/guard.py"}


def test_one_place_starts_programs(root):
    """The pool of `explore/workers.py` and the server of the terminal interface start esp, too."""
    pattern = re.compile(r"(import|from) subprocess|\bos\.(fork|exec\w+|p?spawn\w*|system|popen|posix_spawnp?)\(")
    paths = (path for room in ("aag", "sag", "interpreter", "esp") for path in (root / room).rglob("*.py"))
    found = {path.relative_to(root).as_posix() for path in paths if pattern.search(path.read_text())}
    assert found == ALLOWED


def test_the_guard_starts_without_the_packages(root):
    assert "from aag" not in Path(root, "aag/guard.py").read_text()
