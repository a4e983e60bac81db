"""Random programs of CSHIFT, EOSHIFT and sections on arrays aligned in all ways: with offsets, strides, reversed, at
one coordinate of a grid axis, or replicated. Lower bounds are 0, negative and above 1; no data decide what runs."""

import random

FORMATS = ("block", "cyclic", "cyclic(2)", "cyclic(3)")
MATRIX = ("t(i, j)", "t(2*i + 1, j + 2)", "t(23 - i, j + 3)", "t(i + 4, 22 - j)", "t(j + 2, i + 3)")
VECTOR = ("t(i, *)", "t(i + 4, 5)", "t(7, i + 3)", "t(*, 20 - i)", "t(2*i + 2, 1)", "t(30 - i, 12)")


def program(seed):
    """A random program."""
    chance = random.Random(f"shifts {seed}")
    pick = chance.choice
    n = pick((7, 10, 13))
    low, other, first, second = (pick((-2, -1, 0, 1, 2)) for _ in range(4))

    def shift():
        return pick(("1", "-1", "2", "k", "-k", "k - 2", "-3"))

    def matrix(name=""):
        name = name or pick("ab")
        around = f"cshift({name}, {shift()}, {pick((1, 2))})"
        off = f"eoshift({name}, {shift()}{pick((', 2.0d0', ''))}, dim={pick((1, 2))})"
        return pick((around, off, name, f"cshift(eoshift({name}, {shift()}, dim=1), {shift()}, 2)"))

    def vector():
        name, begin = pick((("v", first), ("w", second)))
        extent = pick((n - 2, n - 1))
        begin += pick((0, 1))
        step = pick((1, 1, -1))
        last = begin + extent - 1
        section = f"{name}({begin}:{last})" if step == 1 else f"{name}({last}:{begin}:-1)"
        return extent, pick((f"cshift({section}, {shift()})", f"eoshift({section}, {shift()})", section))

    def statement():
        match pick(("matrix", "matrix", "column", "row", "vector", "forall")):
            case "matrix":
                name = pick("ab")
                return f"{name} = {matrix()} {pick('+-')} 2*{matrix()}"
            case "column":
                extent, value = vector()
                return f"{pick('ab')}({low}:{low + extent - 1}, {other + pick((0, 2))}) = {value}"
            case "row":
                extent, value = vector()
                return f"{pick('ab')}({low + pick((0, 2))}, {other}:{other + extent - 1}) = {value}"
            case "vector":
                extent, value = vector()
                name, begin = pick((("v", first), ("w", second)))
                return f"{name}({begin}:{begin + extent - 1}) = {value} + 1"
            case _:
                name, begin = pick((("v", first), ("w", second)))
                place = pick((f"i + ({begin - low})", f"j + ({begin - other})", f"{begin} + (j - ({other}))/2"))
                head = f"forall (i = {low}:{low + n - 1}, j = {other}:{other + n - 1})"
                return f"{head} {pick('ab')}(i, j) = {name}({place}) + {pick('ab')}(i, {2 * other + n - 1} - j)"

    return "\n".join(
        [
            "program shifts",
            "  implicit none",
            f"  real(8), dimension({low}:{low + n - 1}, {other}:{other + n - 1}) :: a, b",
            f"  real(8) :: v({first}:{first + n - 1}), w({second}:{second + n - 1})",
            "  integer :: i, j, k",
            "!hpf$ template t(-6:40, -6:40)",
            f"!hpf$ align a(i, j) with {pick(MATRIX)}",
            f"!hpf$ align b(i, j) with {pick(MATRIX)}",
            f"!hpf$ align v(i) with {pick(VECTOR)}",
            f"!hpf$ align w(i) with {pick(VECTOR)}",
            f"!hpf$ distribute t({pick(FORMATS)}, {pick((*FORMATS, '*'))})",
            f"  forall (i = {low}:{low + n - 1}, j = {other}:{other + n - 1}) a(i, j) = i + 3*j",
            f"  forall (i = {low}:{low + n - 1}, j = {other}:{other + n - 1}) b(i, j) = 2*i - j",
            f"  forall (i = {first}:{first + n - 1}) v(i) = 5*i",
            f"  forall (i = {second}:{second + n - 1}) w(i) = 7 - i",
            "  do k = 1, 2",
            *(f"    {statement()}" for _ in range(4)),
            "  end do",
            "  print *, a, b",
            "  print *, v, w",
            "end program shifts",
            "",
        ]
    )
