"""Random serial programs: DO nests with and without dependences, sections, FORALL, WHERE, functions, while loops.

All arrays are printed at the end, and each of them is used there in a subscript, so that it is looked at.
"""

import random

ARRAYS = {
    "ia": ("integer", ((1, 8),)),
    "ic": ("integer", ((0, 7),)),
    "ib": ("integer", ((1, 6), (1, 5))),
    "ra": ("real*8", ((1, 8),)),
    "rc": ("real*8", ((-2, 5),)),
    "rb": ("real*8", ((1, 6), (1, 5))),
    "rd": ("real*8", ((0, 5), (2, 6))),
    "sa": ("real", ((1, 8),)),
    "sb": ("real", ((1, 6), (1, 5))),
}
LINES, MATRICES = ("ra", "rc", "sa"), ("rb", "rd", "sb")


class Serial:
    """Writes one program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.loops = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def program(self):
        body = [line for _ in range(self.random.randint(4, 9)) for line in self.statement(0)]
        shown = [f"print *, '{name}', {name}" for name in ARRAYS]
        used = [
            f"k = keep(merge(1, 1, {name}({', '.join(str(low) for low, _ in bounds)}) > 0))"
            for name, (_, bounds) in ARRAYS.items()
        ]
        return "\n".join(["program serial", *self.declarations(), *self.start(), *body, *used, *shown, "end"]) + "\n"

    def declarations(self):
        for name, (kind, bounds) in ARRAYS.items():
            yield f"{kind} :: {name}({', '.join(f'{low}:{high}' for low, high in bounds)})"
        yield "integer :: i, j, k, m, n, keep(3), perm(8) = (/ 3, 1, 4, 8, 5, 2, 7, 6 /)"
        yield "real*8 :: x, y, t"
        yield "real :: z"
        yield "logical :: done"

    def start(self):
        yield "x = 0.5d0"
        yield "y = 1.25d0"
        yield "z = 0.1"
        yield "m = 3"
        yield "n = 6"
        for at, (name, (kind, bounds)) in enumerate(ARRAYS.items()):
            names = ("i", "j")[: len(bounds)]
            formula = " + ".join(f"{3 + at + 4 * number} * {var}" for number, var in enumerate(names))
            value = (
                f"mod({formula}, 17)"
                if kind == "integer"
                else f"mod({formula}, 17) / 7.0" + ("d0" if kind != "real" else "")
            )
            for var, (low, high) in reversed(list(zip(names, bounds, strict=True))):
                yield f"do {var} = {low}, {high}"
            yield f"  {name}({', '.join(names)}) = {value}"
            yield from ["end do"] * len(bounds)

    def statement(self, depth):
        simple = (
            self.line_loop,
            self.line_loop,
            self.nest,
            self.nest,
            self.section,
            self.section,
            self.forall,
            self.where,
        )
        more = (self.function, self.function, self.total, self.gather, self.choice, self.scalar, self.triangle)
        made = self.random.choice(simple + more + ((self.converge, self.outer, self.search) if depth == 0 else ()))
        return [("  " * depth) + line for line in made(depth)]

    # --- expressions ---

    def shifted(self, var, low, high, first, last):
        """A subscript of a variable from `first` to `last` that stays within bounds."""
        shift = self.random.randint(low - first, high - last) if high - last >= low - first else 0
        return f"{var} + {shift}" if shift > 0 else f"{var} - {-shift}" if shift else var

    def real(self, names, elements, depth=2):
        """A real expression that does not grow."""
        if depth == 0 or self.random.random() < 0.2:
            return self.pick(*elements, "x", "0.25d0", "dble(z)", *(f"{each} * 0.125d0" for each in names))
        one, two = self.real(names, elements, depth - 1), self.real(names, elements, depth - 1)
        return self.pick(
            f"(0.5d0 * {one} + 0.25d0 * {two})",
            f"(0.75d0 * {one} - 0.25d0 * {two})",
            f"abs({one}) / (1.0d0 + abs({two}))",
            f"max({one}, 0.5d0 * {two})",
            f"sqrt(abs({one}))",
            f"({one} * {two}) / (2 + ({one})**2)",
            f"merge({one}, 0.5d0 * {two}, {one} > {two})",
        )

    def integer(self, names, elements, depth=2):
        if depth == 0 or self.random.random() < 0.2:
            return self.pick(*elements, *names, "m", "5", "(-3)")
        one, two = self.integer(names, elements, depth - 1), self.integer(names, elements, depth - 1)
        return self.pick(
            f"mod({one} + {two}, 13)",
            f"({one} - {two}) / 3",
            f"mod({one} * {two}, 11)",
            f"max({one}, {two})",
            f"modulo({one}, 7)",
            f"abs({one}) / (1 + abs({two}))",
            f"iand(abs({one}), 14)",
        )

    def value(self, target, names, elements):
        """A value for an array, from elements of its own base type."""
        mine = [text for text, base in elements if (base == "integer") == (ARRAYS[target][0] == "integer")]
        if ARRAYS[target][0] == "integer":
            return f"mod({self.integer(names, mine or ['m'])}, 29)"
        value = self.real(names, mine or ["y"])
        return f"real({value})" if ARRAYS[target][0] == "real" else f"dble({value})"

    def elements(self, ranges, names):
        """References to arrays at the indices of a nest, with their bases."""
        found = []
        for _ in range(self.random.randint(1, 4)):
            name = self.random.choice(names)
            kind, bounds = ARRAYS[name]
            variables = list(ranges)
            if len(variables) > 1 and self.random.random() < 0.3:
                variables.reverse()
            subs = []
            for number, (low, high) in enumerate(bounds):
                var = variables[number % len(variables)]
                first, last = ranges[var]
                if high - last < low - first:
                    subs.append(str(self.random.randint(low, high)))
                else:
                    subs.append(self.shifted(var, low, high, first, last))
            text = f"{name}({', '.join(subs)})"
            found.append((f"dble({text})" if kind == "real" else text, kind.split("*")[0]))
        return found

    # --- statements ---

    def line_loop(self, depth):
        names = [name for name, (_, bounds) in ARRAYS.items() if len(bounds) == 1]
        target = self.random.choice(names)
        ((low, high),) = ARRAYS[target][1]
        first, last = self.random.randint(low, low + 2), self.random.randint(high - 2, high)
        index = self.shifted("i", low, high, max(first, 2), min(last, 5))
        ranges = {"i": (max(first, 2), min(last, 5))}
        body = [f"  {target}({index}) = {self.value(target, ['i'], self.elements(ranges, names))}"]
        match self.random.randint(0, 6):
            case 0:
                body = [
                    "  t = " + self.real(["i"], [f"ra({self.shifted('i', 1, 8, *ranges['i'])})"]),
                    *body,
                    "  x = 0.5d0 * t",
                ]
            case 1:
                body = [
                    f"  if ({self.condition('i')}) then",
                    *body,
                    "  else",
                    "    sa(i) = 0.5 * sa(i) + 0.25",
                    "  end if",
                ]
            case 2:
                body += ["  y = 0.5d0 * y + ra(i)" if self.random.random() < 0.5 else "  y = min(y, ra(i))"]
            case 3:
                other = self.random.choice(names)
                ((one, two),) = ARRAYS[other][1]
                body.append(
                    f"  {other}({self.shifted('i', one, two, *ranges['i'])}) = "
                    + self.value(other, ["i"], self.elements(ranges, names))
                )
        first, last = ranges["i"]
        head = f"do i = {first}, {last}" if self.random.random() < 0.7 else f"do i = {last}, {first}, -1"
        return [head, *body, "end do"]

    def condition(self, var):
        return self.pick(
            f"ra({var}) > 0.5d0",
            f"mod({var}, 2) == 0",
            f"ia({var}) < 5 .and. sa({var}) > 0.2",
            f".not. (rc({var}) > x)",
        )

    def nest(self, depth):
        target = self.random.choice(("rb", "rd", "ib", "sb"))
        bounds = ARRAYS[target][1]
        ranges = {"i": (2, 4), "j": (3, 4)}
        subs = [self.shifted(var, *each, *ranges[var]) for var, each in zip("ij", bounds, strict=True)]
        inner = [
            f"    {target}({', '.join(subs)}) = {self.value(target, ['i', 'j'], self.elements(ranges, [*ARRAYS]))}"
        ]
        if self.random.random() < 0.3:
            inner.append("    y = max(y, abs(rb(i,j) - rd(i,j)))")
        if self.random.random() < 0.2:
            inner.append("    x = x + 0.01d0 * rb(i,j)")
        if self.random.random() < 0.25:
            inner = [f"    if (rb(i,j) > {self.pick('0.4d0', 'x', 'ra(i)')}) then", *inner, "    end if"]
        before = ["  ra(j) = 0.5d0 * ra(j)"] if self.random.random() < 0.3 else []
        heads = ["do j = 3, 4", "  do i = 2, 4"] if self.random.random() < 0.6 else ["do i = 2, 4", "  do j = 3, 4"]
        before = before if heads[0].startswith("do j") else []
        return [heads[0], *before, heads[1], *inner, "  end do", "end do"]

    def triangle(self, depth):
        first = self.pick("i", "i + 1", "1")
        op = self.pick(
            f"rb(i, j) = 0.5d0 * rb(i, j) + 0.25d0 * rb({self.pick('i', 'j')}, i)",
            "ra(i) = ra(i) + 0.125d0 * rb(i, j)",
            "ib(i, j) = mod(ib(i, j) + ia(j), 19)",
            "x = 0.5d0 * x + rb(i, j)",
            "x = x + 0.01d0 * rb(j, i)",
        )
        return ["do i = 1, 5", f"  do j = {first}, 5", f"    {op}", "  end do", "end do"]

    def section(self, depth):
        name = self.random.choice(LINES)
        return self.pick(
            [f"{name} = 0.5 * {name} + 0.25"],
            ["ra(2:7) = 0.5d0 * (ra(1:6) + ra(3:8))"],
            ["ra(1:8:2) = 0.5d0 * ra(2:8:2) + x"],
            ["ra(8:1:-1) = 0.75d0 * ra"],
            ["ra = ra(perm)"],
            ["ia(perm) = ia + 1"],
            ["rb(2:5, :) = rb(1:4, :) * 0.5d0 + rd(1:4, :)"],
            ["rb(:, 2) = rb(:, 4)", "rd(:, 3) = 0.5d0 * rb(:, m)"],
            ["ib(:, 1) = ia(1:6) - ib(:, 3)"],
            ["sa = real(rc) * 0.3"],
            ["ic = ia / 2"],
            ["rc(0:3) = (/ x, y, (0.5d0 * i, i = 1, 2) /)"],
            ["ia = (/ (mod(i * i, 7), i = 1, 8) /)"],
        )

    def forall(self, depth):
        return self.pick(
            ["forall (i = 1:6, j = 1:5) rb(i, j) = 0.5d0 * rd(i - 1, j + 1) + 0.1d0 * i"],
            ["forall (i = 2:5, j = 2:4) rb(i, j) = 0.25d0 * (rb(i - 1, j) + rb(i + 1, j) + rb(i, j - 1) + rd(i, j))"],
            ["forall (i = 1:8, ra(i) > 0.3d0) ra(i) = 0.5d0 * ra(i)"],
            ["forall (i = 1:8) ra(perm(i)) = 0.5d0 * ra(i)"],
            ["forall (i = 1:5) rb(i, :) = 0.5d0 * rb(6 - i, :)"],
            ["forall (i = 1:6, j = 1:5, i /= j) ib(i, j) = ib(j, i - i / 6)"],
            ["forall (i = 1:5)", "  ia(i) = ia(i + 1) + 1", "  ic(i) = ia(i) - ic(i - 1)", "end forall"],
            ["forall (i = 1:4) sa(i) = sum(sb(i, :)) * 0.1"],
        )

    def where(self, depth):
        return self.pick(
            ["where (ra > 0.5d0) ra = 0.5d0 * ra"],
            ["where (rb > x)", "  rb = 0.5d0 * rb", "elsewhere", "  rb = rb + 0.125d0", "end where"],
            [
                "where (ia(1:6) > 3)",
                "  ib(:, 2) = ib(:, 2) - 1",
                "elsewhere (ia(1:6) < 1)",
                "  ib(:, 2) = 4",
                "end where",
            ],
            ["where (sa > 0.3) sa = sqrt(sa) * 0.5"],
        )

    def function(self, depth):
        return self.pick(
            ["x = sum(ra) * 0.1d0"],
            ["y = maxval(rb, mask=rb < 1.5d0)"],
            ["ra(1:6) = 0.1d0 * sum(rb, 2)"],
            ["rc(-2:2) = minval(rb, dim=1)"],
            ["ra = cshift(ra, 3)", "rb = cshift(rb, -1, 2)"],
            ["rd = eoshift(rd, 2)", "rb = eoshift(rb, -1, boundary=0.5d0, dim=2)"],
            ["rb(1:5, 1:5) = transpose(rb(1:5, 1:5))"],
            ["rd(0:4, 2:6) = 0.1d0 * matmul(rb(1:5, :), rd(1:5, :))"],
            ["rc(-2:3) = 0.1d0 * matmul(rb, ra(2:6))"],
            ["rb = spread(ra(1:6), 2, 5)"],
            ["m = 1 + mod(count(rb > x), 5)"],
            ["ib(:, 1) = iany(ib, 2, mask=rb > x)", "k = iparity(ia)", "ic(0) = mod(k, 9)"],
            ["ia(1) = iand(iall(ia + 8), 7)", "ib(1, :) = iparity(ib, dim=1) / 2"],
            ["done = any(ia > 5) .or. all(ic < 9)", "if (done) x = 0.5d0 * x"],
            ["ia(1:1) = maxloc(ra)", "ia(2:3) = minloc(rb)"],
            ["m = 1 + mod(maxloc(ra, 1), 5)"],
            ["ib = reshape((/ (i, i = 1, 30) /), (/ 6, 5 /))"],
            ["x = 0.1d0 * dot_product(ra, rc)"],
            ["k = size(pack(ia, ia > 3))", "ic(0) = k"],
            ["ia = merge(ia, ic, ra > 0.5d0)"],
            ["z = sum(sa) * 0.1", "sa = sa - z"],
            ["ia = nint(ra * 3) + int(rc) + floor(rc) + ceiling(ra)"],
            ["ia(3) = lbound(rd, 2) + ubound(rd, 1) + size(rb, 1)"],
        )

    def total(self, depth):
        return self.pick(
            ["t = 0", "do i = 1, 8", "  t = t + ra(i) * rc(i - 3)", "end do", "x = 0.05d0 * t"],
            ["z = 0", "do i = 1, 8", "  z = z + sa(i)", "end do", "z = 0.1 * z"],
            [
                "do i = 1, 6",
                "  t = 0.0d0",
                "  do j = 1, 5",
                "    t = t + rb(i, j)",
                "  end do",
                "  ra(i) = 0.2d0 * t",
                "end do",
            ],
            ["do j = 2, 5", "  do i = 1, 5", "    rd(j, 2) = rd(j, 2) + 0.1d0 * rb(i, j)", "  end do", "end do"],
            ["m = 0", "do i = 1, 8", "  if (ra(i) > x) m = m + 1", "end do", "m = 1 + mod(m, 5)"],
        )

    def gather(self, depth):
        return self.pick(
            ["do i = 1, 8", "  k = 1 + mod(abs(ia(i)), 8)", "  ic(k - 1) = ic(k - 1) + 1", "end do"],
            ["do i = 1, 8", "  ra(perm(i)) = ra(perm(i)) + 0.25d0 * rc(i - 3)", "end do"],
            ["do i = 1, 8", "  ra(i) = rc(perm(i) - 3)", "end do"],
            ["do i = 1, 8", "  ra(perm(i)) = 0.5d0 * ra(i)", "end do"],
            [
                "do i = 1, 5",
                "  do j = 1, 5",
                "    rd(i, j + 1) = 0",
                "    do k = 1, 5",
                "      rd(i, j + 1) = rd(i, j + 1) + 0.1d0 * rb(i, k) * rb(k, j)",
                "    end do",
                "  end do",
                "end do",
            ],
        )

    def choice(self, depth):
        return self.pick(
            [
                "select case (m)",
                "case (:2)",
                "  x = 0.25d0",
                "case (3, 5)",
                "  x = y",
                "case default",
                "  x = 1.5d0",
                "end select",
            ],
            [
                "if (x > 0.5d0) then",
                "  ra = 0.5d0 * ra",
                "else if (m == 3) then",
                "  ia = ia + 1",
                "else",
                "  y = x",
                "end if",
            ],
        )

    def scalar(self, depth):
        return self.pick(
            ["x = 0.5d0 * (x + y)"],
            ["z = z * 0.7 + 0.3"],
            ["m = 1 + mod(m * 7 + 3, 5)"],
            ["y = z"],
            ["x = 0.1 * m + z**2 + y**3 * 0.01"],
        )

    def converge(self, depth):
        return self.pick(
            [
                "n = 0",
                "do while (x > 1.0d-3)",
                *self.statement(1)[:0],
                "  x = 0.5d0 * abs(x) - 1.0d-4",
                "  n = n + 1",
                "  ra = 0.75d0 * ra + 0.1d0 * x",
                "end do",
                "ia(1) = n",
            ],
            [
                "n = 0",
                "do",
                "  t = maxval(abs(ra))",
                "  if (t < 0.01d0 .or. n > 40) exit",
                "  ra = 0.8d0 * ra",
                "  n = n + 1",
                "end do",
                "ia(2) = n",
            ],
            [
                "n = 0",
                "y = 1",
                "do while (y > 0.05d0 .and. n < 60)",
                "  y = 0",
                "  do i = 2, 7",
                "    rc(i - 2) = 0.5d0 * (ra(i - 1) + ra(i + 1))",
                "    y = max(y, abs(rc(i - 2) - ra(i)))",
                "  end do",
                "  do i = 2, 7",
                "    ra(i) = rc(i - 2)",
                "  end do",
                "  n = n + 1",
                "end do",
                "ia(3) = n",
            ],
        )

    def outer(self, depth):
        body = [line for _ in range(2) for line in self.statement(1)]
        return ["do n = 1, 3", *body, "end do"]

    def search(self, depth):
        self.loops += 1
        found, rows = f"found{self.loops}", f"rows{self.loops}"
        return self.pick(
            [
                "k = 0",
                f"{found}: do j = 1, 5",
                "  do i = 1, 6",
                f"    if (ib(i, j) == m) exit {found}",
                "    k = k + 1",
                "  end do",
                f"end do {found}",
                "ic(2) = k",
            ],
            [
                "k = 0",
                f"{rows}: do i = 1, 6",
                "  do j = 1, 5",
                f"    if (rb(i, j) > 0.8d0) cycle {rows}",
                "    k = k + j",
                "  end do",
                "  k = k + 10",
                f"end do {rows}",
                "ic(3) = k",
            ],
            ["do i = 1, 8", "  if (ra(i) > 1) exit", "end do", "ia(4) = i"],
            [
                f"{rows}: do n = 1, 12",
                "  ra = 0.9d0 * ra",
                "  do i = 8, 1, -2",
                f"    if (ra(i) > 1.5d0) cycle {rows}",
                "    if (ra(i) < 0.1d0 * n) exit",
                f"    if (ib(1, 1) > 30 * n) exit {rows}",
                "  end do",
                "  x = maxval(ra)",
                "  if (x < 0.8d0) exit",
                f"end do {rows}",
                "ia(5) = n",
                "ia(6) = i",
            ],
            ["do i = m, 2", "  if (rb(i, 1) > x) exit", "end do", "ia(7) = i"],
        )
