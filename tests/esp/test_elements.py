"""Given values of elements of arrays: the prediction is that of the program with constants in their place."""

import pytest

import esp

TEXT = """program sizes
  integer :: gp(3), n, k, i
  real(8), allocatable :: a(:, :)
!hpf$ distribute a(block, *)
  {read}
  n = {1}
  allocate(a({1}, {2}))
  a = 1.0d0
  do k = 1, {3}
    forall (i = 2:{1}-1) a(i, :) = 0.5d0 * (a(i-1, :) + a(i+1, :))
  end do
  if ({2} > 4) a = a + 1
  do i = 1, n
    a(i, 1) = i
  end do
  print *, sum(a), n
end program
"""
VALUES = {"gp(1)": 32, "gp(2)": 16, "gp(3)": 4}
READS = ["read *, gp", "read *, gp(1), gp(2), gp(3)", "read *, gp(1:2), gp(3)"]


def saved(tmp_path, text):
    path = tmp_path / "sizes.hpf"
    path.write_text(text)
    return str(path)


def written(read, one, two, three):
    return TEXT.replace("{read}", read).replace("{1}", one).replace("{2}", two).replace("{3}", three)


def of_elements(read):
    return written(read, "gp(1)", "gp(2)", "gp(3)")


@pytest.mark.parametrize("read", READS)
def test_values_of_elements_are_constants(read, tmp_path):
    given = esp.predict(saved(tmp_path, of_elements(read)), procs=4, set=VALUES)
    constant = esp.predict(saved(tmp_path, written(read, "32", "16", "4")), procs=4)
    assert (given.messages, given.time_s) == (constant.messages, pytest.approx(constant.time_s))


def test_names_may_have_capitals_and_blanks(tmp_path):
    path = saved(tmp_path, of_elements(READS[0]))
    values = {"GP(1)": 32, "gp( 2 )": 16, "Gp(3)": 4}
    assert esp.predict(path, procs=4, set=values).time_s == esp.predict(path, procs=4, set=VALUES).time_s


@pytest.mark.parametrize(
    ("text", "given", "hint"),
    [
        (of_elements(READS[0]), {}, "give GP(1)=VALUE, GP(2)=VALUE, GP(3)=VALUE"),
        (of_elements(READS[1]), {"gp(1)": 32, "gp(2)": 8}, "give GP(3)=VALUE"),
        (of_elements(READS[0]).replace("allocate(a(gp(1), gp(2)))", "allocate(a(9, 9))"), {"gp(3)": 2}, "give GP(1)="),
    ],
)
def test_hints_list_the_elements_that_are_missing(text, given, hint, tmp_path):
    with pytest.raises(esp.SourceError) as caught:
        esp.predict(saved(tmp_path, text), procs=4, set=given)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gp(5)", "the program does not use gp(5)"),
        ("gp(1,2)", "gp has 1 dimension"),
        ("a(1,1)", "a is distributed"),
        ("h(1)", "the program has no array h"),
        ("fixed(1)", "the program computes fixed: line 6 assigns it"),
        ("w(1)", "w is of CHARACTER"),
    ],
)
def test_what_cannot_be_given_says_why(name, why, tmp_path):
    text = of_elements(READS[0]).replace("  n = gp(1)\n", "  fixed(1) = 3\n  n = gp(1)\n")
    text = text.replace("real(8), alloc", "integer :: fixed(2)\n  character :: w(2)\n  real(8), alloc", 1)
    line = 1 + text.splitlines().index("  fixed(1) = 3")
    with pytest.raises(esp.SourceError) as caught:
        esp.predict(saved(tmp_path, text), procs=4, set={**VALUES, name: 1})
    assert why.replace("line 6", f"line {line}") in str(caught.value)


def test_elements_come_from_the_input(tmp_path, capsys):
    from esp.cli.main import main

    path = saved(tmp_path, of_elements(READS[1]))
    (tmp_path / "sizes.in").write_text("32, 16\n4 77\n")
    assert main(["run", path, "--procs", "4", "--input", str(tmp_path / "sizes.in"), "--json"]) == 0
    found = capsys.readouterr().out
    words = [part for name, value in VALUES.items() for part in ("--set", f"{name}={value}")]
    assert main(["run", path, "--procs", "4", *words, "--json"]) == 0
    assert found == capsys.readouterr().out
