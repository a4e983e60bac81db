"""Computation: operation counts times what P says of each class, and loop overhead at every level.

Formula: T(IterD) = T_setup + n * (T_iter + T_body), at every level of a nest.
Source: Parashar and Hariri, section 2.3.
"""

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import AAU, Counts, IterD, Work
from aag.ir.evaluate import Environment, Value
from aag.spmd.nodes import Nest
from aag.spmd.partition import Trips
from interpreter import shared
from interpreter.metrics import COMPUTATION, OVERHEAD, Index, Tally
from interpreter.reduce import any_of
from interpreter.shared import Classes, Figures, Shared
from interpreter.state import Run

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 8
"""Processors that a class has on average where figures are kept by class."""

MASK_SHARE = 0.5
"""The share of iterations for which a mask is taken to hold that data decide; the prediction says so."""

NONE: Array = np.zeros(1)
LOOP_SETUP = Work(computation=(("loop.setup", 1.0),))
LOOP_STEP = Work(computation=(("loop.iteration", 1.0),))


class Price(Struct, frozen=True):
    """Seconds of one execution, each (S or 1, 1), and how much of it is only estimated, (S or 1,)."""

    computation: Array
    overhead: Array
    estimated: Array


NOTHING = Price(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1))


class Cost(Struct, frozen=True):
    """What an AAU costs each processor once, (S or 1, P or 1) each; None: nothing. `estimated` (S or 1,): the mean
    over processors of what is only estimated."""

    computation: Figures | None
    overhead: Figures | None
    estimated: Array


def seconds(run: Run, counts: Counts) -> tuple[Array, Array]:
    """Seconds of some operations, (S or 1, 1), and the estimated ones among them, (S or 1,).

    A class that the machine does not price is charged nothing, which is announced.
    """
    total = estimated = NONE
    costs = run.machine.processor
    for name, often in counts:
        if not often:
            continue
        if name not in costs.time_s:
            run.assume("unpriced", f"the machine {run.machine.name} has no time for {name}: it is not charged")
            run.complete = False
            continue
        time = costs.of(name) * often
        total = total + time
        if costs.estimated.get(name, False):
            estimated = estimated + time
    return total[:, None], estimated


def price(run: Run, work: Work) -> Price:
    """The price of one execution of `work`."""
    key = ("price", id(work))
    known = run.memo.get(key)
    if isinstance(known, Price):
        return known
    computation, sure = seconds(run, work.computation)
    overhead, guessed = seconds(run, work.overhead)
    result = Price(computation, overhead, sure + guessed)
    run.memo[key] = result
    return result


class Packing(Struct, frozen=True):
    """Gathering elements into a message buffer, or scattering them: overhead of an element, (S or 1, 1), and how much
    of it is only estimated, (S or 1,)."""

    each: Array
    estimated: Array

    def cost(self, elements: Array, total: float, procs: int) -> Cost:
        """The cost of `elements` (M,), of which there are `total`."""
        return Cost(None, self.each * elements[None, :], self.estimated * (total / procs))


def times(work: Price, often: Array) -> Cost:
    """The cost of executing `work` as often as (P,) says."""
    per_processor = often[None, :]
    mean = float(often.mean())
    computation = work.computation * per_processor if any_of(work.computation) else None
    overhead = work.overhead * per_processor if any_of(work.overhead) else None
    return Cost(computation, overhead, work.estimated * mean)


def charge(run: Run, aau: int, cost: Cost, ranks: Index = None) -> None:
    """Let all processors pay, or those that `ranks` selects."""
    if cost.computation is not None:
        run.spend(aau, COMPUTATION, cost.computation, ranks)
    if cost.overhead is not None:
        run.spend(aau, OVERHEAD, cost.overhead, ranks)
    guess(run, aau, cost)


def guess(run: Run, aau: int, cost: Cost | None) -> None:
    """Count what is only estimated of a cost."""
    if cost is not None:
        run.count(aau, Tally.ESTIMATED_S, cost.estimated)


def charge_work(run: Run, aau: int, work: Work) -> None:
    """Every processor executes `work` once."""
    if not (work.computation or work.overhead):
        return
    key = ("once", id(work))
    cost = run.memo.get(key)
    if not isinstance(cost, Cost):
        each = price(run, work)
        cost = Cost(
            each.computation if any_of(each.computation) else None,
            each.overhead if any_of(each.overhead) else None,
            each.estimated,
        )
        run.memo[key] = cost
    charge(run, aau, cost)


def values_of(names: tuple[str, ...], env: Environment) -> tuple[Value | None, ...]:
    """The values on which an answer about a node depends: a key for caches."""
    return tuple(env.get(name) for name in names)


def sorted_uses(run: Run, aau: AAU) -> tuple[str, ...]:
    """The names an AAU uses, in a fixed order."""
    key = ("uses", aau.id)
    known = run.memo.get(key)
    if isinstance(known, tuple):
        return known
    names = tuple(sorted(aau.uses))
    run.memo[key] = names
    return names


