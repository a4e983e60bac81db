"""Declarations as Python: storage and initial values of the variables of a slice."""

from collections.abc import Mapping, Sequence

from aag.functional.functions import Functions
from aag.functional.lines import Lines
from aag.functional.slicing import Slice
from aag.functional.tables import NotComputable
from aag.functional.terms import Storage, array, dtype, memory, variable
from aag.ir import statements as s
from aag.ir.directives import Bound
from aag.ir.evaluate import Value
from aag.ir.linear import linear
from aag.ir.units import Entity, Unit
from aag.ir.visitors import bodies, names_in, own_expressions


def storages(unit: Unit, part: Slice, constants: Mapping[str, Value]) -> dict[str, Storage]:
    """The arrays of a slice."""
    arrays = [each for each in unit.entities if each.shape is not None]
    return {
        each.name: Storage(each.type, _lowers(each, constants))
        for each in arrays
        if each.name in part.names and each.name not in constants
    }


def _lowers(entity: Entity, constants: Mapping[str, Value]) -> tuple[str, ...]:
    found = []
    for at, bound in enumerate(entity.shape or ()):
        form = None if bound.lower is None else linear(bound.lower, constants)
        if bound.upper is not None and (form is None or form.is_constant):
            found.append(str(1 if form is None else form.constant))
        else:
            found.append(f"l{at}_{array(entity.name)}")
    return tuple(found)


class Declaring:
    """Writes the declarations of a slice."""

    def __init__(self, unit: Unit, part: Slice, terms: Functions, lines: Lines) -> None:
        self._unit, self._part, self._terms, self._lines = unit, part, terms, lines
        self.born: dict[int, list[tuple[str, Sequence[Bound]]]] = {}
        """Arrays whose size the program computes, by the identity of the statement before which they begin to exist."""

    def all(self) -> None:
        """All declarations, except of what a later statement allocates."""
        for entity in self._unit.entities:
            self._one(entity)

    def _one(self, entity: Entity) -> None:
        name = entity.name
        if name not in self._part.names or name in self._terms.constants:
            return
        self._lines.at = entity.span.line
        if name not in self._terms.arrays:
            if entity.initial is not None:
                with self._lines.guarded(self._lines.at):
                    self._initial(entity)
            return
        self._lines.add(f"{array(name)} = {memory(name)} = None")
        shape = entity.shape or ()
        if any(bound.upper is None for bound in shape):
            return
        parts = [part for bound in shape for part in (bound.lower, bound.upper)]
        if names_in(*parts) <= self._terms.constants.keys():
            with self._lines.guarded(self._lines.at):
                self.allocate(name, shape)
                if entity.initial is not None:
                    self._initial(entity)
        elif (place := self._birth(name, self._unit.body)) is not None:
            self.born.setdefault(id(place), []).append((name, shape))

    def _birth(self, name: str, body: Sequence[s.Stmt]) -> s.Stmt | None:
        """The statement in front of which an array begins to exist: the first that uses it, in the innermost body that
        has all of its uses."""
        using = [each for each in body if self._uses(each, name)]
        if len(using) == 1:
            inner = [one for one in bodies(using[0]) if any(self._uses(each, name) for each in one)]
            own = name in names_in(*own_expressions(using[0]))
            if len(inner) == 1 and not own:
                return self._birth(name, inner[0])
        return using[0] if using else None

    def _uses(self, statement: s.Stmt, name: str) -> bool:
        if not self._part.keeps(statement):
            return False
        if name in names_in(*own_expressions(statement)):
            return True
        return any(self._uses(each, name) for inner in bodies(statement) for each in inner)

    def _initial(self, entity: Entity) -> None:
        assert entity.initial is not None
        term = self._terms.term(entity.initial)
        if entity.name not in self._terms.arrays:
            self._lines.add(f"{variable(entity.name)} = {self._terms.converted(term, entity.type)}")
            return
        name = array(entity.name)
        text = self._terms.converted(term, entity.type)
        self._lines.add(f"{name}[...] = " + (f"reshaped({text}, {name}.shape)" if term.many else text))

    def before(self, statement: s.Stmt) -> None:
        """Allocate arrays that begin to exist before a statement."""
        for name, shape in self.born.get(id(statement), ()):
            with self._lines.guarded(statement.span.line):
                self.allocate(name, shape)

    def allocate(self, name: str, shape: Sequence[Bound]) -> None:
        """Give an array storage.

        Raises:
            NotComputable: its shape is not known.
        """
        storage = self._terms.arrays[name]
        if any(bound.upper is None for bound in shape):
            raise NotComputable(f"the shape of {name} is not known")
        pairs = []
        for bound, text in zip(shape, storage.lower, strict=True):
            if text.startswith("l"):
                self._lines.add(f"{text} = {'1' if bound.lower is None else self._terms.number(bound.lower)}")
            assert bound.upper is not None
            pairs.append(f"({text}, {self._terms.number(bound.upper)})")
        line = self._lines.at
        whole = f"meter.allocate(({', '.join(pairs)},), {dtype(storage.type)!r}, {array(name)}, {line})"
        self._lines.add(f"{array(name)} = {whole}", f"{memory(name)} = memoryview({array(name)})")
