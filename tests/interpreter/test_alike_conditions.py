"""Nests that differ in names only share their references, and each has the share of its own condition."""

import pytest

import esp

PROGRAM = """program alike
  implicit none
  integer, parameter :: n = 4096
  integer :: i
  real(8) :: u(n), v(n), a(4, n), b(4, n)
!hpf$ distribute (block) :: u, v
!hpf$ distribute (*, block) :: a, b
  u = 1
  v = 1
  do i = 2, n
    u(i) = mod(u(i-1)*5 + 3, 16.0d0)
    v(i) = mod(v(i-1)*5 + 3, 16.0d0)
  end do
  a = 1
  b = 1
  forall (i = 1:n, u(i) > 14.5d0) a(1, i) = 2
  forall (i = 1:n, v(i) > 3.5d0) b(1, i) = 2
  print *, sum(a), sum(b)
end program
"""


def test_writes_miss_as_often_as_their_own_condition_holds(tmp_path):
    (tmp_path / "alike.hpf").write_text(PROGRAM)
    found = esp.predict(tmp_path / "alike.hpf", procs=1)
    values = [1.0]
    while len(values) < 4096:
        values.append((values[-1] * 5 + 3) % 16)
    for line, least in ((16, 14.5), (17, 3.5)):
        ids = [each.id for each in found.aaus if each.span.line == line]
        missed = sum(each.mean for each in found.counts.of(ids) if each.figure.path.endswith("memory.write_miss"))
        assert missed == pytest.approx(sum(each > least for each in values), rel=0.03)


WHOLE = """program whole
integer, parameter :: n = 12, m = 9
integer :: i, j
real(8) :: a(n, m), b(n), c(n, m), x, s
do j = 1, m
  do i = 1, n
    c(i, j) = i + j
    if (a(i, j) > 0) then
      x = b(i)
      if (i > j) then
        x = x * 2
      else if (mod(i, 3) == 1) then
        x = x / b(i)
      end if
      c(i, j) = x + sqrt(x)
    else if (b(i) > 1 .and. c(i, j) < 4) then
      if (b(i) > 3) c(i, j) = c(i, j) * 5
      if (i == j) s = s - c(i, j)
    end if
    if (i < 4) s = s + c(i, j)
  end do
end do
print *, s
end program
"""


def test_data_conditions_with_one_weight_are_alike_in_all_iterations():
    """What is not walked is as often done as where all iterations are, branches that indices decide inside included."""
    some, every = (esp.predict(WHOLE, procs=2, budget=0, unroll=unroll) for unroll in (False, True))
    assert some.time_s == pytest.approx(every.time_s, rel=1e-12)
    counted = [{(each.name, each.paid): each.mean for each in one.counts.of()} for one in (some, every)]
    assert counted[0] == pytest.approx(counted[1], rel=1e-12)
    assert some.iterations_walked < every.iterations_walked / 5
    assert [each.text for each in some.assumptions if each.code == "branch"] == [
        each.text for each in every.assumptions if each.code == "branch"
    ]
