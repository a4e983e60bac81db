"""The least program that still fails: statements, branches, directives and terms are left out one after the other."""

from msgspec.structs import replace as changed

from tests.aag.spmd.emit import tree as t
from tests.aag.spmd.emit.many import judge
from tests.aag.spmd.emit.replay import Replay, Unusable

TRIED = 40
"""Smaller programs that are compiled and run together."""


def shrink(native, program, case, *, same=bool, limit_s=60):
    """The smallest program found and its verdict; `same` says whether a fault is the one that is looked for."""
    while True:
        trials = []
        for each in candidates(program):
            try:
                Replay(each)
            except Unusable:
                continue
            trials.append(each)
        for at in range(0, len(trials), TRIED):
            some = trials[at : at + TRIED]
            verdicts = judge(native, [changed(case, text=t.text(each)) for each in some], limit_s=limit_s)
            failing = [each for each, verdict in zip(some, verdicts, strict=True) if same(verdict.fault)]
            if failing:
                program = failing[0]
                break
        else:
            (verdict,) = judge(native, [changed(case, text=t.text(program))], limit_s=limit_s)
            return program, verdict


def candidates(program):
    """Programs with a little less."""
    for body in t.smaller(program.body):
        yield t.with_parts(program, body=body)
    for at in range(len(program.body_end)):
        yield t.with_parts(program, body_end=program.body_end[:at] + program.body_end[at + 1 :])
    for at, last in enumerate(program.body_end):
        for number in range(len(last.items)):
            if len(last.items) > 1:
                less = t.Print(last.items[:number] + last.items[number + 1 :])
                yield t.with_parts(program, body_end=(*program.body_end[:at], less, *program.body_end[at + 1 :]))
    used = t.names(program.body + program.body_end)
    kept = tuple(each for each in program.arrays if each.name in used)
    if kept != program.arrays:
        gone = {each.name for each in program.arrays} - {each.name for each in kept}
        if not any(
            f" {name} " in f" {line.replace('(', ' ').replace(',', ' ')} "
            for name in gone
            for line in program.directives
            if "align" in line
        ):
            lines = tuple(each for each in program.directives if not any(f" {name}(" in each for name in gone))
            yield t.with_parts(program, arrays=kept, directives=lines)
    scalars = tuple(each for each in program.scalars if each in used)
    if scalars != program.scalars:
        yield t.with_parts(program, scalars=scalars)
    indices = tuple(each for each in program.indices if each in used | {"i"})
    if indices != program.indices and len(indices) >= max(len(each.bounds) for each in program.arrays):
        yield t.with_parts(program, indices=indices)
