"""How many operations a Fortran program executes, counted without esp: gfortran runs it with counters in its text.

The text is parsed here, by a small parser of its own, which gives each statement the operations of one execution by the
rules of `docs/machines.md`; counters before statements, in branches and in loops say how often it is executed.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from math import inf

TOKEN = re.compile(
    r"\s*(\d+(?:\.\d*)?(?:[ed][+-]?\d+)?(?![a-z])|\.\d+(?:[ed][+-]?\d+)?|\.[a-z]+\.|[a-z]\w*|\*\*|==|/=|<=|>=|[-+*/<>(),:=])",
    re.IGNORECASE,
)
BINDS = {".or.": 1, ".and.": 2, "==": 4, "/=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6}
ORDER = {"logical": 0, "int": 1, "r4": 2, "r8": 3}
KINDS = {"integer": "int", "logical": "logical", "real": "r4", "real(8)": "r8", "double precision": "r8"}
ARITHMETIC = {"+": "add", "-": "add", "*": "mul", "/": "div"}
OF_RESULT = {"sqrt": "sqrt", "exp": "exp", "log": "log", "sin": "sin", "cos": "sin"}
REDUCTIONS = {"sum": "add", "product": "mul", "maxval": "cmp", "minval": "cmp", "count": "add"}
DECLARATION = re.compile(r"(integer|logical|real\(8\)|real|double precision)\s*(?:,\s*(parameter))?\s*::\s*(.*)")
MODULE = """module counting
  integer(8) :: counted({}) = 0
  integer :: forall_0, forall_1, forall_2, forall_3