def alike(run: Run) -> tuple[Classes, Ints] | None:
    """Classes of processors with equal local shapes, and a rank of each (K,), where there are very many processors and
    few classes."""
    if run.procs * run.scenarios < shared.MANY:
        return None
    known = run.memo.get(("alike",))
    if isinstance(known, Alike):
        return known.found
    number, ranks = run.application.classes()
    found = None
    if FEW * ranks.size <= run.procs:
        found = shared.classes_of(run.procs, ranks.size), ranks
        found[0].number[...] = number
    run.memo["alike",] = Alike(found)
    return found


class Alike(Struct, frozen=True):
    """Answer of `alike`, kept."""

    found: tuple[Classes, Ints] | None


def masked_of(nest: Nest, trips: Trips) -> Ints | Array:
    """(P,) innermost iterations for which the mask holds: all without one, half of them where data decide it."""
    if nest.mask is None:
        return trips.count
    if trips.masked is not None:
        return trips.masked
    return trips.count.astype(np.float64) * MASK_SHARE


def nest_cost(run: Run, aau: IterD, level: Ints | Array, count: Ints, masked: Ints | Array) -> Cost:
    """The cost of a nest on each processor: loop d is set up once for each iteration of loop d - 1.

    Args:
        run: The interpretation.
        aau: The nest, with the work of one iteration at each level.
        level: (P, D) iterations at each level in total, innermost last. Loops inside the one in which a mask is tested
            run where it holds.
        count: (P,) executions; for a nest with loops those of the innermost.
        masked: (P,) those for which the mask holds.
    """
    if aau.nest is not None and aau.nest.mask is not None and aau.tested < level.shape[1]:
        share = masked / np.maximum(count, 1)
        level = np.where(np.arange(level.shape[1]) < aau.tested, level, level * share[:, None])
    found = alike(run)
    if found is not None:
        classes, ranks = found
        few = level[ranks], count[ranks], masked[ranks]
        if all(
            (column[part] == few_of.take(classes.number[part])).all()
            for column, few_of in zip((*level.T, count, masked), (*few[0].T, *few[1:]), strict=True)
            for part in shared.blocks(run.procs, shared.BLOCK)
        ):
            return _nest_cost(run, aau, *few, classes)
    return _nest_cost(run, aau, level, count, masked, None)


def _nest_cost(
    run: Run, aau: IterD, level: Ints | Array, count: Ints, masked: Ints | Array, classes: Classes | None
) -> Cost:
    """As `nest_cost`, from the iterations of all processors or of one of each class."""
    share = None if classes is None else classes.sizes() / run.procs
    depth = level.shape[1]
    unit = _unit_prices(run, aau, depth)
    often = [level[:, number].astype(np.float64) for number in range(depth)]
    if not depth:
        often.append(count.astype(np.float64))
    if aau.masked.computation:
        often.append(masked.astype(np.float64))
    guessed = unit.whole.estimated
    for number, each in unit.estimated:
        average = often[number].sum() / often[number].size if share is None else often[number] @ share
        guessed = guessed + each * float(average)
    return Cost(
        _linear(unit.whole.computation, unit.computation, often, classes),
        _linear(unit.whole.overhead, unit.overhead, often, classes),
        guessed,
    )


class Unit(Struct, frozen=True):
    """What an execution of a nest costs besides its iterations, and what each iteration costs at each level (with no
    loop each execution) and behind the mask: their numbers and figures, where these are not 0."""

    whole: Price
    computation: tuple[tuple[int, Array], ...]
    overhead: tuple[tuple[int, Array], ...]
    estimated: tuple[tuple[int, Array], ...]


def _unit_prices(run: Run, aau: IterD, depth: int) -> Unit:
    """The prices of a nest."""
    key = ("unit", aau.id, depth)
    known = run.memo.get(key)
    if isinstance(known, Unit):
        return known
    columns = [[work] for work in aau.outer[:depth]] + [[] for _ in range(len(aau.outer), depth)]
    for number, works in enumerate(columns):
        works.extend([LOOP_STEP, LOOP_SETUP] if number < depth - 1 else [LOOP_STEP])
    if depth:
        columns[-1].append(aau.work)
    else:
        columns.append([aau.work])
    if aau.masked.computation:
        columns.append([aau.masked])
    parts = [_sum(run, works) for works in columns]
    found = Unit(
        _sum(run, [aau.setup, *([LOOP_SETUP] if depth else [])]),
        _numbered([each.computation for each in parts]),
        _numbered([each.overhead for each in parts]),
        _numbered([each.estimated for each in parts]),
    )
    run.memo[key] = found
    return found


def _numbered(figures: list[Array]) -> tuple[tuple[int, Array], ...]:
    return tuple((number, each) for number, each in enumerate(figures) if any_of(each))


def _sum(run: Run, works: list[Work]) -> Price:
    """The price of all of them together."""
    total, *rest = [price(run, each) for each in works if each.computation or each.overhead] or [NOTHING]
    for each in rest:
        total = Price(
            total.computation + each.computation, total.overhead + each.overhead, total.estimated + each.estimated
        )
    return total


def _linear(
    constant: Array, columns: tuple[tuple[int, Array], ...], often: list[Array], classes: Classes | None
) -> Figures | None:
    """Seconds (S or 1, P or 1): some that everybody spends, and some for each of the executions (P,); None: none."""
    total = constant
    for number, each in columns:
        total = total + each * often[number]
    if not any_of(total):
        return None
    return total if classes is None or total.shape[1] == 1 else Shared(total, classes)
