"""Random recurrences that reduce on the way, such as the residual of successive over-relaxation.

All values are whole numbers below 2**53, so that answers are equal in every bit.
"""

import random

HEAD = """program sweeps
  implicit none
  integer, parameter :: n = {n}, m = {m}
  real(8) :: u(n, m), v(n, m), w(n, m), a(n), b(n), s, x, y, z, q
  integer :: i, j, l, c, d, k
!hpf$ processors p({grid})
!hpf$ template t(n, m)
!hpf$ distribute t({formats}) onto p
!hpf$ align with t :: u, v, w
!hpf$ align (i) with t(i, {column}) :: a, b
  forall (i = 1:n, j = 1:m) u(i, j) = mod(3*i + 5*j, {modulus})
  forall (i = 1:n, j = 1:m) v(i, j) = mod(i*j, 7)
  forall (i = 1:n) a(i) = mod(2*i, 5)
  w = 0
  b = 1
  s = 0
  z = {z}
  q = 1
  c = {c}
  d = 3
  k = 2
"""
TAIL = """  print *, s, z, q, c, d, k
  do j = 1, m
    do i = 1, n
      print *, int(u(i, j)), int(w(i, j))
    end do
  end do
  do i = 1, n
    print *, int(a(i)), int(b(i))
  end do
end program sweeps
"""
FORMATS = (("block", "*"), ("*", "block"), ("cyclic", "*"), ("block", "cyclic(2)"), ("block", "block"))
REDUCTIONS = (
    "s = s + {0}",
    "z = max(z, {0})",
    "if ({0} > z) z = {0}",
    "s = s - {0} + 1",
    "q = mod(q * 3, 101d0)",  # no reduction
    "c = c + 1",
    "d = d + 1",  # in no condition
    "if (mod(i, 2) == 0) s = s + {0}",
)


def program(seed: int, procs: int) -> str:
    """A program for some processors."""
    chooser = random.Random(f"sweeps {seed}")
    formats = chooser.choice(FORMATS if procs % 2 == 0 else FORMATS[:3])
    head = HEAD.format(
        n=chooser.randrange(5, 14),
        m=chooser.randrange(4, 9),
        grid=f"{procs // 2}, 2" if "*" not in formats else str(procs),
        formats=", ".join(formats),
        column=chooser.choice(("*", "1")),
        modulus=chooser.choice((5, 9, 11)),
        c=chooser.randrange(1, 6),
        z=chooser.choice((0, 15, -9)),
    )
    return head + "".join(_loop(chooser) for _ in range(chooser.randrange(1, 4))) + TAIL


def _loop(chooser: random.Random) -> str:
    lines = _single(chooser) if chooser.randrange(3) == 0 else _sweep(chooser)
    if chooser.randrange(3) == 0:  # sweeps that are repeated until data say so
        last = [f"  if (mod(int(s), 7) == {chooser.randrange(7)}) exit"] if chooser.randrange(2) else []
        last += ["  k = 2 + mod(l, 2)"] if chooser.randrange(2) else []
        before = [f"  {each} = 0" for each in "sz" if chooser.randrange(2)]
        lines = ["do l = 1, 3", *before, *("  " + each for each in lines), *last, "end do"]
    return "".join(f"  {each}\n" for each in lines)


def _single(chooser: random.Random) -> list[str]:
    """A loop over a vector."""
    body = [f"a(i) = mod(a(i-1) * 2 + b(i) + {chooser.randrange(3)}, 13d0)", *_reduced(chooser, "a(i)", "b(i)")]
    chooser.shuffle(body)
    body = _conditional(chooser, body, ("mod(i, 3) == 0", "i > c", "a(i-1) > 3", "b(i) > 0"))
    return ["do i = 2, n", *_indented(body), "end do"]


def _sweep(chooser: random.Random) -> list[str]:
    """Loops over a matrix, along one dimension or both."""
    read = chooser.choice((("u(i-1, j)",), ("u(i, j-1)",), ("u(i-1, j)", "u(i, j-1)"), ("u(i+1, j)", "u(i-1, j)")))
    ends = {"i": ("2", "n-1"), "j": ("2", "m")}
    new = " + ".join(["v(i, j)", *read])
    operand = "u(i, j)"
    body = [f"u(i, j) = mod({new}, 17d0)"]
    kind = chooser.randrange(3)
    if kind == 0:
        body, operand = [f"x = mod({new}, 19d0) - u(i, j)", "u(i, j) = u(i, j) + x"], "abs(x)"
    elif kind == 1:
        body, operand = [f"w(i, j) = mod({new}, 11d0)", "u(i, j) = mod(u(i, j) + w(i, j), 23d0)"], "w(i, j)"
    at = chooser.randrange(1, len(body) + 1)
    body[at:at] = _reduced(chooser, operand, "v(i, j)")
    body = _conditional(
        chooser, body, ("v(i, j) > 2", "mod(i + j, 2) == 0", "i > 3", "u(i-1, j) > 4", "j > c", "c > 2")
    )
    inner, outer = chooser.choice((("i", "j"), ("j", "i")))
    if chooser.randrange(4) == 0:  # where a loop begins may change from one iteration around it to the next
        end = chooser.choice("ij")
        ends[end] = ("k", ends[end][1])
    first, last = ends[inner]
    if chooser.randrange(4) == 0 and not any("+1" in each for each in read):
        first = "max(2, i - 2)" if inner == "j" else "max(2, j)"
    lines = [f"do {inner} = {first}, {last}", *_indented(body), "end do"]
    if chooser.randrange(4) == 0:
        lines.append(chooser.choice((f"s = s + {outer}", "y = s", f"z = max(z, mod(5d0*{outer}, 7d0))")))
    return [f"do {outer} = {', '.join(ends[outer])}", *_indented(lines), "end do"]


def _conditional(chooser: random.Random, body: list[str], conditions: tuple[str, ...]) -> list[str]:
    """Some of these statements in IF blocks."""
    if chooser.randrange(3):
        return body
    first = chooser.randrange(len(body))
    last = chooser.randrange(first + 1, len(body) + 1)
    inside = body[first:last]
    if chooser.randrange(3) == 0:  # where the outer condition does not hold, the inner one has no value
        outer, inner = chooser.choice((("i > 3", "a(i-3) > 1"), ("i < n-1", "b(i+2) > 0"), ("c > 3", "i / (c-3) == 2")))
        inside = [f"if ({outer}) then", f"  if ({inner}) then", *_indented(_indented(inside)), "  end if", "end if"]
    found = [f"if ({chooser.choice(conditions)}) then", *_indented(inside)]
    if chooser.randrange(3) == 0:
        found += [f"else if ({chooser.choice(conditions)}) then", "  s = s + 3"]
    if chooser.randrange(2):
        found += ["else", *_indented([chooser.choice(body[first:last])])]
    return [*body[:first], *found, "end if", *body[last:]]


def _reduced(chooser: random.Random, *operands: str) -> list[str]:
    chosen = chooser.sample(REDUCTIONS, chooser.randrange(1, 3))
    return [each.format(chooser.choice(operands)) for each in chosen]


def _indented(lines: list[str]) -> list[str]:
    return ["  " + each for each in lines]
