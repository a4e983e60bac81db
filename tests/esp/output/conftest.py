"""Golden texts: what a report looked like when somebody last looked at it."""

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden():
    """Compares a text with golden/NAME; `ESP_UPDATE_GOLDEN=1` writes it instead, for a `git diff`."""

    def check(name, text):
        path = GOLDEN / name
        if os.environ.get("ESP_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8")

    return check
