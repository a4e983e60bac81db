"""Random loops with IF blocks among statements that keep them together: private scalars, reductions, outer loops.

All values are whole numbers below 2**53, so that answers are equal in every bit.
"""

import random

HEAD = """program branches
  implicit none
  integer, parameter :: n = {n}, m = {m}
  real(8) :: u(n, m), v(n, m), w(n, m), r(m), h(0:n), s, x, y, z
  integer :: k(n, m), i, j, l, c
!hpf$ processors p({grid})
!hpf$ template t(n, m)
!hpf$ distribute t({formats}) onto p
!hpf$ align with t :: u, v, w, k
!hpf$ align r(j) with t({row}, j)
  forall (i = 1:n, j = 1:m) u(i, j) = mod(3*i + 5*j, {modulus})
  forall (i = 1:n, j = 1:m) v(i, j) = mod(i*j, 7) - 2
  forall (i = 1:n, j = 1:m) k(i, j) = mod(i + 2*j, 4)
  w = 0
  r = 1
  h = 2
  s = 0
  z = {z}
  c = {c}
"""
TAIL = """  print *, s, z
  do j = 1, m
    do i = 1, n
      print *, int(u(i, j)), int(v(i, j)), int(w(i, j)), k(i, j)
    end do
  end do
  do j = 1, m
    print *, int(r(j))
  end do
  do i = 0, n
    print *, int(h(i))
  end do
end program branches
"""
FORMATS = (("block", "*"), ("*", "block"), ("cyclic", "*"), ("*", "cyclic(2)"), ("block", "block"), ("cyclic", "block"))


def program(seed: int, procs: int) -> str:
    """A program for some processors."""
    chooser = random.Random(f"branches {seed}")
    formats = chooser.choice(FORMATS if procs % 2 == 0 else FORMATS[:4])
    grid = f"{procs // 2}, 2" if "*" not in formats else str(procs)
    head = HEAD.format(
        n=chooser.randrange(5, 14),
        m=chooser.randrange(5, 12),
        grid=grid,
        formats=", ".join(formats),
        row="*" if formats[0] == "*" else 1,
        modulus=chooser.choice((5, 9, 11)),
        c=chooser.randrange(1, 6),
        z=chooser.choice((0, 35, -9)),
    )
    nests = [_nest(chooser) for _ in range(chooser.randrange(1, 4))]
    if chooser.randrange(3) == 0:
        nests.insert(chooser.randrange(len(nests) + 1), _everywhere(chooser))
    if chooser.randrange(3) == 0:
        nests.insert(chooser.randrange(len(nests) + 1), _masked(chooser))
    if chooser.randrange(3) == 0:  # a loop that some of its iterations leave
        left = f"    if (mod(int(s), 3) {chooser.choice(('==', '/='))} l) cycle\n"
        nests[-1] = f"  do l = 0, 2\n    s = s + sum(u(:, l + 1))\n{left}{nests[-1]}  end do\n"
    return head + "".join(nests) + TAIL


def _nest(chooser: random.Random) -> str:
    lines = [f"  do j = {chooser.choice((1, 2))}, m"]
    outer = chooser.randrange(2) == 0
    if outer:
        lines += ["    y = mod(7*j, 5)", *_indented(_choice(chooser, ["y"], outside=True), 2)]
    lines.append(f"    do i = {chooser.choice(('1', '2', 'j'))}, n")
    targets = chooser.sample(["u(i, j)", "v(i, j)", "w(i, j)", "k(i, j)"], 2)
    body = [f"x = {_value(chooser, outer)}"]
    for _ in range(chooser.randrange(1, 4)):
        kind = chooser.randrange(8)
        if kind == 0 and chooser.randrange(2):
            body += _kept_inside(chooser, [*targets, "x"])
        elif kind == 0:
            body.append(f"{chooser.choice(targets)} = {_value(chooser, outer)} + x")
        elif kind == 1:
            body.append(f"if ({_condition(chooser)}) s = s + x + {_value(chooser, outer)}")
        elif kind == 7:
            body.append(chooser.choice(("if (x > z) z = x", "if (z <= u(i, j)) z = u(i, j)")))
        elif kind == 2:
            body.append(f"if ({_condition(chooser)}) cycle")
        elif kind == 3:
            body += [f"if ({_condition(chooser)}) then", f"  {chooser.choice(targets)} = x", "  cycle", "end if"]
        else:
            body += _choice(chooser, [*targets, "x"], outside=False)
    lines += [*_indented(body, 3), "    end do"]
    if outer:
        after = ("if (y > 2) r(j) = r(j) + y", "s = s + y", "if (j > c) s = s + 2*y")
        lines += [f"    {chooser.choice(after)}"]
    lines.append("  end do")
    claim = ["!hpf$ independent, new(x, y), reduction(s, z)"] if chooser.randrange(2) else []
    return "\n".join([*claim, *lines]) + "\n"


