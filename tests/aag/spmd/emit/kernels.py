"""Nests in the shape of well-known methods, on integers: loop orders, directions and parts of them vary."""

from tests.aag.spmd.emit import tree as t


def do(index, low, high, *body, step=None):
    number = {int: t.num, str: t.var}
    bounds = [number[type(each)](each) if isinstance(each, int | str) else each for each in (low, high)]
    return t.Do(index, *bounds, None if step is None else t.num(step), tuple(body))


def plus(name, amount):
    return ("+" if amount > 0 else "-", t.var(name), t.num(abs(amount)))


def el(name, *subscripts):
    return t.ref(
        name,
        *(
            t.var(each) if isinstance(each, str) else t.num(each) if isinstance(each, int) else each
            for each in subscripts
        ),
    )


def less(target, *factors):
    """target = mod(target - product)"""
    product = factors[0] if len(factors) == 1 else ("*", *factors)
    return t.Assign(target, t.call("mod", ("-", target, product)))


def more(target, *factors):
    product = factors[0] if len(factors) == 1 else ("*", *factors)
    return t.Assign(target, t.call("mod", ("+", target, product)))


def square(writer, *names, rank=2):
    n = writer.random.randint(5, 9)
    writer.arrays = [t.Array(name, ((1, n),) * rank) for name in names]
    return n


A_IJ, A_IK, A_KJ, A_KK = (el("a", *at) for at in ("ij", "ik", "kj", "kk"))


def lu(w):
    n = square(w, "a")
    i, j = ("i", "j") if w.chance(50) else ("j", "i")
    update = do(i, plus("k", 1), n, do(j, plus("k", 1), n, less(A_IJ, A_IK, A_KJ)))
    scale = do("i", plus("k", 1), n, more(A_IK, t.num(3), A_KK))
    return [do("k", 1, n - 1, *([scale] if w.chance(60) else []), update)]


def lu_left(w):
    n = square(w, "a")
    update = do("k", 1, plus("j", -1), do("i", plus("k", 1), n, less(A_IJ, A_IK, A_KJ)))
    scale = do("i", plus("j", 1), n, more(A_IJ, el("a", "j", "j")))
    return [do("j", 1, n, update, *([scale] if w.chance(70) else []))]


def triangular(w):
    """Triangular solves: by columns or rows, forwards or backwards, with a matrix or without."""
    n = square(w, "a")
    w.arrays.append(t.Array("b", ((1, n),)))
    factor = A_IJ if w.chance(70) else t.num(3)
    inner = less(el("b", "i"), factor, el("b", "j"))
    match w.pick("column", "row", "column back", "row back"):
        case "column":
            return [do("j", 1, n, do("i", plus("j", 1), n, inner))]
        case "row":
            return [do("i", 1, n, do("j", 1, plus("i", -1), inner))]
        case "column back":
            return [do("j", n, 1, do("i", plus("j", -1), 1, inner, step=-1), step=-1)]
    return [do("i", n, 1, do("j", n, plus("i", 1), inner, step=-1), step=-1)]


def cholesky(w):
    n = square(w, "a")
    scale = do("i", plus("k", 1), n, more(A_IK, A_KK))
    update = do("j", plus("k", 1), n, do("i", "j", n, less(A_IJ, A_IK, el("a", "j", "k"))))
    return [do("k", 1, n, scale, update)]


def floyd(w):
    n = square(w, "a")
    i, j = ("i", "j") if w.chance(50) else ("j", "i")
    path = t.Assign(A_IJ, t.call("min", A_IJ, ("+", A_IK, A_KJ)))
    return [do("k", 1, n, do(i, 1, n, do(j, 1, n, path)))]


def wavefront(w):
    n = square(w, "a")
    a, b = w.pick(-1, 1), w.pick(-1, 0, 1)
    side = [el("a", plus("i", a), "j"), el("a", "i", plus("j", b) if b else "j")]
    if w.chance(50):
        side.append(el("a", plus("i", w.pick(-1, 1)), plus("j", w.pick(-1, 1))))
    value = side[0]
    for each in side[1:]:
        value = ("+", value, ("*", t.num(w.pick(2, 3)), each))
    bounds = [(2, n - 1, None), (n - 1, 2, -1)]
    first, second = w.pick(*bounds), w.pick(*bounds)
    inner = t.Assign(A_IJ, t.call("mod", value))
    one, two = ("i", "j") if w.chance(50) else ("j", "i")
    nest = do(one, first[0], first[1], do(two, second[0], second[1], inner, step=second[2]), step=first[2])
    return [do("k", 1, 2, nest)] if w.chance(50) else [nest]


