"""The whole road, through the command: every program that comes with esp, every stage, every view."""

import json
import math
import re

import numpy as np
import pytest

import esp as package
from esp.locate import program_names, system_names

PARTS = ("computation_s", "communication_s", "overhead_s", "waiting_s")


def _json(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


LONG = ("cholesky", "gauss", "gausspivot_array", "gausspivot_do", "trisolve")
"""Programs that take seconds in their own size."""


def cases():
    """Each program on one or on eight processors in turn, long ones smaller; `make truth` takes all as they are."""
    for at, program in enumerate(program_names()):
        small = {"n": 40} if program in LONG else {}
        for number, procs in enumerate((1, 8)):
            soon = at % 2 == number
            if soon:
                yield pytest.param(program, procs, small, id=f"{program}-{procs}")
            if small or not soon:
                yield pytest.param(program, procs, {}, id=f"{program}-{procs}-own size", marks=pytest.mark.truth)


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "procs", "sizes"), list(cases()))
def test_every_program_on_one_and_on_eight_processors(program, procs, sizes):
    made = package.predict(program, procs=procs, **sizes)
    time_s = made.time_s
    assert made.complete
    assert made.processors == procs
    assert time_s > 0
    assert math.isfinite(time_s)
    assert made.parts.time_s == pytest.approx(time_s, rel=1e-9)
    assert sum(each.parts.time_s for each in made.lines) == pytest.approx(time_s, rel=1e-9)
    assert made.messages == (sum(each.messages for each in made.lines))
    if procs == 1:
        assert made.messages == 0


@pytest.mark.parametrize("system", system_names())
def test_every_machine(esp, system):
    told = _json(esp("run", "laplace.hpf", "--procs", "8", "--system", system, "--json"))
    assert (told["system"], told["processors"], math.prod(told["grid"])) == (system, 8, 8)
    assert sum(told[name] for name in PARTS) == pytest.approx(told["time_s"], rel=1e-9)
    assert sum(each["time_s"] for each in told["lines"]) == pytest.approx(told["time_s"], rel=1e-9)


def test_the_categories_of_each_processor_add_up(esp):
    told = _json(esp("run", "laplace.hpf", "--procs", "6", "--json", "--per-processor"))
    each = told["per_processor"]
    assert len(each["end_s"]) == 6
    for parts in zip(*(each[name] for name in PARTS), strict=True):
        assert sum(parts) == pytest.approx(told["time_s"], rel=1e-9)
    assert max(each["end_s"]) == pytest.approx(told["time_s"], rel=1e-9)


def test_the_first_screen_fits_and_ends_with_a_command_that_works(esp):
    done = esp("run", "laplace.hpf", "--procs", "8")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("laplace.hpf (bundled)  8 procs (4x2)  ipsc860  n=256 k=50")
    last = done.stdout.splitlines()[-1].split()
    assert last[:2] == ["next", "esp"]
    assert esp(*last[2:]).returncode == 0


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", ["01", pytest.param("0123", marks=pytest.mark.truth)])
@pytest.mark.parametrize("words", ["--procs 8", "--procs 8 --json --per-processor --aau all", "--procs 1,2,4"])
def test_equal_input_gives_equal_bytes(process, words, seeds):
    shown = {process("run", "laplace.hpf", *words.split(), PYTHONHASHSEED=seed).stdout for seed in seeds}
    assert len(shown) == 1
    assert len(shown.pop()) > 100


def test_standard_input_is_the_same_program(esp, root):
    text = (root / "benchmarks_hpf" / "laplace.hpf").read_text(encoding="utf-8")
    piped = _json(esp("run", "-", "--procs", "4", "--json", stdin=text))
    named = _json(esp("run", "laplace.hpf", "--procs", "4", "--json"))
    assert piped["time_s"] == named["time_s"]
    assert (piped["bundled"], named["bundled"]) == (False, True)


def test_more_processors_on_a_large_problem_are_faster(esp):
    runs = _json(esp("run", "laplace_bb.hpf", "--set", "n=512", "--procs", "1,4,16", "--json"))["runs"]
    times = [each["time_s"] for each in runs]
    assert times == sorted(times, reverse=True)
    # A smaller part of the data per processor fits its cache better, so the efficiency may exceed 1 somewhat.
    assert 0.5 < runs[2]["efficiency"] < 1.5


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("--bandwidth x2", "communication"),
        ("--latency x0.5", "communication"),
        ("--processor-speed x2", "computation"),
        ("--memory-speed x2", "computation"),
    ],
)
def test_a_what_if_makes_the_right_category_faster(esp, words, change):
    run = ("run", "laplace_bb.hpf", "--procs", "8", "--json", "--io", "off")
    base, other = (_json(esp(*run, *more)) for more in ((), words.split()))
    assert other["time_s"] < base["time_s"]
    assert other[f"{change}_s"] < base[f"{change}_s"]
    still = "computation_s" if change == "communication" else "messages"
    assert other[still] == pytest.approx(base[still], rel=1e-12)


def test_load_slows_the_network(esp):
    run = ("run", "laplace_bb.hpf", "--procs", "8", "--json")
    base, other = _json(esp(*run)), _json(esp(*run, "--load", "50%"))
    assert other["time_s"] > base["time_s"]
    assert other["computation_s"] == pytest.approx(base["computation_s"], rel=1e-12)


