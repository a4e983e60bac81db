"""Completion scripts for bash, zsh and fish: everything they offer stands in them, so that Tab starts nothing."""

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

Names = Mapping[str, Sequence[str]]
"""Kind (``program``, ``machine``) -> names that come with esp; beside them any file will do."""


class Option(Struct, frozen=True, kw_only=True):
    """An option: its spellings, whether it takes a value, and what that may be. `again`: it may be repeated."""

    names: tuple[str, ...]
    about: str
    takes: bool
    again: bool
    kind: str
    """``program``, ``machine``, ``file``, ``folder``, or nothing for free text."""
    words: tuple[str, ...]


class CompletionPlace(Struct, frozen=True, kw_only=True):
    """A word that is no option; `many`: and all that follow."""

    kind: str
    words: tuple[str, ...]
    about: str
    many: bool


class CommandLevel(Struct, frozen=True, kw_only=True):
    """A command: `path` is empty for esp itself. `commands`: those below it with what they are for."""

    path: tuple[str, ...]
    about: str
    options: tuple[Option, ...]
    places: tuple[CompletionPlace, ...]
    commands: Mapping[str, str]


def script(shell: str, levels: Sequence[CommandLevel], names: Names) -> str:
    """The script for one of `SHELLS`."""
    return SHELLS[shell](levels, names)


# --- bash ---

_BASH_BEFORE = """\
# Completion of esp for bash, made by `esp completion bash`.

_esp() {
    local cur prev command='' word at=0 skip='' i
    cur=${COMP_WORDS[COMP_CWORD]}
    prev=${COMP_WORDS[COMP_CWORD-1]}
    # bash makes words of --option=value: three of them
    if [[ $cur == '=' ]]; then cur=''
    elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == '=' ]]; then continue; fi
        if [[ $skip ]]; then skip=''; continue; fi
        if _esp_takes "$command $word"; then skip=1; continue; fi
        case "$command/$word" in
"""

_BASH_BETWEEN = """\
            */-*) ;;
            *) at=$((at + 1)) ;;
        esac
    done
    case "$command $prev" in
"""

_BASH_AFTER = """\
}

_esp_words() {
    local each
    while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen -W "$1" -- "$cur")
}

_esp_files() {
    local each
    compopt -o filenames 2>/dev/null
    while IFS= read -r each; do COMPREPLY+=("$each"); done < <(compgen "$1" -- "$cur")
}

"""

_BASH_END = "complete -F _esp esp\n"


def bash(levels: Sequence[CommandLevel], names: Names) -> str:
    """The script for bash."""
    text = _BASH_BEFORE
    for level in levels:
        if level.path:
            above = " ".join(level.path[:-1])
            text += f"            '{above}/{level.path[-1]}') command='{' '.join(level.path)}'; at=0 ;;\n"
    text += _BASH_BETWEEN
    valued = [(_bash_cases(level, option), option) for level in levels for option in level.options if option.takes]
    for cases, option in valued:
        text += f"        {cases}) {_bash_offer(option.kind, option.words, names)}; return ;;\n"
    text += '    esac\n    if [[ $cur == -* ]]; then\n        case "$command" in\n'
    for level in levels:
        flags = " ".join(name for option in level.options for name in option.names)
        text += f"            '{' '.join(level.path)}') _esp_words '{flags}' ;;\n"
    text += '        esac\n        return\n    fi\n    case "$command/$at" in\n'
    for level in levels:
        for at, place in enumerate(level.places):
            offer = _bash_offer(place.kind, place.words, names)
            case = f"'{' '.join(level.path)}'/" + ("*" if place.many else str(at))
            text += f"        {case}) {offer} ;;\n"
    text += "    esac\n" + _BASH_AFTER
    takes = "|\\\n        ".join(cases for cases, _ in valued)
    text += f"_esp_takes() {{\n    case $1 in\n        {takes}) return 0 ;;\n    esac\n    return 1\n}}\n\n"
    return text + _BASH_END


def _bash_cases(level: CommandLevel, option: Option) -> str:
    """The patterns of an option behind its command."""
    return "|".join(f"'{' '.join(level.path)} {name}'" for name in option.names)


def _bash_offer(kind: str, words: Sequence[str], names: Names) -> str:
    """The commands that offer what a value may be."""
    offers = []
    known = [*words, *names.get(kind, ())]
    if known:
        offers.append(f"_esp_words '{' '.join(known)}'")
    if kind:
        offers.append(f"_esp_files {'-d' if kind == 'folder' else '-f'}")
    return "; ".join(offers) or ":"


# --- zsh ---