def thomas(w):
    n = w.random.randint(6, 13)
    w.arrays = [t.Array(name, ((1, n),)) for name in "abc"]
    before = el("c", plus("i", -1))
    forward = do(
        "i",
        2,
        n,
        t.Assign(t.var("x"), t.call("mod", ("+", el("a", "i"), el("b", plus("i", -1))))),
        less(el("b", "i"), t.var("x"), before),
        less(el("c", "i"), t.var("x"), before),
    )
    back = do("i", n - 1, 1, less(el("c", "i"), el("b", "i"), el("c", plus("i", 1))), step=-1)
    return [forward, back]


def odd_even(w):
    """Exchanges of neighbours."""
    n = w.random.randint(6, 13)
    w.arrays = [t.Array("a", ((1, n),))]
    here, there = el("a", "i"), el("a", plus("i", 1))
    swap = t.If((">", here, there), (t.Assign(t.var("x"), here), t.Assign(here, there), t.Assign(there, t.var("x"))))
    return [do("k", 1, w.pick(2, n), do("i", 1, n - 1, swap, step=w.pick(None, 2)), do("i", 2, n - 1, swap, step=2))]


def prefix(w):
    n = square(w, "a", "b")
    dim = w.pick(0, 1)
    at = ("i", "j")
    before = tuple(plus(each, -1) if number == dim else each for number, each in enumerate(at))
    bounds = {"i": 1, "j": 1, at[dim]: 2}
    one, two = ("i", "j") if w.chance(50) else ("j", "i")
    body = [t.Assign(A_IJ, t.call("mod", ("+", el("a", *before), ("*", t.num(2), el("b", *at)))))]
    if w.chance(50):
        body.append(more(el("b", *at), el("a", *(w.pick(before, at)))))
    return [do(one, bounds[one], n, do(two, bounds[two], n, *body))]


def pivot(w):
    """Elimination with the search for the largest element and an exchange of rows."""
    n = square(w, "a")
    larger = (t.Assign(t.var("x"), A_IK), t.Assign(t.var("m"), t.var("i")))
    search = do("i", plus("k", 1), n, t.If((">", A_IK, t.var("x")), larger))
    row = el("a", "m", "j")
    swap = do("j", 1, n, t.Assign(t.var("y"), A_KJ), t.Assign(A_KJ, row), t.Assign(row, t.var("y")))
    update = do("i", plus("k", 1), n, do("j", plus("k", 1), n, less(A_IJ, A_IK, A_KJ)))
    start = (t.Assign(t.var("m"), t.var("k")), t.Assign(t.var("x"), A_KK))
    return [do("k", 1, n - 1, *start, search, swap, update)]


def matrix_vector(w):
    n = square(w, "a")
    w.arrays += [t.Array("b", ((1, n),)), t.Array("c", ((1, n),))]
    inner = more(el("b", "i"), A_IJ, el("c", "j"))
    one, two = ("i", "j") if w.chance(50) else ("j", "i")
    body = [do(one, 1, n, do(two, 1, n, inner))]
    if w.chance(50):
        zero = t.Assign(el("b", "i"), t.num(0))
        body = [do("i", 1, n, zero, do("j", 1, n, inner))]
    if w.chance(50):
        body = [do("k", 1, 2, *body, do("i", 1, n, t.Assign(el("c", "i"), t.call("mod", el("b", "i")))))]
    return body


def exchange(w):
    """Rows or columns exchanged through a scalar, the pair known, varying or chosen by data."""
    n = square(w, "a")
    one = w.pick("k", 1, 2, plus("k", 1))
    other = w.pick("m", n, plus("k", 1), "k")
    across = w.chance(50)
    ends = [el("a", *(("j", each) if across else (each, "j"))) for each in (one, other)]
    low = w.pick(1, 2) if w.chance(60) else "k"
    swap = do("j", low, n, *(t.Assign(*pair) for pair in zip((t.var("y"), *ends), (*ends, t.var("y")), strict=True)))
    scale = do("j", 1, n, do("i", 1, n, more(A_IJ, t.num(3), A_KK)))
    choice = [t.Assign(t.var("m"), t.var("k"))]
    if w.chance(50):
        choice.append(t.If((">", A_KK, t.num(0)), (t.Assign(t.var("m"), t.num(n)),)))
    swap = t.If((">", A_KK, t.num(0)), (swap,)) if w.chance(30) else swap
    return [do("k", 1, n - 1, *choice, swap, *([scale] if w.chance(60) else []))]


