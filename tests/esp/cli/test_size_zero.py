"""Arrays of size zero are legal: an upper bound below the lower one makes an extent 0 (Fortran 90, 5.1.2.4.1). So they
are predicted, drawn and compiled like others, and esp says that they are empty."""

import json

import pytest

SIZES = ("0", "-5")

PROGRAMS = {"laplace.hpf": ("a", "b"), "gauss.hpf": ("a",), "pi.hpf": ("x",)}
"""Program -> its distributed arrays, all of them of n elements in each dimension."""

TOLD = {
    "run": ("run",),
    "table": ("run", "--procs", "1,2"),
    "compare": ("compare",),
    "advise": ("advise",),
    "whatif": ("whatif", "--load", "20%"),
    "sweep": ("sweep",),
    "explain": ("explain", "20"),
    "layout": ("layout",),
    "graph": ("graph", "saag"),
    "tui": ("tui",),
    "compile": ("compile", "-o", "build"),
    "show": ("show", "layouts"),
}
"""Commands that say what a prediction or a mapping rests on."""

SILENT = {
    "lines": ("run", "--annotate"),
    "processors": ("run", "--per-processor"),
    "query": ("query",),
    "diff": ("diff", "laplace.hpf"),
    "drawing": ("graph", "aag", "--times", "--format", "svg"),
    "trace": ("trace", "--format", "chrome", "-o", "x.json"),
    "report": ("report", "-o", "x.html"),
}
"""Commands that show something else, or write it to a file."""


def _words(words, program, size):
    before = 2 if words[0] in ("graph", "show") else 1
    named = (*words[:before], program, *words[before:])
    procs = () if "--procs" in words else ("--procs", "4")
    return (*named, *procs, "--set", f"n={size}")


BORNE = [
    pytest.param(what, program, size, marks=() if one % 3 == at and (one + at) % 2 == other else pytest.mark.truth)
    for one, what in enumerate([*TOLD, *SILENT])
    for at, program in enumerate(PROGRAMS)
    for other, size in enumerate(SIZES)
]
"""Each command with one program and one size, in turn; with all in `make truth`."""


@pytest.mark.sampled
@pytest.mark.parametrize(("what", "program", "size"), BORNE)
def test_every_command_bears_it(what, program, size, esp, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = esp(*_words({**TOLD, **SILENT}[what], program, size))
    assert code == 0, err
    assert "nan" not in out.lower().split()
    if what in TOLD:
        bounds = f"1:{size}" if program == "pi.hpf" else f"1:{size},1:{size}"
        arrays = ", ".join(f"{name}({bounds})" for name in PROGRAMS[program])
        verb, them = ("has", "it") if len(PROGRAMS[program]) == 1 else ("have", "them")
        told = f"{arrays} {verb} no elements, so nothing is done to {them}"
        assert told in " ".join((out + err).replace("\n", " ").split())


@pytest.mark.parametrize("size", SIZES)
def test_a_program_reads_of_it_in_the_json(size, esp):
    code, out, err = esp("run", "gauss.hpf", "--procs", "4", "--set", f"n={size}", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert f"a(1:{size},1:{size}) has no elements, so nothing is done to it" in [
        each["text"] for each in said["assumptions"]
    ]
    assert said["memory_bytes"] == 0
    code, out, _ = esp("layout", "gauss.hpf", "--procs", "4", "--set", f"n={size}", "--json")
    drawn = json.loads(out)
    assert (code, drawn["arrays"], drawn["empty"], drawn["doubts"]) == (0, [], ["a"], [])


COMPILED = [
    pytest.param(program, size, procs, marks=() if (size, procs) == soon else pytest.mark.truth)
    for program, soon in zip(PROGRAMS, [("0", "3"), ("-5", "1"), ("0", "3")], strict=True)
    for size in SIZES
    for procs in "13"
]
"""Each program with one size on one number of processors; with all in `make truth`."""


@pytest.mark.sampled
@pytest.mark.parametrize(("program", "size", "procs"), COMPILED)
def test_the_compiled_program_prints_what_gfortran_makes_of_the_text(program, size, procs, esp):
    code, out, err = esp("validate", program, "--procs", procs, "--set", f"n={size}")
    assert code == 0, err
    assert [line.split()[:2] for line in out.splitlines()[1:]] == [[procs, "same"]]


def test_what_holds_something_is_not_called_empty(esp):
    code, out, err = esp("layout", "gauss.hpf", "--procs", "4", "--set", "n=1")
    assert code == 0
    assert "no elements" not in out + err
    assert "idle" in out
