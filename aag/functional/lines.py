"""Python text that grows line by line, each with its line of the program."""

from collections.abc import Iterator
from contextlib import contextmanager

from aag.functional.tables import NotComputable
from aag.ir.evaluate import Unknown


class Lines:
    """The lines of a function."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.source: list[int] = []
        """The line of the program behind each line of the text."""
        self.at = 0
        self._depth = 1
        self._names = 0

    def add(self, *texts: str) -> None:
        """Add lines at the present depth."""
        for text in texts:
            self.text.append(" " * self._depth + text)
            self.source.append(self.at)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines inside ``head:``."""
        self.add(head + ":")
        start = len(self.text)
        self._depth += 1
        try:
            yield
        finally:
            if len(self.text) == start:
                self.add("pass")
            self._depth -= 1

    def fresh(self, letter: str) -> str:
        """A name that nothing else has."""
        self._names += 1
        return f"{letter}{self._names}"

    def mark(self) -> tuple[int, int]:
        """The present place, for `cut`."""
        return len(self.text), self._depth

    def cut(self, mark: tuple[int, int]) -> None:
        """Take back what was added since a mark."""
        count, self._depth = mark
        del self.text[count:], self.source[count:]

    @contextmanager
    def guarded(self, line: int) -> Iterator[None]:
        """Where something cannot be written, the run ends with the reason."""
        mark = self.mark()
        try:
            yield
        except NotComputable as problem:
            self.cut(mark)
            self.at = line
            self.add(f"raise NotComputable({problem.why!r}, {problem.line or line})")
        except Unknown as problem:
            self.cut(mark)
            self.at = line
            self.add(f"raise NotComputable({str(problem)!r}, {line})")
