"""A machine that runs a node program: every processor computes with its own copies, and says so when one is stale.

Each write makes all other copies of the element stale; a communication delivers copies. What a nest reads comes from
its assignments, who runs an iteration from brute-force ownership: nothing here asks the relation that is under test.
"""

from collections import Counter
from contextlib import contextmanager

import numpy as np

from aag.ir import expressions as e
from aag.ir.visitors import walk_expressions
from aag.spmd import communication, nodes, partition
from aag.spmd.nodes import assigns_of
from aag.spmd.steps import Phase
from tests.aag.spmd.moved import moved_elements
from tests.aag.spmd.nest_run import COMBINE, Nests
from tests.aag.spmd.node_lists import conditional, reductions_by_hand, written_in
from tests.aag.spmd.owners import Ownership
from tests.aag.spmd.terms import array_elements, combinations, evaluate, is_integer, names_of


class Leaves(Exception):
    def __init__(self, kind):
        self.kind = kind


class Copies:
    """The copies of one array: `value` and version `has` (P, E) of each processor, the current `version` (E,).

    `known` (P, E): the version that a processor has because it wrote it or needed it (a collective may bring more),
    and `when` it came.
    """

    def __init__(self, layout):
        self.ownership = Ownership(layout)
        self.owned = self.ownership.owned
        procs, size = self.owned.shape
        self.value = np.zeros((procs, size), dtype=np.float64)
        self.version = np.zeros(size, dtype=np.int64)
        self.has = np.where(self.owned, 0, -1)
        self.known = self.has.copy()
        self.when = np.zeros(self.owned.shape, dtype=np.int64)

    def deliver(self, source, destination, element, *, needed=True, now=0):
        self.value[destination, element] = self.value[source, element]
        self.has[destination, element] = self.version[element]
        if needed:
            self.known[destination, element] = self.version[element]
            self.when[destination, element] = now

    def valid(self, rank, element):
        return self.has[rank, element] == self.version[element]


