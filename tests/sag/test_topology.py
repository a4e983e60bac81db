"""Topologies against routes walked step by step in plain Python."""

import time
from math import prod

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sag.topology import KINDS, Bus, Crossbar, FatTree, Hypercube, Lattice, build_topology

ALL = [
    Hypercube(),
    Lattice(1),
    Lattice(2),
    Lattice(3),
    Lattice(1, closed=True),
    Lattice(2, closed=True),
    Lattice(3, closed=True),
    Bus(),
    Crossbar(),
    FatTree(2),
    FatTree(3),
    FatTree(4, taper=2),
]

grids = st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple)
topologies = st.sampled_from(ALL)


def neighbours(topology, size):
    """The cables of the interconnect as a graph, from its definition; None for switched ones."""
    if isinstance(topology, Hypercube):
        return nx.Graph([(a, a ^ (1 << b)) for a in range(size) for b in range((size - 1).bit_length())])
    if isinstance(topology, Lattice):
        # grid_graph counts its last dimension slowest-first: reverse, then number column-major
        box = topology.extents(size)
        graph = nx.grid_graph(list(reversed(box)), periodic=topology.closed)
        strides = [prod(box[:d]) for d in range(len(box))]
        return nx.relabel_nodes(graph, lambda at: int(np.dot(np.atleast_1d(at), strides)))
    return None


def test_kinds():
    assert [build_topology(kind, dimensions=2, arity=4, taper=1).kind for kind in KINDS] == list(KINDS)


@given(topologies, grids)
def test_place_is_injective_and_inside(topology, grid):
    nodes, size = topology.place(grid), topology.size(grid)
    assert len(set(nodes.tolist())) == prod(grid)
    assert nodes.min() >= 0
    assert nodes.max() < size
    assert size >= topology.nodes(prod(grid)) >= prod(grid)


@given(topologies, grids, st.randoms(use_true_random=False))
def test_routes_have_as_many_links_as_hops_and_no_link_twice(topology, grid, random):
    size = topology.size(grid)
    src = np.array([random.randrange(size) for _ in range(8)])
    dst = np.array([random.randrange(size) for _ in range(8)])
    links, hops = topology.routes(src, dst, size), topology.hops(src, dst, size)
    assert ((links >= 0).sum(axis=1) == hops).all()
    for row, count in zip(links.tolist(), hops.tolist(), strict=True):
        used, rest = row[:count], row[count:]
        assert all(0 <= link < topology.link_count(size) for link in used)
        assert set(rest) <= {-1}
        assert len(set(used)) == count
    assert (hops == 0).tolist() == (src == dst).tolist()
    assert (hops == topology.hops(dst, src, size)).all()


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16, 32])
def test_hypercube_routes_are_e_cube(size):
    cube, dimensions = Hypercube(), (size - 1).bit_length()
    src, dst = (each.ravel() for each in np.meshgrid(np.arange(size), np.arange(size), indexing="ij"))
    routes = cube.routes(src, dst, size)
    for start, goal, row in zip(src.tolist(), dst.tolist(), routes.tolist(), strict=True):
        node, walked = start, []
        for bit in range(dimensions):
            if (node ^ goal) >> bit & 1:
                walked.append(node * dimensions + bit)
                node ^= 1 << bit
        assert node == goal
        assert [link for link in row if link >= 0] == walked
    assert cube.link_count(size) == size * dimensions


@pytest.mark.parametrize("topology", [each for each in ALL if isinstance(each, (Hypercube, Lattice))], ids=repr)
@pytest.mark.parametrize("procs", [1, 2, 5, 8, 12, 27])
def test_routes_are_shortest_and_contiguous(topology, procs):
    size = topology.nodes(procs)
    graph = neighbours(topology, size)
    graph.add_node(0)
    src, dst = (each.ravel() for each in np.meshgrid(np.arange(size), np.arange(size), indexing="ij"))
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    assert topology.hops(src, dst, size).tolist() == [distance[a][b] for a, b in zip(src, dst, strict=True)]
    routes = topology.routes(src, dst, size)
    one_hop = {}
    for a, b in [pair for edge in graph.edges for pair in (edge, edge[::-1]) if edge[0] != edge[1]]:
        (link,) = topology.routes([a], [b], size)[0]
        one_hop[int(link)] = (a, b)
    for start, goal, row in zip(src.tolist(), dst.tolist(), routes.tolist(), strict=True):
        node = start
        for link in (each for each in row if each >= 0):
            tail, node_after = one_hop[link]
            assert tail == node
            node = node_after
        assert node == goal


