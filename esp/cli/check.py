"""`esp check`: whether a prediction keeps to a budget, for continuous integration."""

import argparse
from pathlib import Path

from esp.cli.options import add_forms, add_output, add_program, add_scenario, add_timed, console_of, procs_of
from esp.errors import CheckFailedError, PredictionError, UnreadableFileError, UsageError

USAGE = "esp check PROG [FILE ...] --budget FILE [options]"

EXAMPLES = """\
examples:
  esp check laplace.hpf --budget budget.yaml        silent if all limits hold
  esp check laplace.hpf --budget budget.yaml --procs 8 --json

a budget (docs/inspect.md lists all that can be limited):
  format: 1
  limits:                       # of every prediction
    time: 1.6 s
    communication: 10 %         # of the time; or a time such as 150 ms
  lines:
    36: {time: 800 ms}          # by number, or by a part of its text
    err = maxval: {waiting: 5 ms}
  procs:                        # predicted if --procs is not given
    16: {time: 820 ms, efficiency: 70 %}

Exit codes: 0 all limits are kept, 1 no prediction can be made, or a partial one
only, 2 wrong use or a faulty budget, 3 a limit is not kept.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--budget", metavar="FILE", required=True, help="the limits (YAML)")
    add_program(
        parser, "number of processors, or a list; without it those that the budget names", files=True, budget=False
    )
    add_scenario(parser)
    add_timed(parser)
    add_forms(parser, "docs/inspect.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code.

    Raises:
        CheckFailedError: a limit is not kept.
        PredictionError: a prediction is incomplete.
    """
    console = console_of(options)
    numbers = procs_of(options.procs)
    from msgspec.structs import replace

    from esp import api
    from esp.cli.reading import asked_of
    from esp.incomplete import reasons
    from esp.inspect.budget import check, read_budget
    from esp.output import budget as output
    from esp.output.cells import rows_as_csv
    from esp.output.json import text_of
    from esp.output.table import speed_up

    path = Path(options.budget)
    if not path.is_file() and not path.is_fifo():
        what = "this is a folder, expected a budget file." if path.is_dir() else "budget file not found."
        raise UnreadableFileError(what, where=str(path), hint="`esp check --help` shows one.")
    budget = read_budget(path)
    wanted = numbers or budget.procs or (None,)
    source, system, request = asked_of(options, wanted[0])
    beside = (1,) if budget.compares and 1 not in wanted else ()
    predictions = [api.predict_source(source, system, replace(request, procs=each)) for each in (*beside, *wanted)]
    ratios = speed_up(predictions)[len(beside) :]
    predictions = predictions[len(beside) :]
    checked = check(budget, predictions, ratios)
    if not checked:
        asked = ", ".join(str(each.processors) for each in predictions)
        hint = f"It has limits for {', '.join(map(str, budget.procs))}; without --procs these are checked."
        raise UsageError(f"the budget has no limits for {asked} processors.", where=str(path), hint=hint)
    why = reasons(predictions)
    if options.json:
        console.deliver(text_of(output.as_json(budget, checked, why)))
    elif options.csv:
        console.deliver(rows_as_csv(output.check_rows(checked)))
    elif not why and not all(each.kept for each in checked):
        console.deliver(output.broken(checked, console.screen))
    over = sum(not each.kept for each in checked)
    if why:
        raise PredictionError(
            "the prediction is incomplete, so no limit is checked.",
            where=source.program.file,
            why=f"{'; '.join(why)}.",
            hint="`esp run` shows what is left out.",
        )
    if over:
        raise CheckFailedError(
            f"{over} of {len(checked)} limits {'is' if over == 1 else 'are'} not kept.", where=source.program.file
        )
    return 0
