"""Derived types in random programs: two arrays that are components of one array, one that is a component of a scalar.

The program is written with arrays; `as_records` then puts components in their place, so that all statements meet them.
"""

import re

TWO = ("a", "b")
"""The arrays that become p%a and p%b."""
ONE = "c"
"""The array that becomes z%c, mapped in the definition of its type."""
_MARK = "!records "


class Records:
    """The derived types of `tests.aag.spmd.programs.Writer`."""

    def group(self, *, alone):
        """Give the second array the bounds of the first one, and its mapping; note what becomes a component. `alone`:
        there is no second type, whose component could not be remapped."""
        first, second = (next(each for each in self.arrays if each.name == name) for name in TWO)
        self.arrays[self.arrays.index(second)] = type(first)(second.name, first.bounds)
        self.directives = [each for each in self.directives if not _maps(each, second.name)]
        self.directives = [each for each in self.directives if not each.startswith(f"align with {second.name} ::")]
        target = any(f"align with {ONE} ::" in each for each in self.directives)
        self.directives.append(f"{_MARK}{'' if alone or target or self.chance(30) else ONE}".rstrip())
        self.components = TWO[1:]

    def recorded(self):
        """A statement with whole values of the type of p."""
        array = next(each for each in self.arrays if each.name == TWO[0])
        form = self.pick("many", "many", "forall", "one", "swap", "shift", "call", "function")
        return getattr(self, f"recorded_{form}")(array)

    def whole(self, text):
        """A reference to an element or section of p, from one to its first component."""
        return re.sub(r"^a\b", "p", text)

    def one_of(self, array, rows=({},)):
        return self.whole(self.reference(list(rows), array))

    def recorded_many(self, array):
        extents = tuple(self.random.randint(1, each) for each in array.extents)
        target, source = self.section(array, extents), self.section(array, extents)
        if target is None or source is None:
            return ["p = pair(0.5d0 * s, 0.25d0)"]
        values = (self.whole(source), "q", "pair(0.5d0 * q%b, s)", f"pair({self.reference([{}])}, 0.5d0 * s)")
        return [f"{self.whole(target)} = {self.pick(*values)}"]

    def recorded_forall(self, array):
        loops, rows = self.loops(self.random.randint(1, array.rank))
        target = self.target(array, loops, rows) if rows else None
        if target is None:
            return self.recorded_one(array)
        whole, made = self.one_of(array, rows), f"pair({self.expression(rows)}, {self.reference(rows)})"
        several = all(re.search(rf"\b{each}\b", made) for each in "ab")  # components that it changes: not modelled
        value = self.pick(whole, whole if several else made)
        return [f"forall ({', '.join(each.text() for each in loops)}) {self.whole(target)} = {value}"]

    def recorded_one(self, array):
        return [
            f"q = {self.pick(self.one_of(array), 'pair(b=0.5d0 * s, a=0.25d0 * q%a)')}",
            f"{self.one_of(array)} = {self.pick('q', self.one_of(array))}",
            "s = 0.25d0 * s + 0.25d0 * q%a + 0.25d0 * q%b",
        ]

    def recorded_swap(self, array):
        return ["q = pair(q%b, q%a)", f"{self.one_of(array)} = q"]

    def recorded_shift(self, array):
        return [f"p = cshift(p, {self.random.randint(-2, 3)}, dim={self.random.randint(1, array.rank)})"]

    def recorded_call(self, array):
        name = self.fresh()
        self.internal += [
            f"subroutine {name}(u, v)",
            "type(pair), intent(inout) :: u, v",
            "type(pair) :: w",
            "w = u",
            "u = pair(0.5d0 * v%b + 0.25d0 * w%a, v%a)",
            "v%b = 0.5d0 * w%b",
            f"end subroutine {name}",
        ]
        return [f"call {name}({self.one_of(array)}, q)"]

    def recorded_function(self, array):
        name = self.fresh()
        self.internal += [
            f"function {name}(u, v) result(w)",
            "type(pair), intent(in) :: u, v",
            "type(pair) :: w",
            "w%a = 0.5d0 * u%a + 0.5d0 * v%b",
            "w%b = 0.5d0 * u%b",
            f"end function {name}",
        ]
        inner = f"{name}({self.one_of(array)}, q)"
        return [f"{self.pick('q', self.one_of(array))} = {name}({self.pick('q', inner)}, {self.one_of(array)})"]


def _maps(directive, name):
    heads = (f"distribute {name}(", f"align {name}(", f"redistribute {name}(")
    return directive.startswith(heads) or directive.endswith(f":: {name}")


def as_records(text):
    """The program with components in place of arrays, where it is marked."""
    lines = text.splitlines()
    mark = next((at for at, line in enumerate(lines) if _MARK.strip() in line), None)
    if mark is None:
        return text
    one = lines[mark].partition(_MARK.strip())[2].strip()
    bounds = {name: next(line for line in lines if f":: {name}(" in line).partition("::")[2].strip() for name in "ac"}
    removed = {f"double precision :: {bounds['a']}", f"double precision :: b{bounds['a'][1:]}"}
    removed |= {f"double precision :: {bounds['c']}"} if one else set()
    inside = [line for line in lines if one and _maps(line.strip().removeprefix("!hpf$ "), one)]
    kept = [line for line in lines if line.strip() not in {*removed, lines[mark].strip()} and line not in inside]
    types = ["type pair", "  double precision :: a, b", "end type pair", f"type(pair) :: p{bounds['a'][1:]}, q"]
    if one:
        types += [
            "type one",
            f"  double precision :: {bounds['c']}",
            *(_line(line, one) for line in inside),
            "end type one",
            "type(one) :: z",
        ]
    place = next(at for at, line in enumerate(kept) if line.strip() == "implicit none") + 1
    made = [*kept[:place], *types, *(_line(line, one) for line in kept[place:])]
    first = next(at for at, line in enumerate(made) if line.strip() == "s = 0.5d0") + 1
    made.insert(first, "q = pair(0.5d0, 0.25d0)")
    return "\n".join(made) + "\n"


def _line(line, one):
    if line.strip().startswith("!hpf$"):
        return re.sub(r"\ba\b", "p", line)
    line = re.sub(r"(?<!%)\bc\b(?!=)", "z%c", line) if one else line
    for name in TWO:
        line = _component(line, name)
    return line


def _component(line, name):
    """Each ``a(...)`` as ``p(...)%a``, each ``a`` as ``p%a``."""
    made, at = "", 0
    for found in re.finditer(rf"(?<!%)\b{name}\b(?!=)", line):
        if found.start() < at:  # inside of subscripts
            continue
        end = found.end()
        if line[end : end + 1] == "(":
            end = _closing(line, end)
            inner = _component(line[found.end() : end + 1], name)
            made += f"{line[at : found.start()]}p{inner}%{name}"
            at = end + 1
        else:
            made += f"{line[at : found.start()]}p%{name}"
            at = end
    return made + line[at:]


def _closing(line, at):
    """The place of the parenthesis that closes the one at a place."""
    depth = 0
    for place in range(at, len(line)):
        depth += (line[place] == "(") - (line[place] == ")")
        if not depth:
            return place
    raise ValueError(line)
