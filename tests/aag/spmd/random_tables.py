"""Index arrays in random programs: references and targets through them, in all mappings.

Each holds different values, so that a target through it stores every element once.
"""

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Table:
    """An index array: what subscripts it has, and which dimension its values fit."""

    name: str
    bounds: tuple[int, int]
    fits: tuple[int, int]


class Tables:
    """The index arrays of `tests.aag.spmd.programs.Writer`."""

    def tabulate(self):
        """Declare index arrays for some dimensions of the arrays; answers the statements that fill them."""
        lines = []
        for number in range(self.pick(2, 3)):
            lower, upper = self.random.choice(self.random.choice(self.arrays).bounds)
            many = upper - lower + 1
            first = self.pick(1, lower)
            table = Table(f"p{number}", (first, first + self.random.randint(1, many) - 1), (lower, upper))
            self.tables.append(table)
            self.spread(table)
            factor = self.random.choice([each for each in range(1, many + 1) if gcd(each, many) == 1])
            value = f"{lower} + mod({factor} * (i - ({first})) + {self.random.randrange(many)}, {many})"
            one, last = table.bounds
            lines.append(f"forall (i = {one}:{last}) {table.name}(i) = {value}")
        return lines

    def spread(self, table):
        lower, upper = table.bounds
        like = [each for each in self.arrays if each.bounds == (table.bounds,)]
        lines = [name for name, shape in self.grids.items() if len(shape) == 1]
        if like and self.chance(40):
            self.directives.append(f"align with {self.random.choice(like).name} :: {table.name}")
        elif lines and self.chance(50):
            line = self.random.choice(lines)
            formats = self.formats(1, self.grids[line], (upper - lower + 1,))
            self.directives.append(f"distribute {table.name}({formats}) onto {line}")

    def through(self, rows, bounds, form):
        """A subscript that goes through an index array, or None."""
        fitting = [each for each in self.tables if each.fits == bounds]
        if not fitting or not self.chance(self.indirect_share):
            return None
        table = self.random.choice(fitting)
        inner = self.plain_subscript(rows, table.bounds, form)
        if form and not any(name in inner for name in rows[0]):
            return None
        return f"{table.name}({inner})"

    def indirect(self):
        """A statement with index arrays."""
        self.indirect_share = 60
        try:
            kinds = ("forall", "do", "independent", "scalar", "vector_subscript", "computed_subscript", "deposit")
            return self.statement(kinds)
        finally:
            self.indirect_share = 0

    def vector_subscript(self):
        """A vector subscript on one side."""
        table = self.random.choice(self.tables)
        flat = [each for each in self.arrays if each.bounds == (table.fits,)]
        extent = table.bounds[1] - table.bounds[0] + 1
        if not flat:
            return self.scalar()
        chosen = f"{self.random.choice(flat).name}({table.name})"
        if self.chance(40):
            return [f"{chosen} = 0.5d0 * {self.operand((extent,))}"]
        for target in self.random.sample(self.arrays, len(self.arrays)):
            text = self.section(target, (extent,))
            if text is not None:
                return [f"{text} = 0.5d0 * {chosen} + 0.25d0 * {self.operand((extent,))}"]
        return [f"s = sum({chosen}) / {extent}"]

    def computed_subscript(self):
        """A loop that computes the subscript of each iteration, in a scalar or where it is used."""
        table = self.random.choice(self.tables)
        flat = [each.name for each in self.arrays if each.bounds == (table.fits,)]
        if not flat:
            return self.scalar()
        value = self.random.choice(["{0}(i)", "nint(0.5d0 * ({0}(i) + {0}(i)))", "int({0}(i) + 0.25d0)"]).format(
            table.name
        )
        target, other = self.random.choice(flat), self.random.choice(flat)
        scalar = self.chance(60)
        place = "at0" if scalar else value
        lines = [f"do i = {table.bounds[0]}, {table.bounds[1]}", *([f"  at0 = {value}"] if scalar else [])]
        if self.chance(20):
            lines[1:1] = ["  if (mod(i, 3) == 0) cycle"]
        read = f"{other}({place})" if other != target and self.chance(40) else "0.25d0 * i"
        guard = "if (i > 2) " if self.chance(20) else ""
        lines += [f"  {guard}{target}({place}) = 0.5d0 * {target}({place}) + {read}", "end do"]
        claim = ["!hpf$ independent" + (", new(at0)" if scalar else "")] if self.chance(25) and other != target else []
        return [*claim, *lines]

    def deposit(self):
        """A loop in which several iterations may update one element, with a claim that this is a reduction or without
        one."""
        table = self.random.choice(self.tables)
        flat = [each.name for each in self.arrays if each.bounds == (table.fits,)]
        if not flat:
            return self.scalar()
        target, (lower, upper) = self.random.choice(flat), table.fits
        like = [each.name for each in self.arrays if each.bounds == (table.bounds,) and each.name != target]
        doubled = f"{lower} + mod(2 * ({table.name}(i) - ({lower})), {upper - lower + 1})"
        element = f"{target}({self.pick(f'{table.name}(i)', doubled)})"
        part = f"0.125d0 * {self.random.choice(like)}(i)" if like and self.chance(70) else "0.0625d0 * i"
        update = self.pick(f"{element} + {part}", f"{element} - {part}", f"max({element}, {part})")
        guard = f"if (mod(i, 3) > {self.pick(0, 1)}) " if self.chance(20) else ""
        claim = [f"!hpf$ independent, reduction({target})"] if self.chance(70) else []
        first, last = table.bounds
        return [*claim, f"do i = {first}, {last}", f"  {guard}{element} = {update}", "end do"]
