"""docs/formula.md shows what its commands print.

`ESP_UPDATE_GOLDEN=1 pytest tests/esp/formulas/test_formula_page.py` writes the outputs anew, for a look at `git diff`.
"""

import os
import re
import shlex

import pytest

from esp.formulas.formula import TERMS

BLOCK = re.compile(r"^```console\n\$ (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


@pytest.mark.parametrize("at", [0, pytest.param(1, marks=pytest.mark.truth), 2])
def test_the_page_shows_what_is_printed(at, root, esp):
    """The second block is a formula in the number of processors, which takes half a minute."""
    path = root / "docs" / "formula.md"
    page = path.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(page))
    assert page.count("```console") == len(blocks) == 3
    program, *words = shlex.split(blocks[at]["command"])
    assert program == "esp"
    code, out, err = esp(*words)
    assert (code, err) == (0, "")
    if os.environ.get("ESP_UPDATE_GOLDEN"):
        path.write_text(page[: blocks[at].start("output")] + out + page[blocks[at].end("output") :], encoding="utf-8")
        return
    assert blocks[at]["output"] == out


def test_the_page_names_all_terms(root):
    page = (root / "docs" / "formula.md").read_text(encoding="utf-8")
    assert [each for each in TERMS if f"`{each}`" not in page] == []
