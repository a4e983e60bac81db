"""`esp formula` as text, JSON, rows and code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from esp.formulas.formula import TERMS, FormulaLine, FormulaTerm, Outside, TimeFormula, need_sympy, relaxed_time
from esp.output.columns import Column, TableRow, table
from esp.output.figures import grid, source_text
from esp.output.numbers import plural, seconds, significant
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import Prediction, first
from esp.stated import has_shares
from interpreter.symbolic.polynomial import Poly, weighted
from interpreter.symbolic.relaxed import has_roundings
from interpreter.symbolic.spelling import NotSpelled, Style, spelled

Form = Literal["text", "latex", "python", "numpy", "fortran", "sympy"]
FORMS: tuple[Form, ...] = ("text", "latex", "python", "numpy", "fortran", "sympy")

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_LONG = 40
"""Columns from which on a count is written below its table."""

DECIDED = "conditions that data decide hold as often at all sizes as at"


def formula_text(formula: TimeFormula, screen: Screen, line: FormulaLine | None = None, next_: str = "") -> str:
    """The formula of the program, or of one of its lines, for a person. `next_`: the command to try now."""
    terms = formula.terms if line is None else line.terms
    blocks = [heading(formula, screen, line), _time(formula, terms, screen), _table(formula, terms, screen)]
    if line is None:
        blocks.append(_lines(formula, screen))
    notes = [meanings(terms, screen), *_notes(formula, screen, line)]
    if next_:
        notes.append(paragraph("next", next_, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]).rstrip() + "\n"


def heading(formula: TimeFormula, screen: Screen, line: FormulaLine | None) -> str:
    """What the formula is of."""
    prediction = formula.prediction
    name = printable(prediction.file.rsplit("/", 1)[-1]) + (" (bundled)" if prediction.bundled else "")
    shape = f"{plural(prediction.processors, 'proc')} ({grid(prediction.grid)})"
    told = [name, shape, prediction.system, f"{formula.parameter} free"]
    text = screen.paint("strong", flow(told, screen.columns, indent="  "))
    if line is not None:
        shown = printable(source_text(prediction, line.file, line.line)).strip()
        text += "\n" + paragraph(f"line {line.line}", shown, screen.columns)
    return text


def _time(formula: TimeFormula, terms: Sequence[FormulaTerm], screen: Screen) -> str:
    """The sum over the terms of the thesis, with their seconds written out."""
    names = [each for each in TERMS if any(term.term == each for term in terms)]
    head = f"T({formula.parameter}) = {' + '.join(names) or '0'}"
    who = f"seconds of processor {formula.slowest}, the slowest at {formula.parameter} = {formula.size:,}"
    lines = [screen.paint("strong", head), paragraph("", who, screen.columns, 1)]
    smooth = relaxed_time(terms, formula.parameter)
    if smooth is not None and any(has_roundings(each.count.poly) for each in terms):
        lines.append(paragraph("", f"about {smooth} (roundings replaced by their means)", screen.columns, 1))
    for name in names:
        own = [each for each in terms if each.term == name]
        found = weighted([each.count.poly for each in own], [each.seconds for each in own])
        lines.append(paragraph(f"  {name}", f"= {spelled(found, 'text')}", screen.columns))
    return "\n".join(lines)


def _table(formula: TimeFormula, terms: Sequence[FormulaTerm], screen: Screen) -> str:
    times = [each.seconds * float(each.count.evaluate(formula.size)[0]) for each in terms]
    return terms_table(terms, times, f"{formula.parameter} = {formula.size:,}", screen)


def terms_table(terms: Sequence[FormulaTerm], times: Sequence[float], title: str, screen: Screen) -> str:
    """What is paid: how often, and what it takes at one size. Long counts have a name, and are written below it."""
    columns = [Column("term", align="<"), Column("figure", align="<"), Column("each"), Column(title)]
    long: dict[str, str] = {}
    rows = []
    for each, time_s in zip(terms, times, strict=True):
        paid, count = "" if each.paid == "computation" else f" ({each.paid})", str(each.count)
        if len(count) > _LONG:
            count = long.setdefault(count, f"c{len(long) + 1}")
        rows.append(TableRow((each.term, each.figure + paid, precise(each.seconds), seconds(time_s), count)))
    if not rows:
        return "It takes no time."
    below = [paragraph(f"  {name}", f"= {count}", screen.columns, 4) for count, name in long.items()]
    return "\n".join([table([*columns, Column("count", align="<")], rows, screen), *below])


def meanings(terms: Sequence[FormulaTerm], screen: Screen) -> str:
    """What the terms count."""
    shown = [f"{name} {what}" for name, what in TERMS.items() if any(each.term == name for each in terms)]
    return paragraph("terms", ", ".join(shown), screen.columns)


def precise(value: float) -> str:
    """The time of one, in a unit in which it can be multiplied."""
    unit_s, unit = next((each for each in _UNITS if abs(value) >= each[0]), _UNITS[-1])
    return f"{significant(value / unit_s, 4)} {unit}"


def _lines(formula: TimeFormula, screen: Screen) -> str:
    columns = [Column("line", width=5), Column(f"{formula.parameter} = {formula.size:,}"), Column("T", align="<")]
    rows = []
    for each in formula.lines:
        time = each.time(formula.parameter)
        mark = " *" if each.origin == "interpolated" else ""
        name = f"{each.line}" if each.file == formula.prediction.file else f"{each.file.rsplit('/', 1)[-1]}:{each.line}"
        rows.append(TableRow((name, seconds(float(time.evaluate(formula.size)[0])), str(time) + mark)))
    return table(columns, rows, screen, wrapped=True)


def _notes(formula: TimeFormula, screen: Screen, line: FormulaLine | None, *, marked: bool = True) -> list[str]:
    width = screen.columns
    notes = [paragraph("valid", formula.validity, width)]
    if formula.size != formula.given:
        told = f"for {formula.parameter} = {formula.given:,} it does not hold: shown for {formula.size:,}"
        notes.append(screen.paint("warm", paragraph("warning", told, width)))
    notes.append(paragraph("how", _how(formula, line, marked=marked), width))
    if formula.checked:
        told = " and ".join(f"{formula.parameter} = {each:,}" for each in formula.checked)
        notes.append(
            paragraph("checked", f"counts equal those of `esp run` at {told}{shared(formula.prediction)}", width)
        )
    if has_shares(formula.prediction):
        notes.append(paragraph("data", f"{DECIDED} {formula.parameter} = {formula.given:,}", width))
    if line is None:
        slowest = len(formula.groups)
        if slowest > 1:
            told = f"processors have {slowest} different formulas: at other sizes another one may be the slowest"
            notes.append(paragraph("note", told, width))
        time_s, known = first(formula.prediction.time_s), float(formula.time.evaluate(formula.size)[0])
        told = f"{seconds(time_s)} predicted = {seconds(known)} of the formula"
        notes.append(paragraph("not in T", told + outside_text(formula.outside), width))
    return notes


def shared(prediction: Prediction) -> str:
    """What a check of counts at other sizes rests on."""
    return ", with the same shares of conditions" if has_shares(prediction) else ""


def _how(formula: TimeFormula, line: FormulaLine | None, *, marked: bool) -> str:
    """Where the counts come from. `marked`: lines with interpolated counts are."""
    sizes = plural(len(formula.samples), "size")
    if line is not None:
        derived = "its counts are derived from loops and layouts"
        return derived if line.origin == "derived" else f"some of its counts are interpolated exactly from {sizes}"
    if all(each.origin == "derived" for each in formula.lines):
        return "all counts are derived from loops and layouts"
    told = f"some counts{' of lines marked *' * marked} are interpolated exactly from {sizes}"
    return f"{told}; all others are derived from loops and layouts"


def outside_text(outside: Sequence[Outside]) -> str:
    """What a formula lacks: by kind, and by line where counts have no closed form."""
    found = [(each.time_s, f"{each.what} ({each.why})") for each in outside if each.line is None]
    lines: dict[int, float] = {}
    for each in outside:
        if each.line is not None:
            lines[each.line] = lines.get(each.line, 0.0) + each.time_s
    found += [(time_s, f"for counts of line {line} without a closed form") for line, time_s in lines.items()]
    return "".join(f" {'-' if time_s < 0 else '+'} {seconds(abs(time_s))} {what}" for time_s, what in found)


def formula_json(formula: TimeFormula, line: FormulaLine | None = None) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    prediction, terms = formula.prediction, formula.terms if line is None else line.terms
    smooth = relaxed_time(terms, formula.parameter)
    return {
        "program": prediction.program,
        "file": prediction.file,
        "system": prediction.system,
        "processors": prediction.processors,
        "grid": list(prediction.grid),
        "parameter": formula.parameter,
        "size": formula.size,
        "complete": prediction.complete,
        "valid": {"from": formula.least, "to": formula.most, "cells": formula.cells, "text": formula.validity},
        "samples": list(formula.samples),
        "checked": list(formula.checked),
        "shares_of": formula.given if has_shares(formula.prediction) else None,
        "processor": formula.slowest,
        "time": spelled(_seconds_of(terms), "python"),
        "relaxed": None if smooth is None else spelled(smooth.poly, "python"),
        "groups": [
            {"processors": list(each), "time": spelled(formula.seconds_of(each[0]), "python")}
            for each in formula.groups
        ],
        "terms": [term_json(each) for each in terms],
        "lines": [
            {
                "file": each.file,
                "line": each.line,
                "origin": each.origin,
                "time": spelled(each.time(formula.parameter).poly, "python"),
            }
            for each in (formula.lines if line is None else (line,))
        ],
        "outside": [
            {"what": each.what, "why": each.why, "line": each.line, "time_s": each.time_s} for each in formula.outside
        ],
    }


def term_json(each: FormulaTerm) -> dict[str, Any]:
    """The fields of a term."""
    return {
        "term": each.term,
        "figure": each.figure,
        "unit": each.unit,
        "paid": each.paid,
        "seconds": each.seconds,
        "count": spelled(each.count.poly, "python"),
    }


def _seconds_of(terms: Sequence[FormulaTerm]) -> Poly:
    return weighted([each.count.poly for each in terms], [each.seconds for each in terms])


def formula_at(
    formula: TimeFormula, sizes: Sequence[int], times: Sequence[float], screen: Screen, line: FormulaLine | None = None
) -> str:
    """The seconds of the formula at some sizes, for a person."""
    columns = [Column(formula.parameter), Column(f"T({formula.parameter})")]
    rows = [TableRow((f"{size:,}", seconds(time_s))) for size, time_s in zip(sizes, times, strict=True)]
    note = paragraph("", "T leaves out waiting and cache misses", screen.columns, 1)
    notes = [heading(formula, screen, line), note, "", table(columns, rows, screen), ""]
    return "\n".join([*notes, *_notes(formula, screen, line, marked=False)]) + "\n"


def formula_rows(formula: TimeFormula, line: FormulaLine | None = None) -> list[dict[str, Any]]:
    """The rows of ``--csv``: what each line pays."""
    return [
        {"file": each.file, "line": each.line, "origin": each.origin, **term_json(term)}
        for each in (formula.lines if line is None else (line,))
        for term in each.terms
    ]


def formula_code(formula: TimeFormula, form: Form, line: FormulaLine | None = None) -> str:
    """The time as LaTeX or as code: of the slowest processor at any size, or of one line on that which is the slowest
    at the given size.

    Raises:
        PredictionError: SymPy is not installed.
        NotSpelled: a sum does not close.
    """
    if line is not None:
        polys = [line.time(formula.parameter).poly]
    else:
        polys = list(dict.fromkeys(formula.seconds_of(group[0]) for group in formula.groups))
    if form in ("latex", "sympy"):
        need_sympy("--as")
        return _in_sympy(formula, polys, form)
    makers: Mapping[str, Callable[[TimeFormula, list[Poly]], str]] = {
        "python": _in_python,
        "numpy": _in_numpy,
        "fortran": _in_fortran,
    }
    return makers[form](formula, polys)


def _about(formula: TimeFormula) -> list[str]:
    prediction = formula.prediction
    where = f"{plural(prediction.processors, 'processor')} of {prediction.system}"
    name = printable(prediction.file.rsplit("/", 1)[-1])
    return [f"{name}, {where}: seconds without waiting and cache misses", f"valid {formula.validity}"]


def _in_python(formula: TimeFormula, polys: list[Poly]) -> str:
    texts = [spelled(each, "python") for each in polys]
    found = texts[0] if len(texts) == 1 else "max(\n        " + ",\n        ".join(texts) + ",\n    )"
    notes = "\n    ".join(_about(formula))
    return f'def time_s({formula.parameter}):\n    """{notes}"""\n    return {found}\n'


def _in_numpy(formula: TimeFormula, polys: list[Poly]) -> str:
    texts = [spelled(each, "numpy") for each in polys]
    found = texts[0]
    if len(texts) > 1:
        found = "np.maximum.reduce([\n        " + ",\n        ".join(texts) + ",\n    ])"
    notes, name = "\n    ".join(_about(formula)), formula.parameter
    head = f"import numpy as np\n\n\ndef time_s({name}):\n"
    return f'{head}    """{notes}"""\n    {name} = np.asarray({name}, dtype=float)\n    return {found}\n'


def _in_fortran(formula: TimeFormula, polys: list[Poly]) -> str:
    name = formula.parameter
    lines = [f"! {each}" for each in _about(formula)]
    lines += [f"pure function time_s({name}_) result(t)", "  implicit none", f"  integer, intent(in) :: {name}_"]
    lines += [f"  double precision :: t, {name}", f"  {name} = dble({name}_)"]
    for number, each in enumerate(polys):
        text = continued(spelled(each, "fortran"))
        lines.append(f"  t = {text}" if not number else f"  t = max(t, {text})")
    return "\n".join([*lines, "end function time_s"]) + "\n"


def continued(text: str) -> str:
    """A sum over several lines of free form, a term on each."""
    result, depth = "", 0
    for word in text.split(" "):
        result += f" &\n    {word}" if word in ("+", "-") and not depth else f" {word}"
        depth += word.count("(") - word.count(")")
    return result.strip()


def _in_sympy(formula: TimeFormula, polys: list[Poly], form: Form) -> str:
    from interpreter.symbolic import algebra

    name = formula.parameter
    if form == "latex":
        return f"T({name}) = {algebra.latex(*polys)}\n"
    notes = "".join(f"# {each}\n" for each in _about(formula))
    symbol = f'{name} = Symbol("{name}", integer=True, positive=True)'
    head = "from sympy import Max, Min, Symbol, Sum, ceiling, floor"
    return f"{notes}{head}\n\n{symbol}\ntime_s = {algebra.source(*polys)}\n"


__all__ = [
    "FORMS",
    "Form",
    "NotSpelled",
    "Style",
    "formula_at",
    "formula_code",
    "formula_json",
    "formula_rows",
    "formula_text",
]
