"""Conditionals: tests, and the body of the branch that is taken; weights are 0 or 1 once the condition is known.

Formula: T = T_test(1) + ... + T_test(k) + T_body(k); else the sum over branches weighted by their probability.
Source: Parashar and Hariri, section 2.3. A condition that cannot be computed gets equal weights, which is announced.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from aag.diagnostics import Diagnostic, UnresolvedError
from aag.graph.aau import AAU, AauBranch, CondtD, CondtSync, Seq, walk
from aag.ir.visitors import names_in
from interpreter.evaluate import Scalars, defined, leave_of
from interpreter.metrics import Tally
from interpreter.models.asking import WAY_OUT, how_known, wish
from interpreter.models.compute import charge_work
from interpreter.models.shares import shares_of
from interpreter.state import Run


def choose(run: Run, scalars: Scalars, aau: CondtD | CondtSync) -> str:
    """Interpret a conditional; answers how its body was left."""
    run.books.count(aau.id, Tally.EXECUTIONS, 1.0)
    shares = shares_of(run, aau)
    if shares is not None:
        _weigh(run, aau, 0, shares)
        return ""
    for number, branch in enumerate(aau.branches):
        verdict = True if branch.condition is None else scalars.holds(branch.condition, run.env)
        if verdict is None:
            verdict = _ends(run, branch)
        if verdict is None:
            _guess(run, scalars, aau, number)
            return ""
        charge_work(run, aau.id, branch.work)
        if verdict:
            return run.visit(run, branch.body)
    return ""


def _ends(run: Run, branch: AauBranch) -> bool | None:
    """Whether a branch is taken, of which it is known because it leaves a loop whose trip count was computed."""
    if not run.exits:
        return None
    for each in branch.body:
        if _leaves_at(each) and each.span.line in run.exits:
            return run.exits[each.span.line]
    # It is further inside: the branch is taken in the last iteration, and perhaps in others.
    return True if any(run.exits.get(each.span.line, False) for each in walk(branch.body) if _leaves_at(each)) else None


def _leaves_at(aau: AAU) -> bool:
    return isinstance(aau, Seq) and bool(leave_of(aau))


def _guess(run: Run, scalars: Scalars, aau: CondtD | CondtSync, first: int) -> None:
    """Branches from `first` on are taken with some probability each; what leaves a loop is not taken at all."""
    branches, weights = aau.branches[first:], _weights(run, aau, first)
    _ask(run, scalars, aau, branches)
    _weigh(run, aau, first, weights)
    line, shares = aau.span.line, _assumed(run, branches, weights)
    if _is_computed(run, aau, branches):
        text = f"line {line}: the condition depends on data: {shares}, {how_known(run, f'if_{line}')}"
        run.books.assume("computed" if max(weights) == 1.0 else "branch", text, aau.span)
    else:
        if line not in run.setting.branches and not any(_leaves(run, each) for each in branches):
            wish(run, f"if_{line}", aau.span)
        text = f"line {line}: the condition depends on data: assuming {shares}{_way_out(run, scalars, branches)}"
        run.books.assume("branch", text, aau.span)
    scalars.forget(run.env, frozenset[str]().union(*(defined(branch.body) for branch in branches)) & scalars.relevant)


def _weigh(run: Run, aau: CondtD | CondtSync, first: int, weights: Sequence[float]) -> None:
    """Each branch from `first` on is taken with some weight. A test is reached by all that do not take a branch before
    it."""
    if run.tape is not None:
        run.tape.entries.append(None)
    branches = aau.branches[first:]
    start, origin = run.clock.copy(), run.origin
    cache, outer = run.cache, run.books.weight
    likely = int(np.argmax(weights))
    kept = cache
    mixed = np.zeros_like(start)
    reached = [*accumulate(reversed(weights))][::-1]
    for number, (branch, weight) in enumerate(zip((*branches, None), weights, strict=True)):
        if reached[number] <= 0.0:
            break
        run.clock[...] = start
        if branch is not None:
            run.books.weight = outer * reached[number]
            charge_work(run, aau.id, branch.work)
            start[...] = run.clock
        if weight <= 0.0:
            continue
        run.cache = cache
        run.books.weight = outer * weight
        if branch is not None:
            env = dict(run.env)
            run.visit(run, branch.body)
            run.env.clear()
            run.env.update(env)
        run.rebase(origin)
        mixed += weight * run.clock
        if number == likely:
            kept = run.cache
    run.clock[...] = mixed
    run.books.weight = outer
    run.cache = kept


def _weights(run: Run, aau: CondtD | CondtSync, first: int) -> tuple[float, ...]:
    """One weight for each branch from `first` on, and one for taking none of them; they add up to 1."""
    branches = aau.branches[first:]
    otherwise = branches[-1].condition is not None
    possible = [not _leaves(run, branch) for branch in branches] + [otherwise]
    given = run.setting.branches.get(aau.span.line)
    if given is not None and _is_computed(run, aau, branches):
        asked = [*given[first:], *([max(0.0, 1.0 - sum(given))] if len(given) == len(aau.branches) else [])]
        weights = [asked[at] if at < len(asked) else 0.0 for at in range(len(possible))]
    else:
        weights = [1.0 if each else 0.0 for each in possible]
    total = sum(weights)
    if total <= 0.0:
        return (*(0.0 for _ in branches), 1.0)
    return tuple(each / total for each in weights)


def _is_computed(run: Run, aau: CondtD | CondtSync, branches: Sequence[AauBranch]) -> bool:
    """Whether it is known how often each branch is taken. What leaves a loop is not taken until that ends."""
    return aau.span.line in run.setting.branches and not any(_leaves(run, each) for each in branches)


def _assumed(run: Run, branches: Sequence[AauBranch], weights: Sequence[float]) -> str:
    """How often each branch is taken, in words."""
    *taken, none = weights
    leaving = "the loop is never left early" if any(_leaves(run, branch) for branch in branches) else ""
    if leaving and max(weights) == 1.0:
        return leaving
    if len(taken) == 1 and not leaving:
        return f"it holds {taken[0]:.0%} of the time"
    shown = "branch weights " + ", ".join(f"{weight:.0%}" for weight in taken) + (f", none {none:.0%}" if none else "")
    return f"{leaving}, {shown}" if leaving else shown


def _ask(run: Run, scalars: Scalars, aau: CondtD | CondtSync, branches: Sequence[AauBranch]) -> None:
    """Ask how often the loop runs that a branch leaves, if nobody has said so or tried to compute it.

    Raises:
        UnresolvedError: it was not tried.
    """
    if not run.setting.asks_trips:
        return
    known = run.setting.trips.keys() | run.setting.uncomputed.keys()
    names = [f"trips_{line}" for line in _left(run, branches) if line not in known]
    if names and not any(name in scalars.given for name in names):
        found = Diagnostic(code="E504", message="the trip count of the loop is unknown", span=aau.span)
        raise UnresolvedError([found] * len(names), names, assumable=True)


def _left(run: Run, branches: Sequence[AauBranch]) -> dict[int, None]:
    """The lines of the loops that branches leave by an EXIT of which it is not known when it does."""
    ends = [each.span.line for branch in branches for each in walk(branch.body) if _leaves_at(each)]
    return dict.fromkeys(line for end in ends if end not in run.exits for line in run.leaving.get(end, ()))


def _way_out(run: Run, scalars: Scalars, branches: Sequence[AauBranch]) -> str:
    """The value that would say it, if there is one: how often a loop runs that a branch leaves, or what was read."""
    line = next(iter(_left(run, branches)), None)
    if line is not None:
        why = run.setting.uncomputed.get(line, "")
        return f" ({why}{why and '; '}‹set TRIPS_{line}=VALUE› says how often it runs)"
    unknown = names_in(*(each.condition for each in branches)) - run.env.keys() - scalars.given.keys()
    if unknown and unknown <= scalars.read:
        return f" ({' '.join(f'‹set {name.upper()}=VALUE›' for name in sorted(unknown))} decides it)"
    return "" if any(_leaves(run, each) for each in branches) else WAY_OUT


def _leaves(run: Run, branch: AauBranch) -> bool:
    """Whether the branch ends a loop or the program, and not only by what is known not to happen in this iteration."""
    return any(_leaves_at(each) and run.exits.get(each.span.line, True) for each in walk(branch.body))
