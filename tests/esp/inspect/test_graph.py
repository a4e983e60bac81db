"""`esp graph`: each format read back by a reader that is not ours, or by a strict small grammar."""

import io
import itertools
import json
import re
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

from esp.locate import system_names
from sag.graph import to_networkx

SVG = "{http://www.w3.org/2000/svg}"
CONDITION = """\
program c
  integer, parameter :: n = 64
  real :: x(n), s
!HPF$ DISTRIBUTE x(BLOCK)
  x = 1.0
  s = sum(x)
  if (s > 3.0) then
    forall (i = 2:n) x(i) = x(i-1)
    s = 2.0
  else if (s < 1.0) then
    x = 3.0
  else
    s = sum(x) + 1.0
  end if
  print *, s, "a < b & 'c'"
end program c
"""
PROGRAMS = ("laplace", "gauss", "redblack", "pipeline", "pbs3")


def graph(esp, *words, stdin=""):
    code, out, err = esp("graph", *words, stdin=stdin)
    assert code == 0, err
    return out


def drawn(esp, *words, stdin=""):
    root = ET.fromstring(graph(esp, *words, "--format", "svg", stdin=stdin))
    boxes, arrows = {}, []
    for group in root.iter(f"{SVG}g"):
        if group.get("id") is not None:
            rect = group.find(f"{SVG}rect")
            place = [float(rect.get(name)) for name in ("x", "y", "width", "height")]
            boxes[group.get("id")] = (place, [text.text for text in group.iter(f"{SVG}text")])
        else:
            arrows.append((group.get("data-source"), group.get("data-target"), group.get("data-kind")))
    return root, boxes, arrows


@pytest.mark.parametrize("kind", ["aag", "saag"])
@pytest.mark.parametrize("fmt", ["dot", "graphml", "json", "mermaid"])
def test_what_show_knows_already_is_the_same(kind, fmt, esp):
    assert graph(esp, kind, "laplace", "--format", fmt) == esp("show", kind, "laplace", "--format", fmt)[1]


@pytest.mark.parametrize("program", [*PROGRAMS, "-"])
def test_the_drawing_holds_every_unit_and_edge(program, esp):
    said = json.loads(graph(esp, "saag", program, "--format", "json", stdin=CONDITION))
    _, boxes, arrows = drawn(esp, "saag", program, stdin=CONDITION)
    assert set(boxes) == {f"a{each['id']}" for each in said["aaus"]}
    for each in said["aaus"]:
        assert boxes[f"a{each['id']}"][1][0].startswith(f"{each['id']} {each['class']}")
    wanted = [(f"a{e['source']}", f"a{e['target']}", e["kind"]) for e in said["links"] if e["kind"] != "contains"]
    assert sorted(arrows) == sorted(wanted)


@pytest.mark.parametrize("program", [*PROGRAMS, "-"])
def test_boxes_are_inside_their_frames_and_apart_from_each_other(program, esp):
    said = json.loads(graph(esp, "saag", program, "--format", "json", stdin=CONDITION))
    root, boxes, _ = drawn(esp, "saag", program, stdin=CONDITION)
    parent = {f"a{each['id']}": each["parent"] for each in said["aaus"]}
    width, height = float(root.get("width")), float(root.get("height"))
    for name, ((x, y, wide, high), lines) in boxes.items():
        ox, oy, owide, ohigh = (0, 0, width, height) if parent[name] is None else boxes[f"a{parent[name]}"][0]
        assert ox < x
        assert oy < y
        assert x + wide < ox + owide
        assert y + high < oy + ohigh
        assert max(map(len, lines)) * 7.2 < wide
    siblings = [pair for pair in itertools.combinations(boxes, 2) if parent[pair[0]] == parent[pair[1]]]
    for one, other in siblings:
        (x, y, wide, high), (u, v, broad, tall) = boxes[one][0], boxes[other][0]
        assert x + wide <= u or u + broad <= x or y + high <= v or v + tall <= y, (one, other)


def test_the_drawing_is_coloured_by_time(esp):
    _, boxes, _ = drawn(esp, "aag", "laplace", "--procs", "8", "--times")
    run = json.loads(esp("run", "laplace", "--procs", "8", "--json", "--aau", "all", "-q")[1])
    for each in run["aaus"]:
        share = 100 * each["total_s"] / run["time_s"]
        note = boxes[f"a{each['id']}"][1][-1]
        assert note.endswith(f", {round(share)}%" if share >= 1 else "%")
    root = ET.fromstring(graph(esp, "aag", "laplace", "--procs", "8", "--times", "--format", "svg"))
    fills = {group.get("id"): group.find(f"{SVG}rect").get("fill") for group in root.iter(f"{SVG}g") if group.get("id")}
    assert int(fills["a11"][3:5], 16) < int(fills["a12"][3:5], 16) < int(fills["a13"][3:5], 16)


