"""Random loops in which conditions on the indices guard what every processor does with distributed data."""

PYTHON = ((".and.", " and "), (".or.", " or "), (".not.", " not "), ("/=", "!="), ("mod(", "math_mod("))


def math_mod(one, other):
    """Fortran's MOD of whole numbers."""
    return one - other * int(one / other)


def holds(condition, row):
    """The value of a condition of our own making."""
    for fortran, python in PYTHON:
        condition = condition.replace(fortran, python)
    return eval(condition, {"math_mod": math_mod}, dict(row))


class Guards:
    """The guarded loops of `tests.aag.spmd.programs.Writer`."""

    def guarded(self):
        """An IF on the indices in a nest. What it reads lies inside its array where the condition holds, and maybe
        nowhere else; arrays may be written before, in or after it."""
        loops, rows = self.loops(self.pick(1, 2, 2, 3))
        if not rows:
            return self.scalar()
        body = self.store(loops, rows) if self.chance(20) else []
        body += self.tested(loops, rows)
        body += self.store(loops, rows) if self.chance(20) else []
        if len(loops) > 1 and self.chance(30):  # an inner loop inside the condition
            *outer, inner = loops
            around = self.rows_of(outer)
            condition, some = self.condition(around)
            within = [row for row in rows if holds(condition, row)]
            if some and within:
                inside = [inner.do(), *self.tested(loops, within), "end do"]
                body = [f"if ({condition}) then", *inside, "end if"]
                return [*(each.do() for each in outer), *body, *("end do" for _ in outer)]
        return [*(each.do() for each in loops), *body, *("end do" for _ in loops)]

    def rows_of(self, loops):
        rows = [{}]
        for loop in loops:
            rows = [more for row in rows for more in self.rows(loop, row)]
        return rows

    def tested(self, loops, rows):
        """An IF with one to three branches."""
        lines, left = [], rows
        for word in ("if", "else if")[: self.pick(1, 1, 2)]:
            condition, some = self.condition(left)
            if not some:
                continue
            lines += [f"{word if lines else 'if'} ({condition}) then", *self.guarded_body(loops, some)]
            left = [row for row in left if row not in some]
        if lines and left and self.chance(30):
            lines += ["else", *self.guarded_body(loops, left)]
        return [*lines, "end if"] if lines else self.guarded_body(loops, rows)

    def guarded_body(self, loops, rows):
        lines = [f"s = 0.5d0 * s + {self.reference(rows)} / 4"]
        if self.chance(25):
            lines += self.store(loops, rows)
        if self.chance(25):  # a condition that has no value in other rows
            lines += [f"if ({self.reference(rows)} > 0.5d0) s = s + 1"]
        if self.chance(25):
            condition, some = self.condition(rows)
            if some:
                lines += [f"if ({condition}) s = s + {self.reference(some)} / 8"]
        return lines

    def condition(self, rows):
        """A condition on the indices, and the rows in which it holds."""
        if not rows:
            return ".true.", []
        names = list(rows[0])
        condition = self.pick(" .and. ", " .and. ", " .or. ").join(
            self.comparison(self.random.choice(names), self.random.choice(names)) for _ in range(self.pick(1, 1, 2, 3))
        )
        return condition, [row for row in rows if holds(condition, row)]

    def comparison(self, one, other):
        number = self.random.randint(0, 6)
        op = self.pick("<", "<=", ">", ">=", "==", "/=")
        return self.pick(
            f"{one} {op} {other} + {number}" if one != other else f"{one} {op} {number}",
            f"{one} {op} {number}",
            f"{one} + {other} {op} {number}",
            f"2*{one} - {other} {op} {number}",
            f".not. ({number} {op} {one})",
            f"mod({one} + {other}, 3) {op} 1",
        )
