"""Random DO CONCURRENT: several indices with and without types, masks, all localities, calls of pure functions, one
inside another."""

import re

FUNCTION = """
pure function halved(x) result(r)
double precision, intent(in) :: x
double precision :: r
r = 0.5d0 * x
end function
pure subroutine mixed(x, y, r)
double precision, intent(in) :: x, y
double precision, intent(out) :: r
r = 0.25d0 * x + 0.5d0 * halved(y)
end subroutine"""


class Concurrents:
    """A part of `tests.aag.spmd.programs.Writer`."""

    def concurrent(self):
        """DO CONCURRENT over arrays that are written or read, not both; of its own element an iteration may read."""
        if len(self.arrays) < 2:
            return self.scalar()
        everything = self.arrays
        written = self.random.choice(everything)
        try:
            self.arrays = [written]
            loops, rows = self.loops(self.random.randint(1, written.rank), triangular=False)
            target = self.target(written, loops, rows) if rows else None
            self.arrays = [each for each in everything if each is not written]
            if target is None:
                return self.scalar()
            names = {each.name for each in (*everything, *self.tables)}
            return self.concurrent_loop(loops, rows, target, names)
        finally:
            self.arrays = everything

    def concurrent_loop(self, loops, rows, target, names):
        before, body, after, localities, promised = self.iteration(rows, target)
        mask = f", {self.pick(target + ' > 0.3d0', self.mask(rows))}" if self.chance(35) else ""
        if len(loops) > 1 and self.chance(30):
            inner = ", ".join(each.text() for each in loops[1:])
            body = [each.replace("cycle all", "cycle") for each in body]
            body = [f"do concurrent ({self.typed()}{inner}{mask}) {' '.join(localities)}", *body, "end do"]
            loops, mask, localities = loops[:1], "", [each for each in localities if each.startswith("reduce")]
        head = f"do concurrent ({self.typed()}{', '.join(each.text() for each in loops)}{mask})"
        name = self.pick("", f"all{self.random.randrange(10**9)}")
        body = [each.replace("cycle all", f"cycle {name}".rstrip()) for each in body]
        listed = " ".join(localities)
        if promised and self.chance(25) and "do concurrent" not in "".join(body):
            listed = self.without_default(listed, body, loops, names)
        directive = ["!hpf$ independent"] if self.chance(15) else []
        head = f"{name}: {head}" if name else head
        return [*before, *directive, f"{head} {listed}".rstrip(), *body, f"end do {name}".rstrip(), *after]

    def own_variables(self, target, term, rows):
        """Statements that define variables without a locality before they use them: all elements, or where a
        condition holds."""
        head = self.pick("do m2 = 2, 3", "do m2 = 3, 1, -1", "do m2 = 1, 3, 2")
        array = [f"w(1) = {term}", head, f"w(m2) = 0.5d0 * {self.reference(rows)}", "end do"]
        skips = ["do m2 = 1, 3", "if (m2 == 2) cycle", f"w(m2) = {term}", "end do"]
        no_iteration = ["do m2 = 3, 2", f"w(2) = {term}", "end do"]
        define, use = self.pick(
            ([f"w(1) = {term}"], f"{target} = 0.25d0 * sum(w)"),
            (skips, f"{target} = 0.5d0 * (w(1) + w(2))"),
            (no_iteration, f"{target} = 0.5d0 * w(2) + 0.25d0 * {self.reference(rows)}"),
            ([f"t = {term}"], f"{target} = 0.5d0 * t"),
            (array, f"{target} = 0.5d0 * (w(1) + w(3))"),
            ([f"w(2) = {term}", f"w(2) = 0.5d0 * w(2) + 0.25d0 * {self.reference(rows)}"], f"{target} = 0.5d0 * w(2)"),
        )
        if self.chance(60):
            return [*define, use]
        condition = f"if ({term} > 0.3d0)"
        if self.chance(50):
            return [f"{condition} then", *define, use, "end if"]
        return [f"{condition} then", *define, "end if", f"{condition} {use}"]

    def typed(self):
        return self.pick("", "", "integer :: ", "integer(8) :: ", "integer(kind=4) :: ")

    def without_default(self, listed, body, loops, names):
        """All localities, and DEFAULT(NONE)."""
        words = set(re.findall(r"[a-z]\w*", " ".join(body)))
        mine = {"s", "t", "w", *names}
        own = {each.name for each in loops} | set(re.findall(r"\w+", re.sub(r"\w+\s*\(|reduce\(.*?:", " ", listed)))
        shared = sorted(words & mine - own)
        return f"default(none) {listed} " + (f"shared({', '.join(shared)})" if shared else "")

    def iteration(self, rows, target):
        """What comes before the loop, its statements, what comes after, and localities; whether all may be listed."""
        value = f"{self.expression(rows)} / 2"
        unchanged = (
            f"{target} = {value}" if not re.search(r"\bs\b", value) else f"{target} = 0.5d0 * {self.reference(rows)}"
        )
        term = self.reference(rows)
        plain = [f"{target} = {value}"]
        match self.pick("plain", "local", "without", "copied", "array", "sum", "largest", "calls", "skips", "updates"):
            case "local":
                return [], [f"t = {term}", f"{target} = 0.5d0 * t + 0.5d0 * ({value})"], [], ["local(t)"], True
            case "without":
                again = ["w = 0.25d0", "t = 0.5d0"] if len(rows) > 1 else []  # what one iteration defines lasts
                return [], self.own_variables(target, term, rows), again, [], False
            case "copied":
                body = [f"s = 0.5d0 * s + 0.25d0 * {term}", f"{target} = 0.5d0 * s + 0.25d0 * {target}"]
                return [], body, [], ["local_init(s)"], True
            case "array":
                body = [f"w(2) = 0.5d0 * w(1) + 0.25d0 * {term}", f"{target} = 0.5d0 * (w(2) + w(3))"]
                return ["w(1) = 0.5d0 * s"], body, [], ["local_init(w)"], True
            case "sum":
                body = [f"s = s {self.pick('+', '-')} {term} / {4 * len(rows)}"]
                both = [f"t = {term}", f"s = s + t / {4 * len(rows)}", f"{target} = 0.5d0 * t"]
                if self.chance(50):
                    return ["s = s / 4"], both, [], ["local(t)", "reduce(+: s)"], True
                return ["s = s / 4"], body, [], ["reduce(+: s)"], True
            case "largest":
                name = self.pick("max", "min")
                return [], [unchanged, f"s = {name}(s, {term})"], [], [f"reduce({name}: s)"], True
            case "calls":
                self.internal += [] if FUNCTION in self.internal else [FUNCTION]
                body = [f"call mixed({term}, {self.reference(rows)}, t)", f"{target} = halved(t) + 0.25d0 * ({value})"]
                return [], body, [], ["local(t)"], True
            case "skips":
                return [], [f"if ({term} > 0.4d0) cycle all", *plain], [], [], True
            case "updates":
                return [], [f"{target} = 0.5d0 * {target} + 0.25d0 * {term}"], [], [], True
        return [], plain, [], [], True
