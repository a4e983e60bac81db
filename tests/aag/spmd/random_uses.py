"""Modules in random programs: procedures and constants that USE gives other names, with and without ONLY."""


class Uses:
    """The modules of `tests.aag.spmd.programs.Writer`. They are before the program, with declarations and CONTAINS in
    forms that nothing takes for those of the program."""

    def used(self):
        """A call of a module procedure by another name, with a constant by another name."""
        module, procedure, constant, name, value = (self.fresh() for _ in range(5))
        array = self.random.choice(self.arrays)
        colons = ", ".join(":" for _ in array.extents)
        loop = ["do it1 = 1, 2", "x = 0.5d0 * x + f / it1", "end do"]
        body = self.pick(["x = 0.5d0 * x + f"], ["where (x > 0.4d0) x = f"], ["integer :: it1", *loop])
        self.modules += [
            f"module {module}",
            f"integer, parameter :: {constant} = {self.random.randint(2, 5)}",
            "contains  ! of a module",
            f"subroutine {procedure}(x, f)",
            f"double precision, dimension({colons}) :: x",
            "double precision :: f",
            *body,
            f"end subroutine {procedure}",
            f"end module {module}",
        ]
        renamed = f"{name} => {procedure}", f"{value} => {constant}"
        self.uses.append(f"use {module}, {self.pick('', 'only: ')}{', '.join(renamed)}")
        factor = self.pick("0.25d0", "0.5d0 * s")
        return [f"call {name}({array.name}, {factor} / {value})", f"s = 0.5d0 * s + 0.25d0 / {value}"]