@pytest.mark.parametrize("topology", [each for each in ALL if isinstance(each, (Hypercube, Lattice))], ids=repr)
@pytest.mark.parametrize("procs", [2, 4, 9, 27])
def test_both_directions_of_a_cable_share_its_number(topology, procs):
    size = topology.nodes(procs)
    graph = neighbours(topology, size)
    cables = set()
    for a, b in [edge for edge in graph.edges if edge[0] != edge[1]]:
        there, back = (topology.undirected(topology.routes([x], [y], size), size)[0, 0] for x, y in ((a, b), (b, a)))
        assert there == back
        cables.add(int(there))
    assert len(cables) == len([edge for edge in graph.edges if edge[0] != edge[1]])


def test_gray_neighbours_are_one_hop_apart():
    cube = Hypercube()
    for grid in [(8,), (4, 2), (2, 4), (4, 4, 2), (16, 8), (3, 5), (7, 1)]:
        nodes = cube.place(grid).reshape(grid, order="F")
        for axis in range(len(grid)):
            low, high = np.delete(nodes, -1, axis), np.delete(nodes, 0, axis)
            assert (cube.hops(low, high) == 1).all()
            if grid[axis] in {2, 4, 8, 16}:
                assert (cube.hops(np.take(nodes, 0, axis), np.take(nodes, -1, axis)) == 1).all()


def test_hypercube_placement_of_the_paper_and_of_an_odd_grid():
    assert Hypercube().place((8,)).tolist() == [0, 1, 3, 2, 6, 7, 5, 4]
    assert Hypercube().place((4, 2)).tolist() == [0, 1, 3, 2, 4, 5, 7, 6]
    assert Hypercube().size((3, 5)) == 32  # Def 14: 15 of 32 nodes
    assert Hypercube().nodes(15) == 16


def test_an_embedding_is_a_choice():
    """Def 14: 3x5 in Gray code takes 15 of 32 nodes; in natural order, or where that decides, 15 of 16."""
    natural, auto = Hypercube(embedding="natural"), Hypercube(embedding="auto")
    for grid in [(8,), (4, 2), (3, 5), (7, 1)]:
        assert natural.place(grid).tolist() == list(range(prod(grid)))
        assert natural.size(grid) == natural.nodes(prod(grid))
    assert auto.size((3, 5)) == 16
    assert auto.place((3, 5)).tolist() == list(range(15))
    assert auto.place((4, 2)).tolist() == Hypercube().place((4, 2)).tolist()
    assert build_topology("mesh", 2, 2, 1, "natural").place((2, 5)).tolist() == list(range(10))
    ring = build_topology("ring", 2, 2, 1, "auto")
    assert ring.place((2, 5)).tolist() == Lattice(1, closed=True).place((2, 5)).tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("procs", [1, 5, 8, 12])
def test_node_numbers_are_column_major_in_the_box(kind, procs):
    """Nodes that differ by one in one coordinate are neighbours."""
    topology = build_topology(kind, 2, 4, 1)
    size = topology.size((procs,))
    box = topology.box(size)
    if kind not in ("hypercube", "mesh", "torus"):
        assert box == ()
        return
    assert prod(box) == size
    nodes = np.arange(size).reshape(box, order="F")
    for axis in range(len(box)):
        low, high = np.delete(nodes, -1, axis), np.delete(nodes, 0, axis)
        assert (topology.hops(low, high, size) == 1).all()


@pytest.mark.bench
def test_a_million_nodes_are_placed_in_milliseconds():
    best = min(_timed(lambda: Hypercube().place((1024, 1024))) for _ in range(5))
    assert best < 0.2


def test_a_million_nodes_are_placed():
    nodes = Hypercube().place((1024, 1024))
    assert np.array_equal(np.sort(nodes), np.arange(2**20))
    assert Hypercube().routes(nodes[:-1], nodes[1:], 2**20).shape[0] == 2**20 - 1


