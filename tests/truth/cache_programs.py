"""Random programs for the truth of the cache model: array syntax, FORALL, WHERE, CSHIFT, DO nests, triangles,
loops whose iterations processors share.

Arrays are larger than a cache of 8 KB, so that most nests have thousands of misses, and values come from formulas of
small whole numbers, so that masks hold for few or many elements.
"""

import random

MATRICES = ("a", "b", "c")
SERIAL = ("g", "h")
"""Matrices that are not distributed: DO nests run over them."""
VECTORS = ("u", "v", "w")
FORMATS = ("(block,block)", "(block,*)", "(*,block)", "(*,cyclic)", "(cyclic,*)", "")


class Writer:
    """Writes one program."""

    def __init__(self, seed):
        self.draw = random.Random(f"cache {seed}")
        self.shares = random.Random(f"shared {seed}")
        self.lines = []
        self.targets = MATRICES

    def pick(self, *choices):
        return self.draw.choice(choices)

    def two(self, names):
        """An array that is written and another one. Loops do not write what masks read: its values are not followed
        through them."""
        x = self.pick(*(name for name in names if name not in MATRICES or name in self.targets))
        return x, self.pick(*(name for name in names if name != x))

    def add(self, text):
        self.lines += text.splitlines()

    def program(self):
        n, m = self.pick(40, 48, 60, 64, 75, 90, 100, 120, 128), self.pick(2000, 2048, 3000, 4096, 5001)
        kind = self.pick("double precision", "double precision", "real")
        self.lines = [
            "program random_cache",
            "  implicit none",
            f"  integer, parameter :: n = {n}, m = {m}",
            f"  {kind} :: a(n,n), b(n,n), c(n,n), g(n,n), h(n,n), u(m), v(m), w(m), r(n), s, t",
            "  integer :: i, j, k, l, it",
        ]
        for names, formats in ((MATRICES, FORMATS), (VECTORS, ("(block)", "(cyclic)", ""))):
            how = self.pick(*formats)
            if how:
                self.add(f"!hpf$ distribute {how} :: {', '.join(names)}")
        for name in (*MATRICES, *SERIAL):
            form = f"{self.draw.randint(1, 9)}*i + {self.draw.randint(1, 9)}*j"
            self.add(f"  forall (i = 1:n, j = 1:n) {name}(i,j) = mod({form}, {self.pick(5, 7, 13, 40)})")
        for name in VECTORS:
            self.add(f"  forall (i = 1:m) {name}(i) = mod({self.draw.randint(1, 9)}*i, {self.pick(5, 7, 13, 40)})")
        self.add("  s = 0")
        for _ in range(self.draw.randint(4, 6)):
            self.statement()
        self.shared()
        sums = ", ".join(f"sum({name})" for name in (*MATRICES, *SERIAL, *VECTORS))
        self.add(f"  print *, s, {sums}\nend program random_cache")
        return "\n".join(self.lines) + "\n"

    def statement(self):
        if self.draw.random() < 0.2:
            self.add(f"  do it = 1, {self.draw.randint(2, 3)}")
            self.targets = ("b", "c")
            self.simple()
            self.simple()
            self.targets = MATRICES
            self.add("  end do")
        elif self.draw.random() < 0.45:
            self.pick(self.do_nest, self.do_pair, self.swap, self.elimination, self.triangular_sections)()
        else:
            self.simple()

    def simple(self):
        self.pick(
            self.whole,
            self.sections,
            self.shifts,
            self.shifts,
            self.vector_shifts,
            self.forall,
            self.forall,
            self.in_place,
            self.in_place,
            self.where,
            self.where,
            self.reduction,
        )()

    # --- array syntax -----------------------------------------------------------------------------------------

    def whole(self):
        x, y = self.two(MATRICES)
        self.add(self.pick(f"  {x} = {y}*2 + 1", f"  {x} = {x} + {y}", f"  {x} = transpose({y})", f"  {x} = {y}"))

    def sections(self):
        x, y = self.two(MATRICES)
        self.add(
            self.pick(
                f"  {x}(2:n-1,:) = {y}(1:n-2,:) + {y}(3:n,:)",
                f"  {x}(:,2:n-1) = {y}(:,1:n-2) + {y}(:,3:n)",
                f"  {x}(1:n:2,:) = {y}(1:n:2,:)*2",
                f"  {x}(:,1:n:3) = {y}(:,1:n:3) + {x}(:,1:n:3)",
                f"  {x}(2:n,2:n) = {y}(1:n-1,1:n-1) + {x}(2:n,2:n)",
                "  u(2:m) = v(1:m-1) + w(2:m)",
                f"  {x}(n:1:-1,:) = {y}",
            )
        )

    def shift(self, what, dims):
        how = self.pick("cshift", "cshift", "cshift", "eoshift")
        by = self.pick(-3, -2, -1, 1, 2, 3)
        return f"{how}({what}, {by}, dim={self.draw.randint(1, dims)})" if dims > 1 else f"{how}({what}, {by})"

    def shifts(self):
        x, y = self.two(MATRICES)
        parts = [self.shift(y, 2) for _ in range(self.draw.randint(1, 4))]
        if self.draw.random() < 0.3:
            parts.append(f"cshift(cshift({y}, {self.pick(-1, 1)}, dim=1), {self.pick(-1, 2)}, dim=2)")
        self.add(f"  {x} = {' + '.join(parts)}")

    def vector_shifts(self):
        self.add(f"  u = {' + '.join(self.shift(self.pick('v', 'w'), 1) for _ in range(self.draw.randint(2, 3)))}")

    def mask(self):
        return self.pick("", "", ", mod(i+j,3) == 0", ", i >= j", ", mod(i,5) == 1", ", i + j < n", ", i /= j")

    def forall(self):
        x, y = self.two(MATRICES)
        value = self.pick(f"{y}(i,j)*2", f"{y}(j,i)", f"{y}(i-1,j) + {y}(i+1,j)", f"{y}(i,j-1) + {x}(i,j)", "i + 2*j")
        self.add(f"  forall (i = 2:n-1, j = 2:n-1{self.mask()}) {x}(i,j) = {value}")

    def in_place(self):
        x, y = self.two(MATRICES)
        value = self.pick(f"{x}(i-1,j) + {y}(i,j)", f"{x}(i,j+1) + {x}(i,j-1)", f"{x}(i+1,j+1)")
        self.add(f"  forall (i = 2:n-1, j = 2:n-1{self.mask()}) {x}(i,j) = {value}")

    def where(self):
        x, y = self.two(("b", "c"))
        bound = self.pick(1, 2, 4, 5, 11)
        test = self.pick(f"a > {bound}", f"a < {bound}", f"a == {bound}")
        if self.draw.random() < 0.4:
            self.add(f"  where ({test})\n    {x} = {y}*2\n  elsewhere\n    {x} = {y} + 1\n  end where")
        else:
            self.add(f"  where ({test}) {x} = {self.pick(y, f'{x} + {y}', '0')}")

    def reduction(self):
        x, y = self.two(MATRICES)
        self.add(
            self.pick(
                f"  s = s + sum({x}*{y})",
                f"  s = s + maxval({x})",
                f"  r = sum({x}, dim=1)",
                f"  r = sum({x}, dim=2)",
                "  s = s + dot_product(u, v)",
                f"  s = s + count({x} > 3)",
            )
        )

    # --- DO ---------------------------------------------------------------------------------------------------

    def triangular_sections(self):
        x, y = self.two(("b", "c", *SERIAL))
        self.add(
            "  do k = 1, n-1\n    "
            + self.pick(
                f"{x}(k+1:n,k) = {x}(k+1:n,k)*0.5",
                f"{x}(k,k+1:) = {x}(k,k+1:)/(1 + {x}(k,k))",
                f"{x}(1:k,k) = {y}(1:k,k)",
                f"{x}(k,1:k) = {y}(k,1:k) + 1",
            )
            + "\n  end do"
        )

    def do_nest(self):
        x, y = self.two(SERIAL)
        low, high = self.pick(("1", "n"), ("j", "n"), ("1", "j"), ("2", "n-1"), ("n, 1", "-1"), ("max(1,j-5)", "j"))
        value = self.pick(f"{y}(i,j)*2", f"{y}(j,i)", f"{x}(i,j) + {y}(i,j)")
        test = self.pick("", "", "if (mod(i+j,3) == 0) ", "if (i > 10) ")
        free = low in ("1", "2") and high != "j"
        first, second = self.pick(("j", "i"), ("i", "j")) if free else ("j", "i")
        bounds = f"{low}, {high}"
        self.add(
            f"  do {first} = 1, n\n    do {second} = {bounds}\n      {test}{x}(i,j) = {value}\n    end do\n  end do"
        )

    def do_pair(self):
        x, y = self.two(SERIAL)
        self.add(f"""\
  do j = 1, n
    r(j) = 0
    do i = 1, n
      r(j) = r(j) + {x}(i,j)
    end do
    do i = {self.pick("1", "j")}, n
      {y}(i,j) = {y}(i,j) + r(j)
    end do
  end do""")

    def swap(self):
        (x,) = self.draw.sample(SERIAL, 1)
        self.add(f"""\
  do k = 1, n-1
    l = k + 1 + mod({self.draw.randint(3, 9)}*k, n-k)
    do j = {self.pick("1", "k")}, n
      t = {x}(k,j)
      {x}(k,j) = {x}(l,j)
      {x}(l,j) = t
    end do
  end do""")

    def elimination(self):
        (x,) = self.draw.sample(SERIAL, 1)
        self.add(f"""\
  do k = 1, 12
    do i = k+1, n
      {x}(i,k) = {x}(i,k)/(1 + {x}(k,k))
    end do
    do j = k+1, n
      do i = k+1, n
        {x}(i,j) = {x}(i,j) - {x}(i,k)*{x}(k,j)
      end do
    end do
  end do""")

    # --- loops whose iterations processors share --------------------------------------------------------------

    def shared(self):
        """Two loops side by side in one of which each processor runs its iterations."""
        draw = self.shares
        x, y = draw.sample(("b", "c"), 2)
        at, other = draw.choice((("i,j", "i,j"), ("j,i", "j,i"), ("i,j", "j,i")))
        around = draw.choice(("", "", "it = 1, 2", "k = 1, 6"))
        stepping = around.startswith("k")
        low = "k" if stepping else draw.choice(("1", "2", "j"))
        first = draw.choice(("1", "k + 1")) if stepping else "1"
        text = f"""\
  !hpf$ independent, new(t, i)
  do j = {first}, n
    t = 0
    do i = {low}, n
      t = t + {draw.choice((f"{x}({at})", f"{x}({at})*{y}({at})", f"{y}({other})"))}
    end do
    {draw.choice(("", "", "if (mod(j,3) /= 0) "))}t = t/(1 + i)
    do i = {draw.choice((f"{low}, n", "1, n", "n, 1, -1"))}
      {x}({at}) = {x}({at}) + {draw.choice(("t", f"t*{y}({at})"))}
    end do
  end do"""
        if around:
            inner = "\n".join(f"  {line}" for line in text.splitlines())
            text = f"  do {around}\n{inner}\n  end do"
        self.add(text)


def program(seed):
    """The text of a program."""
    return Writer(seed).program()
