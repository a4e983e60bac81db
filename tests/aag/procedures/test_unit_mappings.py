"""Mapping directives of several program units: owners by hand, from the formulas of HPF."""

from itertools import product

import numpy as np
import pytest

from esp import api

N, P = 64, 4

FORMATS = {
    "block": lambda i: (i - 1) // (N // P),
    "cyclic": lambda i: (i - 1) % P,
    "cyclic(3)": lambda i: (i - 1) // 3 % P,
    "cyclic(16)": lambda i: (i - 1) // 16 % P,
}
"""Format -> the owner of element i; cyclic(16) is block in another spelling."""

PAIRS = list(product(FORMATS, repeat=2))

TEMPLATES = """\
program p
  real :: a(64)
!hpf$ template t(64)
!hpf$ distribute t({})
!hpf$ align a(i) with t(i)
  a = 1.0
  call s
  call s
contains
  subroutine s
    real :: w(64)
!hpf$ template t(64)
!hpf$ distribute t({})
!hpf$ align w(i) with t(i)
    w = a
  end subroutine s
end program p
"""

COMMON = """\
program p
  real :: a(64)
  common /c/ a
!hpf$ distribute a({})
  a = 1.0
  call s
  call s
end program p
subroutine s
  real :: x(64)
  common /c/ x
!hpf$ template t(64)
!hpf$ distribute t({})
!hpf$ align x(i) with t(i)
  x = 2.0
end subroutine s
"""


def _owners(layouts, name):
    return layouts.arrays[name].owner_coordinate(0, np.arange(1, N + 1)).tolist()


def _owned(format_):
    return [FORMATS[format_](i) for i in range(1, N + 1)]


def _mapped(text, **decided):
    return api.map_source(api.read_source(text), api.load_machine("ipsc860"), api.requested(P, **decided))


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_template_belongs_to_its_unit(outer, inner):
    layouts = _mapped(TEMPLATES.format(outer, inner))
    assert _owners(layouts, "a") == _owned(outer)
    assert _owners(layouts, "w") == _owned(inner)
    assert not [each for each in layouts.notes if each.code == "W290"]


@pytest.mark.parametrize(("outer", "inner"), PAIRS)
def test_a_common_block_with_two_mappings_has_the_first(outer, inner):
    layouts = _mapped(COMMON.format(outer, inner))
    assert _owners(layouts, "a") == _owned(outer)
    noted = [each for each in layouts.notes if each.code == "W290"]
    assert bool(noted) == (_owned(outer) != _owned(inner))
    for each in noted:
        assert (each.message, each.span.line) == ("a has another mapping in line 4, which is used everywhere", 14)


def test_what_the_user_decides_contradicts_nothing():
    for decided in ({"distribute": "(cyclic)"}, {"distribute": {"a": "(cyclic)"}}):
        assert not _mapped(COMMON.format("block", "cyclic(3)"), **decided).notes
