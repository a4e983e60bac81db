"""`esp completion`: what the shell completes, as a script. It is made from the parsers once and asks nobody later."""

import argparse
from collections.abc import Iterator

from esp.cli.options import add_output, console_of
from esp.locate import program_names, system_names
from esp.output.completion import SHELLS, CommandLevel, CompletionPlace, Option, script

EXAMPLES = """\
examples:
  source <(esp completion bash)               this shell only
  esp completion bash -o ~/.local/share/bash-completion/completions/esp
  esp completion zsh -o ~/.zfunc/_esp    (fpath+=~/.zfunc before compinit)
  esp completion fish -o ~/.config/fish/completions/esp.fish

The script contains the current commands, options and names; generate it again
after an update.
"""

_KINDS = {
    "NAME|FILE": "machine",
    "PROG": "program",
    "A": "program",
    "B": "program",
    "NAME": "program",
    "FILE": "file",
    "CSV": "file",
    "FOLDER": "folder",
}
"""What a metavar asks for; all others are free text."""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=", ".join(SHELLS))
    add_output(parser)


def execute(options: argparse.Namespace) -> int:
    """Run the command; the result is its exit code."""
    names = {"program": program_names(), "machine": system_names()}
    console_of(options).deliver(script(options.shell, tuple(levels()), names))
    return 0


def levels() -> Iterator[CommandLevel]:
    """The command itself, each of its commands, and each of their actions."""
    from esp.cli.parser import COMMANDS, build_parser

    for name in COMMANDS:
        top = build_parser(name)
        below = _commands(top)
        if name == next(iter(COMMANDS)):
            yield _level((), top, "")
        parser = below[name]
        yield _level((name,), parser, COMMANDS[name])
        for action, inner in _commands(parser).items():
            yield _level((name, action), inner, _helps(parser).get(action, ""))


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _helps(parser: argparse.ArgumentParser) -> dict[str, str]:
    """What each command of a parser is for."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {each.dest: each.help or "" for each in action._choices_actions}
    return {}


def _level(path: tuple[str, ...], parser: argparse.ArgumentParser, about: str) -> CommandLevel:
    options, places = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            places.append(CompletionPlace(kind="", words=tuple(action.choices), about="command", many=False))
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            options.append(_option(action))
        else:
            many = action.nargs in ("+", "*")
            places.append(CompletionPlace(kind=_kind(action), words=_words(action), about=_about(action), many=many))
    return CommandLevel(path=path, about=about, options=tuple(options), places=tuple(places), commands=_helps(parser))


def _option(action: argparse.Action) -> Option:
    takes = action.nargs != 0
    again = isinstance(action, argparse._AppendAction)
    return Option(
        names=tuple(action.option_strings),
        about=_about(action),
        takes=takes,
        again=again,
        kind=_kind(action) if takes else "",
        words=_words(action) if takes else (),
    )


def _words(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices)) if action.choices is not None else ()


def _kind(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if metavar == "NAME" and action.option_strings:  # of an array or the like, which no list knows
        return ""
    return _KINDS.get(metavar, "")


def _about(action: argparse.Action) -> str:
    """The help of an action, without the percent signs of argparse."""
    text = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
    return " ".join(text.split())
