"""Computation: operation counts times what P says of each class, and loop overhead at every level.

Formula: T(IterD) = T_setup + n * (T_iter + T_body), at every level of a nest.
Source: Parashar and Hariri, section 2.3.
"""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from aag.graph.aau import IterD, Work
from aag.spmd.nodes import Nest
from aag.spmd.partition import Trips
from interpreter import shared
from interpreter.counts import Basis, CountColumn, Counts
from interpreter.metrics import COMPUTATION, OVERHEAD, Index
from interpreter.models.asking import share_of_mask
from interpreter.reduce import all_of
from interpreter.remembered import of_aau, remembered
from interpreter.shared import Classes, Figures, Shared
from interpreter.state import Run

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FEW = 8
"""Processors that a class has on average where figures are kept by class."""

"""The share of iterations for which a mask is taken to hold that data decide; the prediction says so."""

LOOP_SETUP = Work(computation=(("loop.setup", 1.0),))
GUARD = Work(overhead=(("guard", 1.0),))
LOOP_STEP = Work(computation=(("loop.iteration", 1.0),))
ONCE: Array = np.ones((1, 1))


class Cost(Struct, frozen=True):
    """What an AAU costs each processor once, (S or 1, P or 1) each; None: nothing. `counts`: what it pays for that;
    None: that is counted elsewhere."""

    computation: Figures | None
    overhead: Figures | None
    counts: Counts | None = None


class Packing(Struct, frozen=True):
    """Gathering elements into a message buffer, or scattering them: what each of so many bytes pays, where they are
    strided and where they lie contiguously; None: nothing."""

    strided: CountColumn | None
    plain: CountColumn | None
    bytes: int

    def of(self, run: Run, sizes: Ints, strided: NDArray[np.bool_]) -> Counts | None:
        """What messages of some sizes (N,) pay, those that are strided (N or 1,) and the others; None: nothing."""
        parts = ((self.strided, sizes * strided), (self.plain, sizes * ~strided))
        paid = [(column, often / self.bytes) for column, often in parts if column is not None and often.any()]
        if not paid:
            return None
        return Counts(run.prices.basis(*(column for column, _ in paid)), np.stack([often for _, often in paid]))


def priced(counts: Counts) -> Cost:
    """What counts cost."""
    return Cost(counts.seconds(counts.basis.computation), counts.seconds(counts.basis.overhead), counts)


def charge(run: Run, aau: int, cost: Cost, ranks: Index = None) -> None:
    """Let all processors pay, or those that `ranks` selects."""
    if cost.computation is not None:
        run.busy(aau, COMPUTATION, cost.computation, ranks)
    if cost.overhead is not None:
        run.busy(aau, OVERHEAD, cost.overhead, ranks)
    if cost.counts is not None:
        run.books.pay(aau, cost.counts, ranks)


def charge_work(run: Run, aau: int, work: Work) -> None:
    """Every processor executes `work` once."""
    if work.computation or work.overhead:
        charge(run, aau, _once(run, work))


@remembered(lambda _, work: work)
def _once(run: Run, work: Work) -> Cost:
    return priced(Counts(run.prices.basis(run.prices.of(work)), ONCE))


def alike(run: Run) -> tuple[Classes, Ints] | None:
    """Classes of processors with equal local shapes, and a rank of each (K,), where there are very many processors and
    few classes."""
    return None if run.procs * run.scenarios < shared.MANY else _alike(run)


@remembered()
def _alike(run: Run) -> tuple[Classes, Ints] | None:
    number, ranks = run.application.classes()
    if FEW * ranks.size > run.procs:
        return None
    found = shared.classes_of(run.procs, ranks.size), ranks
    found[0].number[...] = number
    return found


def masked_of(run: Run, nest: Nest, trips: Trips) -> Ints | Array:
    """(P,) innermost iterations for which the mask holds: all without one, the same share of them on each processor
    where data decide it."""
    if nest.mask is None:
        return trips.count
    if trips.masked is not None:
        return trips.masked
    return trips.count.astype(np.float64) * share_of_mask(run, nest)


