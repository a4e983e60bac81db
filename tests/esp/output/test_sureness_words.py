"""What is not known of a compiler, in words."""

import pytest

from esp.output.sureness import compilers
from esp.prediction import Variant


def ways(times):
    """Combinations of the switches a and b, each named by what is on, with their times."""
    return [
        Variant(on=tuple(sorted(on)), off=tuple(sorted({"a", "b"} - on)), time_s=time_s, timed_s=None)
        for on, time_s in times.items()
    ]


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ((1.004, 2.0, 1.0, 2.001), "1.00 s with b=on, 2.00 s with b=off; a changes it by less than the model error"),
        ((1.0, 2.0, 3.0, 2.5), "1.00 s with a=on and b=on, 2.00 s with a=on and b=off, "),
        ((1.0, 1.01, 1.01, 1.0), "; a and b, not known of the compiler, change it by less than the model error"),
        ((1.0, 1.0, 1.0, 1.0), ""),
    ],
)
def test_what_changes_little_is_not_combined_with_the_rest(times, text):
    both, a, b, none = (frozenset(each) for each in ("ab", "a", "b", ""))
    said = compilers(ways(dict(zip((both, a, b, none), times, strict=True))))
    assert text in said
    assert said == "" or "not known of the compiler" in said
    assert bool(text) == bool(said)
