"""Random mappings: all formats, grids of one and two dimensions, alignments."""


def grids(procs):
    """Shapes of processor grids: one dimension, then two."""
    return [(procs,), *((a, procs // a) for a in range(1, procs + 1) if procs % a == 0)]


def mapped(writer):
    """Directives for the arrays of a writer."""
    pick, chance = writer.pick, writer.chance
    shapes = [(writer.procs,)]
    if any(len(each.bounds) > 1 for each in writer.arrays) and chance(60):
        shapes.append(writer.random.choice(grids(writer.procs)[1:]))
    found = [f"processors g{at}({', '.join(map(str, shape))})" for at, shape in enumerate(shapes)]
    placed = []
    for array in writer.arrays:
        rank = len(array.bounds)
        same = [each for each in placed if each.bounds == array.bounds]
        wider = [each for each in placed if len(each.bounds) == 2 and rank == 1]
        if array.name == "w" or chance(10):  # w is scratch space, not data
            continue
        if same and chance(30):
            found.append(f"align with {pick(*same).name} :: {array.name}")
            continue
        if wider and chance(40):
            other = pick(*wider)
            dim = pick(0, 1)
            if inside(array.bounds[0], other.bounds[dim]):
                lower, upper = other.bounds[1 - dim]
                rest = pick("*", str(writer.random.randint(lower, upper)))
                at = ("d", rest) if dim == 0 else (rest, "d")
                found.append(f"align {array.name}(d) with {other.name}({', '.join(at)})")
                continue
        around = [each for each in placed if len(each.bounds) == rank and holds(each.bounds, array.bounds)]
        if around and chance(75):
            subscripts = ", ".join("def"[:rank])
            found.append(f"align {array.name}({subscripts}) with {pick(*around).name}({subscripts})")
            continue
        grid = writer.random.choice([at for at, shape in enumerate(shapes) if len(shape) <= rank])
        spread = dict(zip(sorted(writer.random.sample(range(rank), len(shapes[grid]))), shapes[grid], strict=True))
        formats = [
            pick("block", "block", "cyclic", "cyclic", "cyclic(2)", "cyclic(3)", "gen_block") if dim in spread else "*"
            for dim in range(rank)
        ]
        for dim, form in enumerate(formats):
            if form == "gen_block":
                formats[dim] = f"gen_block({sizes(writer.random, array.bounds[dim], spread[dim])})"
        found.append(f"distribute {array.name}({', '.join(formats)}) onto g{grid}")
        placed.append(array)
    return tuple(found)


def sizes(random, bounds, procs):
    """Sizes of blocks that hold a dimension, some of them empty."""
    extent = bounds[1] - bounds[0] + 1
    cuts = sorted(random.randint(0, extent) for _ in range(procs - 1))
    return f"(/ {','.join(str(high - low) for low, high in zip([0, *cuts], [*cuts, extent], strict=True))} /)"


def holds(outer, inner):
    """Whether some bounds hold others, and are not the same."""
    return outer != inner and all(inside(one, other) for one, other in zip(inner, outer, strict=True))


def inside(one, other):
    return other[0] <= one[0] and one[1] <= other[1]
