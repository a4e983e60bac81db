"""`--align` means what the same ALIGN directive in the source means, and is refused as that would be."""

import json

import pytest

import esp as package
from aag.diagnostics import SourceError
from esp import api
from esp.locate import benchmarks_dir

TURNED = "b(i,j) WITH temp(j,i)"

SMALL = ("--procs", "4", "--set", "n=12", "--set", "k=3")


@pytest.fixture(scope="module")
def edited():
    """laplace.hpf with the directives that `TURNED` stands for, on the same lines."""
    text = (benchmarks_dir() / "laplace.hpf").read_text(encoding="utf-8")
    written = "!HPF$ ALIGN (I,J) WITH TEMP(I,J) :: A, B\n"
    assert written in text
    changed = text.replace(written, "!HPF$ ALIGN A(I,J) WITH TEMP(I,J)\n")
    assert changed.count("!HPF$ DISTRIBUTE") == 1
    return changed.replace("!HPF$ DISTRIBUTE", "!HPF$ ALIGN B(I,J) WITH TEMP(J,I)\n!HPF$ DISTRIBUTE")


def test_it_predicts_what_the_edited_source_does(edited, esp):
    code, out, err = esp("run", "laplace.hpf", *SMALL, "--align", TURNED, "--json")
    assert (code, err) == (0, "")
    optional = json.loads(out)
    code, out, _ = esp("run", "-", *SMALL, "--json", stdin=edited)
    written = json.loads(out)
    assert code == 0
    for name in ("time_s", "communication_s", "waiting_s", "overhead_s", "messages", "bytes", "memory_bytes"):
        assert optional[name] == written[name], name
    assert optional["options"]["align"] == ["b(i, j) with temp(j, i)"]
    code, out, _ = esp("run", "laplace.hpf", *SMALL, "--json")
    assert json.loads(out)["messages"] < optional["messages"]


def test_compare_aligns_all_choices(edited, esp):
    """As for the edited source, whose own mapping is the only one that the option makes another."""
    given = ("--distribute", "(BLOCK,*)", "--distribute", "(CYCLIC,BLOCK)", "--size", "none")
    code, out, err = esp("compare", "laplace.hpf", *SMALL, *given, "--align", TURNED, "--json")
    assert (code, err) == (0, "")
    optional = json.loads(out)
    written = json.loads(esp("compare", "-", *SMALL, *given, "--json", stdin=edited)[1])
    plain = json.loads(esp("compare", "laplace.hpf", *SMALL, *given, "--json")[1])

    def times(told):
        return {(each["choice"], tuple(each["grid"])): each["time_s"] for each in told["choices"]}

    assert len(times(optional)) > 2
    assert times(optional) == times(written) != times(plain)
    assert not any(each["written"] for each in optional["choices"])
    assert optional["paste"] == [*written["paste"], "!HPF$ ALIGN B(I,J) WITH TEMP(J,I)"]


def test_an_array_that_is_aligned_anew_is_not_compared_as_a_target(esp):
    """Here both arrays are distributed; with the option only one is."""
    program = "program p\n  real :: a(8), c(8)\n!HPF$ DISTRIBUTE a(BLOCK)\n!HPF$ DISTRIBUTE c(CYCLIC)\n  a = c\nend\n"
    code, out, err = esp(
        "compare", "-", "--procs", "4", "--size", "none", "--json", "--align", "c WITH a", stdin=program
    )
    assert (code, err) == (0, "")
    told = json.loads(out)
    assert all(each["messages"] == 0 for each in told["choices"])
    assert "DISTRIBUTE C" not in " ".join(told["paste"])


def test_several_programs_are_not_aligned(esp):
    code, _, err = esp("compare", "laplace_bb", "laplace_bx", "--align", TURNED)
    assert code == 2
    assert "--align" in err


