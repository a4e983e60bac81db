"""A public class has a name of its own."""

import ast
from collections import defaultdict

TWICE = {
    "Call": "an AAU of the paper, an expression, a collective that is called",
    "Prediction": "what the interpreter finds, and the same with what was asked for",
    "Trace": "of messages, and of addresses inside the cache model",
    "Nest": "of the node program, and what the cache model reads of it",
    "Access": "as Nest",
    "Body": "as Nest",
    "Shape": "as Nest",
    "Listed": "in two models of the interpreter",
    "Group": "in two models of the interpreter",
    "Recorder": "in two modules of the interpreter",
    "Change": "of a quantity, and of a line that is explained",
    "Formula": "of indices, and of a line that is explained",
    "Share": "of a loop, and of a decision",
    "Classes": "of processors: where they are found, and with their clocks",
    "Shared": "as Classes",
    "Unit": "of a program, and of work",
    "Dependence": "of iterations, and how a loop is walked for it",
    "Context": "of counting and of emission",
    "Line": "of a source, and of a printed node program",
    "Names": "of a source, and of an emitted program",
}
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
