"""Size, place and words of the files of the repository."""

import re
from pathlib import Path

import pytest

LONGEST = 500
"""No Python file outside the tests is longer: who splits late does not split."""

DATA_TABLES: frozenset[str] = frozenset()
"""Files that are one table and nothing else, exempt from LONGEST by name."""

BANNED_FOLDERS = {"common", "utils", "helpers"}

TEXT_SUFFIXES = {
    "",
    ".cfg",
    ".csv",
    ".f",
    ".f90",
    ".hpf",
    ".inc",
    ".ini",
    ".json",
    ".md",
    ".py",
    ".svg",
    ".tcss",
    ".toml",
    ".txt",
    ".xml",
    ".yaml",
    ".yml",
}

MACHINE_PATH = re.compile(r"""(?<![\w./~$}>-])/(?:home|root|work|tmp|Users|mnt|opt|var/folders)/[\w.-]""")
"""An absolute path of somebody's machine. `/tmp` alone, or a path below a variable, is none."""

SECRET = re.compile(
    r"""-----BEGIN\ [A-Z ]*PRIVATE\ KEY
      | \b(?:ghp|gho|ghs|glpat|xox[bp])[_-][A-Za-z0-9]{16,}
      | \bAKIA[0-9A-Z]{16}\b
      | \b(?:password|passwd|api_?key|auth_?token|secret_?key)\b\s*[:=]\s*['"][^'"]+['"]
    """,
    re.VERBOSE | re.IGNORECASE,
)

ADDRESS = re.compile(r"\b[\w.+-]+@(?!localhost\b)[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b")


OPTION = re.compile(r"""[\s"'(`]--[a-z]""")
"""An option of the command."""

BARE_EXCEPTION = re.compile(
    r"""\#\s*(?: noqa (?!:\ [A-Z]+\d+ (?:,\ ?[A-Z]+\d+)* \W+(?![A-Z]+\d)\w )
             | type:\s*ignore (?!\[[\w,\ -]+\]\s*\#\s*\w) )""",
    re.VERBOSE,
)
"""An exception from ruff or mypy without the rule or without a reason in its line."""


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _lines_with(pattern: re.Pattern[str], files: tuple[Path, ...], root: Path) -> list[str]:
    return [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        if path.suffix in TEXT_SUFFIXES
        for number, line in enumerate(_text(path).splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_python_file_is_longer_than_the_limit(tracked, root):
    code = [path for path in tracked if path.suffix == ".py" and path.relative_to(root).parts[0] != "tests"]
    lengths = {str(path.relative_to(root)): len(_text(path).splitlines()) for path in code}
    assert lengths
    assert {name: n for name, n in lengths.items() if n > LONGEST and name not in DATA_TABLES} == {}


def test_exempt_tables_exist_and_need_their_exemption(root):
    assert [name for name in DATA_TABLES if len(_text(root / name).splitlines()) <= LONGEST] == []


def test_no_folder_is_a_lumber_room(tracked, root):
    assert [path for path in tracked if BANNED_FOLDERS & set(path.relative_to(root).parts[:-1])] == []


@pytest.mark.parametrize("pattern", [MACHINE_PATH, SECRET, ADDRESS], ids=["path", "secret", "address"])
def test_nothing_private_is_written_down(pattern, tracked, root):
    here = Path(__file__).resolve()
    assert _lines_with(pattern, tuple(path for path in tracked if path != here), root) == []


@pytest.mark.parametrize(
    ("pattern", "line", "found"),
    [
        (MACHINE_PATH, "cd /home/somebody/esp", True),
        (MACHINE_PATH, "see '/work/x.md'", True),
        (MACHINE_PATH, "$HOME/root/x and {tmp}/opt/x", False),
        (MACHINE_PATH, "https://example.org/home/page", False),
        (SECRET, "password = 'hunter2'", True),
        (SECRET, "the password is asked for", False),
        (ADDRESS, "mail to a.person@example.org", True),
        (ADDRESS, "@dataclass and a@localhost", False),
        (OPTION, 'hint="give it with --set"', True),
        (OPTION, "# --- statements ---", False),
        (BARE_EXCEPTION, "x = 1  # noqa", True),
        (BARE_EXCEPTION, "x = 1  # noqa: E741", True),
        (BARE_EXCEPTION, "x = 1  # noqa: E741, F401", True),
        (BARE_EXCEPTION, "x = 1  # noqa: E741, F401 the paper's letter", False),
        (BARE_EXCEPTION, "x = 1  # noqa: E741 -- the paper's letter", False),
        (BARE_EXCEPTION, "x = f()  # type: ignore[misc]", True),
        (BARE_EXCEPTION, "x = f()  # type: ignore[misc]  # fparser has no types", False),
    ],
)
def test_the_patterns_find_what_they_are_for(pattern, line, found):
    assert bool(pattern.search(line)) is found


def test_frozen_values_are_not_changed_behind_their_back(tracked, root):
    code = tuple(p for p in tracked if p.suffix == ".py" and p.relative_to(root).parts[0] != "tests")
    assert _lines_with(re.compile(r"object\.__setattr__"), code, root) == []


def test_every_exception_from_a_check_gives_its_reason(tracked, root):
    """`noqa` and `type: ignore` name their rule and say why in the same line."""
    code = tuple(p for p in tracked if p.suffix == ".py" and p != Path(__file__).resolve())
    assert _lines_with(BARE_EXCEPTION, code, root) == []


def test_packages_below_esp_name_no_option_of_the_command(tracked, root):
    """They name parameters, as ``‹procs›``; who shows a diagnostic spells them."""
    below = {"aag", "interpreter", "sag"}
    code = tuple(p for p in tracked if p.suffix == ".py" and p.relative_to(root).parts[0] in below)
    assert _lines_with(OPTION, code, root) == []
