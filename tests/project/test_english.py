"""The pages and the texts of the code are plain English: words that confuse readers, and what to write instead."""

import ast
import re

import pytest

PACKAGES = ("aag", "sag", "interpreter", "esp")

BANNED = {
    r"\bas it stands\b": "'as shown' or 'unchanged'",
    r"\bbur(?:y|ies|ied)\b": "'hide' or 'lose'",
    r"\bdoors?\b": "name the command or the page",
    r"\bfor certain\b": "'certainly', or leave it out",
    r"\bhas come\b": "'reached' or 'has arrived'",
    r"\b(?:held?|holds?) against\b": "'compare with'",
    r"\bhottest\b": "'slowest'",
    r"\bhouses?\b": "'package', 'repository' or 'layout'",
    r"\b(?:is|are|was|were) said\b": "name the program or page that prints it",
    r"\b(?:is|are|was|were) told\b": "'reports', 'prints' or 'lists'",
    r"\bin vain\b": "'without success', or name what misses",
    r"\bknows?\b": "programs and data do not know: 'has', 'uses' or 'supports'",
    r"\bmakes? of (?:it|them)\b": "'derives' or 'computes'",
    r"\bon the wall\b": "'wall time'",
    r"\btells?\b": "programs and data do not tell: 'shows', 'prints' or 'returns'",
    r"\bthe like\b": "'similar', with the noun",
    r"\bthrong(?:s|ed)?\b": "'share links' or 'queue'",
    r"\bwants?\b": "programs and data do not want: 'needs' or 'expects'",
    r"\bwhoever\b": "'anyone who', or name the reader",
    r"\bworth ?while\b": "'pays off'",
    r"\bwould have it\b": "name what requires it",
}
"""Pattern -> what to write instead, in the pages and in the texts of the code."""

BANNED_IN_PAGES = {
    r"\banew\b": "'again'",
    r"\basks?\b": "programs do not ask: 'opens a dialogue', 'requires' or 'prompts for'",
    r"\bbut for\b": "'except'",
    r"\bcomes? with\b": "'bundled'",
    r"\bgives up\b": "'stops', or what the user presses",
    r"\bgoes on\b(?! from)": "'continues'",
    r"(?<!there[ ])\b(?:is|are) no (?:number|bound|test|subcube|sandbox|prediction)\b": "'is not a' with the noun",
    r"\blies?\b": "'is'",
    r"\bone's own\b": "'your own'",
    r"\brests? on\b": "'uses' or 'depends on'",
    r"\brooms?\b": "'package'; for space: 'if it fits'",
    r"\bso many\b": "'this number of'",
    r"\bspeaks? of\b": "'reports' or 'mentions'",
    r"\bstands?\b": "'is', or what the reader sees there",
    r"\btaken (?:as|to|for)\b": "'assumes' or 'uses'",
    r"\bthat of\b": "repeat the noun",
    r"\btold\b": "'reported', 'printed' or 'given'",
    r"\bwhom\b": "name the processor, 'which processor'",
}
"""As BANNED, for words that the pages do without and the code still has."""

PAGES = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "benchmarks_hpf/README.md",
    "tests/truth/simgrid/README.md",
)

GENERATED = "docs/errors.md"
"""Its texts are those of docs/errors.yaml, as much part of the code as the messages that they explain."""


def _blank(match):
    return "\n" * match.group().count("\n")


def _prose(text):
    """A page without outputs, generated tables, code and addresses; lines keep their numbers."""
    text = re.sub(r"^```.*?^```$", _blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!-- begin .*?<!-- end [^>]*-->", _blank, text, flags=re.DOTALL)
    text = re.sub(r"(?<=\n\n)(?:(?: {4}.*)?\n)+", _blank, text)
    text = re.sub(r"`[^`]*`", _blank, text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def _texts(tree):
    """Line and text of each string with a blank that is no docstring; braces stand for the values of an f-string."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def _found(text, banned):
    """Line in the text and a remark for each banned phrase, also where it runs over the end of a line."""
    for pattern, instead in banned.items():
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
            phrase = " ".join(match.group().split())
            yield text.count("\n", 0, match.start()), f"'{phrase}': write {instead}"


def _pages(root):
    docs = [*sorted((root / "docs").glob("*.md")), *sorted((root / "docs" / "howto").glob("*.md"))]
    return [*(root / name for name in PAGES), *(page for page in docs if page != root / GENERATED)]


def test_pages_are_plain_english(root):
    wrong = [
        f"{page.relative_to(root)}:{line + 1}: {remark}"
        for page in _pages(root)
        for line, remark in _found(_prose(page.read_text(encoding="utf-8")), BANNED | BANNED_IN_PAGES)
    ]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_texts_of_the_code_are_plain_english(package, root):
    wrong = [
        f"{path.relative_to(root)}:{line + offset}: {remark}"
        for path in sorted((root / package).rglob("*.py"))
        for line, text in _texts(ast.parse(path.read_text(encoding="utf-8")))
        for offset, remark in _found(text, BANNED)
    ]
    assert wrong == []


def test_meanings_of_codes_are_plain_english(root):
    text = _prose((root / GENERATED).read_text(encoding="utf-8"))
    assert [f"line {line + 1}: {remark}" for line, remark in _found(text, BANNED)] == []


def test_the_patterns_find_their_phrases():
    """In prose, and in strings of any form; not in outputs, code or docstrings."""
    page = "It is\ntold.\n\n    It is told.\n\nSee `is told`.\n\n```console\n$ esp\nis told\n```\n"
    assert [line for line, _ in _found(_prose(page), BANNED)] == [0]
    code = '"""It is told."""\nfail(f"{name} is told", hint="Who wants it?")\nX = 1\n"""X is told."""\n'
    found = [(line, text) for line, text in _texts(ast.parse(code)) if list(_found(text, BANNED))]
    assert found == [(2, "{} is told"), (2, "Who wants it?")]


def test_no_phrase_is_listed_twice():
    assert set(BANNED) & set(BANNED_IN_PAGES) == set()
