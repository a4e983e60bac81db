"""`esp layout`: who owns what, drawn."""

import argparse
from typing import TYPE_CHECKING

from esp.cli.options import add_output, add_program, console_of, one_of_procs
from esp.errors import UsageError

if TYPE_CHECKING:  # the API brings NumPy, which `esp layout --help` need not wait for
    from esp.api import Stages
    from esp.output.layout import Shown

USAGE = "esp layout PROG [FILE ...] [options]"

EXAMPLES = """\
examples:
  esp layout laplace.hpf --procs 8                 all distributed arrays
  esp layout gauss.hpf --array a --distribute 'A=(*,CYCLIC(8))'
  esp layout laplace.hpf --procs 8 -o laplace.svg  a drawing
  esp layout laplace.hpf --json                    for other programs

Each box shows the digit or letter of its processor (0-9, A-Z, a-z), or its
colour on a terminal, to scale where there is room. Arrays with the same mapping
are drawn once. Warnings about the mapping follow.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_program(parser, "number of processors", files=True)
    shown = parser.add_argument_group("what to show")
    shown.add_argument("--array", metavar="NAME", action="append", default=[], help="this array only (repeatable)")
    shown.add_argument("--json", action="store_true", help="print JSON, described in docs/inspect.md")
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    procs = one_of_procs(options.procs, "esp layout takes one processor count.")
    console = console_of(options, writes=(".svg",))
    from esp import api
    from esp.cli.again import command
    from esp.cli.reading import asked_of
    from esp.output import layout
    from esp.output.json import text_of
    from esp.output.layout_svg import svg

    source, system, request = asked_of(options, procs)
    declared = api.map_source(source, system, request)
    names = _chosen(options.array, tuple(declared.arrays))
    stages = api.lower_source(source, system, request)
    layouts = stages.node_program.layouts
    shown = layouts_shown(stages, names)
    console.warn((*source.program.diagnostics, *layouts.notes), source.program.lines)
    if options.json:
        console.deliver(text_of(layout.as_json(shown)))
    elif options.output is not None and options.output.endswith(".svg"):
        console.deliver(svg(shown))
    else:
        following = ""
        if not options.quiet and options.program != "-":
            options.procs = str(shown.procs)
            following = f"{command('run', options)} --annotate"
        console.deliver(layout.layout(shown, console.screen, following=following))
    return 0


def layouts_shown(stages: "Stages", names: tuple[str, ...]) -> "Shown":
    """What there is to show of the layouts of these arrays."""
    from esp.inspect.doubts import doubts
    from esp.inspect.ownership import pictures
    from esp.output import layout

    layouts = stages.node_program.layouts
    return layout.Shown(
        program=stages.source.program.file,
        procs=layouts.procs,
        arrangement=layouts.grid.name,
        grid=layouts.grid.shape,
        pictures=pictures(layouts, names),
        left=tuple(
            (name, layouts.arrays[name].elements * layouts.arrays[name].element_bytes)
            for name in names
            if not layouts.arrays[name].is_distributed
        ),
        empty=tuple(
            name for name in names if layouts.arrays[name].is_distributed and not layouts.arrays[name].elements
        ),
        doubts=tuple(each for each in doubts(layouts, stages.graph, names) if set(each.arrays) & set(names)),
    )


def _chosen(given: list[str], names: tuple[str, ...]) -> tuple[str, ...]:
    wanted = [name.lower() for name in given]
    strangers = [name for name in wanted if name not in names]
    if strangers:
        known = f"Its arrays are {', '.join(names)}." if names else "It has none."
        raise UsageError(f"the program has no array {strangers[0]}.", where="--array", hint=known)
    return tuple(name for name in names if not wanted or name in wanted)
