"""Results of the Python API as text and as pages of a notebook (`esp.shown`)."""

from html import escape

from esp.explore.advise import Advice
from esp.explore.compare import Comparison
from esp.explore.sweep import Sweep
from esp.explore.whatif import WhatIf
from esp.output.advise import advice_text
from esp.output.compare import comparison_text
from esp.output.html import page as profile_page
from esp.output.profile import profile
from esp.output.screen import Screen
from esp.output.sweep import sweep_text
from esp.output.whatif import what_if_text
from esp.prediction import Prediction
from esp.visible import visible


def text(result: object) -> str:
    """What the command prints of the like."""
    screen = Screen()
    match result:
        case Prediction():
            shown = profile(result, screen)
        case Comparison():
            shown = comparison_text(result, screen)
        case WhatIf():
            shown = what_if_text(result, screen)
        case Sweep():
            shown = sweep_text(result, screen)
        case Advice():
            shown = advice_text(result, screen)
        case _:
            raise TypeError(f"no text for a {type(result).__name__}")
    return visible(shown)


def page(result: object) -> str:
    """HTML: the profile of a prediction, the text of anything else."""
    return visible(profile_page(result)) if isinstance(result, Prediction) else f"<pre>{escape(text(result))}</pre>"
