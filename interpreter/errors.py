"""What prevents an interpretation: values that nobody knows."""

from aag.diagnostics import Diagnostic, SourceError


class UnresolvedError(SourceError):
    """Variables that decide the flow of the program have no value (D8).

    `diagnostics`: one for each variable, with the place that first needs it and the option that would give it
    a value. `names`: the variables themselves, in that order, for a prompt.
    """

    def __init__(self, diagnostics: tuple[Diagnostic, ...], names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(diagnostics)


class InterpretationError(SourceError):
    """The program cannot be interpreted as it stands, for example a loop that never ends."""
