"""`esp reproduce`: the experiments of published papers, and whether what is stated about them holds."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from esp.cli.options import add_forms, add_output, console_of
from esp.errors import INTERRUPTED, CheckFailedError, UsageError
from esp.reproduce.experiments import NAMES, SUN_ZHU, TABLE3, experiment

if TYPE_CHECKING:  # predictions bring NumPy, which `esp reproduce --help` need not wait for
    from esp.cli.console import Console
    from esp.output.reproduce import Told

USAGE = "esp reproduce [NAME] [options]"

EXAMPLES = """\
examples:
  esp reproduce                            what there is
  esp reproduce fig18
  esp reproduce fig12 --plot fig12.svg
  esp reproduce fig25 --csv -o fig25.csv
  esp reproduce table3                     minutes; needs gfortran and SimGrid
  esp reproduce table3 --only lfk02,pi --most 1024
  esp reproduce sun-zhu

The experiments of M. Parashar and S. Hariri, "Interpretive Performance Prediction
for Parallel Application Development": figures 10 to 13, 15 and 17 to 27, and
Table 3. Each prints its data and says of each statement whether it holds
(docs/paper.md). Statements are of the paper, or describe the prediction. sun-zhu
computes what X.-H. Sun and J. Zhu print of scalability from their formulas
(docs/scalability.md).

Exit codes: 0 all statements hold, 1 no result can be made, 2 wrong use, 3 a
statement does not hold.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "experiment",
        metavar="NAME",
        nargs="?",
        choices=NAMES,
        help="table3, a figure such as fig18, or sun-zhu (default: list all)",
    )
    group = parser.add_argument_group("table3")
    group.add_argument("--only", metavar="PROG,...", help="these programs, such as lfk02,pi (default: all sixteen)")
    group.add_argument("--most", metavar="N", help="leave out sizes above N")
    add_forms(parser, "docs/json_other.md")
    parser.add_argument("--plot", metavar="FILE", help="also draw the figure: .png, .svg, .pdf (needs matplotlib)")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        CheckFailedError: a statement does not hold.
        UsageError: options that do not fit the experiment.
    """
    console = console_of(options)
    if options.experiment != "table3":
        for name in ("only", "most"):
            if getattr(options, name) is not None:
                hint = "Leave it out, or reproduce table3."
                raise UsageError("it belongs to table3.", where=f"--{name}", hint=hint)
    if options.plot is not None and options.experiment in (None, "table3", SUN_ZHU):
        raise UsageError("only figures are drawn.", where="--plot", hint="Reproduce a figure: esp reproduce fig18.")
    if options.experiment is None:
        from esp.output import reproduce as output

        if options.json:
            console.deliver(output.list_json())
        else:
            console.deliver(output.as_csv(output.list_rows()) if options.csv else output.list_text(console.screen))
        return 0
    if options.experiment == SUN_ZHU:
        return _published(options, console)
    return _table3(options, console) if options.experiment == "table3" else _figure(options, console)


def _published(options: argparse.Namespace, console: "Console") -> int:
    from esp.output import reproduce as output
    from esp.reproduce.sun_zhu import reproduce_sun_zhu

    found = reproduce_sun_zhu()
    if options.json:
        console.deliver(output.published_json(found))
    else:
        rows = output.published_rows(found) if options.csv else []
        console.deliver(output.as_csv(rows) if options.csv else output.published_text(found, console.screen))
    return _verdict([*found.checked], SUN_ZHU)


def _figure(options: argparse.Namespace, console: "Console") -> int:
    if options.plot is not None:
        from esp.output.plots.style import check_plot

        check_plot(options.plot, instead=", or use --csv")
    from esp.cli.progress import ProgressLine
    from esp.output import reproduce as output
    from esp.reproduce.figures import reproduce

    with ProgressLine(console) as progress:
        found = reproduce(experiment(options.experiment), progress.predictions if progress else None)
    if options.json:
        console.deliver(output.figure_json(found))
    else:
        rows = output.figure_rows(found) if options.csv else []
        console.deliver(output.as_csv(rows) if options.csv else output.figure_text(found, console.screen))
    if options.plot is not None:
        from esp.output.plots import reproduce as plots
        from esp.output.plots.style import save, styled

        with styled():
            save(plots.figure(found), options.plot)
    if found.sweep is not None and found.sweep.interrupted:
        console.note("stopped: the statements are not checked")
        return INTERRUPTED
    return _verdict([*found.checked], options.experiment)


def _table3(options: argparse.Namespace, console: "Console") -> int:
    from esp.cli.progress import ProgressLine
    from esp.output import reproduce as output
    from esp.reproduce.accuracy import accuracy

    rows = list(TABLE3)
    if options.only is not None:
        wanted = [each.strip().removesuffix(".hpf") for each in options.only.split(",")]
        known = {each.program.removesuffix(".hpf"): each for each in TABLE3}
        for each in wanted:
            if each not in known:
                hint = f"The programs are {', '.join(known)}."
                raise UsageError(f"{each!r} is not a program of Table 3.", where="--only", hint=hint)
        rows = [known[each] for each in dict.fromkeys(wanted)]
    most = None
    if options.most is not None:
        if not options.most.isdecimal():
            raise UsageError(
                f"{options.most!r} is not a size.", where="--most", hint="Write a whole number such as 512."
            )
        most = int(options.most)
        for each in rows:
            least = int(each.sizes[0].partition("=")[2].partition(":")[0])
            if most < least:
                hint = f"The smallest size of {each.name} is {least}."
                raise UsageError(f"{most} leaves no size of {each.name}.", where="--most", hint=hint)
    with ProgressLine(console) as progress:
        found = accuracy(rows, most=most, progress=progress.executions if progress else None)
    if found.rows:
        if options.json:
            console.deliver(output.accuracy_json(found))
        else:
            text = output.as_csv(output.accuracy_rows(found)) if options.csv else ""
            console.deliver(text or output.accuracy_text(found, console.screen))
    if found.interrupted:
        console.note("stopped: the executions so far are shown")
        return INTERRUPTED
    return _verdict([*found.checked], "table3")


def _verdict(checked: "Sequence[Told]", name: str) -> int:
    """0 where all statements hold.

    Raises:
        CheckFailedError: one does not.
    """
    failed = sum(not each.holds for each in checked)
    if failed:
        of = f"{failed} of {len(checked)} statements {'does' if failed == 1 else 'do'} not hold."
        raise CheckFailedError(of, where=name)
    return 0
