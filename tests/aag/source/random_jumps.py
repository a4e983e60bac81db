"""Random control flow with jumps: GO TO, computed GO TO and arithmetic IF, forward and back, out of loops.

A body is a subroutine with the state `s`, which decides all conditions, and `k`, into which each statement counts its
own number, so that two runs are alike only if they went the same way. `left` bounds each way: all labels count it down.
"""

import random

MODULUS = 7919
"""Of the numbers that decide: the modulus that hides whether statements were exchanged is prime."""


class Builder:
    """Writes one body. `plain`: free of EXIT and CYCLE, which mean nothing outside of loops."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.labels = 0
        self.actions = 0
        self.loops = 0

    def text(self) -> str:
        """The executable part."""
        return "\n".join(self.body(0, (), inside=False))

    def body(self, depth: int, outer: tuple[str, ...], *, inside: bool) -> list[str]:
        """Some statements, of which some have labels; a jump goes to one of these or to one around."""
        count = self.chance.randint(2, 7 if depth == 0 else 4)
        own = [self._label() if self.chance.random() < 0.55 else "" for _ in range(count)]
        if self.chance.random() < 0.3:
            own.append(self._label())
        visible = (*outer, *(each for each in own if each))
        lines: list[str] = []
        for label in own:
            if label:
                lines.append(f"{label} left = left - 1")
                lines.append("if (left < 0) return")
            lines += self._statement(depth, visible, inside=inside)
        return lines

    def _label(self) -> str:
        self.labels += 1
        return str(10 * self.labels)

    def _statement(self, depth: int, visible: tuple[str, ...], *, inside: bool) -> list[str]:
        chance = self.chance
        kind = chance.random()
        if depth < 3 and kind < 0.14:
            return ["if (" + self._test() + ") then", *self.body(depth + 1, visible, inside=inside), "end if"]
        if depth < 3 and kind < 0.22:
            return [
                "if (" + self._test() + ") then",
                *self.body(depth + 1, visible, inside=inside),
                "else if (" + self._test() + ") then",
                *self.body(depth + 1, visible, inside=inside),
                "else",
                *self.body(depth + 1, visible, inside=inside),
                "end if",
            ]
        if depth < 3 and kind < 0.34:
            self.loops += 1
            name = f"i{self.loops}"
            last = [f"{self._label()} continue"] if chance.random() < 0.3 else []
            more = (*visible, last[0].split()[0]) if last else visible
            return [f"do {name} = 1, {chance.randint(0, 3)}", *self.body(depth + 1, more, inside=True), *last, "end do"]
        if depth < 3 and kind < 0.38:
            return [
                f"select case (mod(s, {chance.randint(2, 4)}))",
                "case (0)",
                *self.body(depth + 1, visible, inside=inside),
                "case (1)",
                *self.body(depth + 1, visible, inside=inside),
                "end select",
            ]
        if inside and kind < 0.42:
            return [f"if ({self._test()}) {chance.choice(('exit', 'cycle'))}"]
        if visible and kind < 0.6:
            return [f"if ({self._test()}) go to {chance.choice(visible)}"]
        if visible and kind < 0.64:
            return [f"go to {chance.choice(visible)}"]
        if visible and kind < 0.68:
            labels = ", ".join(chance.choices(visible, k=chance.randint(1, 4)))
            return [f"go to ({labels}), mod(s, {chance.randint(2, 5)})"]
        if visible and kind < 0.72:
            return [f"if (mod(s, {chance.randint(2, 5)}) - 1) {', '.join(chance.choices(visible, k=3))}"]
        return self.action()

    def action(self) -> list[str]:
        """A statement that leaves a trace."""
        self.actions += 1
        return [f"k = mod(k*31 + {self.actions}, {MODULUS})", f"s = mod(s*{self.chance.randint(2, 60)} + k, {MODULUS})"]

    def _test(self) -> str:
        by = self.chance.randint(2, 5)
        return f"mod(s, {by}) {self.chance.choice(('<', '==', '>'))} {self.chance.randrange(by)}"


def subroutine(name: str, seed: int) -> str:
    """A body as a subroutine that takes a state and answers the trace."""
    builder = Builder(seed)
    body = builder.text()
    indices = "".join(f", i{number}" for number in range(1, builder.loops + 1))
    return f"subroutine {name}(s, k, left)\ninteger s, k, left{indices}\n{body}\nend subroutine {name}\n"


def program(seeds: range) -> str:
    """A program that runs some bodies from several states."""
    calls = "".join(
        f"do j = 1, 6\ns = 1000*j + {number}\nk = 0\nleft = 60\ncall walk{number}(s, k, left)\n"
        f"print *, {number}, j, s, k, left\nend do\n"
        for number in seeds
    )
    subroutines = "".join(subroutine(f"walk{number}", number) for number in seeds)
    return f"program p\ninteger j, s, k, left\n{calls}end program p\n{subroutines}"
