"""Random programs that print what they compute: first values from formulas, all arrays at the end."""

import random
import re

from tests.aag.spmd.programs import program
from tests.aag.spmd.random_records import as_records


def printing_program(part, kinds, statements, seed):
    """Text and number of processors of a program of `tests.aag.spmd.programs`, made to start and end with values.

    Every other one prints sums instead of the arrays: then these are not gathered, so that no processor stores them
    whole.
    """
    text, procs = program(random.Random(f"{part} {seed}"), statements=statements, kinds=kinds)
    item = "{0}" if seed % 2 else "sum({0}), sum({0} * {0}), maxval({0})"
    return as_records(with_values_printed(text, item)), procs


def with_values_printed(text, item):
    lines = text.splitlines()
    last = next(at for at, line in enumerate(lines) if line.strip() == "contains" or line.startswith("end program"))
    arrays = [each for line in lines[:last] for each in declared(line)]
    first = max(at for at, line in enumerate(lines[:last]) if is_specification(line)) + 1
    return (
        "\n".join(
            [
                *lines[:first],
                *map(start, arrays),
                "s = 0.5d0",
                *lines[first:last],
                *(f"print *, {item.format(name)}" for name, _ in arrays),
                "print *, s",
                *lines[last:],
            ]
        )
        + "\n"
    )


def is_specification(line):
    folded = line.strip().lower()
    heads = ("program", "implicit", "!hpf$ proc", "!hpf$ temp", "!hpf$ dist", "!hpf$ align", "!hpf$ dynamic")
    typed = "::" in folded and not folded.startswith("!hpf$ realign") and "do concurrent" not in folded
    return folded.startswith(heads) or typed


def declared(line):
    """Arrays with the lower and upper bounds of their dimensions, as the random programs declare them."""
    if "::" not in line or "(" not in line or line.strip().startswith("!") or "do concurrent" in line:
        return []
    found = []
    for part in line.split("::")[1].strip().split("), "):
        name, _, bounds = part.rstrip(")").partition("(")
        if bounds:
            found.append((name.strip(), [tuple(each.split(":")) for each in bounds.split(",")]))
    return found


def start(array):
    name, bounds = array
    names = "ijkl"[: len(bounds)]
    head = ", ".join(f"{index} = {lower}:{upper}" for index, (lower, upper) in zip(names, bounds, strict=True))
    mixed = " + ".join(f"{(ord(name[-1]) + 7 * at) % 11 + 3}*{index}" for at, index in enumerate(names))
    return f"forall ({head}) {name}({', '.join(names)}) = dble(modulo({mixed}, 13)) / 13.0d0"


def is_standard(text):
    """Whether gfortran takes it: a FORALL triplet may not mention an index of the same list."""
    for head in re.findall(r"forall \((.*?)\) [\w%]+\(", text):
        indices = re.findall(r"([ijkl]) = ([^,]*)", head)
        if any(name in bounds for _, bounds in indices for name, _ in indices):
            return False
    return True
