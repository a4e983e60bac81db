"""One execution of a parallel nest on the machine: who runs which iteration, in order where order matters."""

import numpy as np

from aag.ir import expressions as e
from aag.spmd import partition
from tests.aag.spmd.terms import array_elements, combinations, names_of

IDENTITY = {"sum": 0, "product": 1, "max": -np.inf, "min": np.inf, "all": True, "any": False, "count": 0}
COMBINE = {
    "sum": np.add,
    "product": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "all": np.logical_and,
    "any": np.logical_or,
    "count": np.add,
}


class Nests:
    """One execution of a nest."""

    def __init__(self, machine, nest):
        self.machine, self.nest = machine, nest
        self.vectors, self.count = combinations(nest.indices, lambda name: machine.scalars[name][0])
        self.runs = machine.running(nest.home, self.vectors, self.count)

    def run(self):
        self.check_trips()
        self.runs &= np.isin(np.arange(len(self.runs)), self.machine.active)[:, None]
        row, rank = np.nonzero(self.runs.T)
        self.distinct = np.unique(row, return_index=True)[1]
        vectors = {name: value[row] for name, value in self.vectors.items()}
        self.check_mask(rank, vectors)
        parts = [(expr, vectors, rank) for expr in self.expressions()]
        self.machine.reads(parts + [part for depth in range(len(self.nest.outer)) for part in self.outer_parts(depth)])
        if self.nest.reduce:
            self.reduce(rank, vectors)
        elif self.at_once(rank, vectors):
            (assign,) = self.nest.assigns
            values = self.machine.evaluate(assign.value, rank, vectors)
            taken = self.taken(rank, vectors)
            inside = {name: value[taken] for name, value in vectors.items()}
            self.machine.store(assign, rank[taken], inside, np.asarray(values)[taken])
            self.machine.maybe(assign, rank, vectors)
        else:
            self.in_order()
        self.machine.statement_ends()

    def expressions(self):
        nest = self.nest
        return [*(each.value for each in nest.assigns), *([] if nest.mask is None else [nest.mask])]

    def taken(self, rank, vectors):
        if self.nest.mask is None:
            return np.ones(len(rank), dtype=bool)
        return np.array(self.machine.evaluate(self.nest.mask, rank, vectors), dtype=bool)

    def check_mask(self, rank, vectors):
        """A mask that only scalars and indices decide is counted, any other is not."""
        mask, machine = self.nest.mask, self.machine
        if mask is not None:
            (trips,) = partition.trips(self.nest, machine.layouts, machine.environment())
            masked = trips.masked
            if array_elements(mask, machine.copies) or "s" in names_of(mask):
                assert masked is None
            else:
                expected = np.bincount(rank[self.taken(rank, vectors)], minlength=machine.procs)
                assert (masked == expected).all(), f"{self.nest.span}: {masked} instead of {expected}"

    def check_trips(self):
        """Iterations of each level: prefixes for which a processor lies on every axis that the prefix decides."""
        nest, machine = self.nest, self.machine
        (trips,) = partition.trips(nest, machine.layouts, machine.environment())
        assert (trips.count == self.runs.sum(axis=1)).all(), f"{nest.span}: {trips.count} iterations"
        home = nest.home
        layout = None if home is None else machine.layouts.arrays[home.array]
        for depth in range(1, len(nest.indices) + 1):
            prefix = nest.indices[:depth]
            names = {each.name for each in prefix}
            vectors, count = combinations(prefix, lambda name: machine.scalars[name][0])
            runs = np.ones((machine.procs, count), dtype=bool)
            for axis, meaning in enumerate(layout.axes if layout else ()):
                used = {}
                if meaning.role == "replicated":
                    continue
                if meaning.role == "dim":
                    subscript = home.subscripts[meaning.dim]
                    used = names_of(subscript) & {each.name for each in nest.indices}
                if not set(used) <= names:
                    continue
                ownership = machine.copies[home.array].ownership
                if meaning.role == "fixed":
                    place = [ownership.place((0,) * layout.rank)[axis]] * count
                else:
                    at = machine.evaluate(subscript, np.zeros(count, dtype=np.int64), vectors)
                    whole = [[0] * layout.rank for _ in range(count)]
                    for row, value in zip(whole, at, strict=True):
                        row[meaning.dim] = int(value)
                    place = [ownership.place(tuple(row))[axis] for row in whole]
                coords = np.array([each[axis] for each in ownership.coords])
                runs &= coords[:, None] == np.array(place, dtype=np.int64)
            assert (trips.level[:, depth - 1] == runs.sum(axis=1)).all(), f"{nest.span}: level {depth}"

    def at_once(self, rank, vectors):
        """Whether the order of iterations cannot matter: a temporary, or nothing is both written and read."""
        nest = self.nest
        if len(nest.assigns) != 1 or any(nest.outer) or isinstance(nest.assigns[0].target, e.Var):
            return False
        if nest.copies:
            return True
        (assign,) = nest.assigns
        _, written, _ = self.machine.place(assign.target, rank, vectors)
        for expr in self.expressions():
            for read in array_elements(expr, self.machine.copies):
                if read.name == assign.target.name:
                    _, code, _ = self.machine.place(read, rank, vectors)
                    if np.isin(code[code != written], written).any():
                        return False
        pairs = rank * (1 << 32) + written
        return len(np.unique(pairs)) == len(pairs)

    # --- in order ---------------------------------------------------------------------------------------------

    def outer_parts(self, depth):
        rank, vectors = self.prefix_rows(depth)
        return [(assign.value, vectors, rank) for assign in self.nest.outer[depth]]

    def prefix_rows(self, depth):
        """Rows (rank, vectors) of the first depth + 1 loops: where some iteration inside runs."""
        names = [index.name for index in self.nest.indices[: depth + 1]]
        found = {}
        row, rank = np.nonzero(self.runs.T)
        for a, p in zip(row, rank, strict=True):
            found[*(int(self.vectors[name][a]) for name in names), int(p)] = None
        rows = np.array(list(found), dtype=np.int64).reshape(-1, len(names) + 1)
        return rows[:, -1], {name: rows[:, at] for at, name in enumerate(names)}

    def in_order(self):
        self.later = []
        self.loop(0, np.ones(self.count, dtype=bool))
        for store in self.later:
            self.machine.store(*store)

    def loop(self, depth, rows):
        if depth == len(self.nest.indices):
            at = int(np.flatnonzero(rows)[0])
            self.execute(self.nest.assigns, self.runs[:, at], {n: v[at] for n, v in self.vectors.items()})
            return
        name = self.nest.indices[depth].name
        values = list(dict.fromkeys(self.vectors[name][rows].tolist()))
        for value in values:
            here = rows & (self.vectors[name] == value)
            at = int(np.flatnonzero(here)[0])
            running = self.runs[:, here].any(axis=1)
            known = {index.name: self.vectors[index.name][at] for index in self.nest.indices[: depth + 1]}
            before, after = self.nest.around(depth + 1)
            self.execute(before, running, known)
            self.loop(depth + 1, here)
            self.execute(after, running, known)

    def execute(self, assigns, running, known):
        rank = np.flatnonzero(running)
        if not len(rank):
            return
        vectors = {name: np.full(len(rank), value) for name, value in known.items()}
        for assign in assigns:
            taken, value = self.taken(rank, vectors), assign.value
            match value:
                case e.Call(name="merge", args=(new, old, condition)) if old == assign.target and taken.any():
                    # A condition of its own: where it fails, nothing is read.
                    inside = {name: each[taken] for name, each in vectors.items()}
                    taken[taken] = self.machine.evaluate(condition, rank[taken], inside)
                    value = new
            if taken.any():
                inside = {name: each[taken] for name, each in vectors.items()}
                values = self.machine.evaluate(value, rank[taken], inside)
                if self.nest.copies and isinstance(assign.target, e.Element):
                    self.later.append((assign, rank[taken], inside, values))
                else:
                    self.machine.store(assign, rank[taken], inside, values)
            self.machine.maybe(assign, rank, vectors)

    # --- reductions -------------------------------------------------------------------------------------------

    def reduce(self, rank, vectors):
        machine, nest = self.machine, self.nest
        (assign,) = nest.assigns
        values = np.asarray(machine.evaluate(assign.value, rank, vectors), dtype=np.float64)
        if nest.reduce == "count":
            values = (values != 0).astype(np.float64)
        taken = self.taken(rank, vectors)
        combine, start = COMBINE[nest.reduce], float(IDENTITY[nest.reduce])
        target = assign.target
        by_hand = nest.span.line in machine.accumulating and "$" not in getattr(target, "name", "$")
        if isinstance(target, e.Var):
            partial = np.full(machine.procs, start)
            combine.at(partial, rank[taken], values[taken])
            before = np.array(machine.scalars[target.name], dtype=np.float64) if by_hand else None
            machine.scalars[target.name] = partial if before is None else combine(before, partial)
            wrote = np.bincount(rank, minlength=machine.procs) > 0
        else:
            before = None
            copies = machine.copies[target.name]
            partial = np.full(copies.owned.shape, start)
            wrote = np.zeros(copies.owned.shape, dtype=bool)
            _, code, inside = machine.place(target, rank, vectors)
            assert inside.all()
            combine.at(partial, (rank[taken], code[taken]), values[taken])
            wrote[rank, code] = True
            copies.version += 1
            ready = copies.owned | wrote
            copies.value[ready] = partial[ready]
            whole = self.complete(rank, code, copies)
            copies.has[whole] = copies.known[whole] = np.broadcast_to(copies.version, whole.shape)[whole]
        machine.partial = (nest.reduce, target, before, partial, wrote)

    def complete(self, rank, code, copies):
        """(P, E): elements of which a processor saw every term; also owners where there is none."""
        terms = np.zeros(copies.owned.shape, dtype=np.int64)
        np.add.at(terms, (rank, code), 1)
        total = np.bincount(code[self.distinct], minlength=copies.owned.shape[1])
        return (terms == total) & ((total > 0) | copies.owned)