def zsh(levels: Sequence[CommandLevel], names: Names) -> str:
    """The script for zsh."""
    lines = ["#compdef esp", "# Completion of esp for zsh, made by `esp completion zsh`.", ""]
    for kind, known in names.items():
        offers = f"'names:{kind}:({' '.join(known)})' 'files:file:_files'"
        lines += [f"_esp_{kind}() {{", f"    _alternative {offers}", "}", ""]
    for level in levels:
        lines += _zsh_level(level)
    # Loaded by itself the file is the function; sourced, it registers it.
    lines += [
        "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then",
        '    _esp "$@"',
        "else",
        "    compdef _esp esp",
        "fi",
    ]
    return "\n".join(lines) + "\n"


def _zsh_level(level: CommandLevel) -> list[str]:
    name = "_".join(("_esp", *level.path))
    specs = [spec for option in level.options for spec in _zsh_option(option)]
    if level.commands:
        told = [f"        {_single(each + ':' + about)}" for each, about in level.commands.items()]
        inner = [f"        {each}) {name}_{each} ;;" for each in level.commands]
        lines = [
            f"{name}() {{",
            "    local curcontext=$curcontext context state line",
            "    typeset -A opt_args",
            "    local -a commands",
            "    commands=(",
            *told,
            "    )",
            "    _arguments -C \\",
        ]
        lines += [f"        {spec} \\" for spec in specs]
        lines += [
            "        '1: :->command' '*:: :->rest'",
            "    case $state in",
            "        command) _describe command commands ;;",
            "        rest) case $line[1] in",
        ]
        return [*lines, *inner, "        esac ;;", "    esac", "}", ""]
    for at, place in enumerate(level.places, 1):
        head = "*" if place.many else str(at)
        specs.append(_single(f"{head}:{_zsh_text(place.about)}:{_zsh_action(place.kind, place.words)}"))
    lines = [f"{name}() {{", "    _arguments \\", *(f"        {spec} \\" for spec in specs)]
    lines[-1] = lines[-1].removesuffix(" \\")
    return [*lines, "}", ""]


def _zsh_option(option: Option) -> list[str]:
    value = f":value:{_zsh_action(option.kind, option.words)}" if option.takes else ""
    about = f"[{_zsh_text(option.about)}]"
    others = "" if option.again else "(" + " ".join(option.names) + ")"
    star = "*" if option.again else ""
    return [_single(f"{star or others}{name}{about}{value}") for name in option.names]


def _zsh_action(kind: str, words: Sequence[str]) -> str:
    if words:
        return f"({' '.join(words)})"
    return {"program": "_esp_program", "machine": "_esp_machine", "file": "_files", "folder": "_files -/"}.get(kind, "")


def _zsh_text(text: str) -> str:
    return re.sub(r"([\[\]:\\])", r"\\\1", text)


def _single(text: str) -> str:
    """A word in single quotes."""
    return "'" + text.replace("'", "'\\''") + "'"


# --- fish ---


def fish(levels: Sequence[CommandLevel], names: Names) -> str:
    """The script for fish."""
    lines = ["# Completion of esp for fish, made by `esp completion fish`.", "complete -c esp -f"]
    for level in levels:
        when = _fish_when(level)
        for each, about in level.commands.items():
            lines.append(f"complete -c esp -n {when} -a {each} -d {_fish(about)}")
        lines += [_fish_option(option, when, names) for option in level.options]
        if not level.commands:
            for place in level.places:
                known = [*place.words, *names.get(place.kind, ())]
                files = "-F" if place.kind else ""
                given = f"-a {_fish(' '.join(known))}" if known else ""
                if files or given:
                    lines.append(" ".join(filter(None, ("complete -c esp", f"-n {when}", files, given))))
    return "\n".join(lines) + "\n"


def _fish_when(level: CommandLevel) -> str:
    """The condition that this command, and none below it, is typed."""
    if not level.path:
        return "__fish_use_subcommand"
    seen = "; and ".join(f"__fish_seen_subcommand_from {each}" for each in level.path)
    below = f"; and not __fish_seen_subcommand_from {' '.join(level.commands)}" if level.commands else ""
    return _fish(seen + below)


def _fish_option(option: Option, when: str, names: Names) -> str:
    spelled = [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    known = [*option.words, *names.get(option.kind, ())]
    value = ""
    if option.takes:
        value = ("-r -F" if option.kind else "-x") + (f" -a {_fish(' '.join(known))}" if known else "")
    about = f"-d {_fish(option.about)}"
    return " ".join(filter(None, ("complete -c esp", f"-n {when}", *spelled, value, about)))


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: Mapping[str, Callable[[Sequence[CommandLevel], Names], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
