"""Pictures are made in the style of esp, as the command makes them."""

import pytest

from esp.output.plots.style import styled


@pytest.fixture(autouse=True)
def _style():
    with styled():
        yield
