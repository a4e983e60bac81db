"""The files the repository holds."""

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def tracked(root: Path) -> tuple[Path, ...]:
    """All files under version control that are still there, as absolute paths."""
    # Whoever runs the tests need not own the checkout: git would refuse otherwise.
    command = ["git", "-c", f"safe.directory={root}", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout.decode()
    found = tuple(root / name for name in listing.split("\0") if name and (root / name).is_file())
    assert found
    return found
