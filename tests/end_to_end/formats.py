"""Outputs of a command, each read by a parser of its format."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

_WORD = r'(?:[A-Za-z_]\w*|-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*")'
_ATTRIBUTES = rf"(?:\s*\[\s*{_WORD}\s*=\s*{_WORD}(?:\s*[,;]?\s*{_WORD}\s*=\s*{_WORD})*\s*\])?"
_DOT = re.compile(
    rf"\s*(?:strict\s+)?(?:di)?graph(?:\s+{_WORD})?\s*\{{"
    rf"(?:\s*{_WORD}(?:\s*(?:->|--)\s*{_WORD})*(?:\s*=\s*{_WORD})?{_ATTRIBUTES}\s*;|\s*subgraph\s+{_WORD}\s*\{{|\s*\}})*"
    r"\s*",
    re.DOTALL,
)
_MERMAID = re.compile(
    r'\s*(?:\w+(?:\[+|\(+|\{+|>)"[^"]*"(?:\]+|\)+|\}+)'
    r"|\w+ (?:-->|---|-\.->|==>)(?:\|[^|]*\|)? \w+|subgraph .*|end|classDef .*|class .*|style .*|linkStyle .*|%%.*)?"
)


def _json(text: str) -> None:
    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    json.loads(text, parse_constant=refuse)


def _csv(text: str) -> None:
    rows = list(csv.reader(io.StringIO(text), strict=True))
    if len({len(row) for row in rows}) != 1:
        raise ValueError("rows of different lengths")
    if any(cell[:1] in ("=", "+", "@") for row in rows for cell in row):
        raise ValueError("a cell that a spreadsheet computes")


def _xml(text: str) -> None:
    ET.fromstring(text)


def _dot(text: str) -> None:
    if not _DOT.fullmatch(text):
        raise ValueError("not DOT")


def _mermaid(text: str) -> None:
    first, *lines = text.splitlines()
    if not first.startswith("flowchart"):
        raise ValueError("not a flowchart")
    strange = next((line for line in lines if not _MERMAID.fullmatch(line)), None)
    if strange is not None:
        raise ValueError(f"not Mermaid: {strange[:100]}")


PARSERS: dict[str, Callable[[str], None]] = {
    "json": _json,
    "csv": _csv,
    "graphml": _xml,
    "svg": _xml,
    "dot": _dot,
    "mermaid": _mermaid,
}


def format_of(words: Sequence[str]) -> str:
    """The format that a command line asks for; empty for text."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        if word == "--format":
            return after
        if word.startswith("--format="):
            return word.removeprefix("--format=")
        if word in ("--json", "--csv"):
            return word.removeprefix("--")
    return "dot" if words[:1] == ["graph"] else ""


def ill_formed(words: Sequence[str], text: str) -> str:
    """Why a parser refuses the output of a command; empty where it does not, or where it is for reading."""
    parser = PARSERS.get(format_of(words))
    if parser is None:
        return ""
    try:
        parser(text)
    except (ValueError, ET.ParseError, csv.Error) as error:
        return f"ill-formed {format_of(words)}: {error}"
    return ""
