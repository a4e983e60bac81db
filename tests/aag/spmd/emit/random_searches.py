"""Random programs that search for the largest or smallest element and its place in DO loops, as old codes do."""

from random import Random

FORMATS = ("block", "cyclic", "cyclic(2)")


class Searching:
    """One program: arrays of one and two dimensions, whole or real, and loops that search them."""

    def __init__(self, seed, n=0):
        self.chooser = Random(seed)
        self.n = n or self.chooser.randint(5, 13)
        self.label = 0
        self.executed = 0
        """How often searches are carried out, at most."""
        self.kind = self.chooser.choice(("integer", "real", "real(8)"))
        rows, columns = self.chooser.choice(
            [(f, "*") for f in FORMATS] + [("*", f) for f in FORMATS] + [("block", "cyclic")]
        )
        shared = self.chooser.random() < 0.15
        self.lines = [
            "program search",
            f"  integer, parameter :: n = {self.n}",
            f"  {self.kind} :: a(n, n), v(n), best, t",
            "  integer :: i, j, k, row, column, other, w(n), u = 3",
            f"  {self.kind} :: same",
            *(["  equivalence (best, same)"] if shared else []),
            f"!hpf$ distribute a({rows}, {columns})",
            f"!hpf$ distribute v({self.chooser.choice(FORMATS)})",
            "!hpf$ align w(i) with v(i)",
            "  row = 0; column = 0; other = 7; t = 5; i = 0; j = 0; same = 1",
        ]
        a, b, c = (self.chooser.randint(1, 9) for _ in range(3))
        most = self.chooser.choice((3, 10, 40))
        self.lines += [
            f"  forall (i = 1:n, j = 1:n) a(i, j) = mod(i * {a} + j * {b} + {c}, {most}) - {most // 2}",
            f"  forall (i = 1:n) v(i) = mod(i * {b} + {a}, {most}) - {most // 2}",
            f"  forall (i = 1:n) w(i) = mod(i * {c}, 3)",
        ]

    def condition(self, value):
        """The comparison in one of its spellings; with >= the last of several is kept."""
        sign, opposite = self.chooser.choice(((">", "<="), (">", "<="), ("<", ">="), (">=", "<")))
        turned = {">": "<", "<": ">", "<=": ">=", ">=": "<="}
        return self.chooser.choice(
            [
                f"{value} {sign} best",
                f"best {turned[sign]} {value}",
                f".not. ({value} {opposite} best)",
                f".not. (best {turned[opposite]} {value})",
            ]
        )

    def search(self):
        """One loop, or a nest of two, with what comes before and after it."""
        pick = self.chooser.choice
        two = self.chooser.random() < 0.4
        element = pick(("a(i, j)", "a(j, i)")) if two else pick(("v(i)", "a(i, k)", "a(k, i)", "v(n + 1 - i)"))
        value = pick((element, f"abs({element})", f"{element} * 2", f"{element} - i", f"{element} - same"))
        first, last = pick(
            (
                ("1", "n"),
                ("2", "n - 1"),
                ("k", "n"),
                ("k + 1", "n"),
                ("n", "k"),
                ("3", "2"),
                ("i", "n"),
                ("j" if two else "1", "n"),
            )
        )
        start = pick((f"best = {pick(('0', '-100', '100'))}", "best = v(1)"))
        k = self.chooser.randint(1, self.n)
        inner, named = [], "t" if self.chooser.random() < 0.4 else ""
        if named and self.kind == "real" and pick((True, False, False)):
            named = "real(u)"  # which is not what was assigned
        if named:
            inner.append(f"{'t' if named == 't' else 'u'} = {value}")
        compared = named or value
        condition = self.condition(compared)
        if self.chooser.random() < 0.3:
            condition = f"{pick(('w(i) /= 1', 'i /= 3', 'v(i) > -2'))} .and. {condition}"
        kept = [f"best = {compared}", f"row = {pick(('i', 'i + k', '2*i - 1'))}"]
        if two:
            kept.append(f"column = {pick(('j', 'i + j', 'j - k'))}")
        if self.chooser.random() < 0.3:
            kept.append(f"other = {pick(('k', '-i', 'i*i'))}")
        self.chooser.shuffle(kept)
        self.label += 10
        test = pick(
            (
                [f"if ({condition}) then", *(f"  {each}" for each in kept), "end if"],
                [f"if (.not. ({condition})) cycle", *kept],
                [f"if (.not. ({condition})) go to {self.label}", *kept],
            )
        )
        body = [f"  {each}" for each in self.guarded([*inner, *test], named)]
        if "go to" in test[0] or pick((True, False, False)):
            body = [f"do {self.label} i = {first}, {last}", *body, f"{self.label} continue"]
        else:
            body = [f"do i = {first}, {last}", *body, "end do"]
        if two:
            low, high = pick((("1", "n"), ("2", "k"), ("3", "2")))
            body = [f"do j = {low}, {high}", *(f"  {each}" for each in body), "end do"]
        follow = ["forall (i = 1:n) v(i) = v(i) + row - best"] if self.chooser.random() < 0.3 else []
        if self.chooser.random() < 0.2 and named:
            follow.append("print *, t")
        return [
            f"k = {k}",
            start,
            f"i = {pick(('2', 'k'))}",
            *body,
            f"print *, best, row, column, other{pick(('', ', i', ', i, j' if two else ''))}",
            *follow,
        ]

    def guarded(self, body, named):
        """A test inside others, which may keep it from being evaluated, or read a scalar of the iteration."""
        for _ in range(self.chooser.choice((0, 0, 1, 1, 2))):
            guards = ["i < n", "w(i) /= 2", "i > 2 .and. other > 0", "v(i) > -2", "n / i > 1", "v(i + 1) > -1"]
            guard = self.chooser.choice([*guards, f"{named} < 30"] if named == "t" else guards)
            body = [f"if ({guard}) then", *(f"  {each}" for each in body), "end if"]
            if "i + 1" in guard:
                body = ["if (i < n) then", *(f"  {each}" for each in body), "end if"]
        return body

    def text(self):
        """The whole program."""
        for _ in range(self.chooser.randint(1, 3)):
            found, times = self.search(), 1
            if self.chooser.random() < 0.15:
                found = ["if (other > 3) then", *(f"  {each}" for each in found), "end if"]
            if self.chooser.random() < 0.3:  # in the steps of an elimination
                steps = [f"  {each}" for each in found if not each.strip().startswith("k = ")]
                found, times = ["do k = 1, n - 1", *steps, "end do"], self.n - 1
            self.executed += times
            self.lines += [f"  {each}" for each in found]
        return "\n".join([*self.lines, "  print *, v", "end program"]) + "\n"


def program(seed):
    """The text of a program."""
    return Searching(seed).text()
