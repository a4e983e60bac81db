"""`esp validate` with a trip count that the user tells: it is held against the program, and named where it is wrong."""

import pytest

PROGRAM = """\
program p
  real(8) :: x(16), y(16)
!HPF$ DISTRIBUTE x(BLOCK)
!HPF$ ALIGN y(:) WITH x(:)
  x = 1.0d0
  do while (x(1) > 0.1d0)
    y(2:15) = 0.5d0*(x(1:14)+x(3:16))
    x(2:15) = y(2:15)
    x(1) = x(1)*0.5d0
  end do
  print *, sum(x)
end program
"""


@pytest.mark.parametrize(("trips", "code"), [(4, 0), (3, 3)])
def test_a_told_trip_count_is_named_where_messages_differ(trips, code, tmp_path, capsys):
    from esp.cli.main import main

    (tmp_path / "p.hpf").write_text(PROGRAM)
    assert main(["validate", str(tmp_path / "p.hpf"), "--procs", "2", "--set", f"TRIPS_6={trips}"]) == code
    said = " ".join(capsys.readouterr().err.split())
    assert ("the loop runs 3 times, as given" in said) == ("TRIPS_6 is wrong" in said) == (code == 3)
