import os
import re
import signal
import subprocess
import sys

import pytest

from aag.diagnostics import Diagnostic, SourceError
from esp.cli.failure import describe
from esp.cli.main import INTERRUPTED, PIPE_CLOSED, main
from esp.cli.parser import COMMANDS
from esp.errors import CheckFailedError, PredictionError, UnreadableFileError, UsageError
from esp.output.screen import Screen
from esp.version import __version__
from sag.errors import Finding, MachineError, MachinePlace
from tests.esp.cli.conftest import predict_with

ESP = (sys.executable, "-m", "esp")


def _loaded(*words):
    """The modules that a command loads, from `-X importtime`."""
    command = [sys.executable, "-X", "importtime", "-m", "esp", *words]
    # Coverage starts itself in what is run, and loads modules of its own.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    assert run.returncode == 0, run.stderr.splitlines()[-1]
    lines = [line for line in run.stderr.splitlines() if line.startswith("import time:")]
    return {line.rsplit("|", 1)[1].strip() for line in lines}


@pytest.mark.parametrize("words", [("--version",), ("--help",), ("run", "--help"), ("show", "--help")])
def test_what_says_little_loads_little(words):
    loaded = _loaded(*words)
    assert "esp.cli.main" in loaded
    heavy = {"numpy", "yaml", "fparser", "rich", "networkx", "textual", "esp.api", "interpreter", "sag", "json"}
    assert sorted(heavy & loaded) == []


def test_a_list_of_programs_needs_no_numbers():
    assert not {"numpy", "yaml", "fparser"} & _loaded("examples", "list")


def test_version(esp):
    assert esp("--version") == (0, f"esp {__version__}\n", "")


def test_no_command_is_help(esp):
    code, out, _ = esp()
    assert code == 0
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_that_can_be_typed(esp, command):
    code, out, _ = esp(command, "--help")
    assert code == 0
    examples = re.findall(r"^  .*\besp ([\w-]+) ", out.partition("examples:")[2], re.MULTILINE)
    assert examples
    assert set(examples) <= set(COMMANDS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("rnu", "Did you mean `esp run`?"),
        ("frobnicate", f"The commands are {', '.join(COMMANDS)}."),
        ("laplace.hpf", "To predict it: `esp run laplace.hpf`."),
        ("--debug", "a command is missing"),
        ("run", "the following arguments are required: PROG"),
        ("system", "the following arguments are required: ACTION"),
        ("explain a 1 b", "unrecognized arguments: b"),
        ("show ir laplace.hpf --json", "`esp show --help` lists the options."),
        ("system list --jso", "`esp system list --help` lists the options."),
        ("run laplace.hpf --jso", "Did you mean --json?"),
    ],
)
def test_wrong_use_ends_with_2(esp, words, told):
    code, out, err = esp(*words.split())
    assert (code, out) == (2, "")
    assert told in " ".join(err.split())


def _machine_error(file):
    return MachineError(
        [Finding(code="M120", message="no", place=MachinePlace(file, 3, 1) if file else MachinePlace())]
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("x"), 2),
        (UnreadableFileError("x"), 2),
        (PredictionError("x"), 1),
        (CheckFailedError("x"), 3),
        (SourceError([Diagnostic(code="E1", message="x")]), 1),
        (SourceError([Diagnostic(code="E1", message="‹grid 3x3› has 9 processors")]), 2),
        (SourceError([Diagnostic(code="E1", message="‹set m›: no"), Diagnostic(code="E2", message="x")]), 1),
        (_machine_error("a.yaml"), 1),
        (_machine_error(""), 2),
        (PermissionError(13, "Permission denied", "x"), 2),
        (MemoryError(), 1),
        (RuntimeError("x"), 1),
    ],
)
def test_exit_codes(error, code):
    assert describe(error, Screen(80))[1] == code


def test_very_many_findings_are_counted():
    found = [Diagnostic(code="E1", message=f"number {i}") for i in range(25)]
    text, _ = describe(SourceError(found), Screen(80))
    assert text.endswith("25 errors (the first 10 are shown)")


