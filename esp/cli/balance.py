"""`esp balance`: which start-ups and which work keep the processors busy, by Clement's static model."""

import argparse
import re
import time
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, add_program, console_of, procs_of, refuse_without_effect
from esp.errors import UsageError
from esp.values import pairs_many

if TYPE_CHECKING:  # the API brings NumPy, which `esp balance --help` need not wait for
    from esp.inspect.balance.records import Balance
    from esp.inspect.balance.request import BalanceRequest, GivenCounts

USAGE = "esp balance [PROG] [options]"

EXAMPLES = """\
examples:
  esp balance                                       what the machine needs
  esp balance laplace.hpf --procs 1,2,4,8
  esp balance shallow.hpf --procs 1..64 --utilisation 80%
  esp balance gauss.hpf --procs 1..32 --base 2 --pattern broadcast
  esp balance shallow.hpf --procs 64 --sweep startup=470,5280 --sweep cache=5,40
  esp balance --operations 1e6 --startups '4*(1+log2(p))' --procs 4..64

The static model of M. Clement (docs/balance.md) has the work of a program and
the start-ups of its messages, but neither bytes nor waiting. With a program,
esp counts both and shows its own prediction beside the model. Costs are in
units of T_phi, one clock: C_phi of an operation, C_m of a cache miss, C_c of a
start-up.
"""

_OF_PROGRAMS = (
    *("form", "include", "define", "cost", "grid", "distribute", "align", "set", "input", "budget"),
    *("trust_directives", "base"),
)
"""Options that only a program needs."""

