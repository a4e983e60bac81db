"""`esp plot`: pictures of one prediction or trace, for papers."""

import argparse
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from esp.cli.options import add_output, add_program, add_scenario, console_of, one_of_procs, request_of
from esp.errors import UsageError

if TYPE_CHECKING:  # NumPy, which `esp plot --help` need not wait for
    from esp.cli.console import Console
    from esp.traces.trace import Trace

PICTURES = {
    "timeline": "what each processor does when; with few messages also their lines",
    "messages": "bytes between each two processors",
    "balance": "a roofline: do arithmetic, memory or messages bound each line?",
}
"""Picture -> what it shows."""

EXAMPLES = """\
examples:
  esp plot timeline gauss.hpf --procs 4 --set n=24 -o gauss.svg
  esp plot timeline laplace.hpf --procs 8 --from 20ms --to 25ms -o laplace.pdf
  esp plot timeline run.trace -o run.png               what a node program wrote
  esp plot messages laplace.hpf --procs 64 -o messages.png
  esp plot balance laplace.hpf --procs 8 --bandwidth x2 -o balance.pdf

`esp sweep --plot` draws times and speed-ups over sizes and processors.
Pictures need matplotlib: pip install 'esp-hpf[plot]'.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.epilog = "pictures:\n" + "".join(f"  {name:9} {what}\n" for name, what in PICTURES.items()) + "\n" + EXAMPLES
    parser.usage = "esp plot PICTURE PROG|TRACE -o FILE [options]"
    parser.add_argument("picture", metavar="PICTURE", choices=PICTURES, help=", ".join(PICTURES))
    add_program(parser, "number of processors", files=True)
    add_scenario(parser)
    group = parser.add_argument_group("what to show")
    group.add_argument("--from", dest="start", metavar="TIME", help="when a timeline begins, such as 20ms")
    group.add_argument("--to", dest="stop", metavar="TIME", help="when it ends")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    from esp.output.plots.style import check_plot, save, styled

    if options.output in (None, "-"):
        raise UsageError("a picture needs a file.", where="-o", hint="Name one: -o picture.svg (or .png, .pdf).")
    check_plot(options.output, where="-o")
    if options.picture != "timeline" and (options.start or options.stop):
        raise UsageError(f"{options.picture} is about the whole program.", where="--from, --to", hint="Leave it out.")
    start_s, stop_s = _moment(options.start, "--from"), _moment(options.stop, "--to")
    procs = one_of_procs(options.procs, "a picture takes one processor count.", hint="`esp sweep` takes a list.")
    console = console_of(options, writes=(PurePath(options.output).suffix.lower(),))  # checked above
    if options.picture == "balance":
        from esp.output.plots import balance

        made = _predicted(options, procs, console)
        with styled():
            save(balance.figure(made), options.output)
        return 0
    from esp.output.plots import timeline

    trace = _trace(options, procs, console)
    with styled():
        if options.picture == "messages":
            save(timeline.traffic(trace), options.output)
        else:
            save(timeline.timeline(trace, start_s=start_s or 0.0, stop_s=stop_s), options.output)
    return 0


def _moment(text: str | None, where: str) -> float | None:
    """A time of the trace.

    Raises:
        UsageError: it is none.
    """
    if text is None:
        return None
    from sag.quantities import QuantityError, parse_quantity

    try:
        return parse_quantity(text, "time")
    except QuantityError as error:
        raise UsageError(str(error), where=where, hint="Write a time with its unit, such as 20ms.") from None


def _predicted(options: argparse.Namespace, procs: int | None, console: "Console") -> Any:
    from esp import api
    from esp.cli.progress import ProgressLine
    from esp.cli.prompt import with_answers
    from esp.cli.reading import source_of

    source, system = source_of(options.program, options), api.load_machine(options.system)
    with ProgressLine(console) as watch:
        prediction, _ = with_answers(
            lambda asked: api.predict_source(source, system, asked, watch), request_of(options, procs)
        )
    console.warn(prediction.warnings, source.program.lines)
    return prediction


def _trace(options: argparse.Namespace, procs: int | None, console: "Console") -> "Trace":
    """The trace in a file, or that of a prediction."""
    from esp import api
    from esp.cli.reading import source_of
    from esp.cli.trace import is_trace, predicted, read

    if is_trace(options.program):
        return read(options)
    source = source_of(options.program, options)
    system = api.load_machine(options.system)
    trace, prediction, _ = predicted(source, system, request_of(options, procs), console)
    console.warn(prediction.warnings, source.program.lines)
    return trace
