"""`pytest tests/golden --update-golden` rewrites the golden files, for a look at `git diff`."""

import pytest


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def update_golden(request):
    # The option is known where this folder is named on the command line, and only then.
    return request.config.getoption("--update-golden", default=False)