def nest_cost(
    run: Run,
    aau: IterD,
    level: Ints | Array,
    count: Ints,
    conditional: Sequence[Ints | Array],
    entered: Ints | None = None,
) -> Cost:
    """The cost of a nest on each processor: loop d is set up once for each iteration of loop d - 1.

    Args:
        run: The interpretation.
        aau: The nest, with the work of one iteration at each level.
        level: (P, D) iterations at each level in total, innermost last. Loops inside the one in which a mask is tested
            run where it holds.
        count: (P,) executions; for a nest with loops those of the innermost.
        conditional: (P,) how often each of `IterD.conditional` is done: first where the mask holds.
        entered: (P,) 1 where the processor passes the guard before the loops; None: all do.
    """
    if aau.nest is not None and aau.nest.mask is not None and aau.tested < level.shape[1]:
        share = conditional[0] / np.maximum(count, 1)
        level = np.where(np.arange(level.shape[1]) < aau.tested, level, level * share[:, None])
    found = alike(run)
    if found is not None:
        classes, ranks = found
        few = level[ranks], count[ranks], [each[ranks] for each in conditional]
        guarded = () if entered is None else (entered,)
        if all(
            (column[part] == few_of.take(classes.number[part])).all()
            for column, few_of in zip(
                (*level.T, count, *conditional, *guarded),
                (*few[0].T, few[1], *few[2], *(each[ranks] for each in guarded)),
                strict=True,
            )
            for part in shared.blocks(run.procs, shared.BLOCK)
        ):
            return _nest_cost(run, aau, *few, None if entered is None else entered[ranks], classes)
    return _nest_cost(run, aau, level, count, conditional, entered, None)


def _nest_cost(
    run: Run,
    aau: IterD,
    level: Ints | Array,
    count: Ints,
    conditional: Sequence[Ints | Array],
    entered: Ints | None,
    classes: Classes | None,
) -> Cost:
    """As `nest_cost`, from the iterations of all processors or of one of each class."""
    all_do = np.ones(count.size)
    often = [all_do if entered is None else entered, *(level.T if level.shape[1] else (count,))]
    often += [times for times, work in zip(conditional, aau.conditional, strict=True) if work.computation]
    if aau.setup.overhead:
        often.append(all_do)
    table = np.array(often, np.float64)
    if all_of(table == table[:, :1]):
        table = table[:, :1]
    elif classes is not None:
        return priced(Counts(nest_basis(run, aau, level.shape[1]), Shared(table, classes)))
    return priced(Counts(nest_basis(run, aau, level.shape[1]), table))


@remembered(of_aau, lambda _run, _aau, depth: depth)
def nest_basis(run: Run, aau: IterD, depth: int) -> Basis:
    """The columns of `nest_works`."""
    return run.prices.basis(*(run.prices.of(*each) for each in nest_works(aau, depth)))


def nest_works(aau: IterD, depth: int) -> list[list[Work]]:
    """What an execution of a nest pays besides its iterations where the processor comes to its loops, what each
    iteration pays at each level (with no loop each execution) and under conditions, and what all processors pay to find
    their part."""
    works = [[work] for work in aau.outer[:depth]] + [[] for _ in range(len(aau.outer), depth)]
    for number, each in enumerate(works):
        each.extend([LOOP_STEP, LOOP_SETUP] if number < depth - 1 else [LOOP_STEP])
    if depth:
        works[-1].append(aau.work)
    else:
        works.append([aau.work])
    works += [[each] for each in aau.conditional if each.computation]
    works.insert(0, [Work(computation=aau.setup.computation), *([LOOP_SETUP] if depth else [])])
    if aau.setup.overhead:
        works.append([Work(overhead=aau.setup.overhead)])
    return works
