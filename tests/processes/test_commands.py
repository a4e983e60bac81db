"""Commands of esp that are killed while the programs of others run: nothing runs on, and no file is left."""

import random
import signal

import pytest

SHIFTS = """program shifts
  implicit none
  integer, parameter :: n = 1000000, steps = 40
  double precision :: a(n)
  integer :: i, k
!hpf$ distribute a(block)
  a = 1.0d0
  do k = 1, steps
    a(2:n) = a(1:n-1)
    forall (i = 1:n) a(i) = sin(a(i))
  end do
  print *, sum(a)
end program shifts
"""
"""Every processor is busy for about half a second."""

SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT", "SIGKILL")
COMMANDS = {
    "mpi": "validate shifts.f90 --procs 4 --timeout 0",
    "simgrid": "validate shifts.f90 --procs 4 --against simgrid --timeout 0",
    "cachegrind": "validate shifts.f90 --against cachegrind --timeout 0",
    "build": "compile shifts.f90 --procs 4 -o built --build",
    "sweep": "sweep gauss --procs 2,4,8,16 --set n=100:600:10 --jobs 2",
    "trace": "trace laplace_bx --procs 64 --set n=256 --set k=300 -o big.trace",
    "compare": "compare gauss --procs 16 --set n=400 --jobs 2",
}
TOOLS = ("gfortran", "mpif90", "mpirun", "make", "valgrind", "smpirun")


@pytest.fixture
def command(watched, tmp_path):
    (tmp_path / "shifts.f90").write_text(SHIFTS)
    return lambda name: watched("-m", "esp", *COMMANDS[name].split())


def ends(started, name):
    started.process.send_signal(getattr(signal, name))
    started.process.wait()
    assert started.until(lambda: not started.left(), 30), started.left()


@pytest.mark.parametrize("kill", ["SIGTERM", "SIGHUP"])
def test_a_file_that_is_half_written_is_removed(kill, command, tmp_path):
    started = command("trace")
    assert started.until(lambda: [*tmp_path.glob(".big.trace.*.part")], 60)
    ends(started, kill)
    assert started.process.returncode == 128 + getattr(signal, kill)
    assert not [*tmp_path.glob(".*")]


@pytest.mark.parametrize(("name", "tool", "kill"), [("build", "f951", "SIGTERM"), ("mpi", "shifts", "SIGKILL")])
def test_a_killed_command_leaves_nothing(name, tool, kill, command):
    started = command(name)
    assert started.until(lambda: started.runs(tool), 60)
    assert started.process.poll() is None
    ends(started, kill)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "kill"),
    [("sweep", "SIGTERM"), ("sweep", "SIGKILL"), pytest.param("compare", "SIGKILL", marks=pytest.mark.truth)],
)
def test_processes_that_predict_end_with_the_command(name, kill, command):
    started = command(name)
    assert started.until(lambda: sum("spawn_main" in each for each in started.alive().values()) == 2, 60)
    ends(started, kill)


@pytest.mark.truth
@pytest.mark.parametrize("seed", range(60))
def test_a_command_killed_at_any_moment_leaves_nothing(seed, command):
    chance = random.Random(seed)
    started = command(chance.choice([*COMMANDS]))
    moment = 6 * chance.random() ** 2
    started.until(lambda: started.process.poll() is not None, moment)
    ends(started, chance.choice(SIGNALS))
