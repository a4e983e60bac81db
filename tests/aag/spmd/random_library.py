"""Calls of procedures that are linked, in random programs: BLAS and LAPACK with vectors and matrices that are not
mapped, between statements that bring distributed data there and back."""

VECTORS = ("u1", "u2")
MATRICES = ("q1", "q2")
LINES = ("l1", "l2")
"""Matrices of whose columns or rows each is on one processor."""
SIZE = 6
"""Of all vectors and matrices."""


class Linked:
    """The library calls of `tests.aag.spmd.programs.Writer`."""

    linking: bool = False
    turned: bool = False
    """Whether the lines that processors have are rows."""

    def local_declarations(self):
        """What these calls work with."""
        if not self.linking:
            return []
        return [
            *(f"  double precision :: {each}(1:{SIZE})" for each in VECTORS),
            *(f"  double precision :: {each}(1:{SIZE}, 1:{SIZE})" for each in MATRICES),
            *(f"  double precision :: {each}(1:{SIZE}, 1:{SIZE})" for each in LINES),
            f"  double precision, dimension({SIZE}) :: work",
            f"  integer :: piv(1:{SIZE})",
            "  integer :: info",
            "  double precision, external :: ddot, dnrm2, dasum",
            "  integer, external :: idamax",
        ]

    def local_values(self):
        """Values before the first call."""
        self.linking = True
        self.turned = self.chance(40)
        kind = self.pick("block", "cyclic", "cyclic(2)")
        formats = f"{kind}, *" if self.turned else f"*, {kind}"
        self.directives += [
            f"processors lines({self.procs})",
            f"distribute l1({formats}) onto lines",
            self.pick("align with l1 :: l2", "align l2(i, j) with l1(i, j)"),
        ]
        return [
            f"do i = 1, {SIZE}",
            *(f"  {name} = {value}" for name, value in (("u1(i)", "0.125d0 * i"), ("u2(i)", "1d0 / (i + 1)"))),
            f"  do j = 1, {SIZE}",
            "    q1(j, i) = merge(2d0, 1d0 / (i + j + 1), i == j)",
            "    q2(j, i) = 0.1d0 * (i - j)",
            "  end do",
            "end do",
        ]

    def linked(self):
        often = ("vectors", "value", "bring")
        kind = self.pick(*often, *often, "matrix", "system", "back", "loop", "inside", "lines", "lines")
        return getattr(self, f"library_{kind}")()

    def strided(self, length):
        """A vector of so many elements as an argument, with its increment."""
        kind = self.pick("whole", "part", "column", "row", "diagonal")
        first = self.random.randint(1, SIZE - length + 1)
        name = self.random.choice(MATRICES)
        match kind:
            case "whole":
                return self.random.choice(VECTORS), 1
            case "part":
                return f"{self.random.choice(VECTORS)}({first})", 1
            case "column":
                column = self.random.randint(1, SIZE)
                return self.pick(f"{name}({first}, {column})", f"{name}(:, {column})"), 1
            case "row":
                row = self.random.randint(1, SIZE)
                return self.pick((f"{name}({row}, {first})", SIZE), (f"{name}({row}, :)", 1))
            case _:
                return f"{name}({first}, {first})", SIZE + 1

    def two_strided(self, length):
        """Two vectors that share no element."""
        one, step = self.strided(length)
        while True:
            other, pace = self.strided(length)
            if one[:2] != other[:2]:
                return f"{one}, {step}", f"{other}, {pace}"

    def library_vectors(self):
        length = self.random.randint(1, SIZE)
        one, other = self.two_strided(length)
        return [
            self.pick(
                f"call daxpy({length}, {self.pick('0.25d0', 's', '-0.5d0 * s')}, {one}, {other})",
                f"call dscal({length}, 0.5d0, {one})",
                f"call dcopy({length}, {one}, {other})",
                f"call dswap({length}, {one}, {other})",
                f"call drot({length}, {one}, {other}, 0.6d0, 0.8d0)",
            )
        ]

    def library_value(self):
        """A function in an assignment, a condition, or a bound."""
        length = self.random.randint(1, SIZE)
        one, other = self.two_strided(length)
        value = self.pick(f"ddot({length}, {one}, {other})", f"dnrm2({length}, {one})", f"dasum({length}, {one})")
        match self.pick("scalar", "expression", "condition", "bound", "array"):
            case "scalar":
                return [f"s = {value} / {4 * SIZE}"]
            case "expression":
                return [f"s = 0.5d0 * s + {value} / (4 + abs(ddot({length}, {one}, {one})))"]
            case "condition":
                return [f"if ({value} > 0.5d0) then", "  s = 0.5d0 * s", f"else if ({value} > 0.1d0) then",
                        "  s = 0.25d0", "end if"]  # fmt: skip
            case "bound":
                return [f"do k = 1, idamax({length}, {one})", "  s = 0.5d0 * s + 0.125d0", "end do"]
            case _:
                array = self.random.choice(self.arrays)
                return [f"{array.name} = 0.5d0 * {array.name} + {value} / {8 * SIZE}"]

    def library_matrix(self):
        size = self.random.randint(2, SIZE)
        one, other = self.random.sample(MATRICES, 2)
        x, y = VECTORS
        return [
            self.pick(
                f"call dgemv('{self.pick('n', 't')}', {size}, {size}, 0.5d0, {one}, {SIZE}, {x}, 1, 0.25d0, {y}, 1)",
                f"call dger({size}, {size}, 0.125d0, {x}, 1, {y}, 1, {one}, {SIZE})",
                f"call dsymv('{self.pick('u', 'L')}', {size}, 0.5d0, {one}, {SIZE}, {y}, 1, 0.25d0, {x}, 1)",
                f"call dgemm('n', 'N', {size}, {size}, {size}, 0.25d0, {one}, {SIZE}, {one}, {SIZE}, 0.5d0, {other},"
                f" {SIZE})",
                f"call dsyrk('l', 'n', {size}, {size}, 0.25d0, {one}, {SIZE}, 0.5d0, {other}, {SIZE})",
            )
        ]

    def library_system(self):
        """A factorisation of a matrix whose diagonal is large, and a solution with it."""
        size = self.random.randint(2, SIZE)
        one, other = self.random.sample(MATRICES, 2)
        fill = [
            f"do i = 1, {SIZE}",
            f"  do j = 1, {SIZE}",
            f"    {one}(j, i) = merge({2 * SIZE}d0, 1d0 / (i + j), i == j)",
            "  end do",
            "end do",
        ]
        vector = self.random.choice(VECTORS)
        solve = [
            f"call dgetrf({size}, {size}, {one}, {SIZE}, piv, info)",
            f"call dgetrs('n', {size}, 1, {one}, {SIZE}, piv, {vector}, {SIZE}, info)",
        ]
        if self.chance(50):
            solve = [
                f"call dpotrf('l', {size}, {one}, {SIZE}, info)",
                self.pick(
                    f"call dtrsv('l', 'n', 'n', {size}, {one}, {SIZE}, {vector}, 1)",
                    f"call dtrsm('l', 'l', 'n', 'n', {size}, 2, 0.5d0, {one}, {SIZE}, {other}, {SIZE})",
                ),
            ]
        return [*fill, *solve, f"s = 0.5d0 * s + info + 0.01d0 * {vector}({size})"]

    def library_bring(self):
        """Distributed data come to a vector, and a procedure works on it."""
        array = self.random.choice(self.arrays)
        length = min(SIZE, array.extents[0])
        text = self.section(array, (length,))
        vector = self.random.choice(VECTORS)
        return [
            f"{vector}(1:{length}) = {text or 's'}",
            f"call dscal({length}, 0.75d0, {vector}, 1)",
            *self.library_back(),
        ]

    def library_back(self):
        """A vector or matrix goes to distributed data."""
        array = self.random.choice(self.arrays)
        length = min(SIZE, array.extents[0])
        text = self.section(array, (length,))
        vector = f"{self.random.choice(VECTORS)}(1:{length})"
        if self.chance(30):
            vector = f"{self.random.choice(MATRICES)}({self.random.randint(1, SIZE)}, 1:{length})"
        return self.scalar() if text is None else [f"{text} = 0.5d0 * {vector} / (1 + abs({vector}))"]

    def library_loop(self):
        """Calls whose arguments depend on the loop."""
        one, other = self.random.sample(MATRICES, 2)
        inner = f"call daxpy({SIZE} - k, 0.125d0, {one}(k + 1, k), 1, {other}(k + 1, {self.pick('k', '1')}), 1)"
        before = [f"if (ddot(k, {one}(1, k), 1, {other}(1, 1), 1) > 2) cycle"] if self.chance(40) else []
        return [f"do k = 1, {SIZE - 1}", *before, inner, "s = 0.5d0 * s + dnrm2(k, u1, 1) / 8", "end do"]

    def line(self, name, first=1):
        """A line of a matrix of LINES, or its end."""
        part = ":" if first == 1 else f"{first}:{SIZE}"
        return f"{name}(k, {part})" if self.turned else f"{name}({part}, k)"

    def library_lines(self):
        """A loop whose iterations call procedures with lines of distributed matrices that are their own."""
        one, other = self.random.sample(LINES, 2)
        x, y = self.line(one), self.line(other)
        vector = self.pick(y, y, *VECTORS)
        first = self.random.randint(1, SIZE - 1)
        end = self.line(one, first)
        simple = [
            f"call daxpy({SIZE}, {self.pick('0.25d0', '0.125d0 * k', 's')}, {vector}, 1, {x}, 1)",
            f"call dscal({SIZE + 1 - first}, 0.5d0, {end}, 1)",
            f"call dscal({SIZE} - k, 0.75d0, {x}, 1)",
            f"call drot({SIZE}, {x}, 1, {y}, 1, 0.6d0, 0.8d0)",
            f"call dgemv('n', {SIZE}, {SIZE}, 0.125d0, {self.random.choice(MATRICES)}, {SIZE}, {y}, 1, 0.5d0, {x}, 1)",
            f"{x} = {x} / (1 + dnrm2({SIZE}, {y}, 1))",
            f"if (ddot({SIZE}, {x}, 1, {y}, 1) > 0.5d0) {x} = 0.5d0 * {y}",
        ]
        head = [f"do k = {self.pick(f'1, {SIZE}', f'2, {SIZE - 1}', f'{SIZE}, 1, -1')}"]
        if self.chance(40):
            head = ["!hpf$ independent, new(work)", *head]
            simple.append(f"work = {y}\ncall dscal({SIZE}, 0.5d0, work, 1)\n{x} = {x} + 0.25d0 * work")
        body = self.random.sample(simple, self.pick(1, 1, 2, 3))
        return [*head, *(each for text in body for each in text.split("\n")), "end do"]

    def library_inside(self):
        """Calls inside a procedure, with its dummies, and elements of these where they are neighbours in memory."""
        name, matrix = self.fresh(), self.random.choice(MATRICES)
        whole = self.chance(50)
        shape = f"n, {SIZE}" if whole else "n"
        element = self.pick("x(2, 1)" if whole else "x(2)", "x")
        self.random.choice((self.internal, self.external)).extend(
            [
                f"subroutine {name}(x, n, factor)",
                "integer :: n",
                f"double precision :: x({shape}), factor",
                "double precision, external :: ddot",
                f"call dscal(n - 1, 0.5d0, {element}, 1)",
                f"factor = 0.5d0 * factor + ddot(n - 1, {element}, 1, {element}, 1) / {4 * SIZE}",
                f"end subroutine {name}",
            ]
        )
        given = matrix if whole else self.pick(f"{matrix}(:, 3)", "u1", "u2")
        return [f"call {name}({given}, {SIZE}, s)"]
