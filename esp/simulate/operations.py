"""What statements of a program text do each time they run, by operation class and loop level.

The rules are those of docs/definitions.md, applied to the text that runs: what holds constants only costs nothing; an
array element is loaded once in a loop body however often it is written there; with `invariant` what does not depend on
the inner loops is done before them; with `strength` an address that is linear in the index of the innermost loop is
stepped (``index.1d``) instead of computed.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fparser.two import Fortran2003
from fparser.two.utils import Base, BinaryOpBase, UnaryOpBase, walk

from aag.ir.intrinsics import charged
from aag.ir.operations import component, operations
from aag.ir.units import Type
from esp.simulate.scope import NameTable, called, is_intrinsic, keywords, wider

_CLASSES = {"+": "add", "-": "add", "*": "mul", "/": "div"}
_COMPARISONS = frozenset(("==", "/=", "<", "<=", ">", ">=", ".EQ.", ".NE.", ".LT.", ".LE.", ".GT.", ".GE."))
_UNKNOWN_POWER = 4
"""Multiplications of a power with an integer exponent that the compiler does not know (docs/definitions.md)."""
_INQUIRIES = frozenset(("huge", "tiny", "epsilon", "kind", "digits", "precision", "range", "bit_size"))
"""Intrinsic functions that ask for the type of their argument alone."""
_OWN = re.compile(r"_(lo|hi)\d+$")
"""Variables of a node program with the bounds of what a processor owns."""
_VALUES = frozenset(("esp_infinity_r4", "esp_infinity_r8"))
"""Variables of the run-time library that never change."""
_NUMBERS = ("integer", "real", "complex")

Linear = tuple[frozenset[tuple[str, int]], int]
"""Coefficients of names, and a constant."""


class Operations:
    """Operations of a nest of loops: one Counter for each level, 0 before the loops."""

    def __init__(
        self,
        scope: NameTable,
        loops: Sequence[str] = (),
        assigned: Mapping[str, int] | None = None,
        *,
        around: str = "",
        invariant: bool,
        strength: bool,
    ) -> None:
        """`loops`: indices, outermost first; `assigned`: scalars that the loops assign, and the level at which they
        do; `around`: the index of the loop around, where there are no loops."""
        self.scope = scope
        self.loops = tuple(loops)
        self.assigned = assigned or {}
        self.invariant = invariant
        self.strength = strength
        self.inner = (around if not loops else "", *loops)
        self.levels: list[Counter[str]] = [Counter() for _ in range(len(loops) + 1)]
        self.loaded: set[tuple[int, str]] = set()
        self.addressed: set[tuple[int, object]] = set()
        self.in_subscript = False
        self.kept_inside: set[str] = set()
        """Subscripts that EOSHIFT reads where the array has no element, as texts."""

    def seen(self) -> tuple[set[tuple[int, str]], set[tuple[int, object]]]:
        """What is loaded, and what is addressed so far."""
        return set(self.loaded), set(self.addressed)

    def forget(self, former: tuple[set[tuple[int, str]], set[tuple[int, object]]], level: int) -> None:
        """Behind a condition nothing is certain of what was done at a level since then, under it."""
        loaded, addressed = former
        self.loaded = {each for each in self.loaded if each in loaded or each[0] < level}
        self.addressed = {each for each in self.addressed if each in addressed or each[0] < level}

    def level(self, node: Base, used: int) -> int:
        """Where the value of an expression is computed that is used at a level."""
        if not used or not self.invariant or self._acts(node):
            return used
        names = names_of(node)
        indices = [at for at, each in enumerate(self.loops, start=1) if each in names]
        return min(used, max([*indices, *(self.assigned.get(each, 0) for each in names)], default=0))

    def expression(self, node: Any, used: int) -> None:
        """Count an expression whose value is used at a level."""
        while isinstance(node, Fortran2003.Parenthesis):
            node = node.items[1]
        if self.in_subscript:
            node = self._untranslated(node)
        if node is None or self.is_known(node):
            return
        at = self.level(node, used)
        count = self.levels[at]
        match node:
            case Fortran2003.Part_Ref() | Fortran2003.Name() if self.scope.is_array(node):
                self._load(node, at, used)
                return
            case Fortran2003.Intrinsic_Function_Reference() if (mask := _counting(node)) is not None:
                count["int.add"] += 1
                self.expression(mask, used)
                return
            case Fortran2003.Intrinsic_Function_Reference() if (shifted := _shifted_off(node)) is not None:
                value, place = shifted
                self.kept_inside.add(place)
                self.expression(value, used)
                return
            case Fortran2003.Intrinsic_Function_Reference():
                name, arguments = called(node)
                arguments = [*arguments, *(value for key, value in keywords(node) if key != "kind")]
                count.update(charged(name, [self.scope.type_of(each) for each in arguments], self.scope.type_of(node)))
                for each in arguments:
                    self.expression(each, used)
                return
            case Fortran2003.Part_Ref() | Fortran2003.Function_Reference() | Fortran2003.Structure_Constructor():
                count["call"] += not is_pair(node)
                for each in _subscripts(node):
                    self.expression(each, used)
                return
            case BinaryOpBase():
                left, operator, right = node.items
                if str(operator) in "+-":
                    right = _without_sign(right)
                self._binary(node, left, str(operator).upper(), right, at)
                self.expression(left, used)
                self.expression(right, used)
                return
            case UnaryOpBase():
                operator, operand = str(node.items[0]).upper(), node.items[1]
                if operator == ".NOT.":
                    count["logical"] += 1
                elif operator == "-":
                    count.update(operations(self.scope.type_of(node), "add"))
                self.expression(operand, used)

    def bounds(self, ends: Sequence[Base], used: int) -> None:
        """Count the bounds and the step of a loop. What clips them to what a processor owns is not the program's."""
        for each in ends:
            if isinstance(each, Fortran2003.Intrinsic_Function_Reference) and called(each)[0] in ("max", "min"):
                arguments = called(each)[1]
                clipped = [one for one in arguments if not is_own_bound(one)]
                if len(clipped) == 1 < len(arguments):
                    self.expression(clipped[0], used)
                    continue
            if isinstance(each, Fortran2003.Part_Ref) and str(each.items[0]).lower() == "esp_first":
                self.expression(_subscripts(each)[0], used)
                continue
            self.expression(each, used)

    def assign(self, target: Base, value: Base, level: int) -> None:
        """Count an assignment at a level; one of a node program may stand for a call of the source."""
        if str(value).lower() == "esp_call":
            self.levels[level]["call"] += 1
            return
        self.expression(value, level)
        self._convert(value, self.scope.type_of(target), level)
        if self.scope.is_array(target):
            self.levels[level]["store"] += 1
            self._address(target, level, level)
            self.loaded.add((self.level(target, level), text_of(target)))
        elif not (self.loops and str(target).lower() in names_of(value)):
            self.levels[level]["assign"] += 1

    def _is_offset(self, node: Any) -> bool:
        """Whether a subscript is an index with a constant beside it, which the addressing absorbs."""
        node = self._untranslated(node)
        if self.is_known(node):
            return True
        match node:
            case Fortran2003.Name():
                return True
            case Fortran2003.Parenthesis():
                return self._is_offset(node.items[1])
            case BinaryOpBase():
                return str(node.items[1]) in "+-" and self._is_offset(node.items[0]) and self._is_offset(node.items[2])
        return False

    def is_known(self, node: Any) -> bool:
        """Whether the compiler knows the value of an expression."""
        match node:
            case Fortran2003.Name():
                found = self.scope.entity(str(node))
                return str(node).lower() in _VALUES or (found is not None and found.known)
            case Fortran2003.Part_Ref() | Fortran2003.Function_Reference() | Fortran2003.Structure_Constructor():
                return False
            case Fortran2003.Data_Ref():
                return False
            case Fortran2003.Intrinsic_Function_Reference():
                name, arguments = called(node)
                return name in _INQUIRIES or (is_intrinsic(name) and all(map(self.is_known, arguments)))
            case Fortran2003.Parenthesis():
                return self.is_known(node.items[1])
            case BinaryOpBase():
                return self.is_known(node.items[0]) and self.is_known(node.items[2])
            case UnaryOpBase():
                return self.is_known(node.items[1])
        return True

    def _acts(self, node: Base) -> bool:
        """Whether an expression calls a function that may do more than compute a value."""
        return any(not self.scope.is_array(each) for each in walk(node, Fortran2003.Part_Ref)) or bool(
            walk(node, Fortran2003.Function_Reference) or walk(node, Fortran2003.Structure_Constructor)
        )

    def _binary(self, node: Base, left: Base, operator: str, right: Base, at: int) -> None:
        count = self.levels[at]
        if operator in (".AND.", ".OR.", ".EQV.", ".NEQV."):
            count["logical"] += 1
            return
        one, other = self.scope.type_of(left), self.scope.type_of(right)
        common = wider(one, other)
        self._convert(left, common, at)
        if operator == "**":
            self._power(self.scope.type_of(node), right, count)
            return
        self._convert(right, common, at)
        if operator in _COMPARISONS:
            count.update(operations(common, "cmp"))
        elif operator in _CLASSES:
            count.update(operations(common, _CLASSES[operator]))

    def _power(self, result: Type, right: Base, count: "Counter[str]") -> None:
        if self.scope.type_of(right).base != "integer":
            count.update(operations(result, "pow"))
            return
        exponent = self._integer(right)
        if exponent is None and result.base == "integer":
            count.update(operations(result, "pow"))
        elif exponent is None:
            count.update(operations(result, "mul", _UNKNOWN_POWER))
        else:  # by repeated squaring
            size = abs(exponent)
            products = max(0, size.bit_length() - 1 + size.bit_count() - 1)
            count.update(operations(result, "mul", products))
            if exponent < 0:
                count.update(operations(result, "div"))

    def _integer(self, node: Any) -> int | None:
        """The value of an integer that the compiler knows."""
        match node:
            case Fortran2003.Int_Literal_Constant():
                return int(str(node.items[0]))
            case Fortran2003.Parenthesis():
                return self._integer(node.items[1])
            case Fortran2003.Name():
                found = self.scope.entity(str(node))
                return self._integer(found.value) if found is not None and found.known else None
            case UnaryOpBase():
                value = self._integer(node.items[1])
                return None if value is None else -value if str(node.items[0]) == "-" else value
            case BinaryOpBase():
                one, other = self._integer(node.items[0]), self._integer(node.items[2])
                if one is None or other is None:
                    return None
                operator = str(node.items[1])
                if operator == "/" and other:
                    return abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
                return {"+": one + other, "-": one - other, "*": one * other}.get(operator)
        return None

    def _convert(self, node: Base, wanted: Type, used: int) -> None:
        own = self.scope.type_of(node)
        numbers = own.base in _NUMBERS and wanted.base in _NUMBERS
        if numbers and component(own) != component(wanted) and not self.is_known(node):
            self.levels[self.level(node, used)]["convert"] += 1

    def _load(self, node: Base, at: int, used: int) -> None:
        key = at, text_of(node)
        if key in self.loaded:
            return
        self.loaded.add(key)
        self.levels[at]["load"] += 1
        self._address(node, at, used)

    def _address(self, node: Base, at: int, used: int) -> None:
        subscripts = [self._untranslated(each) for each in _subscripts(node)]
        if self.strength and self.inner[at] and self._stepped(node, subscripts, at):
            return
        key = at, text_of(node)
        if key in self.addressed:
            return
        self.addressed.add(key)
        self._index(len(subscripts), at)
        self._computed(subscripts, used)

    def _untranslated(self, node: Base) -> Base:
        """A subscript of the source in the place of what says where the run-time library keeps the element. One that
        goes round at the end of a dimension counts as one that does not: a loop is split there."""
        if isinstance(node, Fortran2003.Part_Ref) and str(node.items[0]).lower() in self.scope.translations:
            return self._untranslated(_subscripts(node)[0])
        if text_of(node) in self.kept_inside:
            return called(called(node)[1][1])[1][1]
        sum_ = isinstance(node, BinaryOpBase) and str(node.items[1]) == "+"
        round_ = node.items[0] if sum_ else node  # a lower bound of 0 is not added
        if isinstance(round_, Fortran2003.Intrinsic_Function_Reference) and called(round_)[0] == "modulo":
            value, modulus = called(round_)[1]
            if isinstance(modulus, Fortran2003.Intrinsic_Function_Reference) and called(modulus)[0] == "max":
                return value
        return node

    def _index(self, rank: int, at: int) -> None:
        self.levels[at]["index.1d" if rank == 1 else "index.2d"] += max(1, rank - 1)

    def _stepped(self, node: Base, subscripts: Sequence[Base], at: int) -> bool:
        index = self.inner[at]
        if at and any(self.assigned.get(name, 0) >= at for each in subscripts for name in names_of(each)):
            return False
        forms = [self._linear(each) for each in subscripts]
        atoms = {name for form in forms for name, _ in form[0]}
        if any(index in _words(atom) and atom != index for atom in atoms):
            return False
        key = at, (name_of(node), *(form[0] for form in forms))
        if key in self.addressed:
            return True
        self.addressed.add(key)
        if any(atom == index for form in forms for atom, _ in form[0]):
            self.levels[at]["index.1d"] += 1
        start = at - 1, ("start", *key[1])
        if at and start not in self.addressed:
            self.addressed.add(start)
            self._index(len(forms), at - 1)
            self._computed(subscripts, at - 1)
        return True

    def _computed(self, subscripts: Sequence[Base], used: int) -> None:
        """Count what computes subscripts that are no plain index."""
        around, self.in_subscript = self.in_subscript, True
        for each in subscripts:
            if not self._is_offset(each):
                self.expression(each, used)
        self.in_subscript = around

    def _linear(self, node: Any) -> Linear:
        """A subscript as a sum of multiples of names, and of texts that are none."""
        node = self._untranslated(node)
        value = self._integer(node)
        if value is not None:
            return frozenset(), value
        match node:
            case Fortran2003.Parenthesis():
                return self._linear(node.items[1])
            case Fortran2003.Name():
                return frozenset(((str(node).lower(), 1),)), 0
            case UnaryOpBase():
                return _scaled(self._linear(node.items[1]), -1 if str(node.items[0]) == "-" else 1)
            case BinaryOpBase():
                left, operator, right = node.items
                if str(operator) in "+-":
                    return _sum(self._linear(left), _scaled(self._linear(right), -1 if str(operator) == "-" else 1))
                for one, other in ((left, right), (right, left)):
                    factor = self._integer(one)
                    if str(operator) == "*" and factor is not None:
                        return _scaled(self._linear(other), factor)
        return frozenset(((text_of(node), 1),)), 0


