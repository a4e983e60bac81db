"""Pages of the documentation site that are made from the code: a hook of MkDocs, which `make docs` runs."""

import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import json_schemas
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from aag.ir import directives
from aag.ir.intrinsics import INTRINSICS
from aag.spmd.program import ON_REQUEST
from esp.api import load_machine
from esp.cli.parser import COMMANDS, build_parser
from esp.locate import benchmarks_dir, program_names, system_names
from sag import schema

DIMENSIONS = {
    "time": "time: `65 us`",
    "per_byte": "time per byte: `0.36 us/B`",
    "size": "size: `8 KB`",
    "count": "whole number",
    "number": "number",
    "fraction": "share: `30%`",
    "bandwidth": "bytes per second: `2.8 MB/s`",
    "rate": "operations per second: `60 Mflop/s`",
    "frequency": "frequency: `40 MHz`",
}
"""Dimension of a key -> how a value is written."""

UNMODELLED = "not modelled"

GALLERY = {
    "sweep": (
        "A sweep over processors and sizes",
        "esp sweep laplace.hpf --procs 1,2,4,8,16,32 --set n=64,128,256 --plot sweep.svg",
        "predicted time over processors, one curve for each size",
    ),
    "map": (
        "Two what-ifs together",
        "esp sweep laplace.hpf --procs 8 --bandwidth x1:x8:x2 --load 0%:60%:15 --plot map.svg --plot-as map",
        "a map of predicted times over bandwidth and load",
    ),
    "shares": (
        "What each group of machine parameters decides",
        "esp sensitivity gauss.hpf --procs 1..64 --plot shares.svg",
        "areas for operations, misses, start-ups and bytes over processors",
    ),
    "overtaking": (
        "When does the other distribution win?",
        "esp scalability laplace.hpf --against-distribute '(*,BLOCK)' --procs 2..64 --set n=96 --plot overtaking.svg",
        "two curves of times over processors that cross, with a grey range",
    ),
    "balance": (
        "Limits of each line",
        "esp plot balance laplace.hpf --procs 8 -o balance.svg",
        "a roofline with a marker for each line",
    ),
    "timeline": (
        "Activity of each processor over time",
        "esp plot timeline gauss.hpf --procs 4 --set n=24 -o timeline.svg",
        "a row for each processor, coloured by category, with messages as lines",
    ),
    "layout": (
        "Owners of array elements",
        "esp layout laplace.hpf --procs 8 -o layout.svg",
        "arrays with a colour for each owner",
    ),
    "graph": (
        "The graph of a program, coloured by time",
        "esp graph saag laplace.hpf --procs 4 --times -o graph.svg",
        "boxes for units of the program, arrows for their order and messages",
    ),
}
"""Name of a picture -> its heading, the command that draws it, and what it shows."""

