"""Writes docs/paper.md with its numbers and curves: ``python -m tests.esp.reproduce.write_paper`` (a minute).

Names choose whose numbers and curves are made again; `table3` takes minutes, is only made where it is named, and needs
SimGrid. The text of the page comes from the table of experiments, so it is always written.
"""

import csv
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from esp.cli.main import main
from esp.reproduce.experiments import EXPERIMENTS, TABLE3, Experiment

DOCS = Path(__file__).resolve().parents[3] / "docs"
FOLDER = DOCS / "paper"

INTRODUCTION = """\
# Experiments of the ESP paper

M. Parashar and S. Hariri, "Interpretive Performance Prediction for Parallel Application Development", checks the
predictions of its tool against an iPSC/860, and shows how to use a performance predictor. `esp reproduce` repeats
these experiments. Each figure takes seconds. The paper reports about ten minutes for an experiment by interpretation
and 27 to 60 minutes by measurement (Fig. 7).

    esp reproduce
    esp reproduce fig18 --plot fig18.svg
    esp reproduce fig18 --csv

The paper shows curves without numbers. So the command prints the predicted numbers and checks statements about them.
They follow below, marked with a bar: those of the paper, and those that describe the prediction. The exit code is 3 if
a statement does not hold. The second command of each experiment makes the same predictions and takes all options, so
you can change it. `--timed` excludes the work of the programs before and after their kernel (Def 5). All times are for
the iPSC/860 of `systems/ipsc860.yaml`.

This page, its numbers and curves are made from the table in `esp/reproduce/experiments.py`, by
`python -m tests.esp.reproduce.write_paper`.
"""

MORE = {
    "Which distribution: Laplace": """\
This command compares all formats and grids for a program with one template, and finds the size from which the best
one wins:

    esp compare laplace.hpf --procs 8
""",
    "Interconnect bandwidth": """\
This command shows the effect of single changes and the lines that move:

    esp whatif laplace_bb.hpf --set n=64 --procs 8 --bandwidth x0.5,x2 --load 50% --processor-speed x2
""",
}
"""Section -> what it says beyond its experiments."""

ACCURACY = """\
## Accuracy: Table 3

    esp reproduce table3

The paper compares predictions with times measured on an iPSC/860, for sixteen programs and distributions on 1, 2, 4
and 8 processors. This command executes the emitted node programs on a simulated iPSC/860 instead (SimGrid). Computation
takes the predicted time there. So the errors are those of communication and waiting alone, and there are none on one
processor. They say nothing about the parameters of the machine, as the errors of the paper do.
[accuracy.md](accuracy.md) describes this method and others, which check computation and caches.

The command takes about ten minutes and needs gfortran, make and SimGrid. `--only lfk02,pi` and `--most 512` choose
programs and sizes.

> In the worst case the prediction is within 20 % of the execution. (paper)
>
> For each program the largest error is at most the paper's. (prediction)
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_accuracy(), *_sections()])


def _sections() -> Iterator[str]:
    for section, group in groupby(EXPERIMENTS, key=lambda each: each.section):
        yield f"## {section}\n"
        for each in group:
            yield from _experiment(each)
        if section in MORE:
            yield MORE[section]


def _experiment(each: Experiment) -> Iterator[str]:
    number = each.name.removeprefix("fig").partition("-")[0]
    yield f"### Figure {number}: {each.title}\n"
    yield f"    esp reproduce {each.name}\n    {each.command}\n"
    yield f"[numbers](paper/{each.name}.csv)\n\n![{each.title}](paper/{each.name}.svg)\n"
    told = [f"{_plain(one.text)} ({'paper' if one.paper else 'prediction'})" for one in each.statements]
    yield "\n>\n".join(f"> {text}" for text in told) + "\n"
    if each.note:
        yield _plain(each.note).replace("docs/accuracy.md", "[accuracy.md](accuracy.md)") + "\n"


def _plain(text: str) -> str:
    return text.replace("*", "\\*")


def _accuracy() -> Iterator[str]:
    yield ACCURACY
    lines = [
        "| program | runs | least % | most % | paper: least % | most % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    read = list(csv.DictReader((FOLDER / "table3.csv").read_text(encoding="utf-8").splitlines()))
    for row in TABLE3:
        errors = [float(each["error_percent"]) for each in read if each["name"] == row.name]
        own = " | ".join(_percent(each) for each in (min(errors), max(errors)))
        lines.append(f"| {row.name} | {len(errors)} | {own} | {row.least:g} | {row.most:g} |")
    yield "\n".join(lines) + "\n\n[numbers](paper/table3.csv)\n"


def _percent(value: float) -> str:
    return f"{value:.2f}" if value >= 0.005 else "< 0.01" if value else "0"


def write(names: list[str]) -> None:
    """Write the page, and the numbers and curves of some experiments (none named: of all figures)."""
    for name in names or [each.name for each in EXPERIMENTS]:
        words = ["reproduce", name, "--csv", "-q", "-o", str(FOLDER / f"{name}.csv")]
        code = main([*words, *([] if name == "table3" else ["--plot", str(FOLDER / f"{name}.svg")])])
        if code:
            raise SystemExit(code)
    (DOCS / "paper.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1:])
