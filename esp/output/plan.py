"""`esp plan`: runs to make, as text, JSON, a table to fill in, and a script that makes them."""

from shlex import quote
from typing import Any

from esp.fit.plan import ERROR, RunPlan
from esp.output.columns import Column, TableRow, table
from esp.output.numbers import percent, plural, seconds, significant
from esp.output.screen import Screen, paragraph, printable

_NAMED = 3
"""What is assumed of the program that is named."""


def plan_text(found: RunPlan, screen: Screen, next_: str = "") -> str:
    """The runs, and what they will determine. `next_`: the command to try now."""
    width = screen.columns
    head = f"{printable(found.file.rsplit('/', 1)[-1])}  {found.system}"
    total_s = sum(each.time_s for each in found.runs)
    sentence = f"{plural(len(found.runs), 'run')} of {found.among:,}, {seconds(total_s)} together as predicted."
    columns = [Column("procs"), Column(found.parameter), Column("predicted")]
    rows = [
        TableRow((str(each.run.processors), f"{each.run.values[found.parameter]:,}", seconds(each.time_s)))
        for each in found.runs
    ]
    other = dict(found.systematic)
    known = [f"{name} x{significant(factor)} (x{significant(other[name])})" for name, factor in found.known]
    notes = [paragraph("known", f"{', '.join(known)}", width)]
    text = "factors known to within so much after these runs, with 95%; in brackets after as many evenly spaced ones"
    notes.append(paragraph("", text, width))
    notes.append(paragraph("assumed", f"runs differ from their fitted times by {percent(ERROR)}", width))
    notes += [paragraph("", each, width) for each in found.assumed[:_NAMED]]
    if next_:
        notes.append(paragraph("next", next_, width))
    blocks = [f"{screen.paint('strong', head)}\n{sentence}", table(columns, rows, screen), "\n".join(notes)]
    return "\n\n".join(blocks) + "\n"


def plan_json(found: RunPlan) -> dict[str, Any]:
    """The fields of ``--json``; docs/json_other.md describes them."""
    return {
        "file": found.file,
        "system": found.system,
        "parameter": found.parameter,
        "among": found.among,
        "runs": [
            {"processors": each.run.processors, "size": each.run.values[found.parameter], "predicted_s": each.time_s}
            for each in found.runs
        ],
        "known": dict(found.known),
        "systematic": dict(found.systematic),
    }


def plan_rows(found: RunPlan) -> list[dict[str, Any]]:
    """The rows of ``--csv``: a table for `esp fit`, whose times are to be filled in."""
    return [
        {"procs": each.run.processors, found.parameter: each.run.values[found.parameter], "time [s]": ""}
        for each in found.runs
    ]


def plan_script(found: RunPlan, compile_: str, input_: str = "", table_name: str = "runs.csv") -> str:
    """A shell script that makes the runs with the emitted programs. `compile_`: the command that writes one, without
    its processors and its size; `input_`: the file that the program reads."""
    read = quote(input_ or "/dev/null")
    compile_ = compile_.replace("esp ", '"$esp" ', 1)
    name, program = found.parameter, printable(found.file.rsplit("/", 1)[-1])
    lines = [
        "#!/bin/sh",
        f"# The runs of `esp plan` for {program}: compiles each, runs it, and writes {table_name}.",
        "# TIMES=5: each is run so often, and the least of its times counts.",
        "# MPIRUN: how programs are started. ESP: the command esp.",
        "set -eu",
        f"table=${{1:-{table_name}}}",
        "times=${TIMES:-5}",
        "esp=${ESP:-esp}",
        'command -v "$esp" > /dev/null || { echo "esp was not found: set ESP to its path" >&2; exit 127; }',
        "work=$(mktemp -d)",
        "trap 'rm -rf \"$work\"' EXIT",
        "trap 'exit 130' INT TERM HUP",
        'case "$times" in *[!0-9]*|0|"") echo "TIMES is not a number from 1 on" >&2; exit 2;; esac',
        f"echo 'procs,{name},time [s]' > \"$table\"",
        "measure() { # processors size",
        '  folder="$work/$1-$2"',
        f'  {compile_} --procs "$1" --set "{name}=$2" --quiet -o "$folder" > /dev/null',
        '  make -s -C "$folder"',
        '  rm -f "$work/seconds"',
        "  i=0",
        '  while [ "$i" -lt "$times" ]; do',
        f'    ESP_SECONDS="$work/seconds" make -s -C "$folder" run < {read} > "$work/output" ||',
        '      { cat "$work/output" >&2; exit 1; }',
        "    i=$((i + 1))",
        "  done",
        '  echo "$1,$2,$(sort -g "$work/seconds" | head -n 1 | tr -d " ")" >> "$table"',
        '  tail -n 1 "$table"',
        "}",
        *(f"measure {each.run.processors} {each.run.values[name]}" for each in found.runs),
    ]
    return "\n".join(lines) + "\n"
