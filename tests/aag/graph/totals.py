"""The work of a graph."""

from aag.graph import aau as g
from aag.graph.tally import add_work, works


def total(graph):
    """The work of all AAUs together, each executed once: what clustering must not change."""
    return add_work(*(work for each in g.walk(graph.body) for _, work in works(each)))
