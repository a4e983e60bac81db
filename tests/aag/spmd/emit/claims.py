"""Which loops are independent, by comparing the accesses of every two iterations; directives that say so, or do not.

What a directive claims is judged from a replay of the program alone: true where no two iterations touch one element
that one of them writes, but for NEW variables and reductions.
"""

from collections import defaultdict
from dataclasses import dataclass, replace

from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.replay import Replay


@dataclass(frozen=True)
class Conflict:
    """Two iterations of one execution of a loop or FORALL that touch one element, which one of them writes."""

    name: str
    at: tuple
    first: int
    """Value of the index in the earlier iteration."""
    second: int
    kind: str
    """flow, anti or output."""


@dataclass(frozen=True)
class Clauses:
    """What a true claim of a loop must say; None where it cannot be true."""

    new: tuple
    reduction: tuple

    def text(self):
        both = (("new", self.new), ("reduction", self.reduction))
        return "".join(f", {word}({', '.join(names)})" for word, names in both if names)


def inside_of(replay, loop):
    """Execution of a loop -> its accesses in order, each with number and index of its iteration."""
    found = defaultdict(list)
    for access in replay.accesses:
        for each, execution, trip, value in access.loops:
            if each is loop:
                found[execution].append((trip, value, access))
    return found


def conflicts(replay, loop):
    """All of them, of each pair of iterations and element one."""
    found = []
    for accesses in inside_of(replay, loop).values():
        by_element = defaultdict(dict)
        for trip, value, access in accesses:
            place = by_element[access.name, access.at].setdefault(trip, [value, False, False])
            place[1 + access.writes] = True
            if len(place) == 3:
                place.append(access.writes)  # whether the first access writes
        for (name, at), trips in by_element.items():
            order = sorted(trips)
            if not any(trips[each][2] for each in order):
                continue
            for number, one in enumerate(order):
                for other in order[number + 1 :]:
                    first, second = trips[one], trips[other]
                    if not (first[2] or second[2]):
                        continue
                    if first[2] and second[1] and not second[3]:
                        kind = "flow"
                    elif first[1] and second[2] and not first[2]:
                        kind = "anti"
                    else:
                        kind = "output" if first[2] and second[2] else "flow"
                    found.append(Conflict(name, at, first[0], second[0], kind))
    return found


def clauses(replay, loop):
    """Clauses that make INDEPENDENT true for a loop, or None."""
    if any(
        isinstance(each, t.Print) or (isinstance(each, t.Leave) and each.word in {"stop", "exit"})
        for each in t.statements(loop.body)
    ):
        return None
    executions = inside_of(replay, loop)
    touched = {each.name for each in conflicts(replay, loop)}
    scalars = {name for name in touched if name in replay.program.scalars + replay.program.indices}
    new, reduction = [], []
    for name in sorted(touched):
        if is_reduction(loop.body, name):
            reduction.append(name)
        elif name in scalars and defined_first(executions, name):
            new.append(name)
        else:
            return None
    if any(loop.index == name for name in new) or not executions:
        return None
    assigned = [each.target for each in t.statements(loop.body) if isinstance(each, t.Assign)]
    written = {target[1] for target in assigned if target[0] == "var"}
    inner = {each.index for each in t.statements(loop.body) if isinstance(each, t.Do)}
    for name in sorted((written | inner) - {*new, *reduction}):
        if not defined_first(executions, name):
            return None  # read, but in no two iterations: nobody would claim anything of it
        new.append(name)
    return Clauses(tuple(sorted(new)), tuple(reduction))


def defined_first(executions, name):
    """Whether each iteration writes it before it reads it."""
    for accesses in executions.values():
        first = {}
        for trip, _, access in accesses:
            if access.name == name:
                first.setdefault(trip, access.writes)
        if not all(first.values()):
            return False
    return True


def is_reduction(body, name):
    """Whether all of its uses are updates by one kind of operator."""
    kinds = set()
    for each in t.statements(body):
        if name not in own_names(each):
            continue
        kind = update(each, name)
        if kind is None:
            return False
        kinds.add(kind)
    return len(kinds) == 1


def own_names(each):
    """Names in a statement itself, not in those inside it."""
    match each:
        case t.Do():
            return t.names((t.Do(each.index, each.lower, each.upper, each.step, ()),))
        case t.If():
            return t.names((t.If(each.condition, ()),))
    return t.names((each,))


def update(each, name):
    """The operator of an update such as s = s + ..., whose other operand does not mention s."""
    match each:
        case t.Assign(target, ("+" | "-", left, right)) if target[1] == name and left == target:
            other, kind = right, "+"
        case t.Assign(target, ("call", "max" | "min" as kind, (left, right))) if target[1] == name and left == target:
            other = right
        case _:
            return None
    subscripts = target[2] if target[0] == "ref" else ()
    if name in t.names((t.Assign(t.var("?"), other), *(t.Assign(t.var("?"), one) for one in subscripts))):
        return None
    return kind


def with_claims(program, chooser, chance=70):
    """The program with INDEPENDENT where that is true; after the loop NEW variables, then undefined, get a value."""
    replay = Replay(program)

    def changed(body):
        found = []
        for each in body:
            match each:
                case t.Do():
                    said = clauses(replay, each)
                    inner = replace(each, body=changed(each.body))
                    if said is None or chooser.randrange(100) >= chance:
                        found.append(inner)
                        continue
                    indices = {one.index for one in t.statements(each.body) if isinstance(one, t.Do)}
                    shown = (
                        said
                        if chooser.randrange(2)
                        else Clauses(tuple(name for name in said.new if name not in indices), said.reduction)
                    )
                    found.append(replace(inner, claim=shown.text()))
                    found += [t.Assign(t.var(name), t.num(7)) for name in said.new]
                case t.If(condition, then, otherwise):
                    found.append(t.If(condition, changed(then), changed(otherwise)))
                case _:
                    found.append(each)
        return tuple(found)

    return replace(program, body=changed(program.body))


def false_claims(program, kind=t.Do):
    """Programs with one false INDEPENDENT each, before a loop or a FORALL, with the conflicts that show it: between
    elements of arrays."""
    replay = Replay(program)
    for loop in [each for each in t.statements(program.body) if isinstance(each, kind)]:
        if isinstance(loop, t.Do) and clauses(replay, loop) is not None:
            continue
        if isinstance(loop, t.Forall) and loop.mask is not None and t.has_data(loop.mask):
            continue
        arrays = {each.name for each in program.arrays}
        found = [each for each in conflicts(replay, loop) if each.name in arrays]
        if not found:
            continue

        def claimed(body, loop=loop):
            result = []
            for each in body:
                match each:
                    case t.Do() if each is loop:
                        indices = sorted({one.index for one in t.statements(each.body) if isinstance(one, t.Do)})
                        result.append(replace(each, claim=Clauses(tuple(indices), ()).text()))
                    case t.Forall() if each is loop:
                        result.append(replace(each, claimed=True, form="forall"))
                    case t.Do():
                        result.append(replace(each, body=claimed(each.body)))
                    case t.If(condition, then, otherwise):
                        result.append(t.If(condition, claimed(then), claimed(otherwise)))
                    case _:
                        result.append(each)
            return tuple(result)

        yield replace(program, body=claimed(program.body)), loop, found