def test_python_says_it_alike(edited):
    options = {"procs": 4, "n": 12, "k": 3}
    optional = package.predict("laplace.hpf", align=TURNED, **options)
    assert optional.time_s == package.predict(edited, **options).time_s
    assert package.predict("laplace.hpf", align=[TURNED], **options).time_s == optional.time_s
    assert "--align b(i, j) with temp(j, i)" in str(optional)
    with pytest.raises(SourceError, match="expected '\\)'"):
        package.predict("laplace.hpf", align="b(i,j WITH temp(j,i)")


def test_a_distributed_array_may_be_aligned_instead(esp):
    program = "program p\n  real :: a(8), c(8)\n!HPF$ DISTRIBUTE a(BLOCK)\n!HPF$ DISTRIBUTE c(CYCLIC)\n  a = c\nend\n"
    _, apart, _ = esp("run", "-", "--procs", "4", "--json", stdin=program)
    code, together, _ = esp("run", "-", "--procs", "4", "--json", "--align", "c WITH a", stdin=program)
    assert code == 0
    assert (json.loads(apart)["messages"] > 0, json.loads(together)["messages"]) == (True, 0)


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "laplace.hpf:36"),
        ("layout", "laplace.hpf"),
        ("query", "laplace.hpf", "--by", "line"),
        ("show", "layouts", "laplace.hpf"),
        ("show", "node", "laplace.hpf"),
        ("graph", "saag", "laplace.hpf"),
        ("whatif", "laplace.hpf", "--load", "20%"),
    ],
    ids=" ".join,
)
def test_other_commands_answer_otherwise_with_it(words, esp):
    plain, aligned = esp(*words, *SMALL), esp(*words, *SMALL, "--align", TURNED)
    assert (plain[0], aligned[0]) == (0, 0)
    assert plain[1] != aligned[1]


def test_the_compiled_program_is_aligned_so_and_prints_the_same(esp):
    code, out, err = esp("validate", "laplace.hpf", *SMALL[:4], "--set", "k=2", "--align", TURNED)
    assert code == 0, err
    row = out.splitlines()[1].split()
    assert row[:2] == ["4", "same"]
    assert row[2:4] == [row[2]] * 2
    assert int(row[2]) > 0


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            ["b(i,j WITH temp(j,i)"],
            (
                "--align:1:7: E141 expected ')' but found 'WITH'\n    1 | b(i,j WITH temp(j,i)\n      |       ^^^^\n"
                "       hint: write for example 'A(i,j) WITH T(j,i)', as after ALIGN in a\n             directive\n"
            ),
        ),
        (
            ["a(i,j) WITH temp(i,j)", "b(i,j) WITH temp(i*j,1)"],
            (
                "--align:2:18: E306 ALIGN b WITH temp, subscript 1: it multiplies indices\n"
                "    2 | b(i,j) WITH temp(i*j,1)\n      |                  ^^^\n"
                "       hint: write a*i + b with one index i and constants a and b, a constant, a\n"
                "             triplet or *\n"
            ),
        ),
        (
            ["q(i) WITH temp(i,1)"],
            (
                "--align:1:1: E301 there is no array or template q\n    1 | q(i) WITH temp(i,1)\n"
                "      | ^^^^^^^^^^^^^^^^^^^\n       hint: known: a, b, temp\n"
            ),
        ),
    ],
)
def test_what_is_wrong_is_marked(given, told, esp):
    options = [word for each in given for word in ("--align", each)]
    assert esp("run", "laplace.hpf", "--procs", "4", *options) == (2, "", told)


def test_the_next_command_keeps_it(esp):
    code, out, _ = esp("run", "laplace.hpf", *SMALL, "--align", TURNED)
    assert code == 0
    following = " ".join(out.split("\nnext")[1].split())
    assert f"--align '{TURNED}'" in following
    assert "compare" not in following


def test_an_array_stands_where_the_source_declares_it():
    source, machine = api.read_source("laplace.hpf"), api.load_machine("ipsc860")
    found = api.map_source(source, machine, api.requested(4, align=TURNED)).arrays["b"].span
    assert found.file == source.program.file
    assert "b(n, n)" in source.program.lines[found.line - 1]
