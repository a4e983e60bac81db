"""`esp validate` runs nothing of the user's before all of it is accepted, predicted and compiled."""

import pytest

PROGRAM = """program marks
  implicit none
  integer, parameter :: n = 8
  double precision :: a(n)
!hpf$ distribute a(block)
  open (unit=7, file='{mark}')
  write (7, *) n
  close (7)
  a = 1.0d0
  {more}
  print *, sum(a)
end program marks
"""


@pytest.mark.parametrize(
    ("more", "words", "environment"),
    [
        ("call system('touch more')", "", {}),  # cannot be written as a node program
        ("", "--procs 1,2 --opt nothing=off", {}),
        ("", "--procs 1,2", {"MPIFC": "false"}),
        ("", "--procs 1,2 --against simgrid --overlap 50%", {}),
    ],
)
def test_what_is_refused_does_not_run(more, words, environment, esp, tmp_path, monkeypatch):
    mark, source = tmp_path / "mark", tmp_path / "marks.f90"
    source.write_text(PROGRAM.format(mark=mark, more=more))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    code, out, _ = esp("validate", str(source), "--keep", str(tmp_path / "kept"), *words.split())
    assert code in (1, 2)
    assert out == ""
    assert not mark.exists()
    assert not (tmp_path / "kept" / "serial").exists()


def test_what_is_accepted_runs(esp, tmp_path):
    mark, source = tmp_path / "mark", tmp_path / "marks.f90"
    source.write_text(PROGRAM.format(mark=mark, more=""))
    code, _, err = esp("validate", str(source), "--procs", "2")
    assert code == 0, err
    assert mark.exists()