def shared(w):
    """Values that several arrays get that live apart."""
    rank = w.pick(1, 2, 2)
    square(w, *"abc", rank=rank)
    n = w.arrays[0].bounds[0][1]
    at = ("i", "j")[:rank]

    def moved(name, *, swapped=False):
        places = [plus(each, w.pick(-1, 1)) if w.chance(40) else each for each in at]
        return el(name, *(reversed(places) if swapped else places))

    x, y = t.var("x"), t.var("y")
    source = moved("c") if w.chance(50) else ("+", moved("c"), ("*", t.num(2), moved("c")))
    body = [t.Assign(x, t.call("mod", source) if source[0] == "+" else source)]
    if w.chance(40):
        body.append(t.Assign(y, t.call("mod", ("-", x, moved("c")))))
    factor = y if len(body) > 1 else t.num(2)
    writes = [t.Assign(moved("a"), x), t.Assign(moved("b", swapped=w.chance(50)), t.call("mod", ("*", factor, x)))]
    if w.chance(30):
        writes[-1] = t.If((">", x, t.num(0)), (writes[-1],))
    body += writes
    nest = do(at[0], 2, n - 1, *(body if rank == 1 else [do(at[1], w.pick(2, "i"), n - 1, *body)]))
    return [do("k", 1, 2, nest)] if w.chance(40) else [nest]


def guarded(w):
    """Arrays of other extents than the loop, so that conditions or empty loops keep some iterations from using them."""
    n = w.random.randint(6, 11)
    first, last = w.pick(1, 2, 3), n - w.pick(0, 1, 2)
    w.arrays = [t.Array("a", ((1, n),)), t.Array("b", ((first, last),)), t.Array("c", ((w.pick(0, 1), n),))]
    i, x = t.var("i"), t.var("x")
    value = w.pick(x, t.var("i"), ("+", x, el("c", "i")))
    to_b = t.Assign(el("b", "i"), t.call("mod", value))
    inside = to_b
    if w.chance(25):  # no condition: an inner loop that has no iteration
        inside = do("j", 1, ("-", i, t.num(first - 1)), to_b) if last == n else to_b
    if last < n:
        inside = t.If(("<=", i, t.num(last)), (inside,))
    if first > 1 and not isinstance(inside, t.Do):
        other = (t.Assign(el("a", "i"), t.num(77)),) if w.chance(30) else ()
        inside = t.If((">=", i, t.num(first)), (inside,), other) if other else t.If((">=", i, t.num(first)), (inside,))
    body = [inside, t.Assign(el("a", "i"), t.call("mod", w.pick(x, ("+", i, x))))]
    if w.chance(50):
        body.append(more(t.var(w.pick("s", "u")), w.pick(x, el("c", "i"))))
    w.random.shuffle(body)
    start = t.Assign(x, el("c", "i")) if w.chance(50) else t.Assign(x, ("*", t.num(3), i))
    if w.chance(30):  # copied in some iterations alone
        copied = t.Assign(x, el("b", "i"))
        tests = [(">=", i, t.num(first)), ("<=", i, t.num(last))]
        start = t.If(tests[0], (t.If(tests[1], (copied,), (t.Assign(x, t.num(5)),)),), (t.Assign(x, t.num(30)),))
    upper = t.var("m") if w.chance(30) else n
    nest = do("i", 1, upper, start, *body)
    known = [t.Assign(t.var("m"), t.num(n))] if upper != n else []
    return [*known, do("k", 1, 2, nest) if w.chance(30) else nest]


def scratch(w):
    """A small array as a set of private scalars: set before it is read, in some iterations alone, or carried on."""
    n = w.random.randint(6, 11)
    w.arrays = [t.Array(name, ((1, n),)) for name in "abc"] + [t.Array("w", ((1, 3),))]
    one, two, three = (el("w", at) for at in (1, 2, 3))
    first = t.Assign(one, w.pick(t.var("i"), el("c", "i"), ("*", t.num(2), el("c", plus("i", w.pick(-1, 1))))))
    second = t.Assign(two, ("+", one, t.num(w.pick(1, 2))))
    if w.chance(30):
        other = (t.Assign(two, t.num(4)),) if w.chance(60) else ()
        second = t.If((">", one, t.num(5)), (second,), other)
    third = [t.Assign(three, t.call("mod", ("*", one, two)))] if w.chance(60) else []
    value = w.pick(one, two, ("+", one, two), three if third or w.chance(20) else one)
    writes = [t.Assign(el("a", "i"), t.call("mod", value)), t.Assign(el("b", plus("i", w.pick(-1, 1))), two)]
    if w.chance(60):
        writes.pop()
    body = [first, second, *third, *writes]
    if w.chance(15):
        body = [*writes, first, second, *third]
    return [do("i", 2, n - 1, *body)]


KERNELS = (lu, lu_left, triangular, cholesky, floyd, wavefront, thomas, odd_even, prefix, pivot, matrix_vector)
PRIVATE = (exchange, shared, guarded, scratch)


def kernel(writer):
    """One of them."""
    return writer.random.choice(KERNELS)(writer)


def private(writer):
    """One whose scalars are private while iterations are shared out."""
    return writer.random.choice(PRIVATE)(writer)
