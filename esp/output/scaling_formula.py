"""`esp formula --free n,procs` as text, JSON, rows and code."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from esp.formulas.formula import TERMS, FormulaLine, FormulaTerm, need_sympy
from esp.formulas.scaling_formula import ScalingFormula
from esp.output.columns import Column, TableRow, table
from esp.output.figures import source_text
from esp.output.formula import DECIDED, Form, continued, meanings, outside_text, shared, term_json, terms_table
from esp.output.numbers import seconds
from esp.output.screen import Screen, flow, paragraph, printable
from esp.prediction import first
from esp.stated import has_shares
from interpreter.symbolic.polynomial import Poly, weighted
from interpreter.symbolic.spelling import spelled

_SHORT = 1e-3
"""What some processor pays more than the formula says, in relation to it, from which on a note says so."""

_ROOTS = {1: "p", 2: "sqrt(p)", 3: "cbrt(p)"}
_CALLS: Mapping[str, Mapping[int, str]] = {
    "python": {1: "p", 2: "math.sqrt(p)", 3: "round(p ** (1 / 3), 9)"},
    "numpy": {1: "p", 2: "np.sqrt(p)", 3: "np.cbrt(p)"},
    "fortran": {1: "p", 2: "sqrt(p)", 3: "p ** (1.0d0 / 3.0d0)"},
}


def scaling_formula_text(
    formula: ScalingFormula, screen: Screen, line: FormulaLine | None = None, next_: str = ""
) -> str:
    """The formula of the program, or of one of its lines, for a person. `next_`: the command to try now."""
    terms = [each for each in (formula.terms if line is None else line.terms) if each.count.poly.terms]
    times = [each.seconds * float(each.count.evaluate(formula.size, formula.procs)[0]) for each in terms]
    blocks = [_heading(formula, screen, line), _time(formula, terms, screen), terms_table(terms, times, "time", screen)]
    if line is None:
        blocks.append(_lines(formula, screen))
    notes = [meanings(terms, screen), *_notes(formula, screen, line)]
    if next_:
        notes.append(paragraph("next", next_, screen.columns))
    return "\n\n".join([*blocks, "\n".join(notes)]).rstrip() + "\n"


def _heading(formula: ScalingFormula, screen: Screen, line: FormulaLine | None) -> str:
    prediction = formula.prediction
    name = printable(prediction.file.rsplit("/", 1)[-1]) + (" (bundled)" if prediction.bundled else "")
    pieces = [name, prediction.system, f"{formula.names.size} and p free"]
    text = screen.paint("strong", flow(pieces, screen.columns, indent="  "))
    if line is not None:
        shown = printable(source_text(prediction, line.file, line.line)).strip()
        text += "\n" + paragraph(f"line {line.line}", shown, screen.columns)
    return text


def _where(formula: ScalingFormula, polys: Sequence[Poly]) -> list[str]:
    """What the names in some expressions are."""
    names, used = formula.names, frozenset().union(*(each.names for each in polys))
    root = _ROOTS[names.rank]
    meanings = {
        names.cells: f"{names.cells} = {names.size}/{root}, cells of a processor in each distributed dimension",
        names.stages: f"{names.stages} = log2(p)",
        names.share: f"{names.share} = 1/{root}",
    }
    if names.rank > 1:
        meanings[names.extent] = f"{names.extent} = {root}"
    return [text for name, text in meanings.items() if name in used]


def _point(formula: ScalingFormula) -> str:
    return f"{formula.names.size} = {formula.size:,}, p = {formula.procs:,}"


def _who(formula: ScalingFormula) -> str:
    """The processor that the terms are of."""
    place = formula.places[formula.slowest]
    if len(set(place)) == 1:
        return f"the {place[0]} processor" + (" in each dimension" if len(place) > 1 else "")
    return f"the processor that is {', '.join(place)} in its dimensions"


def _time(formula: ScalingFormula, terms: Sequence[FormulaTerm], screen: Screen) -> str:
    width = screen.columns
    shown = [each for each in TERMS if any(term.term == each for term in terms)]
    lines = [screen.paint("strong", f"T({formula.names.size}, p) = {' + '.join(shown) or '0'}")]
    lines.append(paragraph("", f"seconds of {_who(formula)}, the slowest at {_point(formula)}", width, 1))
    lines += [paragraph("", each, width, 1) for each in _where(formula, [each.count.poly for each in terms])]
    for name in shown:
        own = [each for each in terms if each.term == name]
        found = weighted([each.count.poly for each in own], [each.seconds for each in own])
        lines.append(paragraph(f"  {name}", f"= {spelled(found, 'text')}", width))
    return "\n".join(lines)


def _lines(formula: ScalingFormula, screen: Screen) -> str:
    rows = []
    for each in formula.lines:
        time = each.time(formula.names.size, formula.names)
        mark = " ~" if each.origin == "averaged" else ""
        name = f"{each.line}" if each.file == formula.prediction.file else f"{each.file.rsplit('/', 1)[-1]}:{each.line}"
        time_s = float(time.evaluate(formula.size, formula.procs)[0])
        rows.append(TableRow((name, seconds(time_s), str(time) + mark)))
    return table([Column("line", width=5), Column("time"), Column("T", align="<")], rows, screen, wrapped=True)


def _notes(formula: ScalingFormula, screen: Screen, line: FormulaLine | None) -> list[str]:
    width = screen.columns
    notes = [paragraph("valid", formula.validity, width)]
    if (formula.size, formula.procs) != formula.given:
        size, procs = formula.given
        text = f"for {formula.names.size} = {size:,}, p = {procs:,} it does not hold: shown for {_point(formula)}"
        notes.append(screen.paint("warm", paragraph("warning", text, width)))
    among = ", ".join(f"{each:,}" for each in sorted({each for _, each in formula.samples}))
    text = f"solved exactly from counts at {len(formula.samples)} sizes on {among} processors"
    notes.append(paragraph("how", text, width))
    points = " and ".join(f"{formula.names.size} = {size:,}, p = {procs:,}" for size, procs in formula.checked)
    notes.append(
        paragraph("checked", f"counts equal those of `esp run` at {points}{shared(formula.prediction)}", width)
    )
    if has_shares(formula.prediction):
        notes.append(paragraph("data", f"{DECIDED} {formula.names.size} = {formula.given[0]:,}", width))
    if any(each.origin == "averaged" for each in (formula.lines if line is None else (line,))):
        where = "of lines marked ~ some counts" if line is None else "some counts"
        text = f"{where} are means over all processors, as those of single ones have no closed form"
        notes.append(paragraph("note", text, width))
    if line is None:
        if formula.short > _SHORT:
            text = f"at the checked sizes some processor pays up to {100 * formula.short:.2g} % more than T"
            notes.append(paragraph("note", text, width))
        time_s, known = first(formula.prediction.time_s), float(formula.time.evaluate(formula.size, formula.procs)[0])
        text = f"{seconds(time_s)} predicted = {seconds(known)} of the formula"
        notes.append(paragraph("not in T", text + outside_text(formula.outside), width))
    return notes


def scaling_formula_json(formula: ScalingFormula, line: FormulaLine | None = None) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    prediction, names = formula.prediction, formula.names
    terms = formula.terms if line is None else line.terms
    return {
        "program": prediction.program,
        "file": prediction.file,
        "system": prediction.system,
        "parameter": names.size,
        "rank": names.rank,
        "names": {"p": names.procs, "q": names.extent, "b": names.cells, "s": names.stages, "u": names.share},
        "size": formula.size,
        "processors": formula.procs,
        "complete": prediction.complete,
        "valid": {"extent": formula.least, "cells": formula.cells, "period": formula.period, "text": formula.validity},
        "samples": [list(each) for each in formula.samples],
        "checked": [list(each) for each in formula.checked],
        "shares_of": formula.given[0] if has_shares(formula.prediction) else None,
        "place": list(formula.places[formula.slowest]),
        "time": spelled(weighted([each.count.poly for each in terms], [each.seconds for each in terms]), "python"),
        "places": [
            {"place": list(each), "time": spelled(formula.seconds_of(at), "python")}
            for at, each in enumerate(formula.places)
        ],
        "terms": [term_json(each) for each in terms],
        "lines": [
            {
                "file": each.file,
                "line": each.line,
                "origin": each.origin,
                "time": spelled(each.time(names.size, names).poly, "python"),
            }
            for each in (formula.lines if line is None else (line,))
        ],
        "outside": [
            {"what": each.what, "why": each.why, "line": each.line, "time_s": each.time_s} for each in formula.outside
        ],
    }


def scaling_formula_rows(formula: ScalingFormula, line: FormulaLine | None = None) -> list[dict[str, Any]]:
    """The rows of ``--csv``: what each line pays."""
    return [
        {"file": each.file, "line": each.line, "origin": each.origin, **term_json(term)}
        for each in (formula.lines if line is None else (line,))
        for term in each.terms
    ]


def scaling_formula_code(formula: ScalingFormula, form: Form, line: FormulaLine | None = None) -> str:
    """The time as LaTeX or as code: of the slowest processor, or of one line on that which is the slowest at the given
    size.

    Raises:
        PredictionError: SymPy is not installed.
    """
    if line is not None:
        polys = [line.time(formula.names.size, formula.names).poly]
    else:
        polys = list(dict.fromkeys(formula.seconds_of(each) for each in range(len(formula.places))))
    if form in ("latex", "sympy"):
        need_sympy("--as")
        return _in_sympy(formula, polys, form)
    makers: Mapping[str, Callable[[ScalingFormula, list[Poly]], str]] = {
        "python": _in_python,
        "numpy": _in_numpy,
        "fortran": _in_fortran,
    }
    return makers[form](formula, polys)


def _about(formula: ScalingFormula) -> list[str]:
    name = printable(formula.prediction.file.rsplit("/", 1)[-1])
    head = f"{name}, p processors of {formula.prediction.system}: seconds without waiting and cache misses"
    return [head, f"exact {formula.validity}"]


def _used(formula: ScalingFormula, polys: Sequence[Poly], values: Mapping[str, str]) -> list[str]:
    """Assignments of the names that occur in some expressions."""
    names, found = formula.names, frozenset().union(*(each.names for each in polys))
    given = (names.size, names.procs)
    return [f"{name} = {text}" for name, text in values.items() if name in found and name not in given]


def _in_python(formula: ScalingFormula, polys: list[Poly]) -> str:
    names, root = formula.names, _CALLS["python"][formula.names.rank]
    texts = [spelled(each, "python") for each in polys]
    found = texts[0] if len(texts) == 1 else "max(\n        " + ",\n        ".join(texts) + ",\n    )"
    values = {names.cells: f"math.ceil({names.size} / {root} - 1e-9)", names.stages: f"math.log2({names.procs})"}
    lines = _used(formula, polys, {**values, names.share: f"1 / {root}", names.extent: root})
    notes, body = "\n    ".join(_about(formula)), "\n    ".join(lines)
    head = f"import math\n\n\ndef time_s({names.size}, {names.procs}):\n"
    return f'{head}    """{notes}"""\n    {body}\n    return {found}\n'


def _in_numpy(formula: ScalingFormula, polys: list[Poly]) -> str:
    names, root = formula.names, _CALLS["numpy"][formula.names.rank]
    texts = [spelled(each, "numpy") for each in polys]
    found = texts[0]
    if len(texts) > 1:
        found = "np.maximum.reduce([\n        " + ",\n        ".join(texts) + ",\n    ])"
    given = f"{names.size}, {names.procs}"
    arrays = f"np.asarray({names.size}, dtype=float), np.asarray({names.procs}, dtype=float)"
    lines = [f"{given} = np.broadcast_arrays({arrays})"]
    values = {names.cells: f"np.ceil({names.size} / {root} - 1e-9)", names.stages: f"np.log2({names.procs})"}
    lines += _used(formula, polys, {**values, names.share: f"1 / {root}", names.extent: root})
    notes, body = "\n    ".join(_about(formula)), "\n    ".join(lines)
    head = f"import numpy as np\n\n\ndef time_s({given}):\n"
    return f'{head}    """{notes}"""\n    {body}\n    return {found}\n'


def _in_fortran(formula: ScalingFormula, polys: list[Poly]) -> str:
    names, root = formula.names, _CALLS["fortran"][formula.names.rank]
    given = ", ".join(f"{each}_" for each in (names.size, names.procs))
    values = {names.cells: f"dble(ceiling({names.size} / ({root}) - 1.0d-9))"}
    values |= {names.stages: f"log({names.procs}) / log(2.0d0)", names.share: f"1.0d0 / ({root})", names.extent: root}
    used = _used(formula, polys, values)
    own = [names.size, names.procs, *(each.partition(" ")[0] for each in used)]
    lines = [f"! {each}" for each in _about(formula)]
    lines += [f"pure function time_s({given}) result(t)", "  implicit none", f"  integer, intent(in) :: {given}"]
    lines += [f"  double precision :: t, {', '.join(own)}"]
    lines += [f"  {each} = dble({each}_)" for each in (names.size, names.procs)]
    lines += [f"  {each}" for each in used]
    for number, each in enumerate(polys):
        text = continued(spelled(each, "fortran"))
        lines.append(f"  t = {text}" if not number else f"  t = max(t, {text})")
    return "\n".join([*lines, "end function time_s"]) + "\n"


def _in_sympy(formula: ScalingFormula, polys: list[Poly], form: Form) -> str:
    from interpreter.symbolic import algebra

    where = _where(formula, polys)
    if form == "latex":
        return f"T({formula.names.size}, p) = {algebra.latex(*polys)}\n" + "".join(f"% {each}\n" for each in where)
    names = formula.names
    root = _ROOTS[names.rank].replace("p", names.procs)
    values = {names.cells: f"ceiling({names.size}/{root})", names.stages: f"log({names.procs}, 2)"}
    used = _used(formula, polys, {**values, names.share: f"1/{root}", names.extent: root})
    notes = "".join(f"# {each}\n" for each in _about(formula))
    symbols = "".join(f'{each} = Symbol("{each}", integer=True, positive=True)\n' for each in (names.size, names.procs))
    head = "from sympy import Max, Symbol, cbrt, ceiling, log, sqrt\n\n"
    body = "".join(f"{each}\n" for each in used)
    return f"{notes}{head}{symbols}{body}time_s = {algebra.source(*polys)}\n"
