"""What kind of statement a text is, from its first words. Fortran reserves no words, so ``do = 3`` is an
assignment."""

import re
from typing import Literal

from msgspec import Struct

from aag.ir.scan import scanned

Kind = Literal[
    "unit",
    "contains",
    "interface",
    "type",
    "enum",
    "end",
    "do",
    "if",
    "else",
    "where",
    "forall",
    "select",
    "case",
    "block",
    "spec",
    "exec",
    "goto",
    "format",
]

_SPEC = frozenset(
    "integer real doubleprecision complex doublecomplex logical character byte type class"
    " implicit parameter dimension common data save external intrinsic equivalence namelist"
    " allocatable pointer target optional intent use import procedure public private protected"
    " volatile asynchronous contiguous bind value sequence enumerator generic final codimension".split()
)
_TWO_WORDS = {
    ("double", "precision"): "doubleprecision",
    ("double", "complex"): "doublecomplex",
    ("go", "to"): "goto",
    ("else", "if"): "elseif",
    ("else", "where"): "elsewhere",
    ("select", "case"): "selectcase",
    ("select", "type"): "selecttype",
    ("block", "data"): "blockdata",
    ("abstract", "interface"): "interface",
    ("module", "procedure"): "procedure",
    ("do", "while"): "dowhile",
    ("do", "concurrent"): "doconcurrent",
}
_WORD = re.compile(r"\s*([a-z_][\w$]*)", re.IGNORECASE)
_NAMED = re.compile(
    r"([a-z_]\w*)\s*:(?!:)\s*(?=(?:do|if|select|where|forall|block|associate|critical)\b)", re.IGNORECASE
)
_TYPE_SPEC = (
    r"(?:integer|real|complex|logical|character|double\s*precision|double\s*complex|type\s*\([^()]*\))"
    r"\s*(?:\*\s*\d+|\([^()]*\))?"
)
_PROCEDURE = re.compile(
    rf"(?:(?:pure|elemental|impure|recursive|module|extrinsic\s*\([^()]*\)|{_TYPE_SPEC})\s*)*"
    r"\b(function|subroutine)\s*\b([a-z_]\w*)\s*(\(|$)",
    re.IGNORECASE,
)
_END = re.compile(
    r"end\s*(program|module|submodule|subroutine|function|block\s*data|do|if|select|where|forall|interface|type|enum"
    r"|associate|block|critical|procedure)?\s*(?:[a-z_]\w*)?\s*(?:\(.*\)|=.*)?$",
    re.IGNORECASE,
)
_END_FILE = re.compile(r"end\s*file\s*[\d(*]", re.IGNORECASE)
_PACKED_DO = re.compile(r"do\s*(\d+)\s*[a-z]\w*\s*=", re.IGNORECASE)  # fixed form may write DO10I=1,N
EXTRINSIC = re.compile(r"extrinsic\s*\(\s*([^()]*?)\s*\)", re.IGNORECASE)
"""The prefix of a procedure in another model of execution."""


class Class(Struct, frozen=True):
    """A kind with what goes with it: the word of END, the kind of unit, the label of DO or GO TO, a construct
    name."""

    kind: Kind
    word: str = ""
    label: str = ""
    name: str = ""


def after_group(text: str, at: int) -> int:
    """The offset after the parenthesis that opens at or after `at`; -1 where it is not closed."""
    for index, char, depth, quote in scanned(text, at):
        if char == ")" and not depth and not quote:
            return index + 1
    return -1


def _at_top(text: str) -> str:
    """`text` without what stands in parentheses."""
    depth, kept = 0, []
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth == 0:
            kept.append(char)
    return "".join(kept)


def is_assignment(text: str) -> bool:
    """Whether the text is ``name [(...)] [%...] = ...`` or the same with ``=>``."""
    match = _WORD.match(text)
    if match is None or "=" not in text:
        return False
    at = match.end()
    while at < len(text):
        char = text[at]
        if char == "(":
            at = after_group(text, at)
            if at < 0:
                return False
        elif char == "%":
            word = _WORD.match(text, at + 1)
            if word is None:
                return False
            at = word.end()
        elif char == " ":
            at += 1
        else:
            return char == "=" and text[at + 1 : at + 2] != "="
    return False


def classify(text: str) -> Class:
    """The class of a statement without its label."""
    named = _NAMED.match(text)
    name = ""
    if named and not is_assignment(text):
        name, text = named.group(1).lower(), text[named.end() :]
    if is_assignment(text):
        packed = _PACKED_DO.match(text)
        if packed is None or "," not in _at_top(text[packed.end() :]):
            return Class("exec", "assignment")
        return Class("do", "do", packed.group(1).lstrip("0"), name)
    match = _WORD.match(text)
    if match is None:
        return Class("exec", "")
    first, at = match.group(1).lower(), match.end()
    second = _WORD.match(text, at)
    word = first
    if second:
        pair = _TWO_WORDS.get((first, second.group(1).lower()))
        if pair:
            word, at = pair, second.end()
    return _classify_word(text, word, at, name)


def _classify_word(text: str, word: str, at: int, name: str) -> Class:
    rest = text[at:].strip()
    if _END_FILE.match(text):
        return Class("exec", "endfile")
    if word.startswith("end"):
        end = _END.match(text)
        if end:
            return Class("end", re.sub(r"\s", "", (end.group(1) or "").lower()))
    match word:
        case "do" | "dowhile" | "doconcurrent":
            label = re.match(r"(\d+)\s*,?", rest)
            return Class("do", word, label.group(1).lstrip("0") if label else "", name)
        case "if":
            close = after_group(text, at)
            if close > 0 and re.fullmatch(r"\s*then", text[close:], re.IGNORECASE):
                return Class("if", word, name=name)
            jump = re.fullmatch(r"\s*go\s*to\s*(\d+)", text[close:], re.IGNORECASE) if close > 0 else None
            return Class("exec", word) if jump is None else Class("goto", word, jump.group(1).lstrip("0"))
        case "else" | "elseif" | "elsewhere":
            return Class("else", word)
        case "where" | "forall":
            close = after_group(text, at)
            if close > 0 and not text[close:].strip():
                return Class("where" if word == "where" else "forall", word, name=name)
            return Class("exec", word)
        case "selectcase":
            return Class("select", word, name=name)
        case "case":
            return Class("case", word)
        case "selecttype" | "associate" | "critical":
            return Class("block", word, name=name)
        case "block":
            return Class("block", word, name=name) if not rest else Class("exec", word)
        case "goto":
            return Class("goto", word, rest.lstrip("0") if rest.isdigit() else "")
        case "format":
            return Class("format", word)
        case "contains" if not rest:
            return Class("contains", word)
        case "interface":
            return Class("interface", word)
        case "enum":
            return Class("enum", word)
        case "type" if not rest.startswith("("):
            return Class("type", word)
        case "program" | "blockdata" | "submodule":
            return Class("unit", word)
        case "module":
            if _PROCEDURE.match(text) is None:
                return Class("unit", word)
    procedure = _PROCEDURE.match(text)
    if procedure:
        return Class("unit", procedure.group(1).lower())
    if word in _SPEC or re.match(r"(?:integer|real|complex|logical|character|byte)[*]?\d", word):
        return Class("spec", word)
    return Class("exec", word)
