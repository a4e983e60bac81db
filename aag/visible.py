r"""Text that may come from anybody, so that all of it is seen and none of it acts on a terminal or hides other text.

Control characters, also C1, those that change the direction of text, and others that nobody sees become escapes such as
\u202e. In JSON that is the same string; in XML it is text that XML can hold.
"""

import re
import unicodedata

_UNUSUAL = re.compile(r"[^\t\n -~]")
_INVISIBLE = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")
"""Categories of Unicode: control, format, surrogate, no character, separators of lines and paragraphs."""


def escaped(text: str) -> str:
    """The text with escapes for all invisible characters but tabs and ends of lines."""
    return _UNUSUAL.sub(_escape, text) if _UNUSUAL.search(text) else text


def _escape(found: re.Match[str]) -> str:
    if unicodedata.category(found[0]) not in _INVISIBLE:
        return found[0]
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000  # as JSON has it: two halves
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
