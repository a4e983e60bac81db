"""What every stage makes of the bundled programs, as it was when somebody last looked at it."""

from pathlib import Path

import pytest
from msgspec import structs

from aag.graph.export import export
from aag.ir.printer import print_program
from aag.mapping.describe import describe_layouts
from aag.pipeline import Overrides, abstract, lower, map_arrays, read_program
from aag.spmd.printer import print_node
from esp.api import Request, compiled, load_machine
from esp.visible import visible

HERE = Path(__file__).parent
PROCS = 8
PROGRAMS = ("laplace", "laplace_bb", "gauss", "pipeline", "redblack", "pbs3", "lfk01", "pi")
STAGES = ("ir", "layouts", "node", "aag", "saag")


def command(stage, program):
    return ["show", stage, f"{program}.hpf", "--procs", str(PROCS)]


def text_of(stage, program, root):
    name = f"{program}.hpf"
    source = read_program((root / "benchmarks_hpf" / name).read_text(encoding="utf-8"), name)
    overrides = Overrides(procs=PROCS)
    if stage == "ir":
        return print_program(source)
    if stage == "layouts":
        return visible(describe_layouts(map_arrays(source, overrides, PROCS)))
    node = lower(source, overrides, PROCS, compiled(load_machine("ipsc860"), Request()))
    if stage == "node":
        return print_node(node)
    graph = abstract(node)
    return export(graph if stage == "saag" else structs.replace(graph, edges=()), "text")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_stage(stage, program, root, update_golden):
    path = HERE / f"{program}.{stage}.txt"
    text = "esp " + " ".join(command(stage, program)) + "\n" + text_of(stage, program, root)
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("stage", STAGES)
def test_the_command_in_the_first_line_gives_the_rest(stage, capsys):
    from esp.cli.main import main

    assert main(command(stage, "laplace")) == 0
    first, _, rest = (HERE / f"laplace.{stage}.txt").read_text(encoding="utf-8").partition("\n")
    assert first == "esp " + " ".join(command(stage, "laplace"))
    assert capsys.readouterr().out.rstrip("\n") == rest.rstrip("\n")


def test_nothing_else_is_kept_here():
    known = {f"{program}.{stage}.txt" for program in PROGRAMS for stage in STAGES}
    assert {path.name for path in HERE.glob("*.txt")} == known


def test_node_programs_and_graphs_fit_100_columns():
    for stage in ("node", "aag", "saag"):
        for path in HERE.glob(f"*.{stage}.txt"):
            lines = path.read_text(encoding="utf-8").splitlines()
            assert max(map(len, lines)) <= 100, path.name