class Machine:
    """Runs a node program.

    `exact`: the program was lowered without optimisations, so each statement must receive exactly what brute force
    says. `frugal`: nothing may be sent point-to-point to a holder of a valid copy. "Valid on all paths" (Def 9) leaves
    one exception: a copy from an earlier iteration of a running loop, which the path into the loop does not have.
    `lenient`: another: a copy of an array that a running loop writes, which may be stale on the path through its end.
    """

    def __init__(self, program, *, exact=False, frugal=False, lenient=False):
        self.program = program
        self.layouts = program.layouts
        self.procs = program.layouts.procs
        self.exact, self.frugal, self.lenient = exact, frugal, lenient
        self.copies = {name: Copies(each) for name, each in self.layouts.arrays.items() if each.rank}
        every = program.layouts.environment
        self.scalars = {name: np.full(self.procs, value) for name, value in every.items() if not isinstance(value, str)}
        self.pending = {}
        self.partial = None
        self.active = np.arange(self.procs)
        self.alone = None
        self.now = 0
        self.loops = []
        self.delivered = []
        self.sent = Counter()
        self.messages = 0
        self.accumulating = reductions_by_hand(program.unit.body)

    def run(self):
        try:
            self.body(self.program.body)
        except Leaves as leaves:
            if leaves.kind not in ("stop", "return"):
                raise
        return self

    def body(self, body):
        for node in body:
            self.node(node)

    def node(self, node):
        self.now += 1
        match node:
            case nodes.Nest():
                self.undefined(assigns_of(node))
                Nests(self, node).run()
            case nodes.Local(assigns=assigns):
                self.local(node, assigns)
            case nodes.Communicate(operation=operation):
                self.communicate(operation, node.uses)
            case nodes.Combine():
                self.combine(node)
            case nodes.DoNode(home=None):
                self.do(node)
            case nodes.DoNode():
                with self.own_iterations(node):
                    self.do(node)
            case nodes.WhileNode():
                entry = self.now
                while node.condition is None or self.agreed(node.condition):
                    if self.loop(node.body, entry):
                        break
                self.forget(entry)
                self.changed_elsewhere(node.body)
            case nodes.IfNode(branches=branches):
                entry = self.now
                for branch in branches:
                    if branch.condition is None or self.agreed(branch.condition):
                        self.body(branch.body)
                        break
                self.forget(entry)
                self.changed_elsewhere([each for branch in branches for each in branch.body])
            case nodes.OwnedLoop():
                self.owned(node)
            case nodes.Leave(kind=kind):
                raise Leaves(kind)
            case nodes.HostIo() | nodes.ClockMark():
                pass
            case _:
                raise AssertionError(f"{type(node).__name__} at {node.span}: {node}")

    def loop(self, body, entry):
        """One iteration of a loop entered at the time `entry`; whether the loop ends."""
        self.loops.append((entry, self.now, body))
        try:
            self.body(body)
        except Leaves as leaves:
            if leaves.kind not in ("exit", "cycle"):
                raise
            self.changed_elsewhere(body)
            return leaves.kind == "exit"
        finally:
            self.loops.pop()
        return False

    def changed_elsewhere(self, body):
        """On a path that this run did not take, statements of `body` change what they may: copies are not known."""
        for name in written_in(body):
            copies = self.copies[name]
            copies.known[~copies.owned] = -1

    def on_all_paths(self, when, name):
        """Whether copies of an array that came at these times are there on all paths."""
        late = [(when >= entry) & (when < iteration) for entry, iteration, _ in self.loops]
        if self.lenient:
            late += [when < entry for entry, _, body in self.loops if name in written_in(body)]
        return ~np.logical_or.reduce(late) if late else np.ones(when.shape, dtype=bool)

    def do(self, node):
        first, last = int(self.agreed(node.lower)), int(self.agreed(node.upper))
        step = 1 if node.step is None else int(self.agreed(node.step))
        entry = self.now
        for at in range(first, last + (1 if step > 0 else -1), step):
            self.scalars[node.var] = np.full(self.procs, at)
            if node.home is not None:
                row = {node.var: np.array([at])}
                self.active = np.flatnonzero(self.running(node.home, row, 1)[:, 0])
            if self.loop(node.body, entry):
                break
        bounds = names_of(node.lower) | names_of(node.upper)
        self.forget(entry, "" if bounds - self.layouts.environment.keys() else node.var, written_in(node.body))

    @contextmanager
    def own_iterations(self, loop):
        """Each processor runs its iterations of a loop by itself, with what was sent for all of them before it."""
        assert self.alone is None, "a loop of own iterations in another"
        self.alone = {name: np.zeros_like(each.owned) for name, each in self.copies.items()}
        yield
        need, self.alone, self.active = self.alone, None, np.arange(self.procs)
        self.missing(need, bounded=conditional(loop.body))
        self.pending.clear()

    def forget(self, since, var="", written=frozenset()):
        """Copies that came since then are not there on all paths, or (with a variable) only for its last value."""
        for time, name, rank, element, uses in self.delivered:
            if time >= since and (not var or var in uses or (self.lenient and name in written)):
                copies = self.copies[name]
                here = ~copies.owned[rank, element] & (copies.when[rank, element] == time)
                copies.known[rank[here], element[here]] = -1

    # --- values ---------------------------------------------------------------------------------------------

    def environment(self):
        """Scalars on which all processors agree, as lowering and the engine know them."""
        found = dict(self.layouts.environment)
        for name, values in self.scalars.items():
            if (values == values[0]).all():
                found[name] = values[0].item()
        return found

    def evaluate(self, expr, rank, vectors):
        """The value of an expression in rows that run on `rank`; every copy that is read must be valid."""

        def variable(name):
            return vectors[name] if name in vectors else self.scalars[name][rank]

        def element(read):
            copies, code, inside = self.place(read, rank, vectors)
            parts = (part for each in read.subscripts for part in walk_expressions(each))
            shifted = any(isinstance(part, e.Call) and part.name == "eoshift$" for part in parts)
            assert shifted or inside.all(), f"{read} leaves its array"
            valid = copies.valid(rank, code) | ~inside
            assert valid.all(), f"{read} is read on {rank[~valid][:5]} without a valid copy of {code[~valid][:5]}"
            return np.where(inside, copies.value[rank, code], 0)

        with np.errstate(all="ignore"):
            return np.broadcast_to(evaluate(expr, variable, element), rank.shape)

    def place(self, element, rank, vectors):
        """Copies, element numbers and which lie inside, for an element in rows that run on `rank`."""
        copies = self.copies[element.name]
        columns = [self.evaluate(each, rank, vectors).astype(np.int64) for each in element.subscripts]
        return copies, *copies.ownership.number(columns)

    def agreed(self, expr):
        values = self.evaluate(expr, self.active, {})
        assert (values == values[0]).all(), f"processors disagree on {expr}: {values}"
        return values[0]

    def local(self, node, assigns):
        for assign in assigns:
            self.reads([(assign.value, {}, self.active)])
            values = self.evaluate(assign.value, self.active, {})
            self.store(assign, self.active, {}, values)
        self.statement_ends()

    def statement_ends(self):
        """What was sent for a statement serves no other; for a loop of own iterations it serves all of it."""
        if self.alone is None:
            self.pending.clear()

    def undefined(self, assigns):
        """A masked assignment leaves its target as it is, which may be undefined: any value, as nobody may use it."""
        for assign in assigns:
            match assign.target, assign.value:
                case e.Var(name=name), e.Call(name="merge", args=(_, old, _)) if old == assign.target:
                    self.scalars.setdefault(name, np.full(self.procs, 77))

    def store(self, assign, rank, vectors, values):
        """Write one value in each row; all owners of an element must write it, and nobody else."""
        target = assign.target
        kind = self.program.types.get(target.name)
        if kind is not None and kind.base == "integer" and not is_integer(values):
            values = np.trunc(values)
        if kind is not None and kind.base == "real":
            values = np.asarray(values, dtype=np.float64)
        if isinstance(target, e.Var):
            current = np.array(self.scalars.get(target.name, np.zeros(self.procs)))
            if current.dtype != np.asarray(values).dtype:
                current = current.astype(np.asarray(values).dtype)
            current[rank] = values
            self.scalars[target.name] = current
            return
        copies, code, inside = self.place(target, rank, vectors)
        assert inside.all(), f"{target} leaves its array"
        writers = np.zeros_like(copies.owned)
        writers[rank, code] = True
        written = np.unique(code)
        wrong = writers[:, written] != copies.owned[:, written]
        assert not wrong.any(), f"{target}: written elsewhere than on its owners: {np.argwhere(wrong)[:5]}"
        copies.version[written] += 1
        copies.value[rank, code] = values
        copies.has[rank, code] = copies.version[code]
        copies.known[rank, code] = copies.version[code]
        copies.when[rank, code] = self.now

    def maybe(self, assign, rank, vectors):
        """A masked assignment makes copies stale on the path where its mask is true."""
        if isinstance(assign.target, e.Element):
            copies, code, _ = self.place(assign.target, rank, vectors)
            away = ~copies.owned[:, code]
            copies.known[:, code] = np.where(away, -1, copies.known[:, code])

    # --- communication --------------------------------------------------------------------------------------

    def needed(self, operation):
        """(P, E): which elements of the array the references of an operation need where, whether there or not."""
        result = np.zeros_like(self.copies[operation.array].owned)
        layouts = self.layouts.arrays
        special = communication.special_axes(operation, layouts[operation.array])
        for need in operation.needs:
            reference = need.reference
            vectors, count = combinations(reference.indices, lambda name: self.scalars[name][0])
            code, inside = self.numbers(reference, vectors, count)
            runs = self.running(need.home, vectors, count, special)
            rank, row = np.nonzero(runs & inside)
            result[rank, code[row]] = True
        return result

    def numbers(self, reference, vectors, count):
        zero = np.zeros(count, dtype=np.int64)
        expr = e.Element(reference.array, reference.subscripts)
        _, code, inside = self.place(expr, zero, vectors)
        return code, inside

    def running(self, home, vectors, count, special=frozenset()):
        """(P, rows): who runs which iteration, by owner-computes. Outside of its array, as far as that decides who
        runs it, a condition keeps an iteration from running."""
        if home is None:
            return np.ones((self.procs, count), dtype=bool)
        layout = self.layouts.arrays[home.array]
        zero = np.zeros(count, dtype=np.int64)
        columns = []
        deciding = {axis.dim for at, axis in enumerate(layout.axes) if axis.role == "dim" and at not in special}
        for dim, (subscript, bounds) in enumerate(zip(home.subscripts, layout.bounds, strict=True)):
            column = self.evaluate(subscript, zero, vectors).astype(np.int64)
            columns.append(column if dim in deciding else np.clip(column, *bounds))
        code, inside = self.copies[home.array].ownership.number(columns)
        return self.copies[home.array].owned[:, code] & inside

    def communicate(self, operation, uses=frozenset()):
        copies = self.copies[operation.array]
        env = self.environment()
        need = self.needed(operation)
        special = communication.special_axes(operation, self.layouts.arrays[operation.array])
        there = copies.ownership.gathered_at(special)
        rank, element = np.nonzero(need)
        wanted = np.zeros_like(need)
        wanted[there[rank, element], element] = True
        moved = self.messages_of(operation, env)
        full = wanted & ~copies.owned
        assert not (moved & ~full).any(), f"{operation}: moves what nobody needs: {np.argwhere(moved & ~full)[:5]}"
        left = full & ~moved
        assert not self.exact or not left.any(), f"{operation}: forgets {np.argwhere(left)[:5]}"
        stale = left & (copies.has != copies.version)
        assert not stale.any(), f"{operation}: forgets {np.argwhere(stale)[:5]}"
        again = moved & (copies.known == copies.version) & self.on_all_paths(copies.when, operation.array)
        # The shift before a collective is a part of it: it goes to one place on behalf of many.
        assert not self.frugal or special or not again.any(), f"{operation}: sends again {np.argwhere(again)[:5]}"
        rank, element = np.nonzero(need)
        self.delivered.append((self.now, operation.array, rank, element, uses))
        rank, element = np.nonzero(moved)
        source = copies.ownership.source[rank, element]
        copies.deliver(source, rank, element, needed=not special, now=self.now)
        self.sent[operation.array] += len(rank)
        if special:
            self.collectives(operation, special, wanted, need, env)
        array = self.pending.setdefault(operation.array, [np.zeros_like(moved), True])
        array[0] |= moved
        array[1] &= not special

    def messages_of(self, operation, env):
        """(P, E): what point-to-point messages bring; checks sources and phases on the way."""
        copies = self.copies[operation.array]
        source, destination, subscripts = moved_elements(operation, self.layouts, env)
        code, inside = copies.ownership.number(list(subscripts.T))
        assert inside.all()
        moved = np.zeros_like(copies.owned)
        assert len({*zip(destination.tolist(), code.tolist(), strict=True)}) == len(code), "an element is sent twice"
        moved[destination, code] = True
        assert (source == copies.ownership.source[destination, code]).all(), f"{operation}: sent by the wrong owner"
        pairs = Counter(zip(source.tolist(), destination.tolist(), strict=True))
        phases = [each for each in communication.steps(operation, self.layouts, env)[0] if isinstance(each, Phase)]
        total = Counter()
        # Circular shifts both ways meet on two processors: each direction is a message of its own (Def 7).
        circular = "cshift$" in str(operation.needs)
        for phase in phases:
            assert (phase.elements > 0).all()
            assert len(set(phase.source.tolist())) == len(phase.source), f"{operation}: a rank sends twice in a phase"
            assert len(set(phase.destination.tolist())) == len(phase.destination), f"{operation}: receives twice"
            for a, b, count in zip(phase.source, phase.destination, phase.elements, strict=True):
                assert circular or (a, b) not in total, "two messages between one pair"
                total[int(a), int(b)] += int(count)
            assert phase.element_bytes == self.layouts.arrays[operation.array].element_bytes
        assert total == pairs
        self.messages += len(total)
        return moved

    def collectives(self, operation, special, wanted, need, env):
        """Groups, roots and elements against who has what; then everybody in a group gets what is there."""
        copies = self.copies[operation.array]
        shape = copies.ownership.shape
        calls = [each for each in communication.steps(operation, self.layouts, env)[0] if not isinstance(each, Phase)]
        lines = {}
        for rank, coords in enumerate(copies.ownership.coords):
            key = tuple(c for axis, c in enumerate(coords) if axis not in special)
            lines.setdefault(key, []).append(rank)
        expected = Counter()
        for members in lines.values():
            here = [int(wanted[rank].sum()) for rank in members]
            if len(members) < 2 or not any(here):
                continue
            if isinstance(operation, nodes.Multicast):
                for rank, amount in zip(members, here, strict=True):
                    if amount:
                        expected["broadcast", tuple(members), rank, (amount,)] += 1
            else:
                expected[operation.pattern, tuple(members), members[0], tuple(here)] += 1
            for rank in members:
                element = np.flatnonzero(wanted[rank])
                assert copies.valid(rank, element).all(), f"{operation}: the root of a collective lacks data"
                to = members if not isinstance(operation, nodes.Gather) else members[:1]
                for receiver in to:
                    copies.deliver(rank, receiver, element, needed=False)
        found = Counter()
        for call in calls:
            assert call.members.shape == call.elements.shape
            for members, root, elements in zip(call.members, call.root, call.elements, strict=True):
                amount = (int(elements[root]),) if call.kind == "broadcast" else tuple(elements.tolist())
                found[call.kind, tuple(members.tolist()), int(members[root]), amount] += 1
        assert found == expected, f"{operation} over {shape}: {found} instead of {expected}"
        known = need & (copies.has == copies.version) & (copies.known != copies.version)
        copies.when[known] = self.now
        copies.known[known] = np.broadcast_to(copies.version, known.shape)[known]

    def reads(self, parts):
        """What a statement reads that its processors do not own, against what was sent to them for it.

        `parts`: (expression, index vectors, rank of each row).
        """
        if not self.exact:
            return
        need = self.alone or {name: np.zeros_like(each.owned) for name, each in self.copies.items()}
        for expr, vectors, rank in parts:
            for read in array_elements(expr, self.copies):
                _, code, inside = self.place(read, rank, vectors)
                need[read.name][rank[inside], code[inside]] = True
        if self.alone is None:
            self.missing(need)

    def missing(self, need, *, bounded=False):
        """Brute force against messages; `bounded`: a condition may keep some of what was sent from being read."""
        for name, copies in self.copies.items():
            moved, alone = self.pending.get(name, (np.zeros_like(copies.owned), True))
            expected = need[name] & ~copies.owned
            if self.exact and alone:
                wrong = expected & ~moved if bounded else moved != expected
                assert not wrong.any(), f"{name}: brute force and messages differ at {np.argwhere(wrong)[:5]}"

    # --- reductions and owned loops -------------------------------------------------------------------------

    def combine(self, node):
        if node.result:  # a scalar that the nest before it has reduced like any other
            partial = np.array(self.scalars[node.result], dtype=np.float64)
            wrote = np.ones(self.procs, dtype=bool)
            op, target, before = node.op, e.Var(node.result), None
        else:
            op, target, before, partial, wrote = self.partial
        call = communication.combine_call(node, self.layouts, self.environment())
        layout = self.layouts.arrays[node.home.array]
        ownership = self.copies[node.home.array].ownership
        lines = {}
        for rank, coords in enumerate(ownership.coords):
            lines.setdefault(tuple(c for axis, c in enumerate(coords) if axis not in node.axes), []).append(rank)
        if call is None:
            assert all(len(members) < 2 or not wrote[members].any() or node.kept for members in lines.values())
        else:
            assert call.kind == "reduction"
            assert call.element_bytes == node.element_bytes
            owned = self.copies[target.name].owned if node.kept else np.ones((self.procs, 1), dtype=bool)
            used = [members for members in lines.values() if owned[members].any()]
            assert sorted(map(tuple, call.members.tolist())) == sorted(map(tuple, used))
            for members, elements in zip(call.members, call.elements, strict=True):
                most = max(int(owned[rank].sum()) for rank in members)
                assert (elements == most).all(), f"{node}: {elements} instead of {most}"
        assert layout.grid.size == self.procs
        for members in lines.values():
            whole = COMBINE[op].reduce(partial[members], axis=0)
            if isinstance(target, e.Var):
                start = before[members] if before is not None else None
                self.scalars[target.name] = np.array(self.scalars[target.name], dtype=np.asarray(whole).dtype)
                self.scalars[target.name][members] = whole if start is None else COMBINE[op](start, whole)
            else:
                copies = self.copies[target.name]
                touched = np.flatnonzero(wrote[members].any(axis=0))
                for rank in members:
                    copies.value[rank, touched] = whole[touched]
                    copies.has[rank, touched] = copies.known[rank, touched] = copies.version[touched]
        self.partial = None

    def owned(self, loop):
        """Iterations in order on the owners; before each the messages of `segments`, which must be the missing ones."""
        vectors, count = combinations((loop.index,), lambda name: self.scalars[name][0])
        env = self.environment()
        runs = partition.segments(loop, self.layouts, env)
        assert runs.iterations == count
        assert int(runs.count.sum()) == count
        starts = np.cumsum(runs.count) - runs.count
        arrivals = dict(zip(starts, zip(runs.owner, runs.messages, strict=True), strict=True))
        owner, before = -1, -1
        arrays = [need.reference.array for need in loop.needs]
        taken = {name: np.full(self.copies[name].owned.shape, -1) for name in arrays}
        for at in range(count):
            row = {loop.index.name: vectors[loop.index.name][at : at + 1]}
            rank = np.flatnonzero(self.running(loop.home, row, 1)[:, 0])
            message = None
            if at in arrivals:
                owner, message = arrivals[at]
            assert owner == rank[0], f"iteration {at} runs on {rank}, not on {owner}"
            rows = {name: np.repeat(value, len(rank)) for name, value in row.items()}
            received = Counter()
            for need in loop.needs:
                reference = e.Element(need.reference.array, need.reference.subscripts)
                copies, code, _ = self.place(reference, rank, rows)
                missing = ~copies.owned[rank, code] & (taken[reference.name][rank, code] != copies.version[code])
                taken[reference.name][rank[missing], code[missing]] = copies.version[code[missing]]
                source = copies.ownership.source[rank[missing], code[missing]]
                copies.deliver(source, rank[missing], code[missing], needed=False)
                for a, b in zip(source, rank[missing], strict=True):
                    received[int(a), int(b)] += self.layouts.arrays[reference.name].element_bytes
            for each in loop.carried if before not in (-1, owner) else ():
                self.scalars[each.name][owner] = self.scalars[each.name][before]
                received[before, owner] += self.program.types[each.name].bytes
            before = owner
            found = Counter()
            if message is not None:
                for a, b, amount in zip(message.source, message.destination, message.elements, strict=True):
                    found[int(a), int(b)] += int(amount) * message.element_bytes
            assert found == received, f"iteration {at}: {found} instead of {received}"
            for assign in loop.assigns:
                self.store(assign, rank, rows, self.evaluate(assign.value, rank, rows))
        self.pending.clear()
        self.scalars[loop.index.name] = np.full(self.procs, 0)
