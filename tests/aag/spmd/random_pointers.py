"""Pointers in random programs: to whole arrays, exchanged in loops, changed in branches, allocated.

`p` and `q` have the bounds of their targets `a` and `b`, so that all statements can use them as arrays; `o` is a third
pointer, which only exchanges and ALLOCATE use.
"""

TARGETS = ("a", "b")
POINTERS = ("p", "q")


class Pointers:
    """The pointers of `tests.aag.spmd.programs.Writer`."""

    def point(self):
        """Give the targets the same bounds, declare the pointers, and return the statements that begin with them."""
        first, second = (next(each for each in self.arrays if each.name == name) for name in TARGETS)
        self.arrays[self.arrays.index(second)] = type(first)(second.name, first.bounds)
        self.directives = [each for each in self.directives if not self.maps(each, second.name)]
        self.map(type(first)("o", first.bounds))
        self.pointers = [type(first)(name, first.bounds) for name in POINTERS]
        self.arrays += self.pointers
        return [
            "it0 = 0",
            f"p => {self.pick(*TARGETS)}",
            f"q => {self.pick('p', *TARGETS)}",
            *self.pick([], ["nullify (o)"]),
        ]

    def maps(self, directive, name):
        """Whether a directive maps an array, or maps another one in the same way."""
        words = directive.replace("(", " ").split()
        return name in (words[1], words[-1]) or f"align with {name} ::" in directive

    def target_of(self, name):
        """The declaration of an array, with TARGET if pointers may point to it."""
        return f"double precision{', target' if self.pointers and name in TARGETS else ''}"

    def pointer_declarations(self):
        if not self.pointers:
            return []
        colons = ", ".join(":" for _ in self.pointers[0].bounds)
        return [f"  double precision, pointer, dimension({colons}) :: p, q, o"]

    def pointed(self):
        form = self.pick("swap", "swap", "point", "branch", "allocate", "asked")
        return getattr(self, f"pointed_{form}")()

    def pointed_swap(self):
        levels = ["o => p", "p => q", "q => o"]
        if self.chance(50):
            return levels
        steps = self.pick(2, 3, 4, "3 + int(2 * s)")
        return [f"do m2 = 1, {steps}", *self.assignment(), *levels, *self.pick([], self.scalar()), "end do"]

    def pointed_point(self):
        return [f"{self.pick(*POINTERS)} => {self.pick(*POINTERS, *TARGETS)}"]

    def pointed_branch(self):
        other = ["else", *self.pointed_point()] if self.chance(50) else []
        test = self.pick("s > 0.3d0", "mod(it0, 2) == 1")
        return [f"if ({test}) then", *self.pointed_point(), *other, "end if"]

    def pointed_allocate(self):
        shape = ", ".join(f"{lower}:{upper}" for lower, upper in self.pointers[0].bounds)
        made = [f"allocate (o({shape}))", f"o = 0.5d0 * {self.pick(*POINTERS)} + 0.125d0"]
        if self.chance(40):
            return [*made, "s = 0.25d0 * s + 0.25d0 * maxval(o) + 0.001d0 * lbound(o, 1)", "deallocate (o)"]
        return [*made, f"{self.pick(*POINTERS)} => o"]

    def pointed_asked(self):
        test = self.pick("associated(p, a)", "associated(p, q)", ".not. associated(q, b)", "associated(q)")
        return [f"if ({test}) then", *self.scalar(), *self.pick([], ["else", *self.assignment()]), "end if"]
