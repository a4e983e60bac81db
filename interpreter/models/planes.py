"""Loops whose variable only chooses a plane of the arrays: their iterations differ in nothing but cache misses.

With the misses of all iterations spread evenly over them, the walk of such a loop may repeat itself (D5).
"""

from aag.graph.aau import AAU, Comm, IterD, IterSync, walk
from aag.spmd.nodes import Nest, Operation, OwnedLoop
from interpreter.evaluate import closure, decides, defined, touching
from interpreter.remembered import of_aau, remembered
from interpreter.state import Run


def planes_of(run: Run, aau: AAU, var: str, body: tuple[AAU, ...], values: range) -> tuple[str, ...] | None:
    """The scalars that decide what the iterations of a loop do that only differ in the planes that they use; None: they
    differ in more."""
    found = None if run.setting.force_unroll else _names(run, aau, var, body)
    if found is None or not values:
        return None
    names, nodes = found
    return names if all(run.application.only_chooses_plane(each, var, values) for each in nodes) else None


@remembered(of_aau)
def settles(run: Run, aau: AAU, var: str, body: tuple[AAU, ...]) -> bool:
    """Whether the iterations of such a loop miss as much as each other once they have filled a cache."""
    found = _names(run, aau, var, body)
    return found is not None and run.application.move_alike(
        [each for each in found[1] if isinstance(each, Nest | OwnedLoop)], var
    )


def has_misses(run: Run, body: tuple[AAU, ...]) -> bool:
    """Whether a body misses in caches."""
    return run.machine.memory is not None and run.setting.memory and any(map(_reads_memory, walk(body)))


@remembered(of_aau)
def _names(
    _: Run, _aau: AAU, var: str, body: tuple[AAU, ...]
) -> tuple[tuple[str, ...], tuple[Nest | OwnedLoop | Operation, ...]] | None:
    """The scalars that a body changes and that decide what it does, and the nodes that use the loop variable. None if
    the variable also decides bounds, conditions or other scalars."""
    nodes = {each.id: node for each in walk(body) if (node := _node(each)) is not None and var in each.uses}
    own = frozenset().union(*(decides(each) - ({var} if each.id in nodes else frozenset()) for each in walk(body)))
    wanted = closure(own, body)
    if var in wanted or var in defined(body) or touching(body):
        return None
    return tuple(sorted(wanted & defined(body))), tuple(nodes.values())


def _node(aau: AAU) -> Nest | OwnedLoop | Operation | None:
    match aau:
        case IterD(nest=nest):
            return nest
        case IterSync(owned=owned):
            return owned
        case Comm(operation=operation, host=None):
            return operation
        case _:
            return None


def _reads_memory(aau: AAU) -> bool:
    """Whether misses are charged when it runs."""
    match aau:
        case IterD():
            return aau.nest is not None or bool(aau.sweeps)
        case IterSync():
            return aau.owned is not None
        case _:
            return False
