"""`esp compile` and `esp validate`, from the command line on."""

import os
import subprocess

import pytest

from esp import tools
from esp.cli import validate
from esp.cli.main import main
from esp.errors import CheckFailedError
from esp.validate.answer import difference
from esp.validate.serial import with_values


def test_compile_writes_sources_that_make_builds(tmp_path, capsys):
    assert main(["compile", "pi", "--procs", "3", "--set", "n=100", "-o", str(tmp_path), "--build"]) == 0
    assert "for 3 processors (built)" in capsys.readouterr().out
    text = (tmp_path / "quadrature.f90").read_text()
    assert "forall (i = 1:n) x(i) = (dble(i) - 0.5d0) / dble(n)" in text
    words = ["make", "-s", "run"]
    done = subprocess.run(words, cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=True)
    # The midpoint rule with 100 points: pi + 1 / (12 * 100**2) to the next order.
    assert float(done.stdout.split()[-1]) == pytest.approx(3.14159265358979 + 1 / 120000, abs=1e-9)


def test_validate_says_same(capsys):
    assert main(["validate", "gauss", "--procs", "1,3", "--set", "n=10"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows[1:]] == ["1", "3"]
    assert all(row[1] == "same" and row[-1] == "same" for row in rows[1:])
    assert rows[1][2:6] == ["0"] * 4
    # 9 multicasts to two others, and a sum: one message to the power of two, an exchange, and the result back.
    assert rows[2][2] == rows[2][3] == str(9 * 2 + 4)


@pytest.mark.parametrize("command", ["compile", "validate"])
def test_subscripts_out_of_bounds_are_reported(command, tmp_path, monkeypatch, capsys):
    def stop(*_):
        raise CheckFailedError("stopped")

    monkeypatch.setattr(validate, "validated", stop)
    path = tmp_path / "p.hpf"
    path.write_text("real a(8), b(8)\n!hpf$ distribute a(block)\na = 1\ndo i = 1, 8\nb(i) = a(i + 1)\nend do\nend\n")
    main([command, str(path), "--procs", "2", *(["-o", str(tmp_path / "made")] if command == "compile" else [])])
    assert ":5:8: W211" in " ".join(capsys.readouterr().err.split())


def test_another_mpi_may_be_chosen(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    assert main(["compile", "pi", "--procs", "3", "-o", str(tmp_path)]) == 0

    def told(*words, **environment):
        done = subprocess.run(
            ["make", "-n", "run", *words],
            cwd=tmp_path,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    chosen = {"MPIFC": "other90", "MPIRUN": "otherrun"}
    for text in (told(**chosen), told(*(f"{name}={value}" for name, value in chosen.items()))):
        assert "other90 -O2" in text
        assert "otherrun -np 3 ./quadrature" in text
        assert "mpif90" not in text
        assert "mpirun" not in text
    for name, value in chosen.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert main(["validate", "pi", "--procs", "2"]) == 1
        assert f"{value} is not installed" in capsys.readouterr().err


def test_a_kept_folder_is_built_anew_by_another_compiler(tmp_path, monkeypatch):
    """Two compilers that say when they are called; `make` by hand notices it, too."""
    words = ["compile", "pi", "--procs", "2", "--build", "-o", str(tmp_path / "build")]
    calls = tmp_path / "calls"
    for name in ("one90", "two90"):
        wrapper = tmp_path / name
        wrapper.write_text(f'#!/bin/sh\necho {name} >> {calls}\nexec mpif90 "$@"\n')
        wrapper.chmod(0o755)

    def compiled_by(name):
        calls.write_text("")
        monkeypatch.setenv("MPIFC", str(tmp_path / name))
        assert main(words) == 0
        return calls.read_text().split()

    first = compiled_by("one90")
    assert set(first) == {"one90"}
    assert compiled_by("one90") == []
    assert compiled_by("two90") == ["two90"] * len(first)
    assert compiled_by("two90") == []
    again = subprocess.run(
        ["make", "-s"],
        cwd=tmp_path / "build",
        env={**os.environ, "MPIFC": str(tmp_path / "one90")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert again.stderr == ""
    assert calls.read_text().split() == first


@pytest.mark.truth
@pytest.mark.slow
def test_messages_of_lines_beyond_the_main_file_are_counted(tmp_path, monkeypatch, capsys):
    """Another file may be longer than the one with the main program: its lines have counters, too, and are quoted."""
    (tmp_path / "main.f90").write_text(
        "program p\n  integer :: v(12)\n!hpf$ distribute v(block)\n  v = 1\n  call work(v)\nend program\n"
    )
    comments = "! nothing\n" * 60
    text = "subroutine work(x)\n  integer :: x(12)\n!hpf$ distribute x(block)\n  print *, maxval(x)\nend subroutine\n"
    (tmp_path / "work.f90").write_text(comments + text)
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "main.f90", "--file", "work.f90", "--procs", "2"]) == 0
    assert "same" in capsys.readouterr().out
    assert main(["compile", "main.f90", "--file", "work.f90", "--procs", "2", "-o", "made"]) == 0
    emitted = "".join(each.read_text() for each in (tmp_path / "made").glob("*.f90"))
    assert "64  (work.f90) print *, maxval(x)" in emitted


def test_messages_may_differ_where_data_decide_the_flow(capsys):
    # 5 x 5 points converge after 22 of 100 sweeps.
    words = ["validate", "laplace", "--procs", "1,2", "--set", "n=5", "--set", "k=100"]
    assert main(words) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split()[-1] == "same"
    assert told.out.splitlines()[2].endswith("may differ")
    assert "messages of lines 36, 38 may differ from the prediction" in told.err
    assert "TRIPS_35" in told.err
    assert main([*words, "--set", "trips_35=22"]) == 0
    assert "may differ" not in capsys.readouterr().out
    assert main([*words, "--set", "trips_35=21"]) == 3


def test_native_collectives_are_not_compared(tmp_path, capsys):
    assert main(["validate", "gauss", "--procs", "3", "--set", "n=10", "--native-collectives"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[1].split() == [
        "3",
        "same",
        "22",
        "-",
        told.out.splitlines()[1].split()[4],
        "-",
        "not",
        "compared",
    ]
    assert "MPI's own" in told.err
    assert main(["validate", "gauss", "--native-collectives", "--trace", str(tmp_path)]) == 2
    assert main(["validate", "gauss", "--native-collectives", "--against", "simgrid"]) == 2
    folder = tmp_path / "own"
    assert main(["compile", "pi", "--procs", "3", "--native-collectives", "-o", str(folder)]) == 0
    assert "esp_native.o" in (folder / "Makefile").read_text()


def test_missing_tool_is_named(monkeypatch, capsys):
    monkeypatch.setattr(tools.shutil, "which", lambda _: None)
    assert main(["validate", "pi", "--procs", "2"]) == 1
    told = capsys.readouterr().err
    assert "gfortran is not installed" in told
    assert "Install gfortran" in told


def test_what_cannot_be_compiled_is_refused_with_its_line(tmp_path, capsys):
    program = tmp_path / "reads.hpf"
    program.write_text("program reads\ninteger :: n\ncall other\nprint *, n\nend program reads\n")
    assert main(["compile", str(program), "--procs", "2", "-o", str(tmp_path / "out")]) == 1
    told = capsys.readouterr().err.splitlines()
    assert "E601 this cannot be compiled: the call of the subroutine other" in " ".join(map(str.strip, told))
    at = told.index("    3 | call other")
    assert told[at + 1] == "      | ^^^^^^^^^^"
    assert "docs/emit.md lists" in told[at + 2]
    assert "`esp run`" not in " ".join(told)  # it refuses the call as well
    assert not (tmp_path / "out").exists()


def test_what_reading_left_out_is_refused(tmp_path, capsys):
    program = tmp_path / "shared.hpf"
    program.write_text("program shared\ninteger :: k\nassign 7 to k\n7 print *, k\nend program shared\n")
    assert main(["compile", str(program), "--procs", "2", "-q", "-o", str(tmp_path / "out")]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert "shared.hpf:3:1: E601 this cannot be compiled: ASSIGN is not modelled" in told
    assert not (tmp_path / "out").exists()


SMALL = "program small\nreal :: a(9)\n!hpf$ distribute a(block)\na = 1\nprint *, sum(a)\nend program small\n"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("small.f90", "compile"),
        ("Makefile", "compile"),
        ("small", "compile"),
        ("small.o", "compile"),
        ("esp_runtime.mod", "compile"),
        ("esp_compiler", "compile"),
        ("small-2/small.f90", "validate"),
    ],
)
def test_what_esp_did_not_write_is_not_overwritten(name, command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(SMALL)
    source = tmp_path / "small.f90"  # the first case: the program itself
    source.write_text(SMALL)
    if name != "small.f90":
        source = source.rename(tmp_path / "small.hpf")
    before = sorted((tmp_path / name).parent.iterdir())
    where = ["-o", "."] if command == "compile" else ["--keep", "."]
    assert main([command, str(source), "--procs", "2", *where]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert f"{name}: esp would overwrite this file, which it did not write" in told
    assert "-o" in told
    assert (tmp_path / name).read_text() == SMALL
    assert sorted((tmp_path / name).parent.iterdir()) == before


def test_what_esp_wrote_is_overwritten(tmp_path, capsys):
    source = tmp_path / "small.hpf"
    for text in (SMALL, SMALL.replace("a = 1", "a = 2")):
        source.write_text(text)
        words = ["compile", str(source), "--procs", "2", "-o", str(tmp_path), "--build"]
        assert main([*words, "--trace"] if text == SMALL else words) == 0
    assert "a(i_1) = 2" in (tmp_path / "small.f90").read_text()


def test_make_runs_more_processors_than_cores_and_cleans_only_its_own(tmp_path, capsys):
    procs = 4 * (os.cpu_count() or 1)
    assert main(["compile", "pi", "--procs", str(procs), "--set", "n=100", "-o", str(tmp_path)]) == 0
    (tmp_path / "other.mod").write_text("")
    told = ("OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy")
    plain = {name: value for name, value in os.environ.items() if name not in told}
    done = subprocess.run(["make", "-s", "run"], cwd=tmp_path, env=plain, capture_output=True, text=True, check=True)
    assert float(done.stdout.split()[-1]) == pytest.approx(3.1416, abs=1e-3)
    subprocess.run(["make", "-s", "clean"], cwd=tmp_path, capture_output=True, check=True)
    assert sorted(each.name for each in tmp_path.iterdir() if each.suffix != ".f90") == ["Makefile", "other.mod"]


def test_parameter_values_are_replaced_in_the_text():
    text = "integer, parameter :: n = 128, m = n + 1\nparameter (k = max(1, 2), l = 3)\nn = 5 ! parameter n = 3\n"
    changed = with_values(text, {"n": "7", "k": "9"})
    assert changed.splitlines()[0] == "integer, parameter :: n = 7, m = n + 1"
    assert changed.splitlines()[1] == "parameter (k = 9, l = 3)"


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a 1 2.0000000000000000", "a 1 2.0000000000000013", True),
        ("2.0000000000000000", "2.0000000000100000", False),
        ("1.0", "NaN", False),
        ("NaN", "NaN", True),
        ("3", "4", False),
        ("T", "F", False),
        ("1 2", "1", False),
    ],
)
def test_outputs_are_compared_by_kind(expected, found, same):
    assert (difference(expected, found) == "") is same
