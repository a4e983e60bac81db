"""The examples of docs/python.md and of the docstrings of the API run and print what they show."""

import doctest
import re

import pytest

import esp

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _run(examples, name):
    shown = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(examples, out=shown.append)
    assert runner.tries > 0, name
    assert not shown, "".join(shown)


def test_the_page(root):
    text = (root / "docs" / "python.md").read_text(encoding="utf-8")
    assert text.count("```") == 2 * text.count("```pycon\n"), "an example that is not run"
    blocks = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    _run(doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", None, 0), "python.md")


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name", ["predict", "compare", "whatif", "sweep", "advise", "formula", "scaling_formula", "scalability", "balance"]
)
def test_the_docstrings(name):
    (found,) = doctest.DocTestFinder().find(getattr(esp, name), name, globs={})
    _run(found, name)