def test_nothing_is_fetched_and_nothing_runs(esp):
    for words in (("saag", "laplace"), ("sag", "ipsc860")):
        text = graph(esp, *words, "--format", "svg").replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text
        assert "<script" not in text


@pytest.mark.parametrize("machine", system_names())
def test_graphml_of_a_machine_is_read_by_networkx(machine, esp):
    from esp.api import load_machine

    read = nx.read_graphml(io.BytesIO(graph(esp, "sag", machine, "--format", "graphml").encode()))
    wanted = to_networkx(load_machine(machine))
    assert {name: (data["id"], data["title"]) for name, data in read.nodes(data=True)} == {
        name: (data["id"], data["title"]) for name, data in wanted.nodes(data=True)
    }
    assert {(a, b): d.get("refines", "") for a, b, d in read.edges(data=True)} == {
        (a, b): d["refines"] for a, b, d in wanted.edges(data=True)
    }


STRING = r'"(?:[^"\\]|\\.)*"'


@pytest.mark.parametrize("machine", system_names())
def test_dot_and_mermaid_of_a_machine_follow_their_grammars(machine, esp):
    from esp.api import load_machine

    wanted = to_networkx(load_machine(machine))
    first, default, *lines, last = graph(esp, "sag", machine).splitlines()
    assert (first, default, last) == ("digraph sag {", "  node [shape=box];", "}")
    node, edge = (re.compile(rf"  {who} \[label={STRING}\];") for who in (f"({STRING})", f"({STRING}) -> ({STRING})"))
    nodes = [found for line in lines if (found := node.fullmatch(line))]
    edges = [found for line in lines if (found := edge.fullmatch(line))]
    assert len(nodes) + len(edges) == len(lines)
    assert {each[1].strip('"') for each in nodes} == set(wanted.nodes)
    assert {(each[1].strip('"'), each[2].strip('"')) for each in edges} == set(wanted.edges)
    first, *lines = graph(esp, "sag", machine, "--format", "mermaid").splitlines()
    assert first == "flowchart TD"
    text = r'"(?:[^"#<>&;`\\]|#\d+;|<br/>)*"'
    boxes = [line for line in lines if re.fullmatch(rf"  u\d+\[{text}\]", line)]
    arrows = [line for line in lines if re.fullmatch(rf"  u\d+ -->(?:\|{text}\|)? u\d+", line)]
    assert (len(boxes), len(arrows)) == (len(wanted.nodes), len(wanted.edges))
    assert len(boxes) + len(arrows) == len(lines)


@pytest.mark.parametrize("machine", system_names())
def test_the_drawing_of_a_machine_is_a_tree(machine, esp):
    from esp.api import load_machine

    wanted = to_networkx(load_machine(machine))
    _, boxes, arrows = drawn(esp, "sag", machine)
    assert set(boxes) == set(wanted.nodes)
    assert {(a, b) for a, b, _ in arrows} == set(wanted.edges)
    for above, below, _ in arrows:
        assert boxes[above][0][1] + boxes[above][0][3] < boxes[below][0][1]
    for one, other in itertools.combinations(boxes, 2):
        (x, y, wide, high), (u, v, broad, tall) = boxes[one][0], boxes[other][0]
        assert x + wide <= u or u + broad <= x or y + high <= v or v + tall <= y, (one, other)


def test_json_of_a_machine_is_that_of_system_show(esp):
    assert graph(esp, "sag", "ipsc860", "--format", "json") == esp("system", "show", "ipsc860", "--json")[1]


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".svg", "<svg"), (".dot", "digraph"), (".mmd", "flowchart"), (".graphml", "<?xml"), (".json", "{")],
)
def test_the_suffix_says_the_format(suffix, start, esp, tmp_path):
    target = tmp_path / f"x{suffix}"
    assert esp("graph", "saag", "laplace", "-q", "-o", str(target))[0] == 0
    assert target.read_text(encoding="utf-8").startswith(start)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["aag", "laplace", "--times"], "--times: only the drawing (svg) of a program is coloured by time."),
        (["sag", "ipsc860", "--times", "--format", "svg"], "--times: only the drawing (svg) of a program"),
        (["sag", "ipsc860", "--procs", "4"], "--procs: the graph of a machine has no processors to choose."),
        (["sag", "laplace"], "laplace: file not found"),
        (["aag", "laplace", "--procs", "1,2"], "--procs: a graph takes one processor count."),
        (["tree", "laplace"], "'tree' is not a graph: expected aag, saag or sag"),
    ],
)
def test_wrong_use(words, message, esp):
    code, out, err = esp("graph", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())


@pytest.mark.parametrize(("granularity", "units"), [("loop", 13), ("procedure", 1)])
def test_a_coarser_graph_has_fewer_boxes(esp, granularity, units):
    words = ("saag", "laplace_bb", "--procs", "4", "--granularity", granularity)
    assert len(json.loads(graph(esp, *words, "--format", "json"))["aaus"]) == units
    assert len(drawn(esp, *words, "--times")[1]) == units
