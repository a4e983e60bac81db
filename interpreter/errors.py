"""What prevents an interpretation."""

from aag.diagnostics import SourceError


class InterpretationError(SourceError):
    """The program cannot be interpreted as it stands, for example a loop that never ends."""
