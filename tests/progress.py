"""What a command writes to standard error, without the lines that come only where it takes long."""

import re

_KINDS = ("[\\d,]+ of [\\d,]+ predictions", "[\\d,]+ choices, [\\d,]+ bounded", "line \\d+: \\d+% of its iterations")
_LINE = re.compile(rf"^({'|'.join(_KINDS)})\b.*\n", re.MULTILINE)


def without_progress(text):
    """The same on a fast and on a busy machine."""
    return _LINE.sub("", text)
