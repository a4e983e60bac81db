"""Results of the Python API as text, as pages of a notebook and as data (`esp.shown`)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from esp.arguments import one_of
from esp.errors import PredictionError, UsageError
from esp.explore.advise import Advice
from esp.explore.best_machine import BestMachine
from esp.explore.compare import Comparison
from esp.explore.interval import cheap, interval_of
from esp.explore.scaling import Scaling
from esp.explore.sensitivity import Sensitivity
from esp.explore.sweep import Sweep
from esp.explore.whatif import WhatIf
from esp.fit.fitting import FittedMachine
from esp.formulas.formula import TimeFormula
from esp.formulas.scaling_formula import ScalingFormula
from esp.inspect.balance.records import Balance
from esp.output.advise import advice_text
from esp.output.advise_data import advice_rows
from esp.output.balance import balance_rows, balance_text
from esp.output.best_machine import best_rows, best_text
from esp.output.compare import comparison_rows, comparison_text
from esp.output.csv import line_rows
from esp.output.fit_runs import fit_rows, fit_text
from esp.output.formula import formula_rows, formula_text
from esp.output.html import page as profile_page
from esp.output.notebook import page_of
from esp.output.numbers import plural, seconds
from esp.output.profile import profile
from esp.output.scaling import scaling_rows, scaling_text
from esp.output.scaling_formula import scaling_formula_rows, scaling_formula_text
from esp.output.screen import Screen, paragraph
from esp.output.sensitivity import sensitivity_rows, sensitivity_text
from esp.output.sweep import sweep_rows, sweep_text
from esp.output.whatif import what_if_rows, what_if_text
from esp.prediction import Interval, Prediction, first, least_and_most
from esp.visible import visible

if TYPE_CHECKING:
    from esp.output.plots.picture import ResultPicture

_WIDE = 110
"""Columns of a text in a notebook."""

_NOT_DRAWN: tuple[tuple[tuple[type, ...], str, str], ...] = (
    ((TimeFormula, ScalingFormula), "a formula", "evaluate() gives the time of each size"),
    ((FittedMachine,), "a fit", "rows() has the runs with their residuals"),
    ((BestMachine,), "a machine", "rows() has it beside the one that is described"),
)
"""Results without a picture, and what has their numbers."""

_MOST_BARS = 12
"""Bars of a picture."""

_LEAST_BAR = 0.005
"""Share of the time from which a line has a bar."""

_MOST_WARNINGS = 10
"""Warnings that a text lists."""

_INTERVALS: WeakKeyDictionary[Prediction, Interval] = WeakKeyDictionary()
"""Those of the predictions that were shown."""

_MOST_CHANGES = 3
"""What-ifs that one line names."""


def text(result: object) -> str:
    """What the command prints of the like, warnings included."""
    screen = Screen()
    return visible(_shown(result, screen) + _warnings(result, screen))


def with_interval(result: Prediction) -> Prediction:
    """A prediction of `esp.predict` with its interval, where `esp run` shows one; computed when it is first shown."""
    origin = result.origin
    if result.interval is not None or origin is None or origin.request.unroll or not cheap(result):
        return result
    if result not in _INTERVALS:
        _INTERVALS[result] = interval_of(origin.source, origin.system, origin.request, made=result)
    return replace(result, interval=_INTERVALS[result])


def page(result: object) -> str:
    """HTML: the profile of a prediction, the tables and the text of anything else."""
    if isinstance(result, Prediction):
        return visible(profile_page(with_interval(result)))
    screen = Screen(width=_WIDE, html=True)
    return visible(page_of(_shown(result, screen) + _warnings(result, screen)))


def _warnings(result: object, screen: Screen) -> str:
    """The warnings as notes below a text."""
    match result:
        case WhatIf():
            found = result.base.warnings
        case TimeFormula() | ScalingFormula():
            found = result.prediction.warnings
        case (
            Prediction()
            | Comparison()
            | Sweep()
            | Advice()
            | Scaling()
            | Balance()
            | FittedMachine()
            | Sensitivity()
            | BestMachine()
        ):
            found = result.warnings
        case _:
            return ""
    told = [str(each) for each in dict.fromkeys(found)]
    if len(told) > _MOST_WARNINGS:
        told[_MOST_WARNINGS:] = [f"{len(told) - _MOST_WARNINGS} more, in .warnings"]
    notes = [paragraph("warning" if not at else "", each, screen.columns) for at, each in enumerate(told)]
    return "".join(f"{screen.paint('warm', note)}\n" for note in notes)


def brief(result: object) -> str:
    """One line that says what it is."""
    match result:
        case Prediction():
            low, high = map(seconds, least_and_most(result.time_s))
            several = "" if result.scenarios == 1 else f" to {high} in {result.scenarios} scenarios"
            told = [_name(result.file), _machine(result), low + several + _mark(result.complete)]
        case Comparison():
            what = "program" if len(result.programs) > 1 else "choice"
            complete = all(each.prediction.complete for each in result.ranked)
            told = [", ".join(map(_name, result.programs)), _machine(result.best.prediction)]
            told.append(plural(len(result.ranked), what))
            told.append(f"best {result.best.shown} {seconds(result.best.time_s)}" if complete else "incomplete")
        case WhatIf():
            told = [_name(result.base.file), _machine(result.base)]
            told.append(seconds(first(result.base.time_s)) + _mark(result.base.complete))
            told += [f"{each.label} {seconds(each.time_s)}" for each in result.outcomes[:_MOST_CHANGES]]
            told += ["..."] if len(result.outcomes) > _MOST_CHANGES else []
        case Sweep():
            about = dict(result.about)
            told = [about.get("program", "programs"), " x ".join(f"{len(axis)} {axis.name}" for axis in result.axes)]
            times = result.time_s[result.done]
            told += [" to ".join(map(seconds, least_and_most(times)))] if times.size else []
            told += [] if result.complete[result.done].all() else ["incomplete"]
        case Advice():
            best = result.best
            complete = all(each.prediction.complete for each in result.ranked)
            told = [_name(result.file), best.prediction.system]
            where = f"{best.candidate.shown} on {plural(best.candidate.procs, 'processor')}"
            told.append(f"best {where} {seconds(best.time_s)}" if complete else "incomplete")
        case TimeFormula():
            told = [_name(result.prediction.file), _machine(result.prediction), f"{result.parameter} free"]
        case ScalingFormula():
            told = [_name(result.prediction.file), _machine(result.prediction), f"{result.names.size} and p free"]
        case Scaling():
            told = [_name(result.file), result.system, f"{result.parameter} free"]
            told += [f"psi({result.runs[0].processors},{each.processors}) {each.psi:.3g}" for each in result.runs[-1:]]
        case Balance():
            told = [] if result.file is None else [_name(result.file)]
            told += [result.system, f"{result.utilisation:.0%} utilisation"]
            told += [f"{plural(each.processors, 'processor')} {each.utilisation:.0%}" for each in result.runs[-1:]]
        case FittedMachine():
            told = [", ".join(map(_name, result.programs)), result.system.name, plural(len(result.runs), "run")]
            told += [f"{each.name} x{each.factor:.3g}" for each in result.quantities[:_MOST_CHANGES]]
        case BestMachine():
            told = [_name(result.file), _machine(result.prediction)]
            told.append(f"{result.speed_per_dollar(result.best):.3g} flop/s per dollar")
        case Sensitivity():
            last = result.runs[-1]
            told = [_name(result.file), f"{plural(last.processors, 'processor')} of {result.system}"]
            most = sorted(last.quantities.items(), key=lambda each: -each[1])
            told += [f"{name} {share:.0%}" for name, share in most[:_MOST_CHANGES]]
        case _:
            raise TypeError(f"no text for a {type(result).__name__}")
    return visible(f"<{type(result).__name__}: {', '.join(filter(None, told))}>")


def _name(file: str) -> str:
    return file.rsplit("/", 1)[-1]


def _machine(prediction: Prediction) -> str:
    return f"{plural(prediction.processors, 'processor')} of {prediction.system}"


def _mark(complete: bool) -> str:
    return "" if complete else " incomplete"


def rows(result: object) -> list[dict[str, Any]]:
    """The rows of ``--csv``."""
    match result:
        case Prediction():
            return line_rows(result)
        case Comparison():
            return comparison_rows(result)
        case WhatIf():
            return what_if_rows(result)
        case Sweep():
            return list(sweep_rows(result))
        case Advice():
            return advice_rows(result)
        case TimeFormula():
            return formula_rows(result)
        case ScalingFormula():
            return scaling_formula_rows(result)
        case Scaling():
            return scaling_rows(result)
        case Balance():
            return balance_rows(result)
        case FittedMachine():
            return fit_rows(result)
        case Sensitivity():
            return list(sensitivity_rows(result))
        case BestMachine():
            return best_rows(result)
        case _:
            raise TypeError(f"no rows for a {type(result).__name__}")


def picture(result: object, kind: str = "") -> "ResultPicture":
    """The result as a picture; `kind`: which of those that suit it.

    Raises:
        PredictionError: matplotlib is not installed.
        UsageError: there is no such kind, or too much for one picture.
    """
    from esp.output.plots import balance, machines
    from esp.output.plots import sweep as sweeps
    from esp.output.plots.bars import bars
    from esp.output.plots.picture import ResultPicture
    from esp.output.plots.style import need_matplotlib, styled

    for without, what, instead in _NOT_DRAWN:
        if isinstance(result, without):
            raise UsageError(f"{what} is not drawn.", where="plot", hint=f"{instead}.")
    need_matplotlib("plot")
    if isinstance(result, Balance):
        one_of("kind", kind or "curves", ("curves",))
        with styled():
            return ResultPicture(machines.figure(result), brief(result).strip("<>"))
    if isinstance(result, Scaling | Sensitivity):
        from esp.output.plots import scalability

        one_of("kind", kind or "curves", ("curves",))
        with styled():
            if isinstance(result, Scaling):
                return ResultPicture(scalability.scaling_figure(result), brief(result).strip("<>"))
            return ResultPicture(scalability.sensitivity_figure(result), brief(result).strip("<>"))
    name = brief(result).strip("<>")
    kinds = sweeps.FORMS if isinstance(result, Sweep) else ("bars", "balance")[: 1 + isinstance(result, Prediction)]
    one_of("kind", kind or kinds[0], kinds)
    with styled():
        if isinstance(result, Sweep):
            return ResultPicture(sweeps.figure(result, form=kind), name)
        if isinstance(result, Prediction) and kind == "balance":
            return ResultPicture(balance.figure(result), name)
        shown = rows(result)
        if isinstance(result, Prediction):
            seen_s = _LEAST_BAR * first(result.time_s)
            shown = sorted((row for row in shown if row["time_s"] >= seen_s), key=lambda row: -row["time_s"])
        shown = shown[:_MOST_BARS]
        return ResultPicture(bars([_bar(row) for row in shown], shown, _subject(result)), name)


def _subject(result: object) -> list[str]:
    """Program and machine, and whether predictions are incomplete."""
    match result:
        case Prediction():
            sample, complete = result, result.complete
        case WhatIf():
            sample, complete = result.base, result.base.complete
        case Comparison() | Advice():
            sample = result.best.prediction
            complete = all(each.prediction.complete for each in result.ranked)
        case _:
            raise TypeError(f"no bars for a {type(result).__name__}")
    told = [_name(sample.file)] if not isinstance(result, Comparison) else list(map(_name, result.programs))
    told.append(sample.system if isinstance(result, Advice) else _machine(sample))
    return told if complete else [*told, "incomplete"]


def _bar(row: Mapping[str, Any]) -> str:
    """What a bar is for."""
    if "line" in row:
        return f"line {row['line']}"
    if "change" in row:
        return str(row["change"])
    return " ".join(str(row[key]) for key in ("choice", "mapping", "grid") if key in row)


def frame(result: object) -> Any:
    """The rows as a `pandas.DataFrame`.

    Raises:
        PredictionError: pandas is not installed.
    """
    try:
        from pandas import DataFrame
    except ImportError:
        hint = "Install it with pip install 'esp-hpf[pandas]', or use rows()."
        raise PredictionError("pandas is not installed.", where="to_pandas", hint=hint) from None
    return DataFrame(rows(result))


def _shown(result: object, screen: Screen) -> str:
    match result:
        case Prediction():
            return profile(with_interval(result), screen)
        case Comparison():
            return comparison_text(result, screen)
        case WhatIf():
            return what_if_text(result, screen)
        case Sweep():
            return sweep_text(result, screen)
        case Advice():
            return advice_text(result, screen)
        case TimeFormula():
            return formula_text(result, screen)
        case ScalingFormula():
            return scaling_formula_text(result, screen)
        case Scaling():
            return scaling_text(result, screen)
        case Balance():
            return balance_text(result, screen)
        case FittedMachine():
            return fit_text(result, screen)
        case Sensitivity():
            return sensitivity_text(result, screen)
        case BestMachine():
            return best_text(result, screen)
        case _:
            raise TypeError(f"no text for a {type(result).__name__}")