def test_without_io_there_is_none(esp):
    run = ("run", "laplace.hpf", "--procs", "8", "--json")
    base, other = _json(esp(*run)), _json(esp(*run, "--io", "off"))
    assert base["io_s"] > 0
    assert other["io_s"] == 0
    assert other["time_s"] < base["time_s"]


def test_a_parameter_of_the_machine_by_its_path(esp):
    run = ("run", "laplace_bb.hpf", "--procs", "8", "--json")
    base = _json(esp(*run))
    other = _json(esp(*run, "--system-set", "cube.network.long.startup=10us"))
    assert other["communication_s"] < base["communication_s"]


def test_the_timed_region(esp):
    run = ("run", "laplace_bb.hpf", "--procs", "8", "--json")
    base, timed = _json(esp(*run)), _json(esp(*run, "--timed"))
    assert 0 < base["timed_s"] < base["time_s"]
    inside = sum(each["time_s"] for each in timed["lines"])
    # Lines are means over processors, the clock is that of the last one (Def 4, 5).
    assert 0.9 * base["timed_s"] < inside <= base["timed_s"] * (1 + 1e-9)


def test_walking_every_iteration_changes_nothing(esp):
    run = ("run", "laplace_bb.hpf", "--procs", "8", "--json")
    base, walked = _json(esp(*run)), _json(esp(*run, "--unroll"))
    assert walked["time_s"] == pytest.approx(base["time_s"], rel=1e-9)
    assert walked["iterations"] == base["iterations"] == walked["iterations_walked"]
    assert base["iterations_walked"] < base["iterations"]


def test_an_array_of_what_ifs_equals_single_runs():
    factors = [0.5, 1.0, 2.0, 4.0]
    together = package.predict("laplace.hpf", procs=4, bandwidth=np.array(factors))
    assert together.time_s.shape == (4,)
    single = [package.predict("laplace.hpf", procs=4, bandwidth=each).time_s for each in factors]
    assert together.time_s == pytest.approx(single, rel=1e-12)
    assert "4 scenarios" in together._repr_html_()


def test_parameters_by_keyword():
    small, large = (package.predict("laplace_bb.hpf", procs=4, n=n) for n in (64, 128))
    assert small.constants["n"] == 64
    assert small.time_s < large.time_s


def test_program_text():
    text = "program p\n real :: a(100)\n!HPF$ DISTRIBUTE a(BLOCK)\n a = 1.0\nend program p\n"
    made = package.predict(text, procs=4)
    assert made.grid == (4,)
    assert {each.line for each in made.lines} >= {4}


@pytest.mark.parametrize("stage", ["ir", "layouts", "node", "aag", "saag"])
def test_every_stage_can_be_looked_at(esp, stage):
    done = esp("show", stage, "laplace.hpf", "--procs", "4")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) >= 3


@pytest.mark.parametrize("form", ["text", "dot", "graphml", "json", "mermaid"])
@pytest.mark.parametrize("stage", ["aag", "saag"])
def test_every_form_of_the_graphs(esp, stage, form):
    done = esp("show", stage, "laplace.hpf", "--procs", "4", "--format", form)
    assert done.returncode == 0, done.stderr
    if form == "json":
        json.loads(done.stdout)
    beginning = {"dot": "digraph", "graphml": "<?xml", "mermaid": "flowchart"}.get(form)
    if beginning:
        assert done.stdout.lstrip().startswith(beginning)


def test_the_synchronised_graph_has_more_in_it(esp):
    plain, synchronised = (
        esp("show", stage, "laplace.hpf", "--procs", "4", "--format", "json").stdout for stage in ("aag", "saag")
    )
    assert len(synchronised) > len(plain)


def test_switching_an_optimisation_off_is_seen(esp):
    run = ("run", "lfk01.hpf", "--procs", "4", "--json")
    base, other = _json(esp(*run)), _json(esp(*run, "--opt", "hoist=off"))
    assert other["messages"] > base["messages"]


def test_every_line_of_json_is_a_line_of_the_source(esp, root):
    told = _json(esp("run", "laplace.hpf", "--procs", "4", "--json"))
    lines = (root / "benchmarks_hpf" / "laplace.hpf").read_text(encoding="utf-8").splitlines()
    for each in told["lines"]:
        head = re.split(r" &|$", lines[each["line"] - 1].strip(), maxsplit=1)[0]
        assert each["source"].startswith(head)


def test_a_jump_over_a_loop_is_followed():
    """What is jumped over costs nothing, and the prediction is no lower bound."""
    text = (
        "program p\ninteger, parameter :: n = 4000\nreal :: a(n)\ninteger :: i, mode\n!hpf$ distribute a(block)\n"
        "mode = {}\na = 0.0\nif (mode == 1) go to 10\ndo i = 1, 1000\na = a + 1.0\nend do\n"
        "10 a = a + 2.0\nend program p\n"
    )
    over, through = (package.predict(text.format(mode), procs=4) for mode in (1, 0))
    assert over.complete
    assert through.complete
    assert not over.assumptions
    assert through.time_s > 100 * over.time_s