def is_own_bound(node: Any) -> bool:
    """Whether an expression is the first or last subscript of what a processor owns."""
    return any(_OWN.search(str(each).lower()) for each in walk(node, Fortran2003.Name))


def is_pair(node: Any) -> bool:
    """Whether an expression makes a pair of a value and its place, for MAXLOC or MINLOC."""
    return hasattr(node, "items") and str(node.items[0]).lower().startswith("esp_pair_")


def _counting(node: Base) -> Base | None:
    """The condition of ``merge(n + 1, n, condition)``, a step of COUNT, which is an addition where it holds."""
    name, arguments = called(node)
    if name != "merge" or len(arguments) != 3 or text_of(arguments[0]) != f"{text_of(arguments[1])}+1":
        return None
    return arguments[2]


def _shifted_off(node: Base) -> tuple[Base, str] | None:
    """What EOSHIFT became: ``merge(value, boundary, i >= 1 .and. i <= n)`` with ``a(max(1, min(n, i)))`` in the value.
    The value, and the text of the subscript that is kept inside; a loop is split where the array ends."""
    name, arguments = called(node)
    if name != "merge" or len(arguments) != 3:
        return None
    match text_of(arguments[2]).split(".and."):
        case [first, last] if ">=" in first and "<=" in last:
            (place, lower), (same, upper) = first.split(">=", 1), last.split("<=", 1)
            for read in (place, f"{place}+0"):
                inside = f"max({lower},min({upper},{read}))"
                if place == same and inside in text_of(arguments[0]):
                    return arguments[0], inside
    return None


