"""Tokens of a statement or directive, with their offsets; names, numbers and operators in lower case."""

import re
from typing import Literal

from msgspec import Struct

Kind = Literal["name", "int", "real", "string", "op", "end", "bad"]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>'(?:[^']|'')*'|"(?:[^"]|"")*")
    | (?P<real>(?:\d+\.(?![a-z]+\.)\d*(?:[ed][+-]?\d+)?|\.\d+(?:[ed][+-]?\d+)?|\d+[ed][+-]?\d+)(?:_\w+)?)
    | (?P<int>\d+(?:_\w+)?)
    | (?P<name>[a-z_]\w*)
    | (?P<op>\.[a-z]+\.|\*\*|//|==|/=|<=|>=|=>|::|\(/(?!\))|/\)|[-+*/()<>=,:%\[\]&;$.])
    | (?P<bad>\S)
    )""",
    re.VERBOSE | re.IGNORECASE,
)


_KINDS: dict[str, Kind] = {"name": "name", "int": "int", "real": "real", "string": "string", "op": "op", "bad": "bad"}


class Token(Struct, frozen=True):
    """One token: its kind, its text (in lower case unless a string) and ``text[start:end]``."""

    kind: Kind
    text: str
    start: int
    end: int


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`; the last one is of kind ``end``."""
    tokens: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind is None:
            continue
        part = match.group(kind)
        word = part if kind == "string" else part.lower()
        tokens.append(Token(_KINDS[kind], word, match.start(kind), match.end(kind)))
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens
