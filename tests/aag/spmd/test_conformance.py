"""Shapes that differ and subscripts out of bounds: what is found, and that gfortran finds it, too."""

import subprocess

import pytest

from aag.diagnostics import SourceError
from aag.pipeline import Overrides, lower
from aag.source.read import read_program

HEAD = """\
program p
  implicit none
  integer, parameter :: n = 8
  integer :: i, j, k, m
  real :: a(n,n), b(n,n), v(n), w(0:n+1), s
!hpf$ distribute a(block,*)
!hpf$ align b(i,j) with a(i,j)
  k = 3; m = 0; a = 1; b = 2; v = 3; w = 4; s = 0
"""
TAIL = "  print *, s, sum(a), sum(b), sum(v), sum(w), i, j, k, m\nend program\n"


def program(body):
    return f"{HEAD}{body}\n{TAIL}"


def lowered(body):
    return lower(read_program(program(body), "x.f90", defer=True), Overrides(procs=4), 4)


def gfortran(body, folder, *flags):
    (folder / "x.f90").write_text(program(body))
    command = ["gfortran", "-w", *flags, "x.f90", "-o", "x"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


SHAPES = {
    "a(1:7,:) = b(1:8,:)": "dimension 1 has 7 elements in a(1:7, :), 8 in b(1:8, :)",
    "v = a": "v has rank 1, but a has rank 2",
    "s = v": "a scalar cannot hold an array of rank 1",
    "a = b + v(1)*a(1:4,:)": "dimension 1 has 8 elements in b, 4 in v(1) * a(1:4, :)",
    "v = max(v(1:4), w(1:8))": "dimension 1 has 4 elements in v(1:4), 8 in w(1:8)",
    "v = w": "dimension 1 has 8 elements in v, 10 in w",
    "a = matmul(a, v)": "a has rank 2, but matmul(a, v) has rank 1",
    "v(1:n:2) = v(1:3)": "dimension 1 has 4 elements in v(1:n:2), 3 in v(1:3)",
    "where (a(1:4,:) > b) b = 1": "dimension 1 has 4 elements in a(1:4, :), 8 in b",
    "where (v(1:4) > 1) v = 1": "dimension 1 has 4 elements in v(1:4) > 1, 8 in v",
    "where (v > 1)\n v = w\n end where": "dimension 1 has 8 elements in v, 10 in w",
    "where (v > 1)\n v = 1\n elsewhere (w > 1)\n v = 2\n end where": "dimension 1 has 8 elements in v > 1, 10 in w > 1",
    "forall (i = 1:n) a(:, i) = w": "dimension 1 has 8 elements in a(:, i), 10 in w",
    "v = (/ 1.0, (real(i), i = 1, n) /)": "dimension 1 has 8 elements in v, 9 in",
    "v = (/ s, w /)": "dimension 1 has 8 elements in v, 11 in",
    "v = (/ ((real(i + j), i = 1, 3), j = 1, 5, 2) /)": "dimension 1 has 8 elements in v, 9 in",
    "if (k > 3) v = w": "dimension 1 has 8 elements in v, 10 in w",
}


@pytest.mark.parametrize("body", SHAPES)
def test_shapes_that_differ(body, tmp_path):
    with pytest.raises(SourceError) as error:
        lowered(body)
    (found,) = error.value.diagnostics
    assert found.code == "E402"
    assert SHAPES[body] in found.message
    assert gfortran(body, tmp_path, "-fsyntax-only").returncode != 0


@pytest.mark.parametrize(
    "body",
    [
        "v = w(1:8)\n v = s\n v(1:k) = v(2:k+1)",
        "a = transpose(b)\n v = matmul(a, v)\n v = sum(a, dim=1)",
        "a(:, 3) = v\n a(3, :) = b(:, 2) * s + v",
        "v = merge(v, s, v > 1)\n s = dot_product(v, w(1:n))",
        "v = spread(s, 1, n) + w(0:n-1)\n a = spread(v, 2, n)",
        "where (v(1:4) > 1) v(2:5) = w(4:1:-1)\n forall (i = 1:n) a(1:i,i) = b(1:i,i)",
        "where (a > 1)\n a = b\n elsewhere (b > a)\n a = 1\n elsewhere\n a = transpose(b)\n end where",
        "where (v > 1) v = w(2:9)\n forall (i = 1:n) a(i,:) = v",
    ],
)
def test_shapes_that_agree(body, tmp_path):
    assert not lowered(body).warnings
    assert gfortran(body, tmp_path, "-fsyntax-only").returncode == 0


@pytest.mark.parametrize(
    "value",
    [
        "(/ (real(i), i = 1, n) /)",
        "(/ 1.0, 2.0, 3.0, w(0:4) /)",
        "(/ v(2:n), v(1) /)",
        "(/ (s, real(i), i = 1, 7, 2) /)",
        "(/ (s, i = 3, 1), (real(j), j = n, 1, -1) /)",
        "(/ ((real(i), i = 1, j), j = 1, 3), s, s /)",
        "(/ (v(1:i), i = 1, 3), s, s /)",
        "(/ v(1:k), v(4:n) /)",
        "(/ a(:, 1) /)",
        "max(v, (/ (real(2*i), i = 1, n) /))",
        "(/ a(1:2, 1:3), s, s /)",
        "(/ v((/ 1, 3 /)), w(1:6) /)",
    ],
)
def test_array_constructors_of_the_right_length(value, tmp_path):
    """Where the length depends on a variable that is a warning and no error."""
    found = lowered(f"v = {value}")
    assert [each.code for each in found.notes] == (["W201"] if "k" in value else [])
    assert found.complete == ("k" not in value)
    assert gfortran(f"v = {value}", tmp_path, "-fsyntax-only").returncode == 0


BOUNDS = {
    "a(9,1) = 1": (1, "subscript 1 of a reaches 9, outside of its bounds 1:8"),
    "do i = 1, n\n s = s + v(i+1)\n end do": (10, "subscript 1 of v reaches 9, outside of its bounds 1:8"),
    "v(1:n) = v(0:n-1)": (10, "subscript 1 of v reaches 0, outside of its bounds 1:8"),
    "forall (i = 1:n, j = 2:n) b(i,j) = a(i-1,j)": (36, "subscript 1 of a reaches 0, outside of its bounds 1:8"),
    "do j = 1, n\n do i = 1, n, 2\n a(i+j,1) = 0\n end do\n end do": (2, "subscript 1 of a reaches 9"),
    "do i = n, 1, -1\n w(2*i) = 0\n end do": (2, "subscript 1 of w reaches 16, outside of its bounds 0:9"),
    "do j = 1, k\n v(j+6) = 0\n end do": (2, "subscript 1 of v reaches 9, outside of its bounds 1:8"),
    "do j = 1, k\n forall (i = 1:n) v(i) = w(i+k)\n end do": (26, "subscript 1 of w reaches 11"),
    "s = sum(w(1:10))": (9, "subscript 1 of w reaches 10, outside of its bounds 0:9"),
}


@pytest.mark.parametrize("body", BOUNDS)
def test_subscripts_out_of_bounds(body, tmp_path):
    column, text = BOUNDS[body]
    found = lowered(body).warnings
    assert [each.code for each in found] == ["W211"]
    assert text in found[0].message
    assert found[0].span.column == column
    assert gfortran(body, tmp_path, "-fcheck=bounds").returncode == 0
    run = subprocess.run([tmp_path / "x"], capture_output=True, text=True, check=False)
    assert run.returncode == 2, run.stderr
    assert "outside of expected range" in run.stderr or "bound" in run.stderr


@pytest.mark.parametrize(
    "body",
    [
        "do i = 1, n\n w(i+1) = w(i-1)\n end do",
        "do i = 1, n\n if (i < n) v(i) = v(i+1)\n end do",
        "do i = 1, n\n if (i == n) exit\n v(i) = v(i+1)\n end do",
        "do i = 5, 4\n v(9) = 1\n end do",
        "k = 1\n do i = 1, k\n v(i+7) = 0\n end do\n k = 2",
        "do i = 1, m\n v(9) = 0\n end do",
        "do i = 1, n\n if (v(i) > k) v(i+m) = v(i)\n end do",
        "do i = 1, n\n k = n - i\n do j = 1, k\n v(j+i) = 0\n end do\n end do",
        "if (k > 3) v(9) = 1",
        "if (k < 9 .and. k > 3) s = 1\n s = size(v(1:n)) + ubound(v, 1)",
        "forall (i = 1:n, i < n) v(i) = v(i+1)",
        "v(1:0) = v(9:8)",
        "do i = 1, n\n do j = i+1, n\n a(j,i) = a(j-1,i)\n end do\n end do",
        "do i = 1, n\n k = min(i + 1, n)\n v(i) = v(k)\n end do",
        "if (k > 1) stop\n v(9) = 1",
    ],
)
def test_subscripts_in_bounds(body, tmp_path):
    assert lowered(body).warnings == ()
    assert gfortran(body, tmp_path, "-fcheck=bounds").returncode == 0
    assert subprocess.run([tmp_path / "x"], capture_output=True, check=False).returncode == 0


def test_the_last_dimension_of_old_arrays_says_nothing():
    text = "program p\nreal a(1)\ninteger i\n!hpf$ distribute a(block)\ndo i = 1, 8\na(i) = 1\nend do\nend\n"
    assert lower(read_program(text, "x.f90", defer=True), Overrides(procs=2), 2).warnings == ()
