"""What the page of `esp report` takes from the models: which figures decide the time, its formula, how it scales."""

from html import escape

from esp.explore.scaling import Scaling
from esp.explore.scaling_predicted import PredictedRun
from esp.explore.sensitivity import SensitiveRun
from esp.formulas.formula import TERMS, FormulaTerm, TimeFormula
from esp.output import scaling as scalings
from esp.output import sensitivity as sensitivities
from esp.output.formula import DECIDED, outside_text, precise
from esp.output.numbers import flop_rate, seconds, significant
from esp.output.report_tables import row, table
from esp.output.screen import printable
from esp.prediction import first
from esp.stated import has_shares


def _instead(why: str) -> str:
    return f"<p>{escape(printable(why[:1].upper() + why[1:]))}</p>"


def figures(run: SensitiveRun) -> str:
    """The figures of the machine that decide most of the time, as `esp sensitivity` finds them."""
    rows = []
    for each in run.parameters[: sensitivities.SHOWN]:
        cells = [f"<code>{escape(each.path)}</code>", sensitivities.value(each)]
        cells += [escape(sensitivities.share(each.elasticity)), seconds(each.halved_s)]
        rows.append(row(cells, keys={1: each.value, 2: each.elasticity, 3: each.halved_s}))
    more = len(run.parameters) - len(rows)
    below = f"<p>{more} more have a smaller share: <code>esp sensitivity --all</code>.</p>" if more else ""
    said = f"<p>{escape(sensitivities.sentence(run))}.</p>"
    return said + table("Figures that decide the time", ("figure", "value", "share", "time at half"), rows) + below


def equation(formula: TimeFormula | str) -> str:
    """The time as a sum of counts times figures, as `esp formula` derives it, or why there is none."""
    if isinstance(formula, str):
        return _instead(formula)
    name, size = formula.parameter, formula.size
    rows = [_term(each, float(each.count.evaluate(size)[0])) for each in formula.terms]
    titles = ("term", "figure", "each", f"{name} = {size:,}", "count")
    known = float(formula.time.evaluate(size)[0])
    predicted = f"{seconds(first(formula.prediction.time_s))} predicted = {seconds(known)} of the formula"
    names = {each.term for each in formula.terms}
    terms = ", ".join(f"{term} {what}" for term, what in TERMS.items() if term in names)
    said = [
        f"T = {formula.time} on the slowest processor, valid {formula.validity}.",
        f"{predicted}{outside_text(formula.outside)}.",
        f"Terms: {terms}.",
    ]
    if size != formula.given:
        said.insert(1, f"For {name} = {formula.given:,} it does not hold: it is shown for {size:,}.")
    if has_shares(formula.prediction):
        said.append(f"{DECIDED.capitalize()} {name} = {formula.given:,}.")
    texts = "".join(f"<p>{escape(each)}</p>" for each in said)
    return texts + table("Counts of the slowest processor", titles, rows, text=(0, 1, 4), hidden=(2,))


def _term(each: FormulaTerm, count: float) -> str:
    paid = "" if each.paid == "computation" else f" ({each.paid})"
    time_s = each.seconds * count
    cells = [escape(each.term), f"<code>{escape(each.figure)}</code>{escape(paid)}", precise(each.seconds)]
    cells += [seconds(time_s), f"<code>{escape(str(each.count))}</code>"]
    return row(cells, head=1, text=(0, 1, 4), hidden=(2,), keys={2: each.seconds, 3: time_s})


def _by_overhead(run: PredictedRun | None, speed: float) -> str:
    """A size by equation 2, and by how much its speed is off."""
    if run is None:
        return "-"
    return f"{run.size:,}" + ("" if run.kept else f" ({abs(run.speed / speed - 1):.1%} off)")


def scalability(found: Scaling | str) -> str:
    """The sizes that keep the speed of a processor, as `esp scalability` finds them, or why there are none."""
    if isinstance(found, str):
        return _instead(found)
    name = printable(found.parameter)
    rows = []
    for each in found.runs:
        size = f"{each.size:,}" + (" (too large)" if each.fits is False else "")
        cells = [f"{each.processors:,}", size, seconds(each.time_s), significant(each.work), flop_rate(each.speed)]
        cells += [f"{each.psi:.3g}", _by_overhead(each.predicted, found.speed)]
        role = "over" if each.fits is False else ""
        rows.append(
            row(cells, role=role, hidden=(3, 4), keys={1: each.size, 2: each.time_s, 3: each.work, 4: each.speed})
        )
    titles = ("processors", escape(name), "time", "work (flop)", "each processor", "psi", f"{escape(name)} by eq. 2")
    below = ""
    if found.missing:
        numbers = ", ".join(f"{each:,}" for each in found.missing)
        below = f"<p>On {numbers} no {escape(name)} up to {found.most:,} keeps the speed.</p>"
    said = f"<p>{escape(scalings.sentence(found))}</p>"
    meaning = "psi is the work of each processor on the first number over that on this one (isospeed, Sun and Zhu)."
    return said + table("Sizes that keep the speed", titles, rows, hidden=(3, 4)) + f"<p>{meaning}</p>{below}"
