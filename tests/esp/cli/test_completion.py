"""Completion scripts in real shells: what Tab offers is what the parsers know, and Tab starts nothing."""

import re
import shutil
import subprocess

import pytest

from esp.cli.completion import levels
from esp.cli.parser import COMMANDS
from esp.locate import program_names, system_names
from esp.output.completion import SHELLS

FISH_OF_A_WORD = re.compile(r"^([^\t\n]+)", re.MULTILINE)


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    """The scripts in files, by shell."""
    from esp.cli.main import main

    folder = tmp_path_factory.mktemp("completion")
    made = {shell: folder / f"esp.{shell}" for shell in SHELLS}
    for shell, path in made.items():
        assert main(["completion", shell, "-o", str(path)]) == 0
    return made


@pytest.fixture
def bash(scripts, tmp_path):
    """`bash("esp", "run", "--sy")` -> what bash offers for the last word, in a folder with two files."""
    (tmp_path / "mine.hpf").touch()
    (tmp_path / "a b.yaml").touch()
    (tmp_path / "sub").mkdir()

    def offered(*words):
        code = (
            f"source '{scripts['bash']}'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _esp;"
            ' if [[ ${#COMPREPLY[@]} -gt 0 ]]; then printf "%s\\n" "${COMPREPLY[@]}"; fi'
        )
        command = [shutil.which("bash"), "--norc", "-c", code, "bash", *words]
        run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env={"PATH": ""})
        assert (run.returncode, run.stderr) == (0, "")
        return set(run.stdout.splitlines())

    return offered


def test_bash_completes_commands(bash):
    assert bash("esp", "") == set(COMMANDS)
    assert bash("esp", "co") == {"compare", "compile", "completion"}
    assert bash("esp", "--v") == {"--version"}


def test_bash_completes_options_of_the_command(bash):
    assert bash("esp", "run", "laplace", "--sys") == {"--system", "--system-set"}
    assert bash("esp", "layout", "--bandw") == set()
    assert bash("esp", "--debug", "run", "--trac") == {"--trace"}


def test_every_option_of_every_command_is_offered(bash):
    for level in levels():
        offered = bash("esp", *level.path, "-")
        assert offered == {name for option in level.options for name in option.names}, level.path


def test_bash_completes_values(bash):
    assert bash("esp", "run", "laplace", "--form", "") == {"fixed", "fixed72", "fixed132", "free"}
    assert bash("esp", "run", "--system", "ip") == {each for each in system_names() if each.startswith("ip")}
    assert bash("esp", "run", "--io", "=", "o") == {"on", "off"}
    assert bash("esp", "run", "--io", "=") == {"on", "off"}
    assert bash("esp", "run", "--procs", "") == set()
    assert bash("esp", "run", "--output", "mi") == {"mine.hpf"}
    assert bash("esp", "run", "--system", "a") == {"a b.yaml"}


def test_bash_completes_programs_and_files(bash):
    assert bash("esp", "run", "lap") == {each for each in program_names() if each.startswith("lap")}
    assert "mine.hpf" in bash("esp", "run", "m")
    assert bash("esp", "compare", "laplace_bb", "laplace_b") == {"laplace_bb", "laplace_bx"}
    assert bash("esp", "run", "laplace", "lap") == set()  # there is one program only


def test_bash_completes_what_stands_in_order(bash):
    assert bash("esp", "show", "") == {"ir", "layouts", "loops", "node", "aag", "saag"}
    assert bash("esp", "show", "ir", "gau") == {"gauss", "gausspivot_array", "gausspivot_do"}
    assert bash("esp", "show", "--system", "ipsc860", "--form", "=", "free", "s") == {"saag"}


def test_bash_completes_actions(bash):
    assert bash("esp", "system", "") == {"list", "show", "check", "fit"}
    assert bash("esp", "system", "show", "ips") == {"ipsc860", "ipsc860-f90d"}
    assert bash("esp", "system", "fit", "--ba") == {"--base"}
    assert bash("esp", "examples", "copy", "--to", "s") == {"sub"}


def test_the_scripts_ask_nobody(scripts):
    """No command of ours in them but as words that are offered."""
    for path in scripts.values():
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not re.search(r"\$\(\s*esp\b|<\(\s*esp\b|python[0-9.]* +-", line), line


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_the_same_every_time(scripts, esp, shell):
    assert esp("completion", shell)[1] == scripts[shell].read_text(encoding="utf-8")


def test_no_shell_is_no_script(esp):
    assert esp("completion", "csh")[0] == 2


def _shell(name):
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed"
    return found


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("esp co", {"compare", "compile", "completion"}),
        ("esp run --sys", {"--system", "--system-set"}),
        ("esp show s", {"saag", "shallow", "shallow_do", "sor"}),
        ("esp run laplace --form f", {"fixed", "fixed72", "fixed132", "free"}),
        ("esp system f", {"fit"}),
        ("esp system fit --ba", {"--base"}),
        ("esp completion z", {"zsh"}),
    ],
)
def test_fish_offers_the_same(scripts, tmp_path, line, offered):
    code = f"source '{scripts['fish']}'; complete -C '{line}'"
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    run = subprocess.run(
        [_shell("fish"), "--no-config", "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path, env=home
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert set(FISH_OF_A_WORD.findall(run.stdout)) == offered


def test_zsh_defines_every_command(scripts, tmp_path):
    """The functions exist under the names that their callers use, and the script is loaded for esp."""
    wanted = sorted("_".join(("_esp", *level.path)) for level in levels())
    code = (
        "autoload -Uz compinit; compinit -D -u; source $1; print -r -- $_comps[esp];"
        " print -rl -- ${(ok)functions[(I)_esp*]}"
    )
    run = subprocess.run(
        [_shell("zsh"), "-f", "-c", code, "zsh", str(scripts["zsh"])],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert (run.returncode, run.stderr) == (0, "")
    first, *functions = run.stdout.split()
    assert first == "_esp"
    assert sorted(set(functions) - {"_esp_program", "_esp_machine", "_espeak"}) == wanted