def _without_sign(node: Any) -> Any:
    """What a negative term is without its sign, which makes a difference of a sum."""
    inner = node
    while isinstance(inner, Fortran2003.Parenthesis):
        inner = inner.items[1]
    return inner.items[1] if isinstance(inner, UnaryOpBase) and str(inner.items[0]) == "-" else node


def _scaled(form: Linear, factor: int) -> Linear:
    return frozenset((name, factor * often) for name, often in form[0] if factor), factor * form[1]


def _sum(one: Linear, other: Linear) -> Linear:
    total = Counter(dict(one[0]))
    for name, often in other[0]:
        total[name] += often
    return frozenset((name, often) for name, often in total.items() if often), one[1] + other[1]


def _subscripts(node: Base) -> list[Base]:
    if isinstance(node, Fortran2003.Name):
        return [node]
    inside = node.items[1]
    return list(inside.items) if type(inside).__name__.endswith("_List") else [] if inside is None else [inside]


def name_of(node: Base) -> str:
    """The name of an array, of which a node is an element."""
    return str(node if isinstance(node, Fortran2003.Name) else node.items[0]).lower()


def text_of(node: Base) -> str:
    """An expression in one spelling."""
    return str(node).lower().replace(" ", "")


def _words(text: str) -> set[str]:
    return set("".join(each if each.isalnum() or each == "_" else " " for each in text).split())


def names_of(node: Any) -> set[str]:
    """The names in an expression."""
    return {str(each).lower() for each in walk(node, Fortran2003.Name)}