def _timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("closed", [False, True])
def test_lattice_sizes(dimensions, closed):
    lattice = Lattice(dimensions, closed)
    for procs in range(1, 400):
        size = lattice.nodes(procs)
        box = lattice.extents(size)
        assert prod(box) == size >= procs
        assert max(box) - min(box) <= 1
    if dimensions > 1:
        with pytest.raises(ValueError, match="cannot have 7 nodes"):
            lattice.extents(7)


def test_a_grid_that_fits_a_mesh_is_placed_as_it_is_and_a_line_as_a_snake():
    mesh = Lattice(2)
    assert mesh.place((4, 4)).tolist() == list(range(16))
    snake = mesh.place((16,))
    assert (mesh.hops(snake[:-1], snake[1:], 16) == 1).all()
    assert snake[:8].tolist() == [0, 1, 2, 3, 7, 6, 5, 4]


def test_hops_of_a_lattice_need_its_size():
    with pytest.raises(ValueError, match="the hops of a torus depend on its size"):
        Lattice(2, closed=True).hops(0, 1)


def test_a_node_outside_is_refused():
    with pytest.raises(ValueError, match="node 9 is outside an instance of 8 nodes"):
        Hypercube().routes([0], [9], 8)


def test_a_torus_goes_the_shorter_way_round():
    ring = Lattice(1, closed=True)
    assert ring.hops(0, [1, 2, 3, 4, 5, 6, 7], 8).tolist() == [1, 2, 3, 4, 3, 2, 1]
    assert ring.routes([0, 0], [4, 7], 8).tolist() == [[0, 2, 4, 6], [1, -1, -1, -1]]


def test_bus_and_crossbar():
    assert Bus().routes([0, 3, 2], [1, 3, 0], 4).tolist() == [[0], [-1], [0]]
    assert Bus().undirected([0, -1], 4).tolist() == [0, -1]
    crossbar = Crossbar()
    assert crossbar.routes([0, 3, 2], [1, 3, 0], 4).tolist() == [[0, 5], [-1, -1], [2, 4]]
    assert crossbar.undirected([0, 4, -1], 4).tolist() == [0, 0, -1]


def test_fat_tree_by_hand():
    tree = FatTree(2)
    # links 0..15: node n up 2n, down 2n+1; from 16: level 1, four subtrees of two cables; from 32: level 2
    assert tree.routes([0], [7], 8).tolist() == [[0, 18, 38, 47, 31, 15]]
    assert tree.routes([0, 2], [1, 2], 8).tolist() == [[0, 3], [-1, -1]]
    assert tree.link_count(8) == 48
    assert tree.hops(0, [1, 2, 3, 4, 7]).tolist() == [2, 4, 4, 6, 6]


def test_messages_to_different_destinations_do_not_share_a_cable_of_a_full_fat_tree():
    tree, size = FatTree(4), 64
    src = np.arange(size)
    for shift in (1, 5, 16, 33):
        links = tree.routes(src, (src + shift) % size, size)
        used = links[links >= 0]
        assert len(np.unique(used)) == used.size


def test_a_tapered_fat_tree_has_fewer_cables():
    assert FatTree(4, taper=2).link_count(64) < FatTree(4).link_count(64)
    links = FatTree(4, taper=2).routes(np.arange(16), np.arange(16) + 16, 64)
    used = links[links >= 0]
    assert len(np.unique(used)) < used.size


@given(st.sampled_from([FatTree(2), FatTree(3), FatTree(4, taper=2)]), st.integers(2, 60), st.data())
def test_fat_tree_links_join_the_subtrees_they_should(tree, size, data):
    src, dst = data.draw(st.integers(0, size - 1)), data.draw(st.integers(0, size - 1))
    row = [int(link) for link in tree.routes([src], [dst], size)[0] if link >= 0]
    ends = {}
    first, level = 0, 0
    while tree.arity**level < size:
        cables = max(1, tree.arity**level // tree.taper**level)
        for subtree in range(-(-size // tree.arity**level)):
            for cable in range(cables):
                up = first + 2 * (subtree * cables + cable)
                ends[up] = ((level, subtree), (level + 1, subtree // tree.arity))
                ends[up + 1] = ends[up][::-1]
        first += 2 * -(-size // tree.arity**level) * cables
        level += 1
    at = (0, src)
    for link in row:
        assert ends[link][0] == at
        at = ends[link][1]
    assert at == (0, dst)
    assert len(ends) == tree.link_count(size)
    assert set(tree.undirected(row, size).tolist()) <= set(ends)
