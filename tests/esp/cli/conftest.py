"""Runs the command in this process, and predictions that need no engine."""

import io
import sys
from types import SimpleNamespace

import pytest
from msgspec import structs

from tests.esp.output import build


class Stream(io.StringIO):
    """A standard stream that says whether it is a terminal."""

    def __init__(self, text="", *, terminal=False):
        super().__init__(text)
        self._terminal = terminal

    def isatty(self):
        return self._terminal


@pytest.fixture
def streams(monkeypatch):
    """Replaces the standard streams; the answer is a function that says what they are."""

    def replace(text="", *, terminal=False, errors_to_terminal=False):
        made = {
            "stdin": Stream(text, terminal=terminal),
            "stdout": Stream(terminal=terminal),
            "stderr": Stream(terminal=terminal or errors_to_terminal),
        }
        for name, stream in made.items():
            monkeypatch.setattr(sys, name, stream)
        return made["stdout"], made["stderr"]

    return replace


@pytest.fixture
def esp(streams):
    """`esp("run", "laplace.hpf")` -> exit code, standard output, standard error."""

    def run(*words, stdin="", terminal=False, errors_to_terminal=False):
        from esp.cli.main import main

        out, err = streams(stdin, terminal=terminal, errors_to_terminal=errors_to_terminal)
        code = main(list(words))
        return code, out.getvalue(), err.getvalue()

    return run


@pytest.fixture
def fake(monkeypatch):
    """Predictions made by hand in place of the engine's; the answer is the list of what was asked."""
    from esp import api

    asked = []

    def predict(source, system, request, *_):
        asked.append(request)
        made = build.prediction(processors=request.procs or 8, bundled=source.bundled, file=source.program.file)
        values = {each.name: getattr(made, each.name) for each in structs.fields(made)}
        return api.Prediction(**values | {"warnings": source.program.diagnostics, "asked": api.asked(request)})

    predict_with(monkeypatch, predict)
    return asked


def predict_with(monkeypatch, predict):
    """Let a function of program, machine and request predict in place of the engine, without intervals."""
    from aag.diagnostics import SourceError
    from esp import api
    from esp.errors import UsageError
    from esp.explore import interval

    lower, lowered = api.lower_source, []

    def keep(source, *others):
        lowered.append(source)
        try:  # what is asked need not fit the program
            return lower(source, *others)
        except (SourceError, UsageError):
            return SimpleNamespace(node_program=SimpleNamespace(layouts=SimpleNamespace(notes=())))

    monkeypatch.setattr(api, "lower_source", keep)
    monkeypatch.setattr(api, "interpret_stages", lambda _, system, request, **__: predict(lowered[-1], system, request))
    monkeypatch.setattr(interval, "cheap", lambda _: False)
