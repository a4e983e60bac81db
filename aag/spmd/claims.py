"""INDEPENDENT, NEW and REDUCTION are claims of the programmer, and are checked.

A claim that is proved false, with two iterations and the element in which they meet, is an error at the directive.
One that cannot be decided (data decide a condition or a subscript) is trusted and listed as an assumption, where the
lowering makes use of it.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from aag.diagnostics import Diagnostic
from aag.ir import statements as ir
from aag.ir.directives import Independent
from aag.ir.expressions import Element, Var
from aag.ir.spelling import spell
from aag.ir.visitors import names_in, own_expressions, walk_statements
from aag.spmd.dependence import Access, Dependence, Meeting
from aag.spmd.groups import changed, same_owner
from aag.spmd.leaves import Leaf, leaves_of_forall, reads_of, reduction, writes_of
from aag.spmd.lowering import Lowering
from aag.spmd.nodes import Reference
from aag.spmd.symbols import Unsupported

_WAY_OUT = "remove the claim, or accept it with ‹trust_directives›"
_CONCURRENT_WAY_OUT = "write DO, or accept it with ‹trust_directives›"


class _Loop(Struct, frozen=True):
    """A loop, or an index of a FORALL: its variable, what stands for it among the loops of a leaf, and its name."""

    var: str
    key: Hashable
    shown: str


def trusted(lowering: Lowering, statement: ir.Do) -> None:
    """Note that a claim is made use of without proof."""
    why = "as ‹trust_directives› says" if lowering.options.trusts_directives else "it depends on data"
    lowering.note("W210", f"assuming {word_of(statement)} holds for the loop over {statement.var}: {why}")


def word_of(statement: ir.Do) -> str:
    """By what a program claims that iterations of a loop are independent."""
    claim = statement.independent
    return "DO CONCURRENT" if claim is not None and claim.concurrent else "INDEPENDENT"


def not_at_home(lowering: Lowering, statement: ir.Do, runs: Reference | None) -> None:
    """Note that the processors of ON HOME do not run the iterations of a loop. `runs`: where they run, if by owners."""
    home = None if statement.independent is None else statement.independent.home
    if not isinstance(home, Element) or not lowering.is_distributed(home.name):
        return
    index = lowering.index(statement.var, statement.lower, statement.upper, statement.step)
    if runs is None:
        lowering.note("W216", f"ON HOME({spell(home)}) is not followed: every processor runs the iterations")
    elif not same_owner(lowering, (index,), home, Element(runs.array, runs.subscripts)):
        told = f"ON HOME({spell(home)}) is not followed: the owners of {runs.array} run the iterations"
        lowering.note("W216", told)


def outlived(lowering: Lowering, statement: ir.Do, names: frozenset[str]) -> None:
    """Note that NEW variables, which have no value after their loop, may be read there."""
    if names:
        told = ", ".join(sorted(names))
        lowering.note(
            "W210",
            f"assuming NEW holds for {told}: its value may be read after the loop over {statement.var}, "
            "where it is undefined",
        )


def filled(lowering: Lowering, names: Sequence[str]) -> None:
    """Note that iterations set all elements of NEW arrays that they read: what others set is not there."""
    told = ", ".join(sorted(names))
    lowering.note("W210", f"assuming NEW holds for {told}: each iteration sets the elements that it reads")


def check_forall(lowering: Lowering, statement: ir.Forall) -> None:
    """Report claims of a FORALL that are certainly false: one value of an index assigns what another assigns or reads.

    Nothing else is made of them: right-hand sides come first, whatever is claimed.
    """
    if any(_claims(statement)):
        with lowering.collecting(), suppress(Unsupported):
            check(lowering, statement, leaves_of_forall(lowering, statement) or (), frozenset())


def check(
    lowering: Lowering, statement: ir.Do | ir.Forall, leaves: Sequence[Leaf], names: frozenset[str]
) -> frozenset[Hashable]:
    """Report the claims of a nest that are false: an error where the program certainly gets there. `names` are the
    scalars that it reduces into.

    Returns:
        The loops whose claims are false: nothing may be made of them.
    """
    refuted: set[Hashable] = set()
    reported: set[int] = set()
    for loop, claim in _claims(statement):
        message = next(_false(lowering, loop, claim, leaves, names), None)
        if message is not None:
            refuted.add(loop.key)
        if not message or claim.span.line in reported:
            continue
        reported.add(claim.span.line)
        if lowering.options.trusts_directives:
            lowering.note("W210", f"trusting a claim that is false: {message}")
            continue
        hint = _CONCURRENT_WAY_OUT if claim.concurrent else _WAY_OUT
        found = Diagnostic(code="E320", message=message, span=claim.span, hint=hint)
        if lowering.reach.is_certain:
            lowering.errors.append(found)
            continue
        lowering.notes.append(replace(found, code="W217", message=f"{message}; the claim is not followed"))
    return frozenset() if lowering.options.trusts_directives else frozenset(refuted)


def _claims(
    statement: ir.Stmt, listed: Mapping[str, Independent] = MappingProxyType({})
) -> Iterator[tuple[_Loop, Independent]]:
    """The loops that a claim is about, each with its directive: the next loop, or those inside that it lists."""
    if not isinstance(statement, ir.Do | ir.Forall):
        return
    own = statement.independent
    if own is not None:
        listed = {**listed, **dict.fromkeys(own.indices, own)}
    for loop in _loops(statement):
        claim = own if own is not None and not own.indices else listed.get(loop.var)
        if claim is not None:
            yield loop, claim
    for each in statement.body:
        yield from _claims(each, listed)


def _loops(statement: ir.Do | ir.Forall) -> Iterator[_Loop]:
    if isinstance(statement, ir.Do):
        yield _Loop(statement.var, statement, f"the loop over {statement.var}")
        return
    for at, index in enumerate(statement.indices):
        yield _Loop(index.name, (statement, at), f"the FORALL over {index.name}")


def _false(
    lowering: Lowering, loop: _Loop, claim: Independent, leaves: Sequence[Leaf], names: frozenset[str]
) -> Iterator[str]:
    """What is wrong with a claim; an empty word where iterations of a DO CONCURRENT may have elements in common that
    each defines for itself, which is allowed, and after which they may not be taken apart (Fortran 2018, 11.1.7.5)."""
    inside = [leaf for leaf in leaves if loop.key in leaf.loops]
    if not inside:
        return
    level = inside[0].loops.index(loop.key)
    for name in claim.reductions:
        yield from _no_reduction(name, "REDUCE" if claim.concurrent else "REDUCTION", loop, inside)
    yield from _scalar_flow(loop, claim, inside, level, names, lowering)
    writes = [write for _, write in writes_of(inside) if write.array not in (*claim.new, *claim.reductions)]
    reads = [read for _, read in reads_of(inside, lowering.symbols.is_array)]
    varying = changed(leaves)

    def between(first: Access, second: Access) -> Dependence:
        return Dependence(first, second, lowering.env, varying, lowering.reach.proving)

    def defined_before(access: Access) -> bool:
        """Whether the iteration may have defined the element before."""
        earlier = (each for each in writes if each.array == access.array)
        return any(between(each, access).exists(access.loops[: level + 1]) for each in earlier)

    reused = {each.array for each in reads if claim.concurrent and defined_before(each)}
    has_own = any(
        between(one, other).is_carried(level)
        for one in writes
        for other in writes
        if one.array == other.array and one.array in reused
    )
    for write in writes:
        for other in (*writes, *reads):
            if other.array != write.array:
                continue
            for first, second in ((write, other), (other, write)):
                found = _meeting(between(first, second), level)
                if found is None:
                    continue
                both_write = other in writes
                if claim.concurrent and (both_write or defined_before(other)):
                    has_own = True
                    continue
                yield _told(loop, claim, found, first, both_write=both_write)
                return
    if has_own:
        yield ""


def _meeting(dependence: Dependence, level: int) -> Meeting | None:
    return dependence.meeting(level) if dependence.is_carried(level) else None


def _told(loop: _Loop, claim: Independent, found: Meeting, first: Access, *, both_write: bool) -> str:
    wrong = _wrong(loop, claim)
    element = f"{first.array}({','.join(map(str, found.element))})"
    earlier, later = f"{loop.var}={found.earlier}", f"{loop.var}={found.later}"
    if both_write:
        return f"{wrong}: {earlier} and {later} both assign {element}"
    writes_first = first.order % 2 == 1
    writer, reader = (earlier, later) if writes_first else (later, earlier)
    return f"{wrong}: {reader} reads {element}, which {writer} assigns"


def _wrong(loop: _Loop, claim: Independent) -> str:
    return f"{loop.shown} is {'no DO CONCURRENT' if claim.concurrent else 'not INDEPENDENT'}"


def _no_reduction(name: str, word: str, loop: _Loop, inside: Sequence[Leaf]) -> Iterator[str]:
    """A variable in REDUCTION that something else than its own updates mentions, or that has updates of two kinds. A
    condition around the whole loop may read it."""
    operation, decides = "", not isinstance(loop.key, ir.Do) or name in _tested(loop.key)
    for leaf in inside:
        found = reduction(leaf, frozenset((name,)))
        if found is not None and operation not in ("", found[0]):
            yield f"{name} is not a {word} variable: line {leaf.assign.span.line} combines it in another way"
            return
        operation = operation if found is None else found[0]
        used = names_in(leaf.assign.value, leaf.assign.target)
        if (decides and name in names_in(leaf.mask)) or (name in used and found is None):
            yield (
                f"{name} is not a {word} variable: line {leaf.assign.span.line} uses it for more than "
                f"an update such as {name} = {name} + ..."
            )
            return


def _tested(loop: ir.Do) -> frozenset[str]:
    """The names in conditions inside a loop."""
    return names_in(
        *(
            part
            for each in walk_statements(loop.body)
            if isinstance(each, ir.If | ir.SelectCase | ir.Where | ir.Forall)
            for part in own_expressions(each)
        )
    )


def _scalar_flow(
    loop: _Loop, claim: Independent, inside: Sequence[Leaf], level: int, names: frozenset[str], lowering: Lowering
) -> Iterator[str]:
    """A scalar that an iteration certainly reads before it assigns it, while every iteration assigns it."""
    if not _runs_twice(inside[0], level, lowering):
        return
    always = [leaf for leaf in inside if len(leaf.loops) == level + 1 and leaf.mask is None]
    assigned = {leaf.assign.target.name for leaf in always if isinstance(leaf.assign.target, Var)} - names
    before: set[str] = set()
    for leaf in inside:
        if leaf in always:
            early = (names_in(leaf.assign.value) & assigned) - before - set(claim.reductions)
            if early:
                name = min(early)
                if name in claim.new:
                    word = "LOCAL" if claim.concurrent else "NEW"
                    line = leaf.assign.span.line
                    yield f"{name} is {word}, but an iteration reads it (line {line}) before assigning it"
                else:
                    yield (
                        f"{_wrong(loop, claim)}: each iteration reads {name} "
                        f"(line {leaf.assign.span.line}), which the one before assigns"
                    )
                return
        if isinstance(leaf.assign.target, Var):
            before.add(leaf.assign.target.name)


def _runs_twice(leaf: Leaf, level: int, lowering: Lowering) -> bool:
    """Whether the loop certainly has two iterations, in some iteration of the loops around it."""
    indices = leaf.indices[: level + 1]
    anywhere = Access("", (), indices, leaf.loops[: level + 1])
    dependence = Dependence(anywhere, anywhere, lowering.env, around=lowering.reach.proving)
    return dependence.is_carried(level) and dependence.is_exact
