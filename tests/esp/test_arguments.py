"""What `esp.predict` makes of arguments in other forms than the usual one."""

import numpy as np
import pytest

import esp
from aag.diagnostics import SourceError
from esp.errors import UsageError
from sag.errors import MachineError

PROGRAM = """\
program p
  real :: a(64, 64)
!hpf$ processors q(2, 2)
!hpf$ distribute a(block, block) onto q
  a = 1.0
  print *, a(1, 1)
end program p
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"procs": [1, 2]}, "in a loop"),
        ({"procs": "8"}, "a whole number such as 8"),
        ({"procs": 8.0}, "a whole number such as 8"),
        ({"procs": True}, "a whole number such as 8"),
        ({"procs": 0}, "between 1 and 1,048,576"),
        ({"grid": "4x"}, "such as"),
        ({"grid": 4}, "such as"),
        ({"grid": (2, 2.0)}, "such as"),
        ({"grid": ()}, "such as"),
        ({"io": "maybe"}, "io is either on or off"),
        ({"io": 2}, "io is either on or off"),
        ({"opt": {"hoist": "no"}}, "hoist is either on or off"),
    ],
)
def test_arguments_that_cannot_be_meant(given, told):
    with pytest.raises(UsageError, match=told):
        esp.predict(PROGRAM, **given)


def test_other_forms_of_the_same():
    plain = esp.predict(PROGRAM, procs=8, grid=(4, 2), io=False, opt={"hoist": False})
    other = esp.predict(PROGRAM, procs=np.int64(8), grid="4x2", io="off", opt={"hoist": "off"})
    assert plain.grid == other.grid == (4, 2)
    assert plain.time_s == other.time_s
    assert other.asked == plain.asked
    assert plain.io_s == 0.0 < esp.predict(PROGRAM, procs=8).io_s


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"foo": 3}, "E301 foo: there is no such name in program laplace (its PARAMETERs: n, k, tol)"),
        ({"load": "150%"}, "M121 load: '150%' is out of range (it is at least 0 and below 100 %)"),
        ({"processor_speed": "fast"}, "M121 processor_speed: "),
        ({"n": "x"}, "E316 n=x: n cannot have this value"),
    ],
)
def test_errors_speak_of_arguments(given, told):
    with pytest.raises((SourceError, MachineError)) as caught:
        esp.predict("laplace.hpf", **given)
    text = str(caught.value)
    assert told in text
    assert "--" not in text
    assert not text.startswith(":")


@pytest.mark.parametrize("name", ["compare", "whatif", "sweep", "advise"])
def test_the_other_functions_do_so_too(name):
    with pytest.raises(SourceError) as caught:
        getattr(esp, name)("laplace.hpf", procs=4, foo=3, **({"load": "50%"} if name == "whatif" else {}))
    assert str(caught.value).startswith("E301 foo: ")
