"""What coverage-guided fuzzing has kept runs as it did, its minimiser keeps what fails, its parsers refuse."""

from pathlib import Path

import pytest

from tests.end_to_end import formats, fuzz, guided

KEPT = sorted(path for path in guided.CORPUS.iterdir() if path.is_file())


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_kept_inputs(path: Path):
    outcome = fuzz.run(guided.understood(path.read_bytes()))
    assert not outcome.why, outcome


def test_an_input_is_a_case_and_back():
    for data in list(guided.seeds())[:5]:
        assert guided.spelled(guided.understood(data)) == data
        once, again = ([guided.damaged(data, seed) for seed in range(9)] for _ in range(2))
        assert once == again
        assert len(set(once)) > 6
    assert guided.understood(b"rm -rf /\nx").words == ("run", "-")
    assert guided.understood(b"run - -o x\nx").words == ("run", "-")
    assert guided.understood(b"\xff'\nx").words == ("run", "-")


def test_the_minimiser_keeps_what_fails(monkeypatch):
    def run(given, limit_s=None):
        both = "left" in given.text and "right" in given.text
        return fuzz.Outcome(0, "", "", 0.0, "it fails" if both else "")

    monkeypatch.setattr(fuzz, "run", run)
    lines = [f"line {number}" for number in range(40)]
    lines[7], lines[31] = "left", "right"
    data = guided.spelled(fuzz.Case(0, "\n".join(lines), ("show", "ir", "-")))
    assert guided.understood(guided.minimised(data)) == fuzz.Case(0, "left\nright", ("show", "ir", "-"))


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "-", "--json"], '{"a": NaN}'),
        (["run", "-", "--json"], '{"a": 1'),
        (["run", "-", "--csv"], "a,b\n1\n"),
        (["run", "-", "--csv"], 'a,b\n1,"=1+2"\n'),
        (["graph", "aag", "-", "--format", "graphml"], "<a><b></a>"),
        (["graph", "aag", "-", "--format=svg"], "<a>\x01</a>"),
        (["graph", "aag", "-"], 'digraph a {\n a0 [label="x"y"];\n}\n'),
        (["graph", "aag", "-", "--format", "mermaid"], 'flowchart TD\n a0["x"y"]\n'),
    ],
)
def test_parsers_refuse(words, text):
    assert formats.ill_formed(words, text).startswith("ill-formed")
