"""Programs as trees of our own, which share nothing with what esp makes of their text; `text` prints them.

Expressions are tuples, so that they can be compared and rewritten: ("num", 3), ("var", "i"), ("ref", "a", subscripts),
(operator, left, right), ("call", name, arguments). All data of a program have one type.
"""

from dataclasses import dataclass, replace

INFIX = {"+", "-", "*", "<", "<=", ">", ">=", "==", "/=", ".and.", ".or."}
STRENGTH = dict.fromkeys(INFIX, 2) | {".or.": 0, ".and.": 1, "+": 3, "-": 3, "*": 4}
PRIME = 10007
LONGEST = 120
COUNTED = 5
"""COUNT counts the elements that are greater."""
INDICES = ("i", "j", "k", "l")
SCALARS = ("s", "t", "u", "x", "y", "m")
STARTS = {name: at + 2 for at, name in enumerate(SCALARS)} | {name: at - 1 for at, name in enumerate(INDICES)}
INTEGERS = {*INDICES, "m", "p"}


@dataclass(frozen=True)
class Assign:
    target: tuple
    value: tuple


@dataclass(frozen=True)
class Do:
    index: str
    lower: tuple
    upper: tuple
    step: tuple | None
    body: tuple
    label: str = ""
    claim: str | None = None
    """Clauses of an INDEPENDENT directive, such as ", new(x)"; None: there is no directive."""


@dataclass(frozen=True)
class If:
    condition: tuple
    then: tuple
    otherwise: tuple = ()


@dataclass(frozen=True)
class Leave:
    """EXIT, CYCLE or STOP; EXIT and CYCLE of the loop with this label."""

    word: str
    label: str = ""


@dataclass(frozen=True)
class Print:
    items: tuple


@dataclass(frozen=True)
class Forall:
    """One index; its right-hand sides are all evaluated first."""

    index: str
    lower: tuple
    upper: tuple
    step: tuple | None
    target: tuple
    value: tuple
    mask: tuple | None = None
    form: str = "forall"
    """How it is written: forall, or section (with a mask: where)."""
    claimed: bool = False
    """Whether INDEPENDENT stands before it."""


@dataclass(frozen=True)
class Array:
    name: str
    bounds: tuple

    @property
    def extents(self):
        return tuple(upper - lower + 1 for lower, upper in self.bounds)


@dataclass(frozen=True)
class Program:
    name: str
    real: bool
    arrays: tuple
    directives: tuple
    body: tuple
    """What follows the values that arrays and scalars start with."""
    body_end: tuple = ()
    """What prints the results; no part of it is ever left out."""
    scalars: tuple = SCALARS
    indices: tuple = INDICES

    def array(self, name):
        return next(each for each in self.arrays if each.name == name)


def num(value):
    return ("num", value)


def var(name):
    return ("var", name)


def ref(name, *subscripts):
    return ("ref", name, subscripts)


def call(name, *arguments):
    return ("call", name, arguments)


def start_value(array, at):
    """The value that an element starts with: a formula that tells positions apart."""
    return sum((5 * dim + ord(array.name) % 7 + 3) * each * each for dim, each in enumerate(at)) % 97 - 11


def expression(tree, *, real):
    match tree:
        case ("num", value):
            shown = f"{value}.0d0" if real else str(value)
            return f"({shown})" if value < 0 else shown
        case ("var", name):
            return f"dble({name})" if real and name in INTEGERS else name
        case ("ref", name, subscripts):
            return f"{name}({', '.join(subscript(each) for each in subscripts)})"
        case ("section", *ends):
            return ":".join(str(each[1]) if each[0] == "num" else subscript(each) for each in ends if each is not None)
        case ("total", name, inner, (index, *triplet)):
            found = expression(sections(inner, index, triplet), real=real)
            if name == "count":
                return f"dble(count({found} > {COUNTED}))" if real else f"count({found} > {COUNTED})"
            return f"{name}({found})"
        case ("call", "mod", (inner,)):
            return f"mod({expression(inner, real=real)}, {PRIME}{'.0d0' if real else ''})"
        case ("call", "parity", (inner,)):
            return f"mod({subscript(inner)}, 2)"
        case ("call", name, arguments):
            return f"{name}({', '.join(expression(each, real=real) for each in arguments)})"
        case (operator, left, right) if operator in INFIX:
            sides = [expression(each, real=real) for each in (left, right)]
            for at, side in enumerate((left, right)):
                if side[0] in INFIX and STRENGTH[side[0]] < STRENGTH[operator] + (at and operator in {"-", "*"}):
                    sides[at] = f"({sides[at]})"
            return f"{sides[0]} {operator} {sides[1]}"
    raise AssertionError(tree)


def subscript(tree):
    return expression(tree, real=False)