API = {
    "Functions": (
        "esp.api.predict",
        *(f"esp.explore.{name}.{name}" for name in ("compare", "whatif", "sensitivity", "sweep", "advise")),
        "esp.explore.best_machine.optimize_machine",
        "esp.formulas.derivation.formula",
        "esp.formulas.scaling_derivation.scaling_formula",
        "esp.explore.scalability.scalability",
        "esp.inspect.balance.analysis.balance",
        "esp.fit.fitting.fit_runs",
    ),
    "Results": (
        "esp.prediction.Prediction",
        "esp.explore.compare.Comparison",
        "esp.explore.compare.Ranked",
        "esp.explore.whatif.WhatIf",
        "esp.explore.whatif.WhatIfOutcome",
        "esp.explore.best_machine.BestMachine",
        "esp.explore.best_machine.CacheTried",
        "esp.explore.price_search.PricePoint",
        "esp.explore.price_search.Curvature",
        "esp.explore.sensitivity.Sensitivity",
        "esp.explore.sensitivity.SensitiveRun",
        "esp.explore.sensitivity.ParameterSensitivity",
        "esp.explore.sweep.Sweep",
        "esp.explore.advise.Advice",
        "esp.explore.advise.Advised",
        "esp.explore.scaling.Scaling",
        "esp.explore.scaling.ScaledRun",
        "esp.explore.scaling_predicted.PredictedRun",
        "esp.formulas.formula.TimeFormula",
        "esp.formulas.formula.FormulaTerm",
        "esp.formulas.formula.FormulaLine",
        "esp.formulas.formula.Expression",
        "esp.formulas.formula.Outside",
        "esp.formulas.scaling_formula.ScalingFormula",
        *(f"esp.inspect.balance.records.{name}" for name in ("Balance", "BalanceRun", "EngineRun", "SweepPoint")),
        *(f"esp.fit.fitting.{name}" for name in ("FittedMachine", "FittedQuantity", "FittedRun", "RunForecast")),
        "esp.fit.regression.Factors",
        "esp.fit.regression.LeftOut",
        "esp.shown.Printed",
    ),
    "Parts of a prediction": (
        "interpreter.result.Parts",
        "interpreter.result.LineMetrics",
        "interpreter.result.AauMetrics",
        "interpreter.result.PerProcessor",
        "interpreter.result.Assumption",
        "esp.prediction.Interval",
    ),
    "Exceptions and findings": (
        "esp.errors",
        "aag.diagnostics.SourceError",
        "aag.diagnostics.UnresolvedError",
        "aag.diagnostics.Diagnostic",
        "aag.diagnostics.Span",
        "sag.errors.MachineError",
        "sag.errors.Finding",
    ),
    "Stages": (
        "esp.api.read_source",
        "esp.api.load_machine",
        "esp.api.requested",
        "esp.api.lower_source",
        "esp.api.interpret_stages",
    ),
}
"""Heading -> what the page of the Python API describes."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    pages = {
        "commands": commands,
        "machine-format": machine_format,
        "language": language,
        "bundled": bundled,
        "json-schemas": json_schemas.page,
        "api": api,
    }
    for name, made in pages.items():
        files.append(File.generated(config, f"reference/{name}.md", content="\n".join(made()) + "\n"))
    for name, described in json_schemas.files().items():
        content = json.dumps(described, indent=2) + "\n"
        files.append(File.generated(config, f"reference/schemas/{name}", content=content))
    files.append(File.generated(config, "gallery.md", content="\n".join(gallery()) + "\n"))
    for name, content in pictures():
        files.append(File.generated(config, f"gallery/{name}.svg", content=content))
    return files


def gallery() -> Iterator[str]:
    """The pictures with their commands."""
    yield from ("# Gallery", "", "The command above each picture draws it.", "")
    for name, (heading, command, shown) in GALLERY.items():
        yield from (f"## {heading}", "", "```bash", command, "```", "", f"![{shown}](gallery/{name}.svg)", "")


def pictures() -> Iterator[tuple[str, bytes]]:
    """What the commands of the gallery draw."""
    with TemporaryDirectory() as folder:
        for name, (_, command, _) in GALLERY.items():
            script = Path(sys.executable).with_name("esp")
            subprocess.run([script, *shlex.split(command)[1:]], cwd=folder, check=True, capture_output=True)
            yield name, (Path(folder) / f"{name}.svg").read_bytes()


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Name files outside of the site instead of linking to them."""
    return markdown if "/" in page.file.src_uri else re.sub(r"\[([^\]]+)\]\(\.\./[\w./-]+\)", r"`\1`", markdown)


def commands() -> Iterator[str]:
    """The help of every command."""
    os.environ["COLUMNS"] = "100"
    yield from ("# Commands", "", "What `esp COMMAND --help` prints.", "")
    for name in COMMANDS:
        parser = build_parser(name, alone=True).chosen([name])
        yield from (f"## esp {name}", "", *_help(parser))
        for action, inner in _actions(parser).items():
            yield from (f"### esp {name} {action}", "", *_help(inner))


def _help(parser: ArgumentParser) -> Iterator[str]:
    yield from ("```text", parser.format_help().rstrip(), "```", "")


