"""docs/mistakes.md from docs/mistakes.yaml: `python -m tests.project.mistakes_page` writes it."""

from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"

HEAD = """# Find a mistake

Typical mistakes, what esp says about them, and what it proposes. Most of them change one line of `heat.hpf`
and run `esp run heat.hpf --procs 4`; in fixed form the file is `heat.f`, with all statements six columns further to the
right. This is `heat.hpf` without mistakes:

```fortran
{program}```

The mistakes of machine files are in `mine.yaml`, below these lines:

```yaml
{machine}```

A message names file, line, column and a code. [errors.md](errors.md) has an example for each code. If the message is a
warning (W) and esp still prints a time, read the warning first: the time may be of another program than you meant.

This page is generated from `docs/mistakes.yaml`.
"""


def table():
    """The program, the head of the machine, and the groups of mistakes."""
    return yaml.safe_load((DOCS / "mistakes.yaml").read_text(encoding="utf-8"))


def _cell(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def page():
    """The text of docs/mistakes.md."""
    content = table()
    blocks = [HEAD.format(program=content["program"], machine=content["machine"])]
    for group, mistakes in content["groups"].items():
        rows = [
            f"| {each['mistake']}{_run(each)} | {_cell(each['says'])} | {_cell(each['hint'])} |" for each in mistakes
        ]
        blocks += [f"## {group}\n", "| Mistake | esp says | esp proposes |", "| --- | --- | --- |", *rows, ""]
    return "\n".join(blocks)


def _run(each):
    return f": `{each['run']}`" if "run" in each else ""


if __name__ == "__main__":
    (DOCS / "mistakes.md").write_text(page(), encoding="utf-8")
