"""Long programs: what reading, lowering and a prediction take of programs of 500 to 4,000 lines, and a comparison."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Figure, calls, process
from esp import api

LENGTHS = (500, 1000, 2000, 4000)
COMPARED = 700

LINEAR = 1.5
"""The most that a line of the longest program may take over a line of the shortest."""

FIELDS = ("u", "v", "w", "p", "q", "r", "s", "t", "h", "z", "f", "g")

HEAD = f"""\
program long
  implicit none
  integer, parameter :: n = 256, steps = 20
  integer :: i, j, k
  real(8) :: total, alpha
  real(8), dimension(n, n) :: {", ".join(FIELDS)}
!HPF$ PROCESSORS prc(2, 2)
!HPF$ TEMPLATE temp(n, n)
!HPF$ ALIGN WITH temp :: {", ".join(FIELDS)}
!HPF$ DISTRIBUTE temp(BLOCK, BLOCK) ONTO prc
  alpha = 0.25d0
{"".join(f"  {field} = 1.0d0{chr(10)}" for field in FIELDS)}  do k = 1, steps
"""

PIECES = (
    """\
    do j = 2, n-1
      do i = 2, n-1
        {a}(i,j) = 0.25d0 * ({b}(i-1,j) + {b}(i+1,j) + {b}(i,j-1) + {b}(i,j+1))
        {c}(i,j) = {a}(i,j) * alpha + {d}(i,j)
      end do
    end do
""",
    "    {a}(2:n-1,:) = {b}(1:n-2,:) + {c}(3:n,:)\n",
    "    forall (i = 1:n, j = 2:n-1) {a}(i,j) = {b}(i,j) - {c}(i,j+1) * {d}(i,j-1)\n",
    """\
    where ({b} > 0.0d0)
      {a} = {c} / {b}
    elsewhere
      {a} = 0.0d0
    end where
""",
    """\
    total = sum({a}) + maxval(abs({b}))
    if (total > 0.0d0) alpha = alpha / total
""",
    """\
    do j = 2, n-1
      do i = 2, n-1
        {a}(i,j) = {b}(i,j) + {c}(i+1,j)
        {d}(i,j) = {b}(i,j) * {c}(i,j-1) - alpha * {a}(i,j)
        if ({d}(i,j) > 1.0d0) {d}(i,j) = 1.0d0
      end do
    end do
""",
)
"""What the time step is made of, in turn, over different fields each time."""

TAIL = "  end do\n  total = sum(u)\n  print *, 'checksum', total\nend program long\n"


def program(lines: int) -> str:
    """A program of at least so many lines: one time step of many different nests over twelve distributed fields."""
    text, number = HEAD, 0
    length = HEAD.count("\n") + TAIL.count("\n")
    while length < lines:
        a, b, c, d = (FIELDS[(number * step + shift) % len(FIELDS)] for step, shift in ((1, 0), (1, 5), (1, 7), (1, 9)))
        piece = PIECES[number % len(PIECES)].format(a=a, b=b, c=c, d=d)
        text, length, number = text + piece, length + piece.count("\n"), number + 1
    return text + TAIL


def figures() -> Iterator[Figure]:
    """Each stage for each length, and what a line of the longest takes over one of the shortest."""
    system, request = api.load_machine("ipsc860"), api.Request(procs=8)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.hpf")
        taken: dict[str, list[float]] = {"read": [], "lower": [], "interpret": []}
        for lines in LENGTHS:
            path.write_text(program(lines), encoding="utf-8")
            source = api.read_source(str(path))
            read, lower, both = calls(
                1,
                lambda: api.read_source(str(path)),
                lambda source=source: api.lower_source(source, system, request),
                lambda source=source: api.interpret_stages(api.lower_source(source, system, request), system, request),
            )
            for name, spent in zip(taken, (read, lower, both - lower), strict=True):
                taken[name].append(spent)
                yield Figure(f"{name} a program of {lines:,} lines", spent, "s")
        for name, spent in taken.items():
            ratio = spent[-1] / spent[0] * LENGTHS[0] / LENGTHS[-1]
            yield Figure(f"{name}: a line of {LENGTHS[-1]:,} over one of {LENGTHS[0]:,}", ratio, "x", LINEAR)
        path.write_text(program(COMPARED), encoding="utf-8")
        compared = process("-m", "esp", "compare", str(path), "--procs", "8")
        yield Figure(f"esp compare {COMPARED} lines, P = 8: 12 choices and crossover", compared.cpu_s, "s", 30.0)
        yield Figure("  the same on the wall", compared.wall_s, "s")
