"""Predicted traces, one for each program and number of processors."""

from functools import cache

import pytest

from esp import api
from esp.traces.record import predicted_trace

SYSTEM = api.load_machine("ipsc860")


@cache
def made(name, procs, system="ipsc860", **values):
    """Trace and prediction of a bundled program."""
    machine = api.load_machine(system)
    request = api.Request(procs=procs, values=values)
    return predicted_trace(api.lower_source(api.read_source(f"{name}.hpf"), machine, request), machine, request)


@pytest.fixture(scope="session")
def predicted():
    return made
