"""The formats, read back by readers that are not ours or by strict small grammars."""

import io
import json
import re

import networkx as nx
import pytest
from msgspec import structs

from aag.graph import aau as g
from aag.graph.export import FORMATS, export
from aag.graph.links import links
from aag.graph.views import to_networkx

HARD = (
    "if (s > 1 .and. t < 2) then\n  call outside('say \"no\" & <yes> \\n', s)\nelse\n  s = sum(x)\nend if\n"
    "do while (s < 9 .or. s /= t)\n  forall (i = 2:n) x(i) = y(i-1)\n  y = x\n  s = s + 1\nend do"
)
PROGRAMS = ("laplace", "gauss", "pipeline", "redblack", "pbs3", "lfk22")


@pytest.fixture(params=[*PROGRAMS, "hard"])
def graph(request, bundled, graph_of):
    return graph_of(HARD) if request.param == "hard" else bundled(request.param)


def expected_edges(graph):
    return sorted((each.source, each.target, each.kind) for each in links(graph))


def test_graphml_is_read_by_networkx(graph):
    read = nx.read_graphml(io.BytesIO(export(graph, "graphml").encode()), force_multigraph=True)
    units = {each.id: each for each in g.walk(graph.body)}
    assert set(read.nodes) == {f"a{number}" for number in units}
    for number, aau in units.items():
        node = read.nodes[f"a{number}"]
        assert (node["class"], node["line"], node["label"]) == (type(aau).__name__, aau.span.line, aau.label)
    found = sorted((int(one[1:]), int(other[1:]), data["kind"]) for one, other, data in read.edges(data=True))
    assert found == expected_edges(graph)


STRING = r'"(?:[^"\\]|\\.)*"'
VALUE = rf"(?:[A-Za-z]\w*|{STRING})"
ATTRIBUTES = rf"(?: \[[a-z]+={VALUE}(?:, [a-z]+={VALUE})*\])?"
DOT_NODE = re.compile(rf"  a(\d+) \[label=({STRING})(?:, shape=[a-z]+)?\];")
DOT_EDGE = re.compile(rf"  a(\d+) -> a(\d+)({ATTRIBUTES});")


def test_dot_follows_its_grammar(graph):
    first, default, *lines, last = export(graph, "dot").splitlines()
    assert (first, default, last) == ("digraph aag {", "  node [shape=box];", "}")
    nodes = [found for line in lines if (found := DOT_NODE.fullmatch(line))]
    edges = [found for line in lines if (found := DOT_EDGE.fullmatch(line))]
    assert len(nodes) + len(edges) == len(lines)
    assert [int(each[1]) for each in nodes] == list(range(graph.count))
    kinds = {"": "next", "dotted": "contains", "dashed": "communication"}

    def kind(attributes):
        style = re.search(r"style=(\w+)", attributes)
        return kinds[style[1] if style else ""]

    assert sorted((int(each[1]), int(each[2]), kind(each[3])) for each in edges) == expected_edges(graph)
    labels = [each[2][1:-1].split("\\n", 1)[1] for each in nodes]
    unescaped = [re.sub(r"\\(.)", r"\1", label) for label in labels]
    assert unescaped == [each.label for each in g.walk(graph.body)]


MERMAID_TEXT = r'"(?:[^"#<>&;`\\]|#\d+;|<br/>)*"'
MERMAID_NODE = re.compile(rf"  a(\d+)\[({MERMAID_TEXT})\]")
MERMAID_EDGE = re.compile(rf"  a(\d+) (-->|-\.->|==>)(?:\|{MERMAID_TEXT}\|)? a(\d+)")


def test_mermaid_follows_its_grammar(graph):
    first, *lines = export(graph, "mermaid").splitlines()
    assert first == "flowchart TD"
    nodes = [found for line in lines if (found := MERMAID_NODE.fullmatch(line))]
    edges = [found for line in lines if (found := MERMAID_EDGE.fullmatch(line))]
    assert len(nodes) + len(edges) == len(lines)
    assert [int(each[1]) for each in nodes] == list(range(graph.count))
    kinds = {"-->": "next", "-.->": "contains", "==>": "communication"}
    assert sorted((int(each[1]), int(each[3]), kinds[each[2]]) for each in edges) == expected_edges(graph)
    labels = [re.sub(r"#(\d+);", lambda found: chr(int(found[1])), each[2][1:-1].split("<br/>")[1]) for each in nodes]
    assert labels == [each.label for each in g.walk(graph.body)]


