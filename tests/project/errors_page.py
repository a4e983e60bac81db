"""docs/errors.md from docs/errors.yaml: `python -m tests.project.errors_page` writes it."""

from pathlib import Path

import yaml

DOCS = Path(__file__).resolve().parents[2] / "docs"

GROUPS = {
    "E1": "Reading the program: errors",
    "E3": "Mapping: errors",
    "E4": "Translating the program: errors",
    "E5": "Predicting: errors",
    "E60": "Compiling: errors",
    "E68": "Costs of procedures: errors",
    "W1": "Reading the program: warnings",
    "W2": "Translating the program: warnings",
    "W3": "Mapping: warnings",
    "M1": "Machine files and what-ifs: errors",
    "M2": "Machine files: doubts",
    "M3": "Machine files: notes",
    "B1": "Budgets: errors",
    "B3": "Budgets: limits",
}

HEAD = """# Codes of errors and warnings

Each message of esp about a program, a machine or a budget has a code. Codes that begin with E, M1 or B1 prevent a
result. Examples of programs leave out END. Examples of machines leave out the head, which is the same in every file.
Arguments of `esp.predict` follow *with*.

This page is generated from `docs/errors.yaml`.
"""


def table():
    """Code -> its entry: meaning, what to do, and an example or the test that raises it."""
    return yaml.safe_load((DOCS / "errors.yaml").read_text(encoding="utf-8"))


def _cell(text):
    return text.replace("|", "\\|").replace("\0", "\\0")


def _example(entry):
    if "example" not in entry:
        return ""
    lines = [f"<code>{_cell(line).replace('<', '&lt;')}</code>" for line in entry["example"].splitlines()]
    name = f"{entry['file']}: " if "file" in entry else ""
    options = ", ".join(f"{key}={value!r}" for key, value in entry.get("with", {}).items())
    return name + "<br>".join(lines) + (f"<br>with `{_cell(options)}`" if options else "")


def page():
    """The text of docs/errors.md."""
    blocks = [HEAD]
    entries = table()
    for group, title in GROUPS.items():
        rows = [
            f"| {code} | {_cell(entry['meaning'])} | {_example(entry)} | {_cell(entry['do'])} |"
            for code, entry in entries.items()
            if code.startswith(group)
        ]
        blocks += [f"## {title}\n", "| Code | Meaning | Example | What to do |", "| --- | --- | --- | --- |", *rows, ""]
    return "\n".join(blocks)


if __name__ == "__main__":
    (DOCS / "errors.md").write_text(page(), encoding="utf-8")
