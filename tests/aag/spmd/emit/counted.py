"""What a program does, as its own counters say, beside its prediction."""

from esp import api
from esp.api import Request
from esp.validate.counted import compared, counted_program
from sag.scenario import Scenario, export


def counted(text, procs, folder):
    """The node program, the comparison of its operations, and whether these are predicted exactly: where indices
    decide, and on one processor where shares are known of the conditions that data decide."""
    source, system = api.read_source(text), api.load_machine("ipsc860")
    request = Request(procs=procs, scenario=Scenario(io=False))
    stages = api.lower_source(source, system, request)
    made = counted_program(stages, system, request, folder)
    found = compared(made, system, request, made.run(export(system, request.scenario)))
    assert found.difference == ""
    notes = [each.text for each in api.interpret_stages(stages, system, request).assumptions]
    exact = not found.assumes or (procs == 1 and not any("assuming" in each for each in notes))
    return stages.node_program, found, exact
