"""Why a statement is not Fortran, where that is plain: what other languages write, and parts that are missing."""

import re
from typing import NamedTuple

from aag.ir.nearest import did_you_mean
from aag.ir.scan import scanned
from aag.source.classify import after_group, classify


class Cause(NamedTuple):
    """What is wrong between two offsets of a statement, and what to write instead."""

    why: str
    hint: str
    start: int
    end: int


_NO = "found {}"

_COMMENT = "a comment begins with !"

_TYPES = r"integer|real|logical|complex|character|double\s*precision"
_ATTRIBUTES = "parameter|dimension|allocatable|intent|save|pointer|target|optional"

_OF_STATEMENTS = tuple(
    (re.compile(pattern, re.IGNORECASE), why, hint)
    for pattern, why, hint in (
        (r"[-+*]=(?!=)", _NO, "repeat the variable: i = i + 1"),
        (r"\+\+|--", _NO, "write i = i + 1"),
        (r"&&", _NO, "write .and."),
        (r"\|\|", _NO, "write .or."),
        (r"\^", _NO, "write ** for a power"),
        (r"%(?=\s*\d)|(?<=\d)\s*%", _NO, "write mod(i, 2) for a remainder"),
        (r"[{}]", _NO, "a block ends with END IF, END DO or another END"),
        (r"#", _NO, _COMMENT),
        (r"^(?://|/\*)", _NO, _COMMENT),
        (r":=", _NO, "write = for an assignment"),
        (r"[\u2018\u2019\u201c\u201d]", "{} is a typographic quotation mark", "write ' or \""),
        (r"^print(?=\s*[,(\w'\"])", "PRINT lacks its format", "write print *, and then the values"),
        (r"^(?:chpf\$|c(?=\s)|\*)", "{} begins a comment in fixed form only", "write ! here, or use ‹form fixed›"),
        (r"^[-+*/]", "a statement cannot begin with {}", "continue a line with & at its end"),
        (r"^&", "the line before it does not end with &", "end that line with &, or use ‹form fixed›"),
        (
            r"&$",
            "& continues a line in free form only",
            "write a mark in column 6 of the next line, or use ‹form free›",
        ),
        (
            r"^forall\s*\(\s*\w+\s*=[^:()]*(?:\([^()]*\)[^:()]*)*,",
            "a FORALL index lacks its colon",
            "write a range such as i = 1:n",
        ),
        (r"(?<=[\w)])\s*\[", "subscripts are in parentheses", "write a(i, j); esp does not support coarrays"),
        (
            r"^(?:if|where|elsewhere|else\s*if|do\s*while)\s*\(.*?(?<![=<>/])=(?![=>])",
            "= assigns and does not compare",
            "write == for a comparison",
        ),
        (
            rf"^(?:{_TYPES})\b(?!.*::)(?:[^:]*,\s*(?:{_ATTRIBUTES})\b|\s*(?:\([^()]*\)|\*\s*\d+)?\s*[a-z]\w*[^=(]*=)",
            "the double colon is missing",
            "write :: before the names",
        ),
        (r"[-+*/=,]\s*$", "the statement ends after {}", "complete it, or continue the line with & at its end"),
        (r"^\w+\s*(?:\([^=]*\))?\s*==", "== compares and does not assign", "write = for an assignment"),
    )
)
"""A pattern of a statement that the parser refuses, what is wrong, and what to write."""

_IN_COLUMN_6 = "write a mark in column 6 of each line that continues one"
_OF_FIXED_FORM = (
    (re.compile(r"^[-+*/&]"), "a statement cannot begin with {}", _IN_COLUMN_6),
    (re.compile(r"[-+*/=,]\s*$"), "the statement ends after {}", f"complete it, or {_IN_COLUMN_6}"),
)
"""What is different in fixed form, where a line does not say that it is continued."""

_FOREIGN = {
    "for": "write do i = 1, n",
    "while": "write do while (condition)",
    "elif": "write else if (condition) then",
    "elsif": "write else if (condition) then",
}
"""First words that other languages have -> what Fortran writes."""

_HEAD = re.compile(r"(?:for|while|elif|elsif|forall|if|else\s*if)\b", re.IGNORECASE)


_WORD = re.compile(r"[a-z]\w*(?=\s*(?:[^\s\w=]|\s\w))", re.IGNORECASE)
"""The first word of a statement that is no assignment to a scalar."""

_WORDS = (
    *("allocatable", "allocate", "call", "case", "character", "class", "close", "common", "complex", "continue"),
    *("cycle", "data", "deallocate", "dimension", "do", "double", "else", "elsewhere", "equivalence", "exit"),
    *("external", "forall", "format", "function", "go", "goto", "if", "implicit", "inquire", "integer", "intent"),
    *("interface", "intrinsic", "logical", "namelist", "nullify", "open", "parameter", "pointer", "print", "procedure"),
    *("read", "real", "return", "rewind", "save", "select", "stop", "subroutine", "target", "type", "use"),
    *("where", "write"),
)
"""Words that begin statements."""


def cause(text: str, *, fixed: bool = False) -> Cause | None:
    """Why the parser refuses a statement, in `fixed` form or free; None: not plain to see."""
    bare = _without_strings(text)
    for pattern, why, hint in (*(_OF_FIXED_FORM if fixed else ()), *_OF_STATEMENTS):
        found = pattern.search(bare)
        if found:
            return Cause(why.format(found.group().strip().upper()), hint, *found.span())
    return None


def misspelt(text: str) -> str:
    """A hint for a statement whose first word is nearly one that begins statements; else nothing."""
    found = _WORD.match(text)
    word = "" if found is None else found.group().lower()
    return "" if not word or word in _WORDS else did_you_mean(word, _WORDS)


def wrong_head(text: str) -> Cause | None:
    """What keeps a statement from beginning a block, where the END of the block would seem to be wrong."""
    found = _HEAD.match(text)
    what = classify(text) if found else None
    if found is None or what is None or what.word == "assignment":
        return None
    if what.word in _FOREIGN:
        return Cause(_NO.format(what.word.upper()), _FOREIGN[what.word], *found.span())
    if what.word == "forall" and not text[found.end() :].lstrip().startswith("("):
        return Cause("FORALL lacks its parentheses", "write forall (i = 1:n)", *found.span())
    if what.word in ("if", "elseif"):
        close = after_group(text, found.end())
        if close > 0 and not text[close:].strip():
            return Cause("THEN is missing", "write then at the end of the line", 0, len(text))
    return None


def _without_strings(text: str) -> str:
    return "".join(" " if quote else char for _, char, _, quote in scanned(text))
