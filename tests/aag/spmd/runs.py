"""One program run three ways: serially, lowered without optimisations and lowered with them."""

import numpy as np

from aag.pipeline import Options, Overrides, lower, main_unit, read_program
from aag.spmd import nodes
from tests.aag.spmd.machine import Machine
from tests.aag.spmd.serial import Serial

PLAIN = Options(disabled=frozenset(("hoist", "coalesce", "redundant")))
FULL = Options()


def refused(body):
    """Reasons of statements that lowering does not model."""
    found = []
    for node in body:
        if isinstance(node, nodes.Unmodelled):
            found.append(node.reason)
        found += refused(getattr(node, "body", ()))
        for branch in getattr(node, "branches", ()):
            found += refused(branch.body)
    return found


def start(copies, values):
    """Give an array its first values: owners have them, elsewhere there is nothing."""
    copies.value[...] = np.where(copies.owned, values.ravel(order="F"), np.nan)


def run_text(text, procs, seed=0):
    """Compare the three; returns the reasons of what lowering refused (then nothing is compared)."""
    program = read_program(text, "random.hpf")
    unit = main_unit(program)
    results = []
    for options in (PLAIN, FULL):
        lowered = lower(program, Overrides(procs=procs), procs, options)
        reasons = refused(lowered.body)
        if reasons:
            return reasons
        random = np.random.default_rng(seed)
        serial = Serial(unit, lowered.layouts) if not results else results[0]
        machine = Machine(lowered, exact=options is PLAIN, frugal=options is FULL, lenient=True)
        machine.scalars["s"] = np.full(procs, 0.5)
        for entity in unit.entities:
            if entity.shape is not None:
                values = random.random(serial.arrays[entity.name].shape)
                start(machine.copies[entity.name], values)
                if not results:
                    serial.arrays[entity.name][...] = values
        if not results:
            serial.scalars["s"] = 0.5
            results.append(serial.run(unit.body))
        machine.run()
        compare(machine, serial)
    return []


def compare(machine, serial):
    for name, expected in serial.arrays.items():
        copies = machine.copies.get(name)
        if copies is not None and f"{name}$2" not in machine.copies:  # of versions nobody knows which is the last
            everywhere = np.broadcast_to(expected.ravel(order="F"), copies.value.shape)
            got, want = copies.value[copies.owned], everywhere[copies.owned]
            np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(machine.scalars["s"], serial.scalars["s"], rtol=1e-9, atol=1e-9)
