"""EXTRINSIC(HPF_SERIAL) procedures in random programs: their arguments are collected on one processor and sent back."""


class Serials:
    """A part of `tests.aag.spmd.programs.Writer`."""

    def serial(self):
        return self.serial_function() if self.chance(25) else self.serial_subroutine()

    def serial_subroutine(self):
        """Arrays of all intents, a scalar that it assigns, conditions and loops that end early."""
        name, internal = self.fresh(), self.chance(50)
        array = self.random.choice(self.arrays)
        others = [each for each in self.arrays if each is not array]
        other = self.random.choice(others) if others else None
        intent = self.pick("", "", ", intent(inout)", ", intent(out)")
        mine = self.serial_bounds(array, internal, self.pick(":", "0:"))
        indices = [f"i{at}" for at in range(1, array.rank + 1)]
        x, read = f"x({', '.join(indices)})", "0.25d0"
        lines = [f"double precision{intent} :: x({mine})", "double precision :: r, t, w(3)"]
        lines += [f"integer :: m, {', '.join(indices)}"]
        if other is not None:
            lines.append(f"double precision, intent(in) :: y({self.serial_bounds(other, internal, ':')})")
            read = f"y({', '.join(str(self.random.randint(1, each)) for each in other.extents)})"
        if "(out)" in intent:
            lines.append(f"x = {read}")
        lines += self.pick(["w = 0.5d0 * r"], ["w(1) = r", "w(2) = 0.25d0", "w(3) = w(1)"])
        if self.chance(30):
            lines.append(f"if (r > {self.pick('0.2d0', '0.6d0')}) return")
        heads = [f"do i{dim} = lbound(x, {dim}), ubound(x, {dim})" for dim in range(array.rank, 0, -1)]
        body = [f"t = 0.5d0 * {x} + 0.25d0 * w({self.pick(1, 2, 3)})"]
        if self.chance(40):
            body += ["m = 0", "do while (t > 0.2d0)", "t = 0.5d0 * t", "m = m + 1", "end do", "t = t + 0.0625d0 * m"]
        if self.chance(25):
            body.append(f"if (t > 0.3d0 * i1) {self.pick('return', 'exit', 'cycle')}")
        body += [f"{x} = t + 0.25d0 * {read}", f"r = 0.5d0 * r + 0.25d0 * {x}"]
        lines += [*heads, *body, *("end do" for _ in heads)]
        if self.chance(40):
            lines.append(self.pick("x = 0.5d0 * x + 0.125d0 * r", "r = 0.5d0 * r + 0.25d0 * maxval(x)"))
        given = f", {other.name}" if other is not None else ""
        dummies = ", y" if other is not None else ""
        head = f"extrinsic({self.pick('hpf_serial', 'HPF_SERIAL')}) subroutine {name}(x, r{dummies})"
        (self.internal if internal else self.external).extend([head, *lines, f"end subroutine {name}"])
        return [f"call {name}({array.name}, s{given})"]

    def serial_function(self):
        name, array = self.fresh(), self.random.choice(self.arrays)
        indices = [f"i{at}" for at in range(1, array.rank + 1)]
        x = f"x({', '.join(indices)})"
        heads = [f"do i{dim} = 1, size(x, {dim})" for dim in range(array.rank, 0, -1)]
        early = [f"if ({x} > {self.pick('0.7d0', '0.95d0')}) return"] if self.chance(40) else []
        self.internal += [
            f"extrinsic(hpf_serial) function {name}(x) result(r)",
            f"double precision, intent(in) :: x({', '.join(':' for _ in indices)})",
            "double precision :: r",
            f"integer :: {', '.join(indices)}",
            "r = 0.5d0",
            *heads,
            *early,
            f"r = 0.75d0 * r + 0.25d0 * {x}",
            *("end do" for _ in heads),
            f"end function {name}",
        ]
        return [f"s = 0.5d0 * {name}({array.name})"]

    def serial_bounds(self, array, internal, assumed):
        """Bounds of a dummy: assumed where there is an interface, else other lower bounds than those of the array."""
        if internal and self.chance(50):
            return ", ".join(assumed for _ in array.bounds)
        return ", ".join(str(each) for each in array.extents)
