"""The command line: it begins in `main`, `parser` chooses a command, each command is a file with `configure` and
`execute`.

A command module is imported only when its command is typed: `esp --version` and `esp --help` stay fast.
"""
