"""One folder with the compiled run-time library for all tests of a process, and the default machine."""

import pytest

from tests.aag.spmd.emit.native import Native, default_machine


@pytest.fixture(scope="session")
def native(tmp_path_factory):
    return Native(tmp_path_factory.mktemp("native"))


@pytest.fixture(scope="session")
def system():
    return default_machine()