def has_data(tree):
    """Whether something in it has the type of the data."""
    match tree:
        case ("num", _):
            return False
        case ("var", name):
            return name not in INTEGERS
        case ("ref" | "total", *_):
            return True
        case ("call", "parity", _):
            return False
        case ("call", _, arguments):
            return any(map(has_data, arguments))
        case (_, left, right):
            return has_data(left) or has_data(right)
    raise AssertionError(tree)


def statement(each, indent, real):
    def inside(body):
        return [line for one in body for line in statement(one, indent + 2, real)]

    pad = " " * indent
    match each:
        case Assign(target, value):
            inexact = real and target[1] not in INTEGERS
            return [f"{pad}{subscript(target)} = {expression(value, real=inexact)}"]
        case Do():
            given = [bound for bound in (each.lower, each.upper, each.step) if bound is not None]
            bounds = [str(bound[1]) if bound[0] == "num" else subscript(bound) for bound in given]
            name = f"{each.label}: " if each.label else ""
            return [
                *([f"!hpf$ independent{each.claim}"] if each.claim is not None else []),
                f"{pad}{name}do {each.index} = {', '.join(bounds)}",
                *inside(each.body),
                f"{pad}end do{' ' + each.label if each.label else ''}",
            ]
        case If(condition, then, otherwise):
            head = expression(condition, real=real and has_data(condition))
            if len(then) == 1 and not otherwise and isinstance(then[0], Assign | Leave | Print):
                return [f"{pad}if ({head}) {statement(then[0], 0, real)[0]}"]
            other = [f"{pad}else", *inside(otherwise)] if otherwise else []
            return [f"{pad}if ({head}) then", *inside(then), *other, f"{pad}end if"]
        case Leave(word, label):
            return [f"{pad}{word} {label}".rstrip()]
        case Forall():
            return [*(["!hpf$ independent"] if each.claimed else []), pad + forall(each, real=real)]
        case Print(items):
            return [f"{pad}print *, {', '.join(subscript(item) for item in items)}"]
    raise AssertionError(each)


def text(program):
    """The program as HPF."""
    kind = "real(8)" if program.real else "integer"
    integers = [*program.indices, *(name for name in program.scalars if name in INTEGERS)]
    scalars = [name for name in program.scalars if name not in INTEGERS]
    if "p" in names(program.body):
        integers.append("p")
    lines = [f"program {program.name}", f"integer :: {', '.join(integers)}"]
    lines += [f"{kind} :: {', '.join(scalars)}"] if scalars else []
    lines += [
        f"{kind} :: {each.name}({', '.join(f'{lower}:{upper}' for lower, upper in each.bounds)})"
        for each in program.arrays
    ]
    lines += [f"!hpf$ {each}" for each in program.directives]
    lines += [starting(each, real=program.real) for each in program.arrays]
    lines += [f"{name} = {STARTS[name]}" for name in (*program.scalars, *program.indices)]
    lines += [line for each in program.body + program.body_end for line in statement(each, 0, program.real)]
    return "\n".join([*map(wrapped, lines), f"end program {program.name}"]) + "\n"


def wrapped(line):
    """A line with its continuation, where it is too long for Fortran."""
    if len(line) <= LONGEST:
        return line
    at = line.rindex(" ", 0, LONGEST)
    return f"{line[:at]} &\n{wrapped('  ' + line[at:])}"


def starting(array, *, real):
    names = "ijkl"[: len(array.bounds)]
    head = ", ".join(f"{name} = {lower}:{upper}" for name, (lower, upper) in zip(names, array.bounds, strict=True))
    terms = " + ".join(f"{5 * dim + ord(array.name) % 7 + 3}*{name}*{name}" for dim, name in enumerate(names))
    value = f"mod({terms}, 97) - 11"
    return f"forall ({head}) {array.name}({', '.join(names)}) = {f'dble({value})' if real else value}"


def forall(each, *, real):
    """A FORALL as itself, or as an assignment of sections, in a WHERE if it has a mask."""
    bounds = [subscript(bound) for bound in (each.lower, each.upper, each.step) if bound is not None]
    shown = [each.target, each.value] + ([] if each.mask is None else [each.mask])
    if each.form == "section":
        shown = [sections(one, each.index, (each.lower, each.upper, each.step)) for one in shown]
    target, value = subscript(shown[0]), expression(shown[1], real=real)
    mask = None if each.mask is None else expression(shown[2], real=real and has_data(each.mask))
    if each.form == "section":
        return f"{target} = {value}" if mask is None else f"where ({mask}) {target} = {value}"
    return f"forall ({each.index} = {':'.join(bounds)}{'' if mask is None else f', {mask}'}) {target} = {value}"