end module
"""


# --- expressions ----------------------------------------------------------------------------------------------------


def tokens(text):
    found, at = [], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        assert match, text[at:]
        found.append(match[1].lower())
        at = match.end()
    return found


class Parser:
    """Trees of tuples: ("num", text), ("name", x), ("ref", x, arguments), (operator, left, right), ("neg", x)."""

    def __init__(self, text):
        self.rest = tokens(text)

    def take(self, word=None):
        assert word is None or self.rest[0] == word, self.rest
        return self.rest.pop(0)

    def next(self):
        return self.rest[0] if self.rest else None

    def expression(self, least=1):
        if self.next() == ".not.":
            self.take()
            left = ("not", self.expression(3))
        elif self.next() in {"-", "+"}:
            sign = self.take()
            left = self.expression(6)
            left = ("neg", left) if sign == "-" else left
        else:
            left = self.power()
        while self.next() in BINDS and BINDS[self.next()] >= least:
            operator = self.take()
            right = self.expression(BINDS[operator] + 1)
            if operator in "+-" and right[0] == "neg":  # a compiler makes one of the two operations
                operator, right = "-+"["+-".index(operator)], right[1]
            left = (operator, left, right)
        return left

    def power(self):
        left = self.primary()
        if self.next() == "**":
            self.take()
            right = ("neg", self.power()) if self.next() == "-" and self.take() else self.power()
            return ("**", left, right)
        return left

    def primary(self):
        word = self.take()
        if word == "(":
            inner = self.expression()
            self.take(")")
            return inner
        if word[0].isdigit() or word[0] == "." or word in {".true.", ".false."}:
            return ("num", word)
        if self.next() != "(":
            return ("name", word)
        self.take("(")
        found = self.arguments()
        self.take(")")
        return ("ref", word, tuple(found))

    def arguments(self):
        found = []
        while self.next() != ")":
            found.append(self.argument())
            if self.next() == ",":
                self.take()
        return found

    def argument(self):
        if self.next() == ":" or self.rest[1] == "=":
            if self.next() != ":":
                word = self.take()
                self.take("=")
                return ("keyword", word, self.expression())
            first = None
        else:
            first = self.expression()
        if self.next() != ":":
            return first
        self.take()
        last = None if self.next() in {",", ")", ":"} else self.expression()
        step = self.expression() if self.next() == ":" and self.take() else None
        return ("section", first, last, step)


def parsed(text):
    parser = Parser(text)
    found = parser.expression()
    assert not parser.rest, text
    return found


def shown(tree):
    match tree:
        case ("num" | "name", word):
            return word
        case ("ref", name, arguments):
            return f"{name}({', '.join(map(shown, arguments))})"
        case ("section", *ends):
            first, last, step = ("" if each is None else shown(each) for each in ends)
            return f"{first}:{last}" + (f":{step}" if step else "")
        case ("keyword", name, inner):
            return f"{name}={shown(inner)}"
        case ("neg", inner):
            return f"(-{shown(inner)})"
        case ("not", inner):
            return f"(.not. {shown(inner)})"
    return f"({shown(tree[1])} {tree[0]} {shown(tree[2])})"


def renamed(tree, names):
    if not isinstance(tree, tuple):
        return tree
    if tree[0] == "name":
        return ("name", names.get(tree[1], tree[1]))
    return tuple(renamed(each, names) for each in tree)


# --- operations -----------------------------------------------------------------------------------------------------


@dataclass
class Names:
    """Types of variables, the arrays among them with their bounds, and the named constants."""

    types: dict = field(default_factory=dict)
    arrays: dict = field(default_factory=dict)
    constants: set = field(default_factory=set)
    addressed: set = field(default_factory=set)
    """Elements of the statement at hand: the address of each is computed once."""

    def kind(self, tree):
        match tree:
            case ("num", word):
                if word in {".true.", ".false."}:
                    return "logical"
                return "r8" if "d" in word else "r4" if re.search(r"[.e]", word) else "int"
            case ("name", name) | ("ref", name, _) if name in self.types:
                return self.types[name]
            case ("ref", "dble", _):
                return "r8"
            case ("ref", "real", (_, *kinds)):
                return "r8" if kinds else "r4"
            case ("ref", "int" | "nint" | "floor" | "count" | "size", _):
                return "int"
            case ("ref", "any" | "all", _):
                return "logical"
            case ("ref", "merge", (one, *_)) | ("ref", _, (one, *_)) | ("neg", one) | ("**", one, ("num", _)):
                return self.kind(one)
            case ("not", _):
                return "logical"
            case (operator, left, right) if operator in ARITHMETIC or operator == "**":
                return max(self.kind(left), self.kind(right), key=ORDER.get)
        return "logical"

    def is_constant(self, tree):
        """Whether a compiler knows the value."""
        match tree:
            case None:
                return True
            case ("section", *_):
                return False
            case ("num", _):
                return True
            case ("name", name):
                return name in self.constants
            case ("ref", name, _) if name in self.types:
                return False
            case ("ref", _, arguments):
                return all(map(self.is_constant, arguments))
            case (_, *sides):
                return all(map(self.is_constant, sides))
        raise AssertionError(tree)

    def extents(self, tree):
        """The number of elements of an array expression as text, or None for a scalar."""
        match tree:
            case ("name", name) if name in self.arrays:
                return f"size({name})"
            case ("ref", name, subscripts) if name in self.arrays:
                found = [self.extent(name, dim, each) for dim, each in enumerate(subscripts, 1) if each[0] == "section"]
                return "*".join(found) or None
            case ("ref", name, _) if name in REDUCTIONS or name in {"any", "all"}:
                return None
            case ("num" | "name", _):
                return None
            case ("ref", _, parts):
                found = [self.extents(each) for each in parts]
            case (_, *parts):
                found = [self.extents(each) for each in parts]
        return next((each for each in found if each), None)

    def extent(self, name, dim, section):
        _, first, last, step = section
        low = f"lbound({name},{dim})" if first is None else shown(first)
        high = f"ubound({name},{dim})" if last is None else shown(last)
        pace = "1" if step is None else shown(step)
        return f"max(0, ({high} - ({low}) + ({pace}))/({pace}))"

    def of(self, tree, inner):
        """Operations of one evaluation; `inner` receives (elements, operations) of each reduction in it."""
        if tree is None or self.is_constant(tree):
            return Counter()
        found = Counter()
        match tree:
            case ("name", _):
                return found
            case ("section", *_):
                return found
            case ("ref", name, subscripts) if name in self.types:
                if tree in self.addressed:
                    return found
                self.addressed.add(tree)
                for each in subscripts:
                    if not self.is_offset(each):
                        found += self.of(each, inner)
                return found
            case ("ref", name, (argument, *_)) if name in REDUCTIONS:
                kind = "int" if name == "count" else self.kind(argument)
                each = self.of(argument, inner) + Counter({f"{kind}.{REDUCTIONS[name]}": 1})
                inner.append((self.extents(argument), each))
                return self.bounds(argument)
            case ("ref", name, arguments):
                found += self.function(name, arguments, self.kind(tree))
                parts = arguments[:1] if name in {"real", "int", "cshift"} else arguments
            case ("neg", part):
                found[f"{self.kind(part)}.add"] += 1
                parts = (part,)
            case ("not", part):
                found["logical"] += 1
                parts = (part,)
            case ("**", left, right):
                found += self.power(left, right)
                parts = (left, right)
            case (".and." | ".or.", *parts):
                found["logical"] += 1
            case (operator, left, right):
                common = max(self.kind(left), self.kind(right), key=ORDER.get)
                found[f"{common}.{ARITHMETIC.get(operator, 'cmp')}"] += 1
                found += self.converted(left, common) + self.converted(right, common)
                parts = (left, right)
        for each in parts:
            found += self.of(each, inner)
        return found

    def bounds(self, tree):
        """What the bounds of the loops over the sections of an element are."""
        sections = self.sections(tree)
        return sum((self.of(end, []) for each in sections for end in each[1:]), Counter())

    def sections(self, tree):
        """The sections of the first array in an expression."""
        match tree:
            case ("ref", name, subscripts) if name in self.arrays:
                return [each for each in subscripts if each[0] == "section"]
            case ("num" | "name", *_):
                return []
            case ("ref", _, parts) | (_, *parts):
                return next(filter(None, map(self.sections, parts)), [])
        raise AssertionError(tree)

    def converted(self, tree, kind):
        own = self.kind(tree)
        return Counter({"convert": 1} if own != kind and not self.is_constant(tree) else {})

    def power(self, left, right):
        kind = self.kind(left)
        if right[0] == "num" and self.kind(right) == "int":
            size = int(right[1])
            return Counter({f"{kind}.mul": max(0, size.bit_length() - 1 + size.bit_count() - 1)})
        if self.kind(right) == "int":
            return Counter({"int.pow": 1} if kind == "int" else {f"{kind}.mul": 4})
        return Counter({f"{max(kind, self.kind(right), key=ORDER.get)}.pow": 1})

    def function(self, name, arguments, kind):
        first = self.kind(arguments[0])
        match name:
            case "mod" | "modulo":
                return Counter(
                    {f"{kind}.div": 1} if kind == "int" else {f"{kind}.{x}": 1 for x in ("div", "mul", "add")}
                )
            case "min" | "max":
                return Counter({f"{first}.cmp": len(arguments) - 1})
            case "abs" | "sign":
                return Counter({f"{first}.cmp": 1})
            case "dble" | "real" | "int":
                return self.converted(arguments[0], kind)
            case "cshift" | "size":
                return Counter()
        return Counter({f"{kind}.{OF_RESULT[name]}": 1})

    def is_offset(self, tree):
        """Whether the addressing of an array absorbs it: an index and constants."""
        if self.is_constant(tree):
            return True
        match tree:
            case ("name", _):
                return True
            case ("+" | "-", left, right):
                return self.is_offset(left) and self.is_offset(right)
            case ("section", *_):
                return True
        return False


# --- programs ------------------------------------------------------------------------------------------------------


@dataclass
class Site:
    """A counter: operations of one execution. A lowering may execute `fewer` (none at all: a test of nothing, a
    reduction that is moved out) or up to `most` times as many where it makes several loops of one."""

    line: int
    operations: Counter
    most: float = 1
    fewer: bool = False
    open: bool = False
    """Whether nothing more is known of their number."""


@dataclass
class Block:
    """A DO loop or IF that is being read, with its sites whose `most` are the statements that it will have held."""

    sites: list
    statements: int = 0
    ends: int = 1
    at: int = 0
    """The line of text before it."""


class Counted:
    """A program with counters: `text` is what gfortran compiles, `sites` what each counter counts."""

    def __init__(self, text):
        self.names, self.sites, self.lines, self.blocks = Names(), [], [], []
        for number, line in logical_lines(text):
            self.statement(number, line)
        self.text = MODULE.format(len(self.sites)) + "\n".join(self.lines) + "\n"

    def count(self, line, operations, times="1", **known):
        """A counter here; nothing where there is nothing to count."""
        operations = +Counter(operations)
        if not operations:
            return []
        self.sites.append(Site(line, operations, **known))
        at = len(self.sites)
        self.lines.append(f"counted({at}) = counted({at}) + {times}")
        return [self.sites[-1]]

    def evaluate(self, line, trees, times=None, more=(), *, only_reductions=False, **known):
        """Count what the evaluation of expressions is; rank 0 formats other items of PRINT."""
        inner = []
        self.names.addressed.clear()
        found = Counter(more)
        for each in trees:
            found += self.names.of(each, inner)
        deep = sum(each.ends == 0 for each in self.blocks)
        if inner and deep < len(self.blocks):  # a condition around a reduction is tested inside its loop
            known = {**known, "open": True}
            for each in (site for block in self.blocks if block.ends for site in block.sites):
                each.open = True
        sites = [] if only_reductions else self.count(line, found, times or "1", **known)
        for elements, operations in inner:
            self.count(line, operations, elements, fewer=deep > 0, open=deep > 1)
        return sites

    def statement(self, number, line):
        low = line.lower()
        if match := DECLARATION.match(low):
            self.declare(*match.groups())
            self.lines.append(line)
        elif low.startswith("program"):
            self.lines += [line, "use counting"]
        elif low.startswith("implicit"):
            self.lines.append(line)
        elif low.startswith("end program"):
            self.finish()
            self.lines.append(line)
        elif not low.startswith("!"):
            self.executable(number, line, low)

    def finish(self):
        self.lines += ["open (97, file='counted')", "write (97, '(i0)') counted", "close (97)"]

    def declare(self, kind, constant, rest):
        for name, bounds in re.findall(r"(\w+)(\([^()]*\))?(?:\s*=\s*[^,]*)?(?:,|$)", rest):
            self.names.types[name] = KINDS[kind]
            if bounds:
                self.names.arrays[name] = bounds
            if constant:
                self.names.constants.add(name)

    def executable(self, number, line, low):
        if match := re.match(r"(?:\w+\s*:\s*)?do\s+\w+\s*=\s*(.*)", low):
            bounds = Parser(f"f({match[1]})").expression()[2]
            self.blocks.append(Block(self.evaluate(number, bounds), ends=0))
            self.lines.append(line)
        elif low.startswith("end do"):
            self.close()
            self.lines.append(line)
        elif low.startswith("if"):
            self.conditional(number, low)
        elif low.startswith("else if"):  # tested where no branch before it is taken: that is left inside ELSE
            head, _ = in_parentheses(low[7:])
            self.lines.append("else")
            self.blocks[-1].sites += self.evaluate(number, [parsed(head)])
            self.lines.append(f"if ({head}) then")
            self.blocks[-1].ends += 1
            self.tested(number, head)
        elif low == "end if":
            self.lines += ["end if"] * self.close().ends
        else:
            self.simple(number, line, low)

    def simple(self, number, line, low):
        if not low.startswith(("else", "exit", "cycle", "stop")):
            for each in self.blocks:
                each.statements += 1
        if low.startswith("print"):
            self.evaluate(number, Parser(f"f({low.partition(',')[2]})").expression()[2], only_reductions=True)
        elif low.startswith("stop"):
            self.finish()
        elif low.startswith("forall"):
            self.forall(number, low)
        elif low.startswith("where"):
            self.where(number, low)
        elif not low.startswith(("else", "exit", "cycle")):
            self.assignment(number, low)
        self.lines.append(line)

    def close(self):
        """The end of a loop or an IF: how often its bounds and tests may be computed is known now."""
        block = self.blocks.pop()
        for each in block.sites:
            each.most = max(1, block.statements)
            each.fewer = each.fewer or not block.statements
        return block

    def conditional(self, number, low):
        head, rest = in_parentheses(low[2:])
        block = Block(self.evaluate(number, [parsed(head)]), at=len(self.lines))
        self.lines.append(f"if ({head}) then")
        self.blocks.append(block)
        self.tested(number, head)
        if rest.strip() != "then":
            self.statement(number, rest.strip())
            self.lines.append("end if")
            self.close()

    def tested(self, number, head):
        """Where branches become loops of their own, each is tested in all iterations, with those before it."""
        block = self.blocks[-1]
        operations = self.names.of(parsed(head), []) + Counter(logical=2 * block.ends)
        kept, self.lines = self.lines[block.at :], self.lines[: block.at]
        block.sites += self.count(number, operations, fewer=True)
        self.lines += kept

    def assignment(self, number, low, times=None):
        left, right = split_assignment(low)
        target, value = parsed(left), parsed(right)
        more = self.names.converted(value, self.names.kind(target))
        if not times:
            self.count(number, self.names.bounds(target))
        subscripts = [target] if target[0] == "ref" else []
        self.evaluate(number, [value, *subscripts], times or self.names.extents(target), more)

    def forall(self, number, low):
        """Loops of our own in front of the statement count its elements. They have its bounds, which need be
        computed once only."""
        head, rest = in_parentheses(low[6:])
        triplets = split_at_commas(head)
        mask = None if re.match(r"\w+\s*=[^=]", triplets[-1]) else parsed(triplets.pop())
        fresh = {each.partition("=")[0].strip(): f"forall_{at}" for at, each in enumerate(triplets)}
        for name, each in zip(fresh.values(), triplets, strict=True):
            bounds = each.partition("=")[2].split(":")
            self.evaluate(number, map(parsed, bounds), fewer=name != "forall_0", open=len(fresh) > 1)
            self.lines.append(f"do {name} = {', '.join(bounds)}")
        if mask is not None:
            self.evaluate(number, [mask])
            self.lines.append(f"if ({shown(renamed(mask, fresh))}) then")
        self.assignment(number, rest.strip(), "1")
        self.lines += ["end if"] * (mask is not None) + ["end do"] * len(fresh)

    def where(self, number, low):
        head, rest = in_parentheses(low[5:])
        mask = parsed(head)
        self.count(number, self.names.bounds(parsed(split_assignment(rest)[0])))
        self.evaluate(number, [mask], self.names.extents(mask))
        self.assignment(number, rest.strip(), f"count({head})")

    def by_group(self, counted, group_of):
        """For each group of lines and class of operations the fewest and the most, from what the counters say."""
        found = {}
        for site, times in zip(self.sites, counted, strict=True):
            here = found.setdefault(group_of[site.line], {})
            for name, number in site.operations.items():
                least, most = here.get(name, (0, 0))
                exact = number * times
                most += inf if site.open else exact * site.most
                here[name] = (least + (0 if site.fewer else exact), most)
        return found


def constructs(text):
    """The first line of the outermost construct in which each line is."""
    depth, first, found = 0, 0, {}
    for number, line in logical_lines(text):
        low = line.lower()
        first = first if depth else number
        found[number] = first
        depth += bool(re.match(r"(?:\w+\s*:\s*)?do\s+\w+\s*=|if\s*\(.*\)\s*then$", low))
        depth -= low.startswith(("end do", "end if"))
    return found


def logical_lines(text):
    """Statements with the number of their first line."""
    kept, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        here = line.strip()
        start = start if kept else number
        kept += here
        if kept.endswith("&"):
            kept = kept[:-1]
        elif kept:
            yield start, kept
            kept = ""


def in_parentheses(text):
    """What is in the parentheses at the beginning, and what follows them."""
    text = text.strip()
    depth = 0
    for at, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if not depth:
            return text[1:at], text[at + 1 :]
    raise AssertionError(text)


def split_at_commas(text):
    found, depth, start = [], 0, 0
    for at, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if each == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return [each.strip() for each in (*found, text[start:])]


def split_assignment(text):
    depth = 0
    for at, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if each == "=" and not depth:
            return text[:at], text[at + 1 :]
    raise AssertionError(text)