def _everywhere(chooser: random.Random) -> str:
    """Loops that assign what every processor has from what is distributed, under conditions."""
    before = chooser.choice(("h(i)", "h(i)", "h(i-1)"))
    condition = chooser.choice(("u(i, c) > 4", "i > c", "v(i, j) > 0", "mod(i + j, 3) == 0", "h(i) > 3"))
    new = [f"h(i) = mod(u(i, c) + {before}, 97d0)", f"h(i) = {before} + i"]
    chooser.shuffle(new)
    otherwise = ["else", f"  {new[1]}"] if chooser.randrange(2) else []
    body = [f"if ({condition}) then", f"  {new[0]}", *otherwise, "end if"]
    if chooser.randrange(3) == 0:
        body.append("x = x + h(i)" if chooser.randrange(2) else "s = s + h(i)")
    loops = ["do j = 1, 3", "  do i = 1, n", *_indented(body, 2), "  end do", "end do"]
    last = chooser.choice(("s = s + x", "s = maxval(u(:, c) + mod(s, 7d0))", "s = sum(v(:, c) * mod(s, 3d0))"))
    return "\n".join(_indented(["x = 0", *loops, last], 1)) + "\n"


def _masked(chooser: random.Random) -> str:
    """Masks inside masks: the inner one has no value where the outer one does not hold, or its construct changes it."""
    far, target = chooser.randrange(1, 4), chooser.choice("uw")
    outer, rows, cells = chooser.choice(
        (
            (f"i > {far}", f"v(i-{far}, :) > 1", f"v(i-{far}, j) > 1"),
            (f"i < n-{far}", f"v(i+{far}, :) > h(i)", f"v(i+{far}, j) > h(i)"),
            ("mod(i, 3) /= 0", "mod(k(i, :), mod(i, 3)) == 0", "mod(k(i, j), mod(i, 3)) == 0"),
            ("i > 1", f"{target}(i-1, :) > 1", f"{target}(i-1, j) > 1"),
        )
    )
    kind = chooser.randrange(4)
    if kind == 3:  # bounds of a loop that have no value there
        outer, last = chooser.choice(
            ((f"i > {far}", f"min(m, k(i-{far}, 1) + 2)"), ("mod(i, 3) /= 0", "4 / mod(i, 3)"), (f"i > {far}", "m - 1"))
        )
        inside = [f"  do j = 1, {last}", f"    {target}(i, j) = v(i, j) + i", "  end do"]
        lines = ["do i = 1, n", f"  if ({outer}) then", *_indented(inside, 1), "  end if", "end do"]
    elif kind == 0:
        lines = [
            f"forall (i = 1:n, {outer})",
            f"  forall (j = 1:m, {cells}) {target}(i, j) = v(i, j) + 1",
            "end forall",
        ]
    elif kind == 1:
        other = chooser.choice(
            ([], ["  elsewhere", f"    {target}(i, :) = i", f"    {target}(i, :) = v(i, :) + k(i, :)"])
        )
        first = f"    {target}(i, :) = k(i, :)"
        lines = [f"forall (i = 1:n, {outer})", f"  where ({rows})", first, *other, "  end where", "end forall"]
    else:
        lines = ["where (k > 0)", f"  {target} = v + k", "elsewhere (k > -2)"]
        lines += [f"  {target} = {target} + 2", "end where"]
    return "\n".join(_indented(lines, 1)) + "\n"


