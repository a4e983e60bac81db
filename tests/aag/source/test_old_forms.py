"""Declarations of old compilers."""

import pytest

from aag.source.old_forms import modern


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("integer n/10/", ("integer n", "data n /10/")),
        ("REAL X(3)/2*1.5, -1.0/, Y, Z / 1. /", ("REAL X(3), Y, Z ", "data X /2*1.5, -1.0/, Z / 1. /")),
        ("character*5 s/'a/b'/", ("character*5 s", "data s /'a/b'/")),
        ("parameter m = 3, x = 2*(1+1)", ("parameter (m = 3, x = 2*(1+1))",)),
        ("parameter (m = 3)", ("parameter (m = 3)",)),
        ("integer :: n = 8/2", ("integer :: n = 8/2",)),
        ("real a(n/2)", ("real a(n/2)",)),
        ("common /c/ a, b", ("common /c/ a, b",)),
        ("save /c/", ("save /c/",)),
    ],
)
def test_the_same_in_the_words_of_fortran(text, expected):
    assert modern(text) == expected
