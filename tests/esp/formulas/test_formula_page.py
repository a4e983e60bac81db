"""docs/formula.md shows what its commands print.

`ESP_UPDATE_GOLDEN=1 pytest tests/esp/formulas/test_formula_page.py` writes the outputs anew, for a look at `git diff`.
"""

import os
import re
import shlex

from esp.formulas.formula import TERMS

BLOCK = re.compile(r"^```console\n\$ (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


def test_the_page_shows_what_is_printed(root, esp):
    path = root / "docs" / "formula.md"
    page = path.read_text(encoding="utf-8")
    assert page.count("```console") == len(BLOCK.findall(page)) == 3

    def printed(block):
        program, *words = shlex.split(block["command"])
        assert program == "esp"
        code, out, err = esp(*words)
        assert (code, err) == (0, "")
        return f"```console\n$ {block['command']}\n{out}```"

    new = BLOCK.sub(printed, page)
    if os.environ.get("ESP_UPDATE_GOLDEN"):
        path.write_text(new, encoding="utf-8")
    assert new == path.read_text(encoding="utf-8")


def test_the_page_names_all_terms(root):
    page = (root / "docs" / "formula.md").read_text(encoding="utf-8")
    assert [each for each in TERMS if f"`{each}`" not in page] == []
