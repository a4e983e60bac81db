"""What code and tests cite exists: definitions (Def 4) and decisions (D4)."""

import re

DEFINITION = re.compile(r"\bDefs? (\d+)")
DECISION = re.compile(r"\bD(\d{1,2})\b(?=[\s.,;:)])")


def _numbers(pattern, text):
    return [int(number) for number in pattern.findall(text)]


def _sources(tracked):
    return {path: path.read_text(encoding="utf-8") for path in tracked if path.suffix in {".py", ".yaml"}}


def test_definitions_are_numbered_without_gaps(root):
    text = (root / "docs" / "definitions.md").read_text(encoding="utf-8")
    heads = [int(n) for n in re.findall(r"^\*\*Def (\d+)\.\*\*", text, re.MULTILINE)]
    assert heads == list(range(1, 22))


def test_decisions_are_numbered_in_order(root):
    text = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    heads = [int(n) for n in re.findall(r"^- \*\*D(\d+)\.", text, re.MULTILINE)]
    assert heads == sorted(heads) == sorted(set(heads))
    assert heads[:10] == list(range(1, 11))


def test_cited_definitions_exist(tracked):
    cited = {number for text in _sources(tracked).values() for number in _numbers(DEFINITION, text)}
    assert cited
    assert cited <= set(range(1, 22))


def test_cited_decisions_exist(tracked, root):
    """`D1 misses` is a word of caches and no decision; it is in range anyway."""
    text = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    known = {int(n) for n in re.findall(r"^- \*\*D(\d+)\.", text, re.MULTILINE)}
    code = {path: text for path, text in _sources(tracked).items() if "tests" not in path.parts}
    wrong = {str(p): n for p, text in code.items() for n in _numbers(DECISION, text) if n not in known}
    assert wrong == {}