def test_json_has_everything(graph):
    document = json.loads(export(graph, "json"))
    assert (document["format"], document["version"]) == ("esp-graph", 1)
    assert document["graph"] == ("saag" if graph.edges else "aag")
    assert document["critical"] == sorted(graph.critical)
    assert [each["id"] for each in document["aaus"]] == list(range(graph.count))
    assert document["edges"] == [structs.asdict(each) for each in graph.edges]
    children = {each.id: {inner.id for inner in g.children(each)} for each in g.walk(graph.body)}
    for each in document["aaus"]:
        assert each["parent"] is None if each["id"] == 0 else each["id"] in children[each["parent"]]
    assert sorted((each["source"], each["target"], each["kind"]) for each in document["links"]) == expected_edges(graph)


def test_json_names_the_branch_of_a_conditional(graph_of):
    document = json.loads(export(graph_of("if (s > 1) then\n  t = 1\nelse\n  t = 2\nend if"), "json"))
    assert [each["branch"] for each in document["aaus"] if each["class"] == "Seq"] == [1, 2]


def test_json_has_the_work_of_each_level(graph_of):
    document = json.loads(export(graph_of("forall (i = 1:n, j = 1:n) a(i, j) = b(i, j)*c(j)"), "json"))
    (nest,) = [each for each in document["aaus"] if each["class"] == "IterD"]
    assert nest["work"] == [
        {"of": "before", "computation": {}, "overhead": {"int.add": 8, "int.cmp": 4}},
        {"of": "loop j", "computation": {"index.1d": 1, "load": 1}, "overhead": {}},
        {"of": "loop i", "computation": {"index.2d": 2, "load": 1, "r8.mul": 1, "store": 1}, "overhead": {}},
    ]


def test_text_is_one_line_for_each_unit_at_its_depth(graph):
    text = export(graph, "text")
    heads = re.findall(r"^ *(\d+) ( *)([A-Z]\w+) +(\d+)  \S", text, re.MULTILINE)
    depths = {}

    def measure(body, depth):
        for each in body:
            depths[each.id] = depth
            measure(g.children(each), depth + 1)

    measure(graph.body, 0)
    units = g.walk(graph.body)
    assert [(int(a), len(b) // 2, c, int(d)) for a, b, c, d in heads] == [
        (each.id, depths[each.id], type(each).__name__, each.span.line) for each in units
    ]
    assert max(map(len, text.splitlines())) <= 100


def test_without_edges_it_is_the_aag(graph):
    bare = structs.replace(graph, edges=())
    assert "communication:" not in export(bare, "text")
    assert "dashed" not in export(bare, "dot")
    assert "==>" not in export(bare, "mermaid")
    assert ">communication<" not in export(bare, "graphml")
    assert json.loads(export(bare, "json"))["graph"] == "aag"


@pytest.mark.parametrize("fmt", FORMATS)
def test_the_same_graph_gives_the_same_bytes(bundled, fmt):
    assert export(bundled("redblack"), fmt) == export(bundled("redblack"), fmt)


def test_a_format_that_does_not_exist(graph_of):
    with pytest.raises(ValueError, match="text, dot, graphml, json, mermaid"):
        export(graph_of("s = 1"), "svg")


def test_the_networkx_view(bundled):
    graph = bundled("laplace")
    view = to_networkx(graph)
    update = next(each.id for each in g.walk(graph.body) if each.label == "b(i, j) for (j, i)")
    node = view.nodes[update]
    # The statement begins in line 36 of laplace.hpf.
    assert (node["class"], node["line"], node["label"]) == ("IterD", 36, "b(i, j) for (j, i)")
    assert node["counts"] == {
        "index.2d": 5,
        "load": 4,
        "r8.add": 3,
        "r8.mul": 1,
        "store": 1,
        "int.add": 8,
        "int.cmp": 4,
    }
    shift = next(each.id for each in g.walk(graph.body) if isinstance(each, g.Comm))
    assert view.edges[shift, update] == {"kind": "next communication", "label": "overlap_shift a"}
    assert set(view.nodes) == set(range(graph.count))


def test_the_view_of_the_aag_is_a_forest_of_control(bundled):
    graph = bundled("laplace")
    view = to_networkx(graph, synchronized=False)
    assert {data["kind"] for _, _, data in view.edges(data=True)} == {"next", "contains"}
    assert nx.is_arborescence(view)  # Every AAU has one before it or around it; the Spawn is the root.
    full = to_networkx(graph)
    assert not nx.is_directed_acyclic_graph(full)  # Data go round the while loop.
