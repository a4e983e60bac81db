"""Programs of several files on the command line and in Python, with -I and -D."""

import pytest

import esp as api

MAIN = """\
      program p
      include 'size.inc'
      real a(n)
!hpf$ distribute a(block)
      do 10 i = 1, n
   10 a(i) = i*FACTOR
      print *, sum(a)
      end
"""
OTHER = "subroutine unused(x)\n  real :: x\n  x = 1\nend subroutine\n"

APPLICATION = {
    "app.inc": """\
/* sizes */
      INTEGER N
      PARAMETER (N=32)
      REAL A(N), B(N)
      COMMON /FLD/ A, B
CHPF$ DISTRIBUTE (BLOCK) :: A, B
""",
    "main.f": """\
      PROGRAM APP
      INCLUDE 'app.inc'
      CHARACTER*20 TITLE
      NAMELIST /INP/ NSTEP, TOL
      STF(X) = X*X + 1.0
      DATA TITLE /'abc'/
      CALL INIT(A, N)
      CALL INIT(B, N)
      NSTEP = 3
      DO 100 IT = 1, NSTEP
CHPF$ INDEPENDENT, NEW(T),
CHPF$*  ONHOME(A(I))
         DO 50 I = 2, N-1
            T = B(I-1) + B(I+1)
            A(I) = STF(T)
   50    CONTINUE
         DO 60, I = 2, N-1
            B(I) = A(I)
   60    CONTINUE
         IF (IT .EQ. 2) GOTO 200
  100 CONTINUE
  200 CONTINUE
      WRITE (*, '(A,F12.4)') TITLE, SUM(A)
      STOP
      END
""",
    "init.f": """\
      SUBROUTINE INIT(X, M)
      REAL X(M)
CHPF$ DISTRIBUTE *(BLOCK) :: X
      DO 10 I = 1, M
   10 X(I) = I
      RETURN
      END
""",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "size.inc").write_text("      parameter (n=16)\n")
    (tmp_path / "main.F").write_text(MAIN)
    (tmp_path / "another.f90").write_text(OTHER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["another.f90", "main.F", "-I", "inc", "-D", "FACTOR=2"],
        ["-Iinc", "-DFACTOR=2", "main.F", "another.f90"],
        ["main.F", "--file", "another.f90", "--include", "inc", "--define", "FACTOR=2"],
    ],
)
def test_the_files_are_one_program(folder, esp, words):
    code, out, err = esp("run", *words, "--procs", "4", "--csv")
    assert code == 0, err
    assert "i*FACTOR" in out
    code, shown, err = esp("show", "ir", *words)
    assert code == 0, err
    assert "a(i) = i * 2" in shown
    assert "subroutine unused(x)" in shown


def test_the_next_command_has_the_same_files(folder, esp):
    code, out, err = esp("run", "main.F", "another.f90", "-Iinc", "-DFACTOR=2", "--procs", "4")
    assert code == 0, err
    assert "--include inc --define FACTOR=2 --file another.f90" in " ".join(out.split())


def test_the_serial_program_has_all_files(folder, esp):
    code, out, err = esp("validate", "main.F", "another.f90", "-Iinc", "-DFACTOR=2", "--procs", "2")
    assert code == 0, err
    assert out.splitlines()[1].split()[:2] == ["2", "same"]


def test_an_application_of_several_files(tmp_path, esp, monkeypatch):
    for name, text in APPLICATION.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    code, out, err = esp("validate", "init.f", "main.f", "--procs", "1,3")
    assert code == 0, err
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [["1", "same"], ["3", "same"]]


def test_python(folder):
    read = api.read_source(["main.F", "another.f90"], include=["inc"], define=["FACTOR=2"])
    both = api.predict(read, procs=4)
    (folder / "whole.f90").write_text(
        "program p\ninteger, parameter :: n=16\nreal a(n)\n!hpf$ distribute a(block)\ndo i = 1, n\na(i) = i*2\nend do\n"
        "print *, sum(a)\nend\n"
    )
    assert both.time_s == api.predict("whole.f90", procs=4).time_s
    (folder / "size.inc").write_text("      parameter (n=16)\n")
    (folder / "main.f").write_text(MAIN.replace("FACTOR", "2"))
    assert both.time_s == api.predict(["another.f90", "main.f"], procs=4).time_s
    found = api.compare(read, procs=4, size="none")
    assert found.best.prediction.time_s <= both.time_s
    with pytest.raises(api.UsageError):
        api.predict([])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["main.F", "-", "-Iinc"], "standard input is a whole program"),
        (["main.F", "-D", "4=N"], "'4=N' is not a macro such as N=64"),
        (["main.F", "nowhere.f"], "file not found"),
        (["another.f90"], "found no main program"),
        (["householder.hpf", "-D", "n=8"], "the macro n=8 has replaced n here; --set n=8 gives a PARAMETER a value"),
    ],
)
def test_what_is_no_program(folder, esp, words, told):
    code, out, err = esp("run", *words)
    assert code
    assert out == ""
    assert told in " ".join(err.split())
