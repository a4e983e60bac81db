"""One folder with the compiled run-time library for all tests of a process, and the default machine."""

import pytest

from esp.api import load_machine
from tests.emit.native import Native


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    return Native(tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="session")
def system():
    return load_machine("ipsc860")
