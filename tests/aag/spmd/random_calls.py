"""Procedures in random programs: internal and external, arguments whole, in sections and from elements on, COMMON,
RETURN, functions, generic names."""

import re

SHARED = "inner"
"""The name of internal procedures in several hosts."""

INSIDE = ("forall", "assignment", "do", "scalar", "where")


class Calls:
    """The procedures of `tests.aag.spmd.programs.Writer`. `internal` stand behind CONTAINS, `external` behind the
    program."""

    def called(self):
        several = "hosted", "passed", "passed", "vectors", "vectors", "sequence"
        kind = self.pick(*several, "user_function", "array_function", "common", "procedure")
        made = getattr(self, kind)()
        return made if kind in ("vectors", "sequence", "common", "procedure") or self.chance(60) else self.generic(made)

    def generic(self, lines):
        """The same statements; an internal procedure has a name that it shares with one of other arguments."""
        text = "\n".join(lines)
        heads = (re.search(r"\b(subroutine|function) (p\d+)\(", each) for each in self.internal)
        found = next((each for each in heads if each and re.search(rf"\b{each[2]}\(", text)), None)
        if found is None:
            return lines
        kind, name = found.groups()
        shared, other = self.fresh(), self.fresh()
        self.internal += [
            f"{kind} {other}(x){' result(y)' if kind == 'function' else ''}",
            f"logical :: x{self.pick('', '(:)')}",
            *(["double precision :: y", "y = 7"] if kind == "function" else ["x = .true."]),
            f"end {kind} {other}",
        ]
        listed = self.pick(f"{name}, {other}", f"{other}, {name}")
        self.interfaces += [f"interface {shared}", f"  procedure {listed}", "end interface"]
        return [re.sub(rf"\b{name}\(", f"{shared}(", each) for each in lines]

    def fresh(self):
        """A name that no other program has, as many are compiled together."""
        return f"p{self.random.randrange(10**9)}"

    def statements(self):
        lines = self.statement(INSIDE)
        if self.chance(30):
            lines = [*lines, f"if (s > {self.pick('0.2d0', '0.4d0')}) return", *self.statement(INSIDE)]
        if self.chance(15):
            lines = [*lines, "do it1 = 1, 3", "if (s > 0.3d0 * it1) return", "s = s / 2 + 0.1d0", "end do"]
        return lines

    def hosted(self):
        """An internal subroutine that works with the variables of its host."""
        taken = any(f"subroutine {SHARED}()" in each for each in self.internal)
        name = self.fresh() if taken else SHARED
        own = ["integer :: it1", *(["integer :: i, j, k"] if self.chance(50) else [])]
        self.internal += [f"subroutine {name}()", *own, *self.statements(), *self.shown(), f"end subroutine {name}"]
        return [f"call {name}()"]

    def shown(self):
        """An implied DO in a PRINT, perhaps with an index of the procedure."""
        vectors = [each for each in self.arrays if each.rank == 1]
        if not vectors or not self.chance(25):
            return []
        lower, upper = (array := self.random.choice(vectors)).bounds[0]
        return [f"print *, ({array.name}(i), i = {lower}, {upper})"]

    def passed(self):
        """A subroutine that gets everything as arguments, under other names."""
        name, external = self.fresh(), self.chance(60)
        renamed = {each.name: f"d{each.name}" for each in self.arrays}
        body = [rename(line, {**renamed, "s": "total"}) for line in self.statements()]
        if not external and self.results and self.chance(40):  # a template of the program moves in the procedure
            template, extents = self.random.choice(list(self.templates.items()))
            moved = self.redistribute(template, extents)
            body.insert(0, f"!hpf$ {moved}")
        shapes = []
        for each in self.arrays:
            assumed = not external and self.chance(50)
            ends = (f"{lower}:" if assumed else f"{lower}:{upper}" for lower, upper in each.bounds)
            shapes.append(f"double precision :: {renamed[each.name]}({', '.join(ends)})")
        mapped = self.mapped_dummies(name, renamed) if self.chance(50) else []
        head = [
            f"subroutine {name}({', '.join([*renamed.values(), 'total'])})",
            *(["implicit none"] if external else []),
            *shapes,
            *mapped,
            "double precision :: total, t",
            "integer :: i, j, k, it1",
        ]
        if external and self.chance(40):
            body = self.inside(body)
        (self.external if external else self.internal).extend([*head, *body, f"end subroutine {name}"])
        return [f"call {name}({', '.join([*renamed, 's'])})"]

    def inside(self, body):
        """Statements of an external procedure in an internal one of its own, which sees the dummies of its host."""
        name, times = self.pick(SHARED, self.fresh()), self.pick(1, 1, 2)
        own = self.pick([], ["integer :: i, j, k, it1"], ["double precision :: t", "integer :: it1"])
        return [*[f"call {name}()"] * times, "contains", f"subroutine {name}()", *own, *body, f"end subroutine {name}"]

    def mapped_dummies(self, name, renamed):
        """Directives for some dummies and the arrangements that they name: esp takes what lies elsewhere there."""
        lines = []
        for each in self.arrays:
            grids = [(grid, shape) for grid, shape in self.grids.items() if len(shape) <= each.rank]
            if grids and self.chance(50):
                grid, shape = self.random.choice(grids)
                formats = self.formats(each.rank, shape, each.extents)
                lines.append(f"!hpf$ distribute {renamed[each.name]}({formats}) onto {grid}")
        used = [grid for grid in self.grids if any(line.endswith(grid) for line in lines)]
        return [*(f"!hpf$ processors {grid}({', '.join(map(str, self.grids[grid]))})" for grid in used), *lines]

    def vectors(self):
        """A subroutine for vectors, called with sections, columns, and from an element on."""
        name, length = self.fresh(), self.random.randint(1, 4)
        given = [self.vector(length) for _ in range(2)]
        if None in given or given[0].split("(")[0] == given[1].split("(")[0]:
            return self.scalar()
        lower = self.pick(1, 1, 0, 3)
        bounds = f"{lower}:" if ":" in given[0] + given[1] and self.chance(50) else f"{lower}:{lower - 1}+m"
        if any(":" not in each for each in given):
            bounds = f"{lower}:{lower - 1}+m"
        loop = f"do i = {lower}, {lower - 1}+m"
        back = f"{2 * lower - 1}+m-i"
        update = f"x(i) = 0.5d0 * x(i) + 0.25d0 * y({back}) + factor"
        body = [loop, update, "end do"] if self.chance(60) else ["x = 0.5d0 * x + factor * y"]
        head = [f"subroutine {name}(x, y, m, factor)", "integer :: m, i", "double precision :: factor"]
        where = self.internal if bounds.endswith(":") else self.random.choice((self.internal, self.external))
        if where is self.external and self.chance(40):
            body = self.inside(body)
        where += [*head, f"double precision :: x({bounds}), y({bounds})", *body, f"end subroutine {name}"]
        return [f"call {name}({given[0]}, {given[1]}, {length}, {self.pick('0.125d0', 's', 's / 2')})"]

    def vector(self, length):
        """A section of one dimension, or the first of some elements along the first dimension."""
        array = self.random.choice(self.arrays)
        if self.chance(60):
            return self.section(array, (length,))
        lower, upper = array.bounds[0]
        if upper - lower + 1 < length:
            return None
        rest = [self.subscript([], each) for each in array.bounds[1:]]
        return f"{array.name}({', '.join([str(self.random.randint(lower, upper - length + 1)), *rest])})"

    def sequence(self):
        """A subroutine that has the elements of an array without mapping in another shape, from one on."""
        listed = " ".join(self.directives)
        free = [each for each in self.arrays if each.rank > 1 and not re.search(rf"\b{each.name}\b", listed)]
        if not free:
            return self.scalar()
        array = self.random.choice(free)
        first = [self.random.randint(*bounds) for bounds in array.bounds]
        if self.chance(40):
            first = [bounds[0] for bounds in array.bounds]
        before, stride = 0, 1
        for (lower, upper), subscript in zip(array.bounds, first, strict=True):
            before += (subscript - lower) * stride
            stride *= upper - lower + 1
        width = self.pick(*(each for each in (1, 2, 3, 4) if before % each == 0 and stride - before >= each))
        length = self.random.randint(1, (stride - before) // width)
        name, actual = self.fresh(), f"{array.name}({', '.join(map(str, first))})"
        last = self.pick("*", "m", "1")
        shape, element = (f"l, {last}", "x(j, i)") if width > 1 else (last, "x(i)")
        inner = ["do j = 1, l"] if width > 1 else []
        self.random.choice((self.internal, self.external)).extend(
            [
                f"subroutine {name}(x, l, m, factor)",
                "integer :: l, m, i, j",
                f"double precision :: x({shape}), factor",
                "do i = 1, m",
                *inner,
                f"{element} = 0.5d0 * {element} + factor * i / (l + m)",
                *(["end do"] if inner else []),
                "end do",
                f"end subroutine {name}",
            ]
        )
        given = array.name if not before and self.chance(50) else actual
        return [f"call {name}({given}, {width}, {length}, {self.pick('0.125d0', 's')})"]

    def user_function(self):
        """A function of scalars, of one formula or of several statements."""
        name = self.fresh()
        several = ["if (x > y) then", f"{name} = 0.5d0 * x", "return", "end if"] if self.chance(50) else []
        head = [f"elemental double precision function {name}(x, y)", "double precision, intent(in) :: x, y"]
        value = "0.25d0 * x + 0.5d0 * y"
        if self.chance(40):
            value = f"{self.called_inside()}(x, {self.pick('y', '0.5d0 * y')}) + {value}"
        self.internal += [*head, *several, f"{name} = {value}", f"end function {name}"]
        one, other = self.expression([], 1), self.expression([], 1)
        if self.chance(30):
            return [f"s = {name}({one}, s) + {name}({other}, 0.5d0)"]
        if self.chance(50):
            return self.elementwise_function(name)
        loops, rows = self.loops(1)
        if not rows:
            return self.scalar()
        array = self.random.choice(self.arrays)
        target = self.reference(rows, array)
        value = f"{name}({self.reference(rows)}, {self.reference(rows)})"
        return [loops[0].do(), f"{target} = {value}", "end do"]

    def called_inside(self):
        """A function of scalars that another one calls."""
        name = self.fresh()
        head = [f"elemental double precision function {name}(x, y)", "double precision, intent(in) :: x, y"]
        several = [f"{name} = 0.125d0 * y", f"if (x > 0.5d0) {name} = {name} - 0.0625d0 * x"]
        body = self.pick([f"{name} = 0.125d0 * x - 0.0625d0 * y"], several)
        self.internal += [*head, *body, f"end function {name}"]
        return name

    def elementwise_function(self, name):
        """A function of scalars for each element of an array or a section."""
        target = self.random.choice(self.arrays)
        alike = [each.name for each in self.arrays if each.extents == target.extents and each is not target]
        whole = f"{target.name} = {name}({target.name}, s)"
        if self.chance(40) or not alike:
            return [whole]
        if self.chance(30):
            return [f"where ({alike[0]} > 0.4d0) {target.name} = 0.5d0 * {name}({alike[-1]}, {target.name})"]
        sections = [self.section(each, (2,)) for each in self.random.sample(self.arrays, len(self.arrays))]
        some = [each for each in sections if each is not None]
        if len({each.partition("(")[0] for each in some}) < 2:
            return [f"{target.name} = {name}({alike[-1]}, {alike[0]}) + 0.25d0 * {alike[0]}"]
        return [f"{some[0]} = {name}({some[1]}, 0.5d0) - 0.25d0 * {name}(s, {some[1]})"]

    def array_function(self):
        """A function that returns an array of the shape of its argument, in an assignment to another array; arguments
        may be expressions."""
        array = self.random.choice(self.arrays)
        alike = [each for each in self.arrays if each.extents == array.extents and each is not array]
        if not alike:
            return self.scalar()
        target = self.random.choice(alike)
        name, colons = self.fresh(), ", ".join(":" for _ in array.extents)
        sizes = ", ".join(f"size(x, {dim})" for dim in range(1, array.rank + 1))
        dim = self.random.randint(1, array.rank)
        self.internal += [
            f"function {name}(x) result(y)",
            f"double precision, intent(in) :: x({colons})",
            f"double precision :: y({sizes})",
            f"y = 0.5d0 * cshift(x, {self.pick(1, -1, 2)}, {dim})",
            *(["if (s > 0.3d0) return"] if self.chance(30) else []),
            "y = 0.25d0 * y + 0.5d0 * x",
            f"end function {name}",
        ]
        own, other = array.name, target.name
        return [
            self.pick(
                f"{other} = {name}({own})",
                f"{other} = 0.5d0 * {name}({own}) + 0.25d0 * {name}({other})",
                f"{other} = {name}(0.5d0 * {own} - {other}) + {own}",
                f"{own} = {name}({name}({own}))",
                f"s = 0.5d0 * s + 0.01d0 * maxval({name}({own}) * {other})",
                f"{other} = {name}(cshift({own}, 1, {dim}))",
            )
        ]

    def procedure(self):
        """A subroutine that gets a function as argument, and passes it on."""
        name, outer, function = self.fresh(), self.fresh(), self.fresh()
        self.interfaces.append(f"double precision, external :: {function}")
        self.external += [f"double precision function {function}(x)", "double precision, intent(in) :: x"]
        self.external += [f"{function} = 0.5d0 * x + 0.125d0"]
        self.external += [f"if (x > 0.5d0) {function} = 0.25d0 * x"] if self.chance(60) else []
        self.external += [f"end function {function}"]
        for each, body in ((name, "x = 0.5d0 * g(x) + 0.25d0 * g(0.5d0 * x)"), (outer, f"call {name}(g, x)")):
            head = [f"subroutine {each}(g, x)", "double precision, external :: g", "double precision :: x"]
            self.external += [*head, body, f"end subroutine {each}"]
        return [f"call {self.pick(name, outer)}({function}, s)"]

    def common(self):
        """Two subroutines that share a vector that the main program does not know."""
        one, other, block = self.fresh(), self.fresh(), self.fresh()
        array = self.random.choice(self.arrays)
        size = array.extents[0]
        rest = [self.subscript([], each) for each in array.bounds[1:]]
        line = f"{array.name}({', '.join([':', *rest])})"
        shape = f"double precision :: v({size}), w({size}), factor"
        for name, others, body in (
            (one, "w, factor", "w = 0.5d0 * v"),
            (other, "w, factor", "v = 0.5d0 * v + factor * w"),
        ):
            first = ["factor = 0.75d0"] if name == one else []
            self.external += [
                f"subroutine {name}(v)",
                shape,
                f"common /{block}/ {others}",
                *first,
                body,
                f"end subroutine {name}",
            ]
        return [f"call {one}({line})", f"call {other}({line})"]


def rename(line, names):
    return re.sub(r"\b[a-z]\b", lambda found: names.get(found[0], found[0]), line)