def test_a_bug_of_ours_is_called_one(esp, fake, monkeypatch):
    def fail(*_):
        raise KeyError("oops")

    predict_with(monkeypatch, fail)
    code, out, err = esp("run", "laplace.hpf")
    assert (code, out) == (1, "")
    told = " ".join(err.split())
    assert told.startswith("esp: this is a bug in esp, not in your program: KeyError in test_main.py:")
    assert "`esp run laplace.hpf`" in told
    assert f"esp {__version__}" in told
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [("--debug", "run", "laplace.hpf"), ("run", "laplace.hpf", "--debug")])
def test_debug_shows_the_traceback(esp, fake, monkeypatch, words):
    def fail(*_):
        raise KeyError("oops")

    predict_with(monkeypatch, fail)
    code, _, err = esp(*words)
    assert code == 1
    assert err.startswith("Traceback")
    assert "this is a bug in esp" in err


def test_ctrl_c_is_no_error(esp, fake, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    predict_with(monkeypatch, interrupt)
    assert esp("run", "laplace.hpf") == (INTERRUPTED, "", "\n")


def test_a_reader_that_goes_away_is_no_error():
    read, write = os.pipe()
    os.close(read)
    run = subprocess.run([*ESP, "system", "show", "ipsc860"], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (run.returncode, run.stderr) == (PIPE_CLOSED, b"")


WAITS = """
import sys, time
from esp.cli import main, reading

class Stdin:
    def read(self):
        print("ready", flush=True)
        time.sleep(60)

sys.stdin = Stdin()
sys.exit(main.main(["run", "-"]))
"""


INTERRUPTED_IMPORT = """
import sys

class Interrupts:
    def find_spec(self, name, *_):
        if name == {name!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
sys.modules.pop({name!r}, None)
from esp.cli.main import main
sys.argv = ["esp", *{words!r}]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("esp.cli.parser", ["--help"]),
        ("argparse", ["run", "--help"]),
        ("typing", ["run", "--help"]),
        ("esp.errors", ["run", "laplace.hpf"]),
        ("numpy", ["run", "laplace.hpf"]),
        ("interpreter.engine", ["run", "laplace.hpf"]),
        ("esp.cli.failure", ["run", "nix.hpf"]),
    ],
)
def test_an_interrupt_while_a_module_is_imported_leaves_no_traceback(name, words):
    code = INTERRUPTED_IMPORT.format(name=name, words=words)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (INTERRUPTED, "", "\n")


def test_before_ctrl_c_is_waited_for_nothing_else_is_imported():
    code = "import sys; known = set(sys.modules); import esp.cli.main; print(*sorted(set(sys.modules) - known))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) - {"gc"} == {"esp", "esp.cli", "esp.cli.main", "esp.shown", "esp.version"}


def test_a_real_interrupt_leaves_no_traceback():
    process = subprocess.Popen([sys.executable, "-c", WAITS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (INTERRUPTED, "\n")


def test_output_that_the_terminal_cannot_show_does_not_fail(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("format: 1\nname: caf\u00e9\u2603\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    run = subprocess.run([*ESP, "system", "check", path], capture_output=True, env=environment, check=False)
    assert run.returncode == 3
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize("options", ["--columns 132", "--form fixed --columns 132", "--columns 132 --form fixed"])
def test_columns_are_a_form(options, tmp_path, capsys):
    path = tmp_path / "wide.hpf"
    path.write_text(f"C\n      X = 1{' ' * 61}+ 2\n      END\n")
    assert main(["run", str(path)]) == 1
    assert "--form fixed132 if it belongs to the program" in " ".join(capsys.readouterr().err.split())
    assert main(["show", "ir", str(path), *options.split()]) == 0
    assert "1 + 2" in capsys.readouterr().out


def test_columns_of_free_form_are_refused(capsys):
    assert main(["run", "laplace", "--form", "free", "--columns", "72"]) == 2
    assert "fixed72 and free exclude each other" in capsys.readouterr().err


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"system", "examples", "completion"}))
def test_the_usage_of_a_command_is_short(esp, command):
    """The options follow in groups."""
    code, out, _ = esp(command, "--help")
    usage = out.partition("\n\n")[0]
    assert (code, len(usage.splitlines()) <= 2, "[options]" in usage) == (0, True, True)


def test_a_negative_value_is_no_option(capsys):
    assert main(["run", "laplace", "--procs", "2", "--load", "-5%"]) == 2
    assert "M121 --load: '-5%' is out of range" in capsys.readouterr().err
