"""The declarations of a program as one unit: names of modules, common blocks and procedures beside those of the main
program."""

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from aag.diagnostics import NOWHERE, Span
from aag.ir import directives as d
from aag.ir.evaluate import Unknown, Value, evaluate
from aag.ir.expressions import Element, Expr, IntLit
from aag.ir.steady import steady
from aag.ir.units import Entity, Equivalence, Program, Type, Unit
from aag.procedures.effects import AssignedNames
from aag.procedures.names import CallNames, Refused


class FlatDeclarations:
    """The growing declarations of the main program. A local name of a procedure has one place for all calls."""

    def __init__(
        self,
        program: Program,
        main: Unit,
        procedures: Mapping[str, Unit],
        hosts: Mapping[str, Unit],
        effects: AssignedNames,
    ) -> None:
        self._main = main
        self._procedures = procedures
        self._hosts = hosts
        self._effects = effects
        self._modules = {each.name: each for each in program.units if each.kind == "module"}
        self.entities = {each.name: each for each in main.entities if self._is_variable(main, each)}
        self.directives = list(main.directives)
        self.repeated: list[d.Directive] = []
        """Directives that map again what others map: arrays of common blocks, and equal templates."""
        self.equivalences = list(main.equivalences)
        self._commons = {each.block: each.names for each in main.commons}
        self._taken = {*self.entities, *procedures}
        self._taken |= {each.name for each in main.directives if isinstance(each, d.Processors | d.Template)}
        self._constants: dict[str, Value] = {}
        self._steady: dict[str, Value] | None = None
        self.private: dict[str, str] = {}
        """Variables that begin each call of a procedure without a value, with the name of the procedure."""
        self.called = ""
        """The procedure whose statements are being put in place of a call."""
        self.frames: dict[str, CallNames] = {}
        """The names of the procedures around that, each at its call: its internal procedures see them."""
        self._of_modules: dict[str, dict[str, str]] = {}
        self._aliases: dict[tuple[str, tuple[int, ...]], str] = {}
        self._locals: dict[tuple[str, str, tuple[d.Bound, ...] | None], str] = {}
        self._templates: dict[tuple[str, d.Directive], str] = {}

    @property
    def modules(self) -> frozenset[str]:
        """The modules of the source."""
        return frozenset(self._modules)

    def constants(self) -> Mapping[str, Value]:
        """The values of named constants as declared, and of scalars of the main program that never change."""
        for name, entity in self.entities.items():
            if "parameter" in entity.attributes and entity.initial is not None and name not in self._constants:
                with suppress(Unknown):
                    self._constants[name] = evaluate(entity.initial, self._constants)
        if self._steady is None:
            free = {name for common in self._main.commons for name in common.names}
            found = steady(self._main, self._constants, self._effects.passed)
            self._steady = {name: value for name, value in found.items() if name not in free}
        return {**self._steady, **self._constants}

    def unique(self, name: str, owner: str = "") -> str:
        """A name that nothing else has; `owner`: whose it is, where it cannot be kept."""
        found, number = name, 1
        while found in self._taken:
            found = f"{name}${owner}{number if number > 1 else ''}"
            number += 1
        self._taken.add(found)
        return found

    def integer(self, name: str, span: Span) -> str:
        """A new integer variable, called like this if it can be."""
        found = self.unique(name, "again")
        self.private[found] = self.called
        kind = Type(base="integer", bytes=4)
        none: frozenset[str] = frozenset()
        self.entities[found] = Entity(
            name=found, shown=found, type=kind, shape=None, attributes=none, initial=None, span=span
        )
        return found

    def copy(self, entity: Entity, name: str, span: Span, called: str = "") -> str:
        """A new variable of the type and shape of another one."""
        found = self.unique(name, "again")
        self.private[found] = called or self.called
        self.entities[found] = replace(entity, name=found, shown=found, attributes=frozenset(), initial=None, span=span)
        return found

    def mapped(self) -> frozenset[str]:
        """The arrays that directives map, or map others with."""
        found = {d.mapped_name(each) for each in self.directives}
        found |= {each.target for each in self.directives if isinstance(each, d.Align)}
        return frozenset(found.union(*(each.names for each in self.directives if isinstance(each, d.Dynamic))))

    def place_beside(self, array: str, others: Iterable[str], span: Span) -> None:
        """Align an array that has no mapping with the first of others that has one and keeps it."""
        mapped = self.mapped()
        moving = frozenset[str]().union(*(each.names for each in self.directives if isinstance(each, d.Dynamic)))
        found = next((each for each in others if each in mapped - moving and each != array), None)
        if found is not None and array not in mapped:
            align = d.Align(span=span, alignee=array, axes=None, target=found, subscripts=None)
            self.directives.append(align)

    def alias(self, array: Entity, extents: tuple[int, ...], lower: Iterable[int]) -> str:
        """Another name of an array, with these extents. `lower`: the lower bounds of the array."""
        key = (array.name, extents)
        if key not in self._aliases:
            found = self._aliases[key] = self.unique(f"{array.name}${len(extents)}d", "again")
            shape = tuple(d.Bound(lower=None, upper=IntLit(each)) for each in extents)
            self.entities[found] = replace(
                array, name=found, shown=found, shape=shape, attributes=frozenset(), initial=None
            )
            first = Element(array.name, tuple(map(IntLit, lower))), Element(found, (IntLit(1),) * len(extents))
            self.equivalences.append(Equivalence(members=first, span=array.span))
        return self._aliases[key]

    def aliases_of(self, names: Container[str]) -> frozenset[str]:
        """The other names of arrays."""
        return frozenset(alias for (name, _), alias in self._aliases.items() if name in names)

    def visible(self, unit: Unit) -> dict[str, str]:
        """The names of modules and hosts that a procedure sees and that have other names in the main program.

        Raises:
            Refused: it is inside of a procedure that is not being called.
        """
        found: dict[str, str] = {}
        host = self._hosts.get(unit.name)
        if host is not None and host.kind == "module":
            found |= self._names_of_module(host)
        elif host is not None and host is not self._main:
            if host.name not in self.frames:
                raise Refused(f"it is inside of {host.name}")
            found |= self.frames[host.name].renamed
        elif host is not None:
            found |= self.names_of_modules(host.uses)
        return found | self.names_of_modules(unit.uses)

    def see(self, unit: Unit, names: CallNames) -> None:
        """Let a procedure see what its host and modules declare, but for what it declares itself.

        Raises:
            Refused: as `visible`.
        """
        names.renamed |= self.visible(unit)
        host = self._hosts.get(unit.name)
        frame = None if host is None else self.frames.get(host.name)
        if frame is not None:
            names.values |= frame.values
            names.parts |= frame.parts
            names.procedures |= frame.procedures
            names.present |= frame.present
        for entity in unit.entities:
            for each in (names.renamed, names.values, names.parts, names.procedures, names.present):
                each.pop(entity.name, None)

    def names_of_modules(self, uses: Iterable[str]) -> dict[str, str]:
        """The names of modules that are others in the main program."""
        found: dict[str, str] = {}
        for each in uses:
            if each in self._modules:
                found |= self._names_of_module(self._modules[each])
        return found

    def _names_of_module(self, module: Unit) -> dict[str, str]:
        """What the names of a module are in the main program; they are declared when they are first asked for."""
        if module.name not in self._of_modules:
            self._of_modules[module.name] = {}
            outer = self.names_of_modules(module.uses)
            names = CallNames(renamed=dict(outer))
            own = [each for each in module.entities if self._is_variable(module, each)]
            names.renamed |= {each.name: self.unique(each.name, module.name) for each in own}
            for entity in own:
                self.entities[names.of(entity.name)] = names.entity(entity)
            self.direct(module, names)
            self._of_modules[module.name] = outer | {each.name: names.of(each.name) for each in own}
        return self._of_modules[module.name]

    def renamed_of_modules(self, names: frozenset[str]) -> frozenset[str]:
        """The variables of modules that are called so there and otherwise in the main program."""
        maps = self._of_modules.values()
        return frozenset(new for each in maps for old, new in each.items() if old in names and old != new)

    def share(self, unit: Unit, names: CallNames) -> None:
        """The names of common blocks.

        Raises:
            Refused: a block is laid out otherwise than elsewhere.
        """
        for common in unit.commons:
            known = self._commons.get(common.block)
            if known is None:
                renamed = tuple(self.unique(name, common.block or "common") for name in common.names)
                names.renamed |= dict(zip(common.names, renamed, strict=True))
                self._commons[common.block] = renamed
                continue
            if len(common.names) > len(known):
                raise Refused(f"COMMON /{common.block}/ is longer in it than before")
            names.renamed |= dict(zip(common.names, known, strict=False))

    def common_places(self) -> Mapping[str, str]:
        """The variables of common blocks: `/block/2` is the third one."""
        return {f"/{block}/{at}": name for block, names in self._commons.items() for at, name in enumerate(names)}

    def declare(self, unit: Unit, entities: Iterable[Entity], names: CallNames) -> None:
        """Local names of a procedure; each has one place for all calls, for each of its shapes."""
        shared = {name for common in unit.commons for name in common.names}
        dummies = {*unit.arguments, *names.parts}
        for entity in entities:
            if entity.name in dummies | shared or not self._is_variable(unit, entity):
                continue
            known = self.entities.get(entity.name)
            made = names.entity(entity)
            if known is not None and "parameter" in known.attributes and _alike(known, made):
                continue
            key = (unit.name, entity.name, made.shape)
            if key not in self._locals:
                self._locals[key] = self.unique(entity.name, unit.name)
            names.renamed[entity.name] = self._locals[key]
            self.entities.setdefault(names.of(entity.name), names.entity(entity))
            if entity.initial is None and "save" not in entity.attributes:
                self.private[names.of(entity.name)] = unit.name

    def declare_shared(self, unit: Unit, names: CallNames) -> None:
        """The variables of common blocks.

        Raises:
            Refused: a block is laid out otherwise than elsewhere.
        """
        for common in unit.commons:
            for name in common.names:
                entity, place = unit.entity(name), names.of(name)
                if entity is None:
                    raise Refused(f"{name} of COMMON /{common.block}/ has no declaration")
                made = names.entity(entity)
                known = self.entities.setdefault(place, made)
                if known.type != made.type or self._extents(known) != self._extents(made):
                    raise Refused(f"COMMON /{common.block}/ is laid out differently in it: {name}")
        for each in unit.equivalences:
            made_set = replace(each, members=tuple(map(names.expression, each.members)))
            if made_set not in self.equivalences:
                self.equivalences.append(made_set)

    def _extents(self, entity: Entity) -> Sequence[tuple[Expr | Value | None, ...]]:
        """The bounds of an entity as numbers where they are known."""
        known = self.constants()

        def value(expr: Expr | None) -> Expr | Value | None:
            try:
                return evaluate(expr, known) if expr is not None else None
            except Unknown:
                return expr

        return [(value(each.lower or IntLit(1)), value(each.upper)) for each in entity.shape or ()]

    def direct(self, unit: Unit, names: CallNames) -> None:
        """The mapping directives of a unit but for those of dummies; equal declarations of two units are one."""
        for each in unit.directives:
            if isinstance(each, d.Processors | d.Template):
                known = [old for old in self.directives if isinstance(old, type(each)) and old.name == each.name]
                if not any(_plain(old) == _plain(each) for old in known) or self._is_dealt_otherwise(each, unit, names):
                    key = (unit.name, names.directive(each))
                    if key not in self._templates:
                        self._templates[key] = self.unique(each.name, unit.name)
                    names.renamed[each.name] = self._templates[key]
        shared = {name for common in unit.commons for name in common.names}
        mapped_ = {d.mapped_name(each) for each in self.directives}
        for each in unit.directives:
            name = d.mapped_name(each)
            if name in names.parts or isinstance(each, d.Inherit):
                continue
            made = names.directive(each)
            placed = d.mapped_name(made)
            if (placed and placed in mapped_) or _plain(made) in map(_plain, self.directives):
                if (not placed or name in shared or unit.entity(name) is None) and not self._is_noted(made):
                    self.repeated.append(made)
                continue
            self.directives.append(made)

    def _is_dealt_otherwise(self, declared: d.Directive, unit: Unit, names: CallNames) -> bool:
        """Whether a unit distributes its own template otherwise than an equal one of the same name is distributed."""
        if not isinstance(declared, d.Template):
            return False
        name = declared.name
        mine = [names.directive(each) for each in unit.directives if d.mapped_name(each) == name]
        theirs = [each for each in self.directives if d.mapped_name(each) == name]
        return any(not _deals_alike(one, other) for one in mine for other in theirs) or bool(mine and not theirs)

    def _is_noted(self, directive: d.Directive) -> bool:
        """Whether a directive is already among those of the program: a procedure may be called several times."""
        return any(directive.span == each.span for each in (*self.directives, *self.repeated))

    def _is_variable(self, unit: Unit, entity: Entity) -> bool:
        """Whether a name is a variable there, and not a function that the unit calls."""
        name = entity.name
        if name not in self._procedures or name == unit.name:
            return True
        if "external" in entity.attributes or name in (each.name for each in unit.contains):
            return False
        if unit.kind == "module" or entity.shape is not None or entity.initial is not None:
            return True
        shared = (name for common in unit.commons for name in common.names)
        return name in shared or any(name in self._effects.assigned(each) for each in (unit, *unit.contains))


def _alike(one: Entity, other: Entity) -> bool:
    """Whether two declarations are equal; one of them may get its type from its first letter."""
    mine, theirs = ((each.type, each.shape, each.attributes - {"implicit"}, each.initial) for each in (one, other))
    return mine == theirs


def _plain(directive: d.Directive) -> d.Directive:
    return replace(directive, span=NOWHERE)


def _deals_alike(one: d.Directive, other: d.Directive) -> bool:
    """Whether two DISTRIBUTE are the same, one of which may leave the processors open."""
    if isinstance(one, d.Distribute) and isinstance(other, d.Distribute) and None in (one.onto, other.onto):
        one, other = replace(one, onto=None), replace(other, onto=None)
    return _plain(one) == _plain(other)
