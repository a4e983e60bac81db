"""A public class has a name of its own."""

import ast
from collections import defaultdict

TWICE = {"Call": "an expression, and the AAU that the paper calls so"}
"""Names with two meanings, and which; a new class takes another name."""


def test_a_public_class_name_means_one_thing(tracked, root):
    homes = defaultdict(list)
    for path in tracked:
        name = path.relative_to(root)
        if path.suffix == ".py" and name.parts[0] in ("aag", "esp", "interpreter", "sag"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(str(name))
    assert len(homes) > 300
    assert {name: found for name, found in homes.items() if len(found) > 1 and name not in TWICE} == {}
