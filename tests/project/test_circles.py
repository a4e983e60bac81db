"""No module imports itself through others, imports inside functions and for type checkers included."""

import ast

ROOMS = ("aag", "sag", "interpreter", "esp")


def modules_of(root):
    """Name -> file of every module."""
    found = {}
    for room in ROOMS:
        for file in (root / room).rglob("*.py"):
            parts = file.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported_by(text, modules):
    """The modules that a text imports anywhere."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            inner = {each.name: f"{node.module}.{each.name}" for each in node.names}
            found |= {name if name in modules else node.module for name in inner.values()}
    return found & modules


def circles(arrows):
    """The sets of more than one node that can all be reached from each other; `arrows`: node -> nodes."""

    def reached(start):
        found, pending = set(), [start]
        while pending:
            new = arrows[pending.pop()] - found
            found |= new
            pending += new
        return found

    beyond = {node: reached(node) for node in arrows}
    around = {frozenset(other for other in beyond[node] if node in beyond[other]) for node in arrows}
    return {each for each in around if len(each) > 1}


def test_circles_are_found():
    arrows = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a", "f"}}
    assert circles(arrows) == {frozenset("bc"), frozenset("de")}


def test_imports_are_found():
    modules = {"aag.ir", "aag.ir.units", "aag.guard", "esp"}
    text = "import aag.guard\ndef f():\n    from aag.ir import units, other\nif X:\n    from esp import api\nimport os"
    assert imported_by(text, modules) == {"aag.guard", "aag.ir.units", "aag.ir", "esp"}


def test_no_module_imports_itself(root):
    files = modules_of(root)
    arrows = {name: imported_by(file.read_text(), files.keys()) - {name} for name, file in files.items()}
    assert circles(arrows) == set()
