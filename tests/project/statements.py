"""How much code there is: statements by package, without docstrings, and public docstrings.

python tests/project/statements.py
"""

import ast
from pathlib import Path

PACKAGES = ("aag", "esp", "interpreter", "sag")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def counted(text: str) -> tuple[int, int]:
    """Statements that are no strings, and docstrings of what is public."""
    tree = ast.parse(text)
    statements = [each for each in ast.walk(tree) if isinstance(each, ast.stmt)]
    strings = sum(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
        for each in statements
    )
    documented = sum(
        isinstance(each, DOCUMENTED)
        and bool(ast.get_docstring(each))
        and not (not isinstance(each, ast.Module) and each.name.startswith("_"))
        for each in ast.walk(tree)
    )
    return len(statements) - strings, documented


def main() -> None:
    """Print a table."""
    total = [0, 0, 0]
    print(f"{'package':12} {'files':>6} {'statements':>11} {'public docstrings':>18}")
    for package in PACKAGES:
        files = sorted(Path(package).rglob("*.py"))
        rows = [counted(each.read_text()) for each in files]
        row = [len(files), *(sum(column) for column in zip(*rows, strict=True))]
        total = [mine + theirs for mine, theirs in zip(total, row, strict=True)]
        print(f"{package:12} {row[0]:6} {row[1]:11,} {row[2]:18,}")
    print(f"{'all':12} {total[0]:6} {total[1]:11,} {total[2]:18,}")


if __name__ == "__main__":
    main()
