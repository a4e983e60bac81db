"""DO nests that every processor runs whole: what they miss on any number of processors, and what is told."""

import numpy as np
import pytest

import esp

HEAD = """\
program p
  integer, parameter :: n = 40
  double precision :: a(n,n), b(n,n), x(n), s
  integer :: idx(n), i, j, m
"""


def predicted(body, procs=1, **more):
    return esp.predict(HEAD + body + "end program p\n", procs=procs, **more)


def misses(prediction):
    return sum(each.misses for each in prediction.aaus)


def told(prediction):
    """(line, text) of what is assumed about the cache."""
    return [(each.span.line, each.text) for each in prediction.assumptions if each.code == "cache"]


PLAIN = """\
  do j = 1, n
    do i = 1, n
      a(i,j) = i+j
    end do
  end do
"""


def test_a_serial_nest_misses_what_a_parallel_one_misses():
    serial = predicted(PLAIN)
    parallel = predicted("!hpf$ distribute a(*,block)\n" + PLAIN)
    assert misses(serial) == misses(parallel) > 0
    assert serial.time_s == pytest.approx(parallel.time_s, rel=0.05)
    assert told(serial) == []


def test_each_processor_misses_all_of_a_nest_that_it_runs_whole():
    one, four = predicted(PLAIN), predicted(PLAIN, procs=4)
    assert misses(four) == 4 * misses(one)
    assert four.time_s == pytest.approx(one.time_s)


def test_a_nest_in_a_loop_that_moves_it_is_the_same_walked_to_the_end():
    body = """\
  do m = 1, 30
    x(1) = 0
    do i = 2, n
      x(i) = x(i-1) + b(i,m)
    end do
    if (x(n) > 1) x(1) = 1
    do while (x(2) > 1)
      x(2) = x(2) - 1
    end do
  end do
"""
    given = {"trips_11": 2}
    jumped, walked = (predicted(body, set=given, unroll=unroll) for unroll in (False, True))
    np.testing.assert_allclose(jumped.time_s, walked.time_s, rtol=1e-9)
    assert misses(jumped) == pytest.approx(misses(walked))
    assert misses(jumped) > 30 * n_lines(39), "each column of b is another one"


def n_lines(elements):
    return elements * 8 / 32


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  do i = 1, n\n    x(idx(i)) = x(i)\n  end do\n", (5, "cache misses: assuming data-dependent subscripts")),
        (
            "  do i = 2, n\n    if (x(i) > 1) x(i) = x(i-1)\n  end do\n",
            (5, "cache misses: assuming data-dependent conditions"),
        ),
        ("  do i = 1, n\n    if (x(i) > 1) exit\n    x(i) = 2\n  end do\n", (6, "cache misses of single statements")),
    ],
)
def test_what_is_left_out_or_taken_for_granted_is_told_with_its_line(body, expected):
    ((line, text),) = told(predicted(body, budget=0))
    assert line == expected[0]
    assert text.startswith(expected[1])


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("  do i = 1, n\n    s = s + x(mod(i,7)+1)\n  end do\n", 2),
        ("  do i = 1, n\n    do j = 1, n\n      if (i <= 4) s = s + a(i,j)\n    end do\n  end do\n", 40),
        ("  do i = 1, n\n    do j = n - 3, i\n      s = s + a(j,i)\n    end do\n  end do\n", 4),
        ("  do i = 1, n\n    m = 1 + mod(3*i, n)\n    s = s + a(1,m)\n    m = m + 1\n  end do\n", 40),
        (
            (
                "  do m = 1, 3\n    do j = 1, n\n      s = s + x(j)\n    end do\n    s = s*x(m)\n    do j = 1, n\n"
                "      s = s*x(j)\n    end do\n  end do\n"
            ),
            10,
        ),
    ],
)
def test_each_line_that_an_uneven_nest_reads_is_missed_once(body, lines):
    """Where an index wraps, a condition or a bound depends on other indices, or loops stand side by side."""
    prediction = predicted(body)
    assert told(prediction) == []
    assert misses(prediction) == lines


def test_larger_nests_are_walked_no_longer():
    few, many = (predicted(PLAIN, set={"n": n}).iterations_walked for n in (50, 2000))
    assert few == many
