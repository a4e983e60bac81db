"""DO CONCURRENT for serial compilers of Fortran 2008, which know neither localities nor the type of its indices.

    do concurrent (integer(8) :: i = 1:n) local(t) local_init(w)      block
      ...                                                             integer(8) :: i
    end do                                                            real :: esp_w(3)
                                                                      esp_w = w
                                                                      do concurrent (i = 1:n)
                                                                      block
                                                                      real :: t
                                                                      real :: w(3)
                                                                      w = esp_w
                                                                      ...
                                                                      end block
                                                                      end do
                                                                      end block

SHARED, DEFAULT(NONE) and REDUCE change nothing in a serial program.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from aag.ir.spelling import spell_shape, spell_type
from aag.ir.units import Concurrent, Entity, Line, Program, SourceFile
from aag.source.joining import COLUMNS

_OPENING = re.compile(r"(?:[a-z_]\w*\s*:\s*)?do\s*(?:\d+\s*,?\s*)?concurrent", re.IGNORECASE)
_CLOSING = re.compile(r"\s*(?:continue|end\s*do\b)", re.IGNORECASE)
_COPY = "esp_"


def with_plain_heads(program: Program) -> tuple[SourceFile, ...]:
    """The files of a program with each DO CONCURRENT as compilers of Fortran 2008 read it."""
    if not program.concurrent:
        return program.sources
    heads = {(each.head.file, each.head.line): each for each in program.concurrent}
    ends: dict[tuple[str, int], list[Concurrent]] = {}
    for each in program.concurrent:
        if each not in ends.setdefault((each.end.file, each.end.line), []):
            ends[each.end.file, each.end.line].append(each)
    return tuple(replace(source, lines=tuple(_lines(source, heads, ends))) for source in program.sources)


def _lines(
    source: SourceFile, heads: dict[tuple[str, int], Concurrent], ends: dict[tuple[str, int], list[Concurrent]]
) -> Iterator[Line]:
    within: Concurrent | None = None
    for line in source.lines:
        place = (line.file, line.number)
        if within is not None and line.file == within.head.file and line.number <= within.head.end_line:
            rest = line.text[within.head.end_column - 1 :] if line.number == within.head.end_line else ""
            yield replace(line, text=_following(rest))
            continue
        within = heads.get(place)
        text = line.text
        for each in sorted(ends.get(place, ()), key=lambda loop: -loop.end.column):
            text = _ended(text, each, source)
        if within is not None:
            text = _opened(text, within, source)
        yield line if text == line.text else replace(line, text=text)


def _following(rest: str) -> str:
    """What follows a statement in its line."""
    return rest.lstrip()[1:] if rest.lstrip().startswith(";") else ""


def _opened(text: str, loop: Concurrent, source: SourceFile) -> str:
    """The head of a loop, in the place of its first line."""
    at = loop.head.column - 1
    before, label = text[:at].rstrip(), ""
    if before.strip().isdigit():
        before, label = "", before.strip()
    opening = _OPENING.match(text, at)
    lines = [] if not before.strip() else [before.rstrip().removesuffix(";")]
    made = []
    if loop.typed or loop.initial:
        made.append("block")
        made += [_declaration(each) for each in loop.typed]
        made += [_declaration(each, _COPY) for each in loop.initial]
        made += [f"{_COPY}{each.name} = {each.name}" for each in loop.initial]
    made.append(f"{label} {opening[0] if opening else 'do concurrent'} {loop.controls}".strip())
    if loop.local or loop.initial:
        made.append("block")
        made += [_declaration(each) for each in (*loop.local, *loop.initial)]
        made += [f"{each.name} = {_COPY}{each.name}" for each in loop.initial]
    rest = _following(text[loop.head.end_column - 1 :]) if loop.head.end_line == loop.head.line else ""
    return "\n".join([*lines, *(_in_form(each, source) for each in made), *([rest] if rest else [])])


def _ended(text: str, loop: Concurrent, source: SourceFile) -> str:
    """The end of a loop, in the place of its line."""
    at = max(loop.end.column - 1, 0)
    before, rest = text[:at], text[at:]
    label = before.strip() if before.strip().isdigit() else ""
    inner = [_in_form("end block", source)] if loop.local or loop.initial else []
    outer = [_in_form("end block", source)] if loop.typed or loop.initial else []
    if not label:
        before = before.rstrip().removesuffix(";")
        return "\n".join([*([before] if before else []), *inner, _in_form(rest.strip(), source), *outer])
    last = [] if _CLOSING.match(rest) else [_in_form(rest.strip(), source)]
    return "\n".join([*last, *inner, _in_form(f"{label} continue", source), *outer])


def _declaration(entity: Entity, prefix: str = "") -> str:
    return f"{spell_type(entity.type)} :: {prefix}{entity.name}{spell_shape(entity.shape or ())}"


def _in_form(text: str, source: SourceFile) -> str:
    """A statement in the form of a file."""
    if source.form == "free":
        return text
    label, rest = re.match(r"(\d*) *(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]  # it matches any text
    width = COLUMNS[source.form] - 6
    parts: Sequence[str] = [rest[start : start + width] for start in range(0, len(rest), width)]
    return "\n".join([f"{label:<6}{parts[0]}", *(f"     &{each}" for each in parts[1:])])
