"""The meaning of a program as a serial Fortran compiler sees it: a small interpreter of the ir on NumPy arrays."""

import numpy as np

from aag.ir import expressions as e
from aag.ir import statements as s
from tests.aag.spmd.terms import combinations, evaluate

TYPES = {"integer": np.int64, "logical": np.bool_, "real": np.float64}
SILENT = ("system_clock", "cpu_time")


class Leaves(Exception):
    def __init__(self, kind):
        self.kind = kind


class Serial:
    """Runs one program unit. `scalars` and `arrays` hold the results; `printed` the values of PRINT statements."""

    def __init__(self, unit, layouts):
        self.types = {entity.name: TYPES.get(entity.type.base, np.float64) for entity in unit.entities}
        arrays = [each for each in layouts.arrays.values() if each.rank and each.array in self.types]
        self.bounds = {each.array: each.bounds for each in arrays}
        self.scalars = dict(layouts.environment)
        self.arrays = {
            name: np.zeros([max(0, hi - lo + 1) for lo, hi in bounds], dtype=self.types[name])
            for name, bounds in self.bounds.items()
        }
        self.printed = []

    def run(self, body):
        try:
            self.body(body)
        except Leaves as leaves:
            if leaves.kind not in ("stop", "return"):
                raise
        return self

    def body(self, statements):
        for each in statements:
            self.statement(each)

    def statement(self, statement):
        match statement:
            case s.Assign(target=target, value=value):
                self.store(target, self.value(value))
            case s.Forall(indices=indices, mask=mask, body=body):
                self.forall(indices, mask, body, [{}])
            case s.Where(branches=branches):
                self.where(branches, True)
            case s.Do():
                self.do(statement)
            case s.DoWhile(condition=condition, body=body):
                while condition is None or bool(self.value(condition)):
                    if self.once(body):
                        break
            case s.If(branches=branches):
                for branch in branches:
                    if branch.condition is None or bool(self.value(branch.condition)):
                        self.body(branch.body)
                        break
            case s.CallStmt(name=name):
                assert name in SILENT
            case s.Io(items=items):
                self.printed += [self.value(item) for item in items if not isinstance(item, e.StringLit)]
            case s.Continue() | s.Remap():
                pass
            case s.Exit():
                raise Leaves("exit")
            case s.Cycle():
                raise Leaves("cycle")
            case s.Stop():
                raise Leaves("stop")
            case _:
                raise AssertionError(f"no meaning for {statement}")

    def once(self, body):
        """One iteration; whether the loop ends."""
        try:
            self.body(body)
        except Leaves as leaves:
            if leaves.kind not in ("exit", "cycle"):
                raise
            return leaves.kind == "exit"
        return False

    def do(self, loop):
        first, last = int(self.value(loop.lower)), int(self.value(loop.upper))
        step = 1 if loop.step is None else int(self.value(loop.step))
        for at in range(first, last + (1 if step > 0 else -1), step):
            self.scalars[loop.var] = at
            if self.once(loop.body):
                break

    # --- array statements -----------------------------------------------------------------------------------

    def forall(self, indices, mask, body, around):
        """The mask comes first, then one assignment after the other, all its right-hand sides before any store.
        `around`: the indices of the FORALLs around it, for each combination."""
        outer = dict(self.scalars)
        rows = [more for row in around for more in self.rows(indices, mask, row, outer)]
        for each in body:
            if isinstance(each, s.Forall):
                self.forall(each.indices, each.mask, each.body, rows)
                continue
            assert not isinstance(each, s.Where), "WHERE inside FORALL: not in these tests"
            results = []
            for row in rows:
                self.scalars = {**outer, **row}
                results.append((row, self.value(each.value)))
            for row, result in results:
                self.scalars = {**outer, **row}
                self.store(each.target, result)
        self.scalars = outer

    def rows(self, indices, mask, row, outer):
        """The combinations of the indices for which the mask holds, inside one combination of those around."""
        self.scalars = {**outer, **row}
        vectors, count = combinations(indices, self.scalars.__getitem__)
        found = []
        for number in range(count):
            inner = {**row, **{name: int(vector[number]) for name, vector in vectors.items()}}
            self.scalars = {**outer, **inner}
            if mask is None or bool(self.value(mask)):
                found.append(inner)
        return found

    def where(self, branches, inside):
        """Masks are evaluated before their branch; a later branch takes what no earlier one took."""
        left = inside
        for branch in branches:
            mask = True if branch.mask is None else self.value(branch.mask)
            here = np.logical_and(left, mask)
            left = np.logical_and(left, np.logical_not(mask))
            for each in branch.body:
                if isinstance(each, s.Where):
                    self.where(each.branches, here)
                    continue
                old = self.value(each.target)
                with np.errstate(all="ignore"):
                    self.store(each.target, np.where(here, self.value(each.value), old))

    # --- values ---------------------------------------------------------------------------------------------

    def value(self, expr):
        return evaluate(expr, self.variable, self.element, self.call)

    def variable(self, name):
        return self.arrays[name] if name in self.arrays else self.scalars[name]

    def element(self, expr):
        value = self.arrays[expr.name][self.place(expr)]
        return value.copy() if isinstance(value, np.ndarray) else value

    def place(self, expr):
        place = []
        for subscript, (lower, upper) in zip(expr.subscripts, self.bounds[expr.name], strict=True):
            if isinstance(subscript, e.Section):
                first = lower if subscript.lower is None else int(self.value(subscript.lower))
                last = upper if subscript.upper is None else int(self.value(subscript.upper))
                step = 1 if subscript.step is None else int(self.value(subscript.step))
                taken = range(first, last + (1 if step > 0 else -1), step)
                assert not taken or (min(taken) >= lower and max(taken) <= upper), "a section leaves its array"
                if not taken:
                    place.append(slice(0, 0))
                else:
                    stop = taken[-1] + (1 if step > 0 else -1) - lower
                    place.append(slice(taken[0] - lower, None if stop < 0 else stop, step))
            else:
                at = int(self.value(subscript))
                assert lower <= at <= upper, f"{expr.name}({at}) is outside its array"
                place.append(at - lower)
        return tuple(place)

    def store(self, target, value):
        if isinstance(target, e.Var) and target.name not in self.arrays:
            kind = self.types.get(target.name, np.float64)
            self.scalars[target.name] = kind(np.trunc(value) if kind is np.int64 else value)
        elif isinstance(target, e.Var):
            self.arrays[target.name][...] = value
        else:
            self.arrays[target.name][self.place(target)] = value

    def call(self, call):
        name, keywords = call.name, dict(call.keywords)
        args = call.args
        if name in REDUCTIONS:
            dim = keywords.get("dim", args[1] if len(args) > 1 else None)
            operand = np.asarray(self.value(args[0]))
            mask = True if "mask" not in keywords else self.value(keywords["mask"])
            function, nothing = REDUCTIONS[name]
            taken = np.where(mask, operand, nothing)
            return function(taken, axis=None if dim is None else int(self.value(dim)) - 1)
        match name:
            case "dot_product":
                return np.sum(self.value(args[0]) * self.value(args[1]))
            case "matmul":
                return np.matmul(self.value(args[0]), self.value(args[1]))
            case "transpose":
                return np.transpose(self.value(args[0]))
            case "number_of_processors":
                return self.scalars["number_of_processors"]
            case "cshift" | "eoshift":
                return self.shifted(call)
            case _:
                return None

    def shifted(self, call):
        keywords, args = dict(call.keywords), call.args
        array = np.asarray(self.value(args[0]))
        shift = int(self.value(keywords.get("shift") or args[1]))
        after = 3 if call.name == "eoshift" else 2
        given = keywords.get("dim") or (args[after] if len(args) > after else e.IntLit(1))
        axis = int(self.value(given)) - 1
        rolled = np.roll(array, -shift, axis=axis)
        if call.name == "eoshift":
            at = np.arange(array.shape[axis]) + shift
            outside = (at < 0) | (at >= array.shape[axis])
            shape = [-1 if each == axis else 1 for each in range(array.ndim)]
            given = keywords.get("boundary") or (args[2] if len(args) > 2 else e.IntLit(0))
            filled = np.asarray(self.value(given))
            filled = np.expand_dims(filled, axis) if filled.ndim else filled
            rolled = np.where(outside.reshape(shape), filled, rolled)
        return rolled


REDUCTIONS = {
    "sum": (np.sum, 0),
    "product": (np.prod, 1),
    "maxval": (np.max, -np.inf),
    "minval": (np.min, np.inf),
    "all": (np.all, True),
    "any": (np.any, False),
    "count": (np.sum, 0),
}