def can_be_sections(each):
    """Whether the index occurs in each element at most once, alone or next to a number, and nowhere else."""

    def fits(tree):
        match tree:
            case ("ref", _, subscripts):
                inside = [one for one in subscripts if each.index in names((Assign(var("?"), one),))]
                return len(inside) <= 1 and all(offset(one, each.index) is not None for one in inside)
            case ("var", name):
                return name != each.index
            case ("num", _):
                return True
            case ("call", _, arguments):
                return all(map(fits, arguments))
            case ("total", *_):
                return False
        return fits(tree[1]) and fits(tree[2])

    def has_section(tree):
        return each.index in names((Assign(var("?"), tree),))

    def steady(tree):
        """Whether it reads single elements of the target: gfortran reads these again after each assignment."""
        match tree:
            case ("ref", name, _):
                return name == each.target[1] and not has_section(tree)
            case ("num" | "var", _):
                return False
            case ("call", _, arguments):
                return any(map(steady, arguments))
        return steady(tree[1]) or steady(tree[2])

    if each.mask is not None and (steady(each.value) or steady(each.mask)):
        return False
    if each.mask is not None and not (fits(each.mask) and has_section(each.mask)):
        return False
    return fits(each.target) and fits(each.value)


def offset(tree, index):
    match tree:
        case ("var", name) if name == index:
            return 0
        case ("+" | "-" as sign, ("var", name), ("num", amount)) if name == index:
            return amount if sign == "+" else -amount
    return None


def sections(tree, index, triplet):
    """The tree with sections for the index."""
    match tree:
        case ("ref", name, subscripts):
            shown = []
            for one in subscripts:
                amount = offset(one, index)
                if amount is None:
                    shown.append(one)
                    continue
                ends = [each if each is None or amount == 0 else simple(each, amount) for each in triplet[:2]]
                shown.append(("section", *ends, triplet[2]))
            return ("ref", name, tuple(shown))
        case ("call", name, arguments):
            return ("call", name, tuple(sections(each, index, triplet) for each in arguments))
        case ("num" | "var", _):
            return tree
    return (tree[0], sections(tree[1], index, triplet), sections(tree[2], index, triplet))


def simple(tree, amount):
    """A sum, as a number where it is one."""
    if tree[0] == "num":
        return num(tree[1] + amount)
    return ("+" if amount > 0 else "-", tree, num(abs(amount)))


def size(body):
    """Number of statements."""
    return sum(1 + sum(size(getattr(each, part, ())) for part in ("body", "then", "otherwise")) for each in body)


def smaller(body):
    """Bodies with one statement, branch, bound or term less; for those who look for the least that fails."""
    for at, each in enumerate(body):
        before, after = body[:at], body[at + 1 :]
        yield before + after
        match each:
            case Do():
                if each.claim is None and not each.label:
                    yield (*before, Assign(var(each.index), each.lower), *each.body, *after)
                for inner in smaller(each.body):
                    yield (*before, replace(each, body=inner), *after)
                if each.claim is not None:
                    yield (*before, replace(each, claim=None), *after)
            case If(condition, then, otherwise):
                yield before + then + after
                yield before + otherwise + after
                for inner in smaller(then):
                    yield (*before, If(condition, inner, otherwise), *after)
                for inner in smaller(otherwise):
                    yield (*before, If(condition, then, inner), *after)
            case Assign(target, value):
                for simpler in parts(value):
                    yield (*before, Assign(target, simpler), *after)
            case Forall():
                if each.mask is not None:
                    yield (*before, replace(each, mask=None), *after)
                if each.form == "section":
                    yield (*before, replace(each, form="forall"), *after)
                for simpler in parts(each.value):
                    yield (*before, replace(each, value=simpler, form="forall"), *after)
            case Print(items):
                for number in range(len(items)):
                    if len(items) > 1:
                        yield (*before, Print(items[:number] + items[number + 1 :]), *after)


def parts(value):
    """Simpler values."""
    match value:
        case ("call", "mod", (inner,)):
            for each in parts(inner):
                yield call("mod", each)
            if inner[0] in {"num", "var", "ref"}:
                yield inner
        case (operator, left, right) if operator in INFIX:
            yield left
            yield right
            for each in parts(left):
                yield (operator, each, right)
            for each in parts(right):
                yield (operator, left, each)
        case ("call", _, arguments) if len(arguments) > 1:
            yield from arguments


def statements(body):
    """All statements, also those inside others, in the order of the text."""
    for each in body:
        yield each
        for part in ("body", "then", "otherwise"):
            yield from statements(getattr(each, part, ()))


def with_parts(program, **changes):
    return replace(program, **changes)


def names(body):
    """All names in a body."""
    found = set()

    def look(tree):
        if isinstance(tree, tuple):
            if tree and tree[0] in {"var", "ref"}:
                found.add(tree[1])
            if tree and tree[0] == "total":
                found.add(tree[3][0])
            for each in tree:
                look(each)
        elif isinstance(tree, Assign | If | Do | Print | Leave | Forall):
            for part in tree.__dataclass_fields__:
                look(getattr(tree, part))
            if isinstance(tree, Do | Forall):
                found.add(tree.index)

    look(tuple(body))
    return found
