"""What a machine file says of its compiler."""

import pytest

from aag.spmd.program import OPTIMISATIONS
from esp.api import Request, compiled, load_machine, switched
from sag.errors import MachineError
from sag.load import load_system
from sag.schema import COMPILER

MACHINE = """
format: 1
name: tiny
title: a tiny machine
processors: {default: 2, largest_built: 2}
sources: {book: A book}
compiler:
  source: book
  certainty: cited
%s
system: {role: group}
"""


def machine(*lines):
    return load_system(MACHINE % "\n".join(f"  {line}" for line in lines))


def test_the_file_names_what_the_compiler_here_can_do():
    assert set(COMPILER) == {*OPTIMISATIONS, "fuse", "inline"}


def test_each_says_where_it_is_known_from():
    system = machine("interchange: no", "masks: {value: yes, certainty: quoted, remark: page 7}")
    found = {name: (each.value, each.source, each.certainty) for name, each in system.compiler.items()}
    assert found == {"interchange": ("no", "book", "cited"), "masks": ("yes", "book", "quoted")}


@pytest.mark.parametrize(
    ("line", "code"),
    [("interchange: perhaps", "M107"), ("interchage: no", "M103"), ("fuse: yes", "M107"), ("masks: {yes: 1}", "M105")],
)
def test_what_cannot_be_said(line, code):
    with pytest.raises(MachineError) as caught:
        machine(line)
    assert [each.code for each in caught.value.findings] == [code]


def test_a_machine_that_extends_another_takes_over_what_it_does_not_say():
    bare, f90d = load_machine("ipsc860").compiler, load_machine("ipsc860-f90d").compiler
    assert f90d["strength"] == bare["strength"]
    assert (bare["interchange"].value, f90d["interchange"].value) == ("undecided", "yes")


@pytest.mark.parametrize(
    ("lines", "opt", "on"),
    [
        ([], {}, {"interchange": True, "masks": False, "strength": False}),
        (["interchange: no", "masks: yes"], {}, {"interchange": False, "masks": True}),
        (["interchange: no"], {"interchange": True}, {"interchange": True}),
        (["masks: yes"], {"masks": False}, {"masks": False}),
        (["interchange: undecided", "strength: undecided"], {}, {"interchange": True, "strength": False}),
    ],
)
def test_the_user_overrides_the_machine(lines, opt, on):
    options = compiled(machine(*lines), switched(Request(), opt))
    assert {name: options.on(name) for name in on} == on
