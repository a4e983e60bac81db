"""Functions remember their own results during a walk."""

from types import SimpleNamespace

from interpreter import shared
from interpreter.remembered import remembered

calls = []


@remembered(lambda _run, question, _value: question, lambda _run, _question, value: value)
def answered(run, question, value):
    calls.append((question, value))
    return f"{question} {value}"


@remembered()
def stack(run):
    return []


def walk(procs):
    calls.clear()
    return SimpleNamespace(procs=procs, results={})


def test_each_result_is_computed_once():
    run = walk(8)
    for value in (1, 2, 1, 2):
        assert answered(run, "a", value) == f"a {value}"
    assert answered(run, "b", 1) == "b 1"
    assert calls == [("a", 1), ("a", 2), ("b", 1)]


def test_only_the_latest_values_on_very_many_processors():
    run = walk(shared.MANY)
    for value in (1, 1, 2, 1):
        assert answered(run, "a", value) == f"a {value}"
    assert answered(run, "b", 7) == "b 7"
    answered(run, "a", 1)
    assert calls == [("a", 1), ("a", 2), ("a", 1), ("b", 7)]


def test_walks_do_not_share_results():
    one, other = walk(8), walk(8)
    stack(one).append(1)
    assert (stack(one), stack(other)) == ([1], [])
