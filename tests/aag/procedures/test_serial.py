"""EXTRINSIC procedures: one processor runs HPF_SERIAL, with messages counted by hand; calls of others stay."""

import pytest

from aag.ir.statements import CallStmt
from aag.ir.visitors import walk_statements
from aag.pipeline import Overrides, lower, main_unit, read_program
from aag.spmd import nodes
from tests.aag.procedures.test_expand import body, messages, program

SERIAL = """\
extrinsic(hpf_serial) subroutine work(x, r)
  real{} :: x(24,24)
  real, intent({}) :: r
  integer :: k
  {}
  do k = 1, 24
    r = 0.5*r + x(k,25-k)
  end do
end subroutine
"""
CALL = "a = 1\ns = 2\ncall work(a, s)\nprint *, s\n"
WHILE = "do while (r > 100)\n    r = r/2\n  end do"
PART = 6 * 24 * 4
"""Bytes of one of four blocks of rows."""


def test_its_statements():
    shown = body(CALL, SERIAL.format("", "inout", "x(1,1) = r"))
    assert shown[2:-1] == [
        "serial$x(:, :, 1) = a",
        (
            "!hpf$ independent, new(serial$leave, own$r, k$work)\n"
            "do serial$ = 1, 1\n"
            "  own$r = s\n"
            "  serial$x(1, 1, serial$) = own$r\n"
            "  do k$work = 1, 24\n"
            "    own$r = 0.5 * own$r + serial$x(k$work, 25 - k$work, serial$)\n"
            "  end do\n"
            "  serial$r(serial$) = own$r\n"
            "end do"
        ),
        "a = serial$x(:, :, 1)",
        "s = serial$r(1)",
    ]


def test_what_is_collected_and_what_all_get():
    """Three blocks are sent to the first processor; then a tree of three messages has the scalar."""
    assert messages(CALL, SERIAL.format(", intent(in)", "inout", "")) == (3 + 3, 3 * PART + 3 * 4)
    assert messages(CALL, SERIAL.format(", intent(in)", "out", "r = 1")) == (3 + 3, 3 * PART + 3 * 4)


def test_nothing_is_collected_of_what_is_only_assigned():
    head = "extrinsic(hpf_serial) subroutine work(x, r)\nreal, intent(out) :: x(24,24)\n"
    text = f"{head}real, intent(in) :: r\nx = r\nend\n"
    sent, _ = messages(CALL, text)
    assert sent == 3  # to the others


def test_one_processor_runs_it():
    node_program = lower(program(CALL, SERIAL.format("", "inout", WHILE)), Overrides(procs=4), 4)
    loops = [each for each in nodes.walk(node_program.body) if isinstance(each, nodes.DoNode)]
    assert [each.home.array for each in loops if each.var == "serial$"] == ["serial$r"]
    assert not any("W2" in each.code and each.code != "W210" for each in node_program.notes)


@pytest.mark.parametrize("model", ["f77_serial", "'HPF', 'SERIAL'", "language='HPF', model='SERIAL'"])
def test_other_spellings(model):
    text = SERIAL.format("", "inout", "").replace("hpf_serial", model)
    assert any("serial$x" in each for each in body(CALL, text))


@pytest.mark.parametrize("model", ["hpf", "HPF", "'HPF', 'GLOBAL'"])
def test_the_model_of_hpf(model):
    text = SERIAL.format("", "inout", "").replace("hpf_serial", model)
    assert not any("serial$" in each for each in body(CALL, text))


def reason(text):
    unit = main_unit(read_program(text, "x.f90"))
    (call,) = (each for each in walk_statements(unit.body) if isinstance(each, CallStmt))
    return call.reason


WHOLE = """\
program p
  real :: a(8), g
!hpf$ distribute a(block)
  g = 1
  call work(a)
  print *, a
contains
  extrinsic({}) subroutine work(x)
    real :: x({})
    {}
  end subroutine
end program
"""


@pytest.mark.parametrize(
    ("model", "shape", "statements", "why"),
    [
        (
            "hpf_local",
            ":",
            "x = 1",
            ("it is EXTRINSIC(HPF_LOCAL), that is, each processor runs it on its own part of the arrays"),
        ),
        ("c", ":", "x = 1", ("it is EXTRINSIC(C), that is, it belongs to another language")),
        ("hpf_serial", ":", "x = g", "it is EXTRINSIC(HPF_SERIAL) and uses g, which is not its argument"),
        (
            "hpf_serial",
            ":",
            "real, save :: n\nn = n + 1\nx = n",
            "it is EXTRINSIC(HPF_SERIAL), and its variable n keeps its value between calls",
        ),
        ("hpf_serial", ":", "common /c/ y\nx = y", "it is EXTRINSIC(HPF_SERIAL) and uses COMMON /c/"),
        ("hpf_serial", "*", "x(1) = 1", "it is EXTRINSIC(HPF_SERIAL), and its argument x has assumed size"),
    ],
)
def test_what_is_refused(model, shape, statements, why):
    assert reason(WHOLE.format(model, shape, statements)) == why


def test_output_makes_every_processor_run_it():
    notes = lower(read_program(WHOLE.format("hpf_serial", ":", "print *, x(1)"), "x.f90"), Overrides(procs=2), 2).notes
    assert [(each.code, each.message) for each in notes] == [
        (
            "W280",
            (
                "every processor runs this EXTRINSIC(HPF_SERIAL) procedure: "
                "the loop contains more than assignments, loops and conditions"
            ),
        )
    ]