def _actions(parser: ArgumentParser) -> Mapping[str, ArgumentParser]:
    found = [each.choices for each in parser._actions if isinstance(each, _SubParsersAction)]
    return found[0] if found else {}


def machine_format() -> Iterator[str]:
    """Every key of a machine file."""
    yield from (
        "# Machine format",
        "",
        "All keys of a machine file; [machines.md](../machines.md) explains how to write one.",
    )
    yield from ("Values have units. A key may be left out if the last column says what holds without it.", "")
    yield from ("## Top level", "", ", ".join(f"`{each}`" for each in schema.TOP_KEYS) + ".", "")
    for (role, component), keys in schema.PARTS.items():
        yield from (f"## {component} of a {role}", "", *_keys(keys))
    yield from ("## Message ranges", "", "Keys of each range under `ranges` of a network.", "", *_keys(schema.RANGE))
    further = (
        "Keys of each further cache under `caches` of a memory. The memory itself has the keys of the nearest cache."
    )
    yield from ("## Caches", "", further, "", *_keys(schema.CACHE))
    yield from ("## compiler", "", *_keys(schema.COMPILER))
    figure = ", ".join(f"`{each}`" for each in schema.FIGURE_KEYS)
    yield from ("## Figures", "", f"A figure is a value with its unit, or a mapping with {figure}.", "")


def _keys(keys: schema.Keys) -> Iterator[str]:
    yield from ("| Key | Value | Meaning | Without it |", "| --- | --- | --- | --- |")
    for name, key in keys.items():
        value = ", ".join(f"`{word}`" for word in key.words) or DIMENSIONS[key.dimension]
        yield f"| `{name}` | {value} | {key.about} | {_without(name, key)} |"
    yield ""


def _without(name: str, key: schema.Key) -> str:
    if key.required:
        return "required"
    if name in schema.COMPILER:
        return f"`{'no' if name in ON_REQUEST or len(key.words) == 1 else 'yes'}`"
    return key.default or "nothing: it describes the machine, and no prediction uses it"


def language() -> Iterator[str]:
    """Directives and intrinsic functions."""
    yield from ("# HPF and Fortran", "", "## Directives", "")
    yield from ("A directive begins with `!HPF$`, in fixed form also with `CHPF$` or `*HPF$`.", "")
    kinds = [each for each in vars(directives).values() if isinstance(each, type)]
    for kind in kinds:
        if issubclass(kind, directives.Directive) and kind is not directives.Directive:
            yield f"- {' '.join((kind.__doc__ or '').partition(chr(10) * 2)[0].split())}"
    yield from ("", "## Intrinsic functions", "")
    yield from (
        "Arguments in brackets may be left out. A function that is not modelled makes a prediction incomplete.",
        "",
    )
    yield from ("| Function | Arguments | Kind |", "| --- | --- | --- |")
    for name, row in sorted(INTRINSICS.items()):
        given = [each if at < row.required else f"[{each}]" for at, each in enumerate(row.arguments)]
        yield f"| `{name.upper()}` | {', '.join(given)} | {row.form or UNMODELLED} |"


def bundled() -> Iterator[str]:
    """Programs and machines that come with esp."""
    yield from ("# Bundled programs and machines", "", "## Machines", "", "| Name | Machine |", "| --- | --- |")
    for name in system_names():
        yield f"| `{name}` | {load_machine(name).title} |"
    yield from ("", "## Programs", "", "| Name | Program |", "| --- | --- |")
    for name in program_names():
        text = next(Path(benchmarks_dir()).glob(f"{name}.*")).read_text(encoding="utf-8")
        first = next(line for line in text.splitlines() if line.lstrip("!cC* ").strip())
        yield f"| `{name}` | {first.lstrip('!cC* ').strip()} |"


def api() -> Iterator[str]:
    """The Python API."""
    yield from ("# Python API", "", "Functions and exceptions are attributes of `esp`.")
    yield from ("[Use esp from Python](../python.md) has examples.", "")
    for heading, names in API.items():
        yield from (f"## {heading}", "")
        for name in names:
            yield from (f"::: {name}", "")