def _choice(chooser: random.Random, targets: list[str], *, outside: bool, deep: int = 1) -> list[str]:
    """An IF block or a SELECT CASE; some have others inside."""
    parts, cases = chooser.randrange(1, 4), ["(0)", "(1, 3)", "(2)"]
    selector = chooser.choice(("mod(j, 4)", "j / c") if outside else ("mod(i + j, 4)", "k(i, j)", "i - j"))
    select = chooser.randrange(4) == 0
    found = [f"select case ({selector})"] if select else []
    for part in range(parts):
        last = part == parts - 1 and part and chooser.randrange(2)
        if select:
            found.append("case default" if last else f"case {cases[part]}")
        else:
            otherwise = "else " if part else ""
            found.append("else" if last else f"{otherwise}if ({_condition(chooser, outside)}) then")
        for _ in range(chooser.randrange(1, 3)):
            target = chooser.choice(targets)
            found.append(f"  {target} = {_value(chooser, outside, inner=not outside)}")
        if deep and chooser.randrange(4) == 0:
            found += _indented(_choice(chooser, targets, outside=outside, deep=0), 1)
    return [*found, "end select" if select else "end if"]


def _kept_inside(chooser: random.Random, targets: list[str]) -> list[str]:
    """Conditions that have no value where the ones around them do not hold: elements beside their array, divisions by
    zero."""
    far, element = chooser.randrange(1, 4), chooser.choice([each for each in "uvw" if f"{each}(i, j)" not in targets])
    outer, inner = chooser.choice(
        (
            (f"i > {far}", f"{element}(i - {far}, j) > 1"),
            (f"i <= n - {far}", f"{element}(i + {far}, j) /= 2"),
            (f"j > {far}", f"{element}(i, j - {far}) <= 3"),
            (f"i > {far}", f"h(i - {far} - 1) > h(i)"),
            ("k(i, j) > 0", "mod(i + j, k(i, j)) == 0"),
            ("c > 3", "j / (c - 3) == 1"),
            ("i < n", "h(i + k(i, j) / 3) > 2"),
        )
    )
    first, last, sums = f"{chooser.choice(targets)} = {_value(chooser, False)}", f"{targets[0]} = x", "s = s + 3"
    inside = chooser.choice(([first], [first, last], [first, sums], [sums]))
    kind = chooser.randrange(4)
    if kind == 0:
        return [f"if (.not. ({outer})) cycle", f"if ({inner}) then", *_indented(inside, 1), "end if"]
    if kind == 1:
        return [
            f"if (.not. ({outer})) then",
            f"  {last}",
            f"else if ({inner}) then",
            *_indented(inside, 1),
            *chooser.choice(([], ["else", f"  {first}"])),
            "end if",
        ]
    otherwise = chooser.choice(([], ["else", f"  {last}"], [f"else if ({_condition(chooser)}) then", f"  {first}"]))
    return [
        f"if ({outer}) then",
        f"  if ({inner}) then",
        *_indented([*inside], 2),
        *_indented([*otherwise, "end if"], 1),
        "end if",
    ]


def _value(chooser: random.Random, outer: bool, *, inner: bool = True) -> str:
    if not inner:
        return chooser.choice(("y + 1", "mod(j, 3)", "c - y"))
    own = ("mod(u(i, j), 50d0)", "mod(v(i, j), 40d0) * 2", "k(i, j) + 1", "w(i, j) / 1", "i - 2*j", "c")
    return chooser.choice((*own, "y") if outer else own)


def _condition(chooser: random.Random, outside: bool = False) -> str:
    found = ["mod(j, 3) == 1", "j > c", "j + 2 < m"]
    if outside:
        return chooser.choice([*found, "y > 2"])
    found += ["i > j", "mod(i + j, 3) == 0", "i > c .and. j < 6"]
    return chooser.choice([*found, "u(i, j) > 4", "k(i, j) == 1", "x > 3", "v(i, j) > 0"])


def _indented(lines: list[str], by: int) -> list[str]:
    return ["  " * by + each for each in lines]
