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
  print *, sum(a)
end program p
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"procs": [1, 2]}, "in a loop"),
        ({"procs": "8"}, "text, not a whole number. Write procs=8, without quotes"),
        ({"procs": "four"}, "text, not a whole number. Give a whole number such as 8"),
        ({"budget": "9"}, "text, not a whole number. Write budget=9, without quotes"),
        ({"procs": 8.0}, "a float, not a whole number. Give a whole number such as 8"),
        ({"procs": True}, "a whole number such as 8"),
        ({"procs": 0}, "from 1 to 1,048,576"),
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


def test_formats_without_a_name_are_for_all_that_they_fit():
    undirected = "".join(line for line in PROGRAM.splitlines(keepends=True) if not line.startswith("!hpf$"))
    for program, name in (("laplace.hpf", "temp"), (PROGRAM, "a"), (undirected, "a")):
        plain, named = (
            esp.predict(program, procs=8, distribute=given) for given in ("(*,CYCLIC)", {name: "(*,CYCLIC)"})
        )
        assert plain.grid == named.grid == (8,)
        assert plain.time_s == named.time_s != esp.predict(program).time_s
    listed = esp.sweep("laplace.hpf", distribute=["(BLOCK,*)", "(*,CYCLIC)"])
    assert [axis.name for axis in listed.axes] == ["distribute"]
    assert listed.time_s[1] == esp.predict("laplace.hpf", distribute={"temp": "(*,CYCLIC)"}).time_s


def test_formats_that_fit_nothing():
    with pytest.raises(SourceError, match=r"E315 .*\(BLOCK\)': found 1 dimension, expected 2"):
        esp.predict("laplace.hpf", distribute="(BLOCK)")
    with pytest.raises(SourceError, match=r"E315 .*\(BLOK\)': 'blok' is none of BLOCK"):
        esp.predict("pi.hpf", distribute="(BLOK)")


def test_figures_are_floats_unless_a_what_if_is_a_list():
    plain = esp.predict(PROGRAM, procs=4, load="20%")
    both = esp.predict(PROGRAM, procs=4, load=["20%", "60%"])
    alone = esp.predict(PROGRAM, procs=4, load=["20%"])
    for prediction in (plain, plain.lines[0], plain.lines[0].parts, plain.aaus[0], plain.aaus[0].parts):
        figures = [each for each in prediction.__struct_fields__ if each.endswith("_s")]
        assert all(isinstance(getattr(prediction, each), float | None) for each in figures), figures
    assert isinstance(plain.lines[0].time_s, float)
    assert both.time_s.shape == (2,)
    assert alone.time_s.shape == (1,)
    assert plain.time_s == both.time_s[0] == alone.time_s[0] < both.time_s[1]
    assert plain.parts.waiting_s == both.parts.waiting_s[0]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"set": {"foo": 3}}, "E301 foo: program laplace has no such name (can be set: n, k, tol, trips_35)"),
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


@pytest.mark.parametrize("name", ["compare", "whatif", "sweep", "advise", "scalability", "balance"])
def test_the_other_functions_do_so_too(name):
    with pytest.raises(SourceError) as caught:
        getattr(esp, name)("laplace.hpf", procs=4, set={"foo": 3}, **({"load": "50%"} if name == "whatif" else {}))
    assert str(caught.value).startswith("E301 foo: ")


@pytest.mark.parametrize("name", ["predict", "compare", "whatif", "sweep", "advise", "scalability", "balance"])
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"bandwith": "x2"}, "bandwith', and program laplace has no such name (did you mean 'bandwidth'?)"),
        ({"distibute": "(BLOCK,*)"}, "(did you mean 'distribute'?)"),
        ({"zzz": 3}, "zzz', and program laplace has no such name (can be set: n, k, tol, trips_35)"),
    ],
)
def test_unknown_arguments(name, wrong, told):
    more = {"load": "50%"} if name == "whatif" else {}
    with pytest.raises(TypeError, match=rf"^{name}\(\) has no argument '") as caught:
        getattr(esp, name)("laplace.hpf", procs=4, **wrong, **more)
    assert str(caught.value).endswith(told)


def test_arguments_of_one_function_are_known_there():
    with pytest.raises(TypeError, match=r"did you mean 'size'\?"):
        esp.compare("laplace.hpf", siz="n")
    with pytest.raises(TypeError, match=r"can be set"):
        esp.predict("laplace.hpf", siz="n")


def test_options_of_the_command_are_spelled_as_arguments():
    with pytest.raises(UsageError) as caught:
        esp.compare("laplace.hpf", procs=4, distribute="(BLOCK)")
    assert str(caught.value).startswith("distribute (BLOCK): ")


def test_all_errors_are_caught_by_name():
    wrong = ({"set": {"foo": 3}}, {"load": "150%"}, {"grid": "4x"}, {"system": "nowhere"})
    for given in wrong:
        with pytest.raises(esp.ERRORS):
            esp.predict("laplace.hpf", **given)
    assert set(esp.ERRORS) == {esp.EspError, esp.SourceError, esp.MachineError}
    assert issubclass(esp.UnresolvedError, esp.SourceError)


@pytest.mark.parametrize("source", [5, None, 2.5])
def test_what_is_no_program_is_named(source):
    with pytest.raises(TypeError, match=f"a path, a name, text, or a list of paths, not {source}"):
        esp.predict(source)