_OF_WORK = ("procs", "pattern", "sweep", "dollars")
"""Options that a machine alone does not need."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "numbers of processors, such as 1,2,4,8 or 1..64", optional=True)
    group = parser.add_argument_group("model")
    keep = "share of the processors' time that computes: 80%% (default: 50%%)"
    group.add_argument("--utilisation", metavar="U", default="50%", help=keep)
    pattern = "start-ups on p processors: neighbours, broadcast (1 + log2 p) or all (p) (default: counted)"
    group.add_argument("--pattern", metavar="NAME", default="", help=pattern)
    base = "predictions on 1 and P processors give the counts of the program (default: the most)"
    group.add_argument("--base", metavar="P", help=base)
    group = parser.add_argument_group("machine", "Costs in units of T_phi, instead of the machine's.")
    group.add_argument("--t-phi", metavar="TIME", help="time of a floating-point instruction: 25ns (default: a clock)")
    group.add_argument("--c-phi", metavar="N", help="cost of an operation")
    group.add_argument("--c-m", metavar="N", help="cost of a cache miss")
    group.add_argument("--c-c", metavar="N", help="cost of a message start-up; also a time: 132us")
    group = parser.add_argument_group("counts, instead of a program")
    group.add_argument("--operations", metavar="N", help="divided among the processors")
    group.add_argument("--sequential", metavar="N", help="operations that each processor executes")
    group.add_argument("--misses", metavar="N", help="cache misses of all processors")
    group.add_argument("--loops", metavar="N", help="operations for loops, on each processor")
    group.add_argument("--startups", metavar="N", help="of each processor; a number, or a formula of p")
    group = parser.add_argument_group("other machines")
    axis = "speedup and speed for other costs: startup=470:7520:x2 or cache=5,10,20 (repeatable)"
    group.add_argument("--sweep", metavar="NAME=N,...", action="append", default=[], help=axis)
    dollars = "price of the machine for --sweep, a formula of p, c_c and c_m: 'p*(1000+2000*2**(500/c_c))'"
    group.add_argument("--dollars", metavar="FORMULA", default="", help=dollars)
    group.add_argument("--plot", metavar="FILE", help="also draw the sweep: .png, .svg, .pdf (needs matplotlib)")
    add_forms(parser, "docs/json_other.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    began = time.perf_counter()
    console = console_of(options)
    if options.plot is not None:
        from esp.output.plots.style import check_plot

        if not options.sweep:
            hint = "Add --sweep startup=470:7520:x2."
            raise UsageError("a picture needs a sweep of machines.", where="--plot", hint=hint)
        check_plot(options.plot)
    from esp.inspect.balance.request import given_counts
    from esp.output import balance as output

    counts = given_counts(
        _number(options, "operations"),
        _number(options, "sequential"),
        _number(options, "misses"),
        _number(options, "loops"),
        options.startups,
    )
    wanted = _wanted(options)
    found = _of_program(options, wanted, counts) if options.program else _of_counts(options, wanted, counts)
    console.warn(found.warnings)
    if options.json:
        console.deliver(output.balance_json(found))
    elif options.csv:
        console.deliver(output.balance_csv(found))
    else:
        console.deliver(output.balance_text(found, console.screen))
    if options.plot is not None:
        from esp.output.plots.machines import figure
        from esp.output.plots.style import save, styled

        with styled():
            save(figure(found), options.plot)
    console.took(time.perf_counter() - began)
    return 0


def _of_counts(options: argparse.Namespace, wanted: "BalanceRequest", counts: "GivenCounts | None") -> "Balance":
    from esp.api import load_machine
    from esp.inspect.balance.analysis import balanced_counts

    refuse_without_effect(options, _OF_PROGRAMS, "without a program")
    if counts is None:
        given = [name for name in _OF_WORK if getattr(options, name)]
        refuse_without_effect(options, given, "without a program or --operations and --startups")
    elif options.pattern and re.search(r"\bp\b", options.startups):
        refuse_without_effect(options, ("pattern",), "with --startups that say how they depend on p")
    return balanced_counts(counts, load_machine(options.system), wanted)


def _of_program(options: argparse.Namespace, wanted: "BalanceRequest", counts: "GivenCounts | None") -> "Balance":
    from esp.cli.prompt import with_answers
    from esp.cli.reading import asked_of
    from esp.inspect.balance.analysis import balanced

    if counts is not None:
        hint = "Leave out the program or the counts."
        raise UsageError("counts are given, and a program as well.", where="--operations", hint=hint)
    source, system, request = asked_of(options, wanted.procs[0])
    found, _ = with_answers(lambda asked: balanced(source, system, asked, wanted), request)
    return found


def _wanted(options: argparse.Namespace) -> "BalanceRequest":
    """The request that the options stand for.

    Raises:
        UsageError: one cannot be read.
    """
    from esp.explore.axes import values_of
    from esp.inspect.balance.request import BalanceRequest, GivenCosts, price_of

    base = None if options.base is None else procs_of(options.base)
    if base is not None and len(base) != 1:
        raise UsageError("the base is one number of processors.", where="--base", hint="Write --base 4.")
    t_phi_s = None if options.t_phi is None else _time(options.t_phi, "--t-phi")
    return BalanceRequest(
        procs=procs_of(options.procs) or (2, 4, 8),
        utilisation=_share(options.utilisation),
        pattern=options.pattern,
        base=None if base is None else base[0],
        costs=GivenCosts(
            t_phi_s=t_phi_s,
            c_phi=_cost(options, "c_phi", t_phi_s),
            c_m=_cost(options, "c_m", t_phi_s),
            c_c=_cost(options, "c_c", t_phi_s),
        ),
        sweep={
            name: tuple(
                _normalised(options, each, "--sweep", t_phi_s) for text in texts for each in values_of(text, "--sweep")
            )
            for name, texts in pairs_many("--sweep", options.sweep).items()
        },
        price=price_of(options.dollars),
    )


def _share(text: str) -> float:
    """A utilisation, in percent or as a fraction.

    Raises:
        UsageError: it is none between 0 and 1.
    """
    share, percent = text.strip(), text.strip().endswith("%")
    value = _float(share.removesuffix("%"))
    value = None if value is None else value / (100 if percent else 1)
    if value is None or not 0 < value < 1:
        told = f"{text!r} is not a utilisation between 0 and 1."
        raise UsageError(told, where="--utilisation", hint="Write 50% or 0.5.")
    return value


def _number(options: argparse.Namespace, name: str) -> float | None:
    """A number of an option; None where it is not given.

    Raises:
        UsageError: it is none.
    """
    text, option = getattr(options, name), "--" + name.replace("_", "-")
    if text is None:
        return None
    value = _float(text)
    if value is None:
        raise UsageError(f"{text!r} is not a number.", where=option, hint=f"Write for example {option} 1e6.")
    return value


def _cost(options: argparse.Namespace, name: str, t_phi_s: float | None) -> float | None:
    """A cost in units of T_phi; None where it is not given."""
    text, option = getattr(options, name), "--" + name.replace("_", "-")
    return None if text is None else _normalised(options, text, option, t_phi_s)


def _normalised(options: argparse.Namespace, text: str, where: str, t_phi_s: float | None) -> float:
    """A cost as a number, or as a time of the machine.

    Raises:
        UsageError: it is neither.
    """
    value = _float(text)
    if value is not None:
        return value
    from esp.api import load_machine
    from esp.inspect.balance.machine import clock_s

    time_s = _time(text, where)
    return time_s / (clock_s(load_machine(options.system)) if t_phi_s is None else t_phi_s)


def _time(text: str, where: str) -> float:
    """Seconds.

    Raises:
        UsageError: it is not a time.
    """
    from sag.quantities import QuantityError, parse_quantity

    try:
        return parse_quantity(text, "time")
    except QuantityError as problem:
        number = "" if where == "--t-phi" else "a number such as 470 or "
        hint = f"Write {number}a time such as {'25ns' if where == '--t-phi' else '132us'}."
        raise UsageError(f"{problem.message}.", where=where, hint=hint) from None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
