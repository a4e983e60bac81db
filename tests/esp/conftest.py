"""What the tests of the commands share."""

import pytest


@pytest.fixture(autouse=True)
def no_progress_in_pipes(monkeypatch):
    """No test depends on how busy the machine is: after ten seconds commands would tell how far they are."""
    monkeypatch.setattr("esp.cli.progress.PIPED_S", float("inf"))
