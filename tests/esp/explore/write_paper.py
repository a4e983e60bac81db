"""Writes the numbers and curves of docs/paper.md: python -m tests.esp.explore.write_paper"""

import contextlib
import io
import re
import shlex
from pathlib import Path

from esp.cli.main import main

FOLDER = Path(__file__).resolve().parents[3] / "docs"


def figures(page: str) -> dict[str, list[str]]:
    """Name of a figure -> the words of the sweep that it shows."""
    found = re.findall(
        r"^    esp (sweep .+)\n\n\[numbers\]\(paper/(.+)\.csv\)\n\n!\[curves\]\(paper/\2\.svg\)$", page, re.MULTILINE
    )
    return {name: shlex.split(command) for command, name in found}


def write() -> None:
    """Write all of them."""
    folder = FOLDER / "paper"
    folder.mkdir(exist_ok=True)
    for name, words in figures((FOLDER / "paper.md").read_text(encoding="utf-8")).items():
        told = io.StringIO()
        with contextlib.redirect_stdout(told):
            code = main([*words, "--csv", "--plot", str(folder / f"{name}.svg")])
        if code:
            raise SystemExit(code)
        (folder / f"{name}.csv").write_text(told.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    write()
